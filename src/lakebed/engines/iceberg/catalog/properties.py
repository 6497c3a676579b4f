"""PyIceberg's properties for a lake's files and its catalog."""

from typing import TYPE_CHECKING

from pydantic import SecretStr

from lakebed.engines.files.aws_keys import with_profile_keys
from lakebed.engines.limits import CONNECT_SECONDS, libpq_limits
from lakebed.names import CATALOG
from lakebed.settings import (
    DATABASE_FILE,
    FilesSettings,
    PostgresCatalog,
    RestCatalog,
    Root,
    Settings,
)

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog


def file_properties(files: FilesSettings) -> dict[str, str]:
    """PyIceberg's `s3.*` properties; they do no harm for a folder."""
    files = with_profile_keys(files)
    known = {
        "s3.endpoint": files.endpoint,
        "s3.region": files.region,
        "s3.access-key-id": _shown(files.access_key_id),
        "s3.secret-access-key": _shown(files.secret_access_key),
        "s3.session-token": _shown(files.session_token),
        "s3.force-virtual-addressing": "" if files.path_style else "true",
        "s3.connect-timeout": str(CONNECT_SECONDS),
        "s3.request-timeout": str(files.timeout_seconds),
    }
    return {key: value for key, value in known.items() if value}


def _shown(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""


def catalog_properties(settings: Settings, root: Root) -> dict[str, str]:
    """The properties for `pyiceberg.catalog.load_catalog`, so that it sees the same tables as
    Spark.
    """
    catalog = settings.catalog
    common = {"warehouse": root.url, **file_properties(settings.files)}
    if isinstance(catalog, RestCatalog):
        return common | rest_properties(catalog)
    if isinstance(catalog, PostgresCatalog):
        return common | {
            "type": "sql",
            "uri": _psycopg_url(catalog),
            "init_catalog_tables": "false",
        }
    file = root.folder / DATABASE_FILE
    return common | {
        "type": "sql",
        "uri": f"sqlite:///{file}?timeout=30",
        "init_catalog_tables": "false",
    }


def rest_properties(catalog: RestCatalog) -> dict[str, str]:
    """A REST catalog's address and credential."""
    known = {
        "type": "rest",
        "uri": catalog.url,
        "warehouse": catalog.warehouse,
        "scope": catalog.scope,
        "oauth2-server-uri": catalog.oauth2_server_uri,
        "credential": catalog.credential.get_secret_value() if catalog.credential else "",
        "lakebed.timeout-seconds": str(catalog.timeout_seconds),
    }
    return {key: value for key, value in known.items() if value}


def _psycopg_url(catalog: PostgresCatalog) -> str:
    from sqlalchemy import make_url

    password = catalog.password.get_secret_value() if catalog.password else None
    url = make_url(catalog.url).set(
        drivername="postgresql+psycopg", username=catalog.user, password=password
    )
    limits = libpq_limits(catalog.timeout_seconds, pooler=catalog.pooler)
    texts = {key: str(value) for key, value in limits.items()}
    return url.update_query_dict(texts).render_as_string(hide_password=False)


def open_pyiceberg(settings: Settings, root: Root) -> "Catalog":
    """PyIceberg's own catalog over the lake's tables."""
    from pyiceberg.catalog import load_catalog
    from pyiceberg.catalog.sql import SqlCatalog

    opened = load_catalog(CATALOG, **catalog_properties(settings, root))
    catalog = settings.catalog
    if isinstance(catalog, PostgresCatalog) and catalog.pooler and isinstance(opened, SqlCatalog):
        from lakebed.engines.database.pooler import suit_to_pooler

        suit_to_pooler(opened.engine, timeout=catalog.timeout_seconds)
    return opened
