"""Settings of the catalog: where it and the lake's state are, and how they are reached."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from lakebed.settings.secrecy import web_address, without_secret

_CATALOG_TIMEOUT = (
    "seconds that a statement or request may take; a server that is silent for longer counts as"
    " unreachable"
)


_POOLER = (
    "whether the address is that of a pooler which gives each transaction another connection"
    " (PgBouncer): no statement is prepared, and no option is sent when connecting"
)


class _CatalogSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SqliteCatalog(_CatalogSettings):
    """Catalog and state in `.data/lake.db`: one machine, no server."""

    kind: Literal["sqlite"] = Field(default="sqlite", description="sqlite, postgres or rest")


class PostgresCatalog(_CatalogSettings):
    """Catalog and state in one PostgreSQL database."""

    kind: Literal["postgres"]
    url: str = Field(
        description="for postgres: postgresql://host:port/database; for rest: its address"
    )
    user: str = Field(default="lakebed", description="user name")
    password: SecretStr | None = Field(default=None, description="password (a secret)")
    pooler: bool = Field(default=False, description=_POOLER)
    timeout_seconds: float = Field(default=30.0, gt=0, description=_CATALOG_TIMEOUT)

    _no_secret = field_validator("url")(without_secret)


class RestCatalog(_CatalogSettings):
    """An Iceberg REST catalog, with Lakebed's state beside it."""

    kind: Literal["rest"]
    url: str = Field(description="address of the REST catalog")
    warehouse: str = Field(default="", description="the warehouse to request from it")
    scope: str = Field(default="catalog", description="OAuth2 scope")
    oauth2_server_uri: str = Field(
        default="", description="where to get tokens, if not from the catalog itself"
    )
    credential: SecretStr | None = Field(
        default=None, description="OAuth2 client as id:secret (a secret)"
    )
    state_url: str = Field(
        default="", description="postgresql://… for Lakebed's state; empty: .data/lake.db"
    )
    user: str = Field(default="lakebed", description="user name for state_url")
    password: SecretStr | None = Field(
        default=None, description="password for state_url (a secret)"
    )
    pooler: bool = Field(default=False, description=_POOLER)
    timeout_seconds: float = Field(default=30.0, gt=0, description=_CATALOG_TIMEOUT)

    _no_secret = field_validator("state_url")(without_secret)
    _is_address = field_validator("url", "oauth2_server_uri")(web_address)


CatalogSettings = Annotated[
    SqliteCatalog | PostgresCatalog | RestCatalog, Field(discriminator="kind")
]
