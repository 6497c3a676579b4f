"""All settings, as one frozen type. A field's description is its documentation."""

import re
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from lakebed.names import LAYERS, AssetKey, TableName, plain_name, tables_of_assets
from lakebed.settings.care import CareSettings, TableCare, effective_care
from lakebed.settings.catalog import CatalogSettings, SqliteCatalog
from lakebed.settings.kartothek import KartothekSettings
from lakebed.settings.layouts import LayoutSettings
from lakebed.settings.query import QuerySettings
from lakebed.settings.secrecy import web_address
from lakebed.settings.worker import WorkerSettings

Compression = Literal["snappy", "zstd", "gzip", "lz4", "uncompressed"]
Mebibytes = 1024 * 1024


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReleaseSettings(_Part):
    """How long versions of pipelines and their drafts are kept."""

    max_versions: int = Field(
        default=50,
        ge=1,
        description="how many versions of a pipeline are kept; its own max_versions has precedence",
    )
    drafts_max_age_days: float = Field(
        default=7, ge=1, description="how long saved drafts are kept"
    )
    soft_delete_purge_days: float = Field(
        default=30,
        ge=1,
        description="how long a deleted pipeline can be restored; then care removes its releases",
    )


class FilesSettings(_Part):
    """How a bucket is reached. Unset: as the AWS tools would."""

    endpoint: str = Field(default="", description="address of an S3-compatible server; empty: AWS")
    region: str = Field(default="us-east-1", description="region of the bucket")
    path_style: bool = Field(
        default=True, description="bucket in the path instead of in the host name"
    )
    access_key_id: SecretStr | None = Field(default=None, description="access key (a secret)")
    secret_access_key: SecretStr | None = Field(default=None, description="secret key (a secret)")
    session_token: SecretStr | None = Field(
        default=None, description="token of temporary keys (a secret)"
    )
    profile: str = Field(
        default="",
        description="profile of the AWS tools, used if no keys are set; needs lakebed[aws]",
    )
    timeout_seconds: float = Field(
        default=30.0,
        gt=0,
        description=(
            "seconds without an answer after which a request is given up; at least 15 for landing"
            " files"
        ),
    )

    _no_secret = field_validator("endpoint")(web_address)

    @property
    def reaches_s3(self) -> bool:
        """Whether it is said how buckets are reached."""
        return any((self.endpoint, self.access_key_id, self.profile))

    def with_location(self, own: KartothekSettings) -> "FilesSettings":
        """How a bucket of Kartothek datasets is reached: by its own settings where they are set."""
        given = {
            name: getattr(own, name) for name in FilesSettings.model_fields if hasattr(own, name)
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        if own.access_key_id is not None:  # a token belongs to its keys
            chosen["session_token"] = own.session_token
        return self.model_copy(update=chosen)


class PlacesSettings(_Part):
    """Where the parts of `.data/` are if not below the root; a bucket lake keeps logs and staging
    on the machine.
    """

    logs: str = Field(
        default="",
        description=(
            "folder of logs, or 'bucket'; empty: .data/logs, on a bucket lake the user's cache"
        ),
    )
    staging: str = Field(
        default="", description="folder of staged payloads, or 'bucket'; empty: as for logs"
    )
    spill: str = Field(
        default="",
        description=(
            "folder for data that DuckDB cannot keep in memory; empty: the system's temporary"
            " folder"
        ),
    )


_MAY_BRING_FUNCTIONS = (
    "spark.sql.extensions",
    "spark.jars",
    "spark.plugins",
    "spark.sql.catalog",
    "spark.driver.extraClassPath",
)


def java_size(text: str) -> int | None:
    """Bytes of a size such as 4g, as Java reads it; None if it is no such size."""
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", text.strip().casefold())
    return int(found[1]) * 1024 ** "_kmgt".index(found[2] or "_") if found else None


class SparkSettings(_Part):
    """The Spark that computes and writes."""

    master: str = Field(
        default="local[*]", description="local[*], spark://…, sc://… (Connect), yarn, k8s://…"
    )
    memory: str = Field(
        default="2g", description="memory of the driver; in local mode, of all of Spark"
    )
    quick: bool = Field(
        default=False, description="start faster, compute slower: for small runs only"
    )
    direct_launch: bool = Field(
        default=True, description="start Spark's JVM directly; false: as spark-submit does"
    )
    jars: tuple[str, ...] = Field(
        default=(), description="local jars to use instead of the cached ones"
    )
    repositories: tuple[str, ...] = Field(
        default=(), description="Maven repositories to try before the default one"
    )
    conf: dict[str, str] = Field(
        default_factory=dict, description="further Spark settings; they override Lakebed's"
    )

    @field_validator("memory")
    @classmethod
    def _has_size(cls, text: str) -> str:
        if java_size(text) is None:
            raise ValueError(f"{text!r} is no size: write 512m or 4g, as Java does")
        return text

    @property
    def memory_bytes(self) -> int:
        """The memory of the driver, as Java reads it; 1 GiB if it is written otherwise."""
        return java_size(self.conf.get("spark.driver.memory", self.memory)) or 1024**3

    @property
    def is_local(self) -> bool:
        return self.master.startswith("local")

    @property
    def is_connect(self) -> bool:
        return self.master.startswith("sc://")

    @property
    def has_own_functions_only(self) -> bool:
        """Whether no server, extension or jar of the user can add SQL functions."""
        return not self.is_connect and not any(
            name.startswith(_MAY_BRING_FUNCTIONS) for name in self.conf
        )


class LeaseSettings(_Part):
    """How long a holder without a heartbeat keeps its lease."""

    limit_seconds: float = Field(
        default=60.0, gt=0, description="a lease lapses after this long without a heartbeat"
    )


class WriteSettings(_Part):
    """How data files are written; unset values come from the level above."""

    target_file_size: ByteSize | None = Field(
        default=None, gt=0, description="target size of a data file; 512 MiB unless set"
    )
    compression: Compression | None = Field(
        default=None, description="Parquet compression; snappy unless set"
    )
    row_group_size: ByteSize | None = Field(
        default=None,
        gt=0,
        description=(
            "size of a Parquet row group; 128 MiB unless set, 1 MiB in a table with a sort order"
        ),
    )


class ScopedSettings(_Part):
    """Settings of a namespace or a table."""

    write: WriteSettings = WriteSettings()
    care: TableCare = TableCare()


def _layers(given: tuple[str, ...]) -> tuple[str, ...]:
    if not given or len(set(given)) < len(given):
        raise ValueError("there must be at least one layer, and each only once")
    return tuple(plain_name("layer", name) for name in given)


_Layers = Annotated[tuple[str, ...], AfterValidator(_layers)]


class NamespaceSettings(ScopedSettings):
    """Settings of a namespace."""

    layers: _Layers | None = Field(
        default=None, description="the layers of its pipelines, if they differ from the lake's"
    )


class AssetSettings(_Part):
    """How Dagster asset keys become tables (ADR-004)."""

    namespace: str = Field(default="assets", description="the namespace of assets")
    schema_mapping: dict[str, str] = Field(
        default_factory=dict, description="first key segment → schema, if they differ"
    )
    keys: tuple[str, ...] = Field(
        default=(), description="asset keys (raw/omop/person) to check for collisions at once"
    )

    @field_validator("namespace")
    @classmethod
    def _checked(cls, name: str) -> str:
        return plain_name("namespace", name)

    @model_validator(mode="after")
    def _without_collision(self) -> "AssetSettings":
        tables_of_assets(
            [AssetKey(tuple(key.split("/"))) for key in self.keys],
            self.namespace,
            self.schema_mapping,
        )
        return self


class Settings(_Part):
    """All settings of a lake, read once when it is opened."""

    timezone: str = Field(default="UTC", description="one time zone for Spark, DuckDB and literals")
    catalog: CatalogSettings = SqliteCatalog()
    files: FilesSettings = FilesSettings()
    places: PlacesSettings = PlacesSettings()
    spark: SparkSettings = SparkSettings()
    worker: WorkerSettings = WorkerSettings()
    lease: LeaseSettings = LeaseSettings()
    releases: ReleaseSettings = ReleaseSettings()
    query: QuerySettings = QuerySettings()
    layouts: LayoutSettings = LayoutSettings()
    care: CareSettings = CareSettings()
    write: WriteSettings = WriteSettings()
    layers: _Layers = Field(
        default=LAYERS,
        description="the layers of pipelines, such as [staging, intermediate, marts]",
    )
    namespaces: dict[str, NamespaceSettings] = Field(
        default_factory=dict, description="settings of a namespace"
    )
    tables: dict[str, ScopedSettings] = Field(
        default_factory=dict, description="settings of a table"
    )
    assets: AssetSettings = AssetSettings()
    kartothek: KartothekSettings = KartothekSettings()

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, zone: str) -> str:
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError(f"there is no time zone {zone!r}") from None
        return zone

    @field_validator("namespaces")
    @classmethod
    def _checked_namespaces(
        cls, scopes: dict[str, NamespaceSettings]
    ) -> dict[str, NamespaceSettings]:
        return {plain_name("namespace", name): scope for name, scope in scopes.items()}

    @field_validator("tables")
    @classmethod
    def _checked_tables(cls, scopes: dict[str, ScopedSettings]) -> dict[str, ScopedSettings]:
        return {str(TableName.parse(name)): scope for name, scope in scopes.items()}

    def layers_of(self, namespace: str) -> tuple[str, ...]:
        """The layers that pipelines of a namespace may be in."""
        scope = self.namespaces.get(namespace)
        return scope.layers if scope and scope.layers else self.layers

    @property
    def default_write(self) -> WriteSettings:
        """How files are written for a table without settings of its own."""
        return _nearest(_WRITE_DEFAULTS, self.write)

    def write_for(self, table: TableName, *, is_sorted: bool = False) -> WriteSettings:
        """How this table's files are written: by its own settings, else its namespace's, the
        lake's, or the defaults.
        """
        own = [
            scope.write
            for scope in (self.namespaces.get(table.namespace), self.tables.get(str(table)))
            if scope
        ]
        return _nearest(
            _WRITE_DEFAULTS, _WHERE_SORTED if is_sorted else WriteSettings(), self.write, *own
        )

    def care_levels(self, table: TableName) -> tuple[TableCare, ...]:
        """Care settings of the lake, the namespace and the table; later ones override
        earlier ones.
        """
        own = (self.namespaces.get(table.namespace), self.tables.get(str(table)))
        return (self.care, *(scope.care for scope in own if scope))

    def care_for(self, table: TableName, *, own: TableCare | None = None) -> TableCare:
        """How this table is cared for; its pipeline's `own` settings have precedence."""
        return effective_care(*self.care_levels(table), own or TableCare())


_WRITE_DEFAULTS = WriteSettings(
    target_file_size=ByteSize(512 * Mebibytes),
    compression="snappy",
    row_group_size=ByteSize(128 * Mebibytes),
)
_WHERE_SORTED = WriteSettings(row_group_size=ByteSize(Mebibytes))


def _nearest(*levels: WriteSettings) -> WriteSettings:
    """Each setting from the last level that has it."""
    merged: dict[str, object] = {}
    for level in levels:
        merged |= level.model_dump(exclude_none=True)
    return WriteSettings.model_validate(merged)
