"""Names, checked when they are created.

Pipelines, zones and namespaces have plain names, `[a-z][a-z0-9_-]*`. Tables that come from Dagster
asset keys may have any name Dagster accepts (`[A-Za-z0-9_.-]+`); they are quoted wherever they
appear and compared case-folded.
"""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from uuid import uuid4

from lakebed.errors import BadName, NameCollision
from lakebed.name_rules import (
    ASSET_NAMES,
    HIDDEN_NAME,
    PLAIN_NAMES,
    REF_NAMES,
    TABLE_NAMES,
    WORDS_OF_SQL,
)

CATALOG = "lake"  # the catalog's name in every engine; also a key of Iceberg's own tables
LAYERS = ("bronze", "silver", "gold")  # of pipelines, unless a lake or a namespace has its own
DEFAULT_SCHEMA = "main"

_HIDDEN = re.compile(HIDDEN_NAME)
_RUN_ID = re.compile(r"[0-9a-f]{32}")
_RUN_BRANCH = re.compile(r"run_([0-9a-f]{32})")
_DERIVED = re.compile(r"_?mv_[0-9a-f]{32}")
_OF_RUN = re.compile(r"_?(?:run|stage|replay)_([0-9a-f]{32})")
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # needs no quotes
_PART = re.compile(r'`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^.`"]+')


def require_unreserved(kind: str, name: str) -> None:
    """Raise `BadName` for words that SQL takes for its own at the beginning of a name."""
    if name in WORDS_OF_SQL:
        raise BadName(kind, name, "SQL takes the word for its own")


def plain_name(kind: str, name: str) -> str:
    """The name itself; raises `BadName` if a `kind` cannot have it."""
    return PLAIN_NAMES.require(kind, name)


@dataclass(frozen=True, order=True)
class ZoneName:
    """A landing folder of a namespace."""

    namespace: str
    name: str

    def __post_init__(self) -> None:
        plain_name("namespace", self.namespace)
        plain_name("zone", self.name)

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name}"

    @property
    def folder(self) -> str:
        """Where its files land, below the lake's root."""
        return f"{self.namespace}/landing/{self.name}"


@dataclass(frozen=True, order=True)
class TableName:
    """`{namespace}.{layer}.{name}`: catalog name, pipeline folder and warehouse folder at once."""

    namespace: str
    layer: str
    name: str

    def __post_init__(self) -> None:
        plain_name("namespace", self.namespace)
        ASSET_NAMES.require("layer", self.layer)
        ASSET_NAMES.require("table", self.name)

    @classmethod
    def parse(cls, text: str) -> "TableName":
        """Read `a.b.c`; a part that contains a dot is quoted with backticks or double quotes."""
        parts = split_identifier(text)
        if len(parts) != 3:
            raise BadName("table", text, "a table's name has three parts, namespace.layer.name")
        return cls(*parts)

    @classmethod
    def of_pipeline(cls, namespace: str, layer: str, name: str) -> "TableName":
        """The table that a pipeline produces; its parts are plain names.

        The settings say which layers a lake has.
        """
        return cls(namespace, plain_name("layer", layer), plain_name("pipeline", name))

    def __str__(self) -> str:
        return ".".join(part if "." not in part else f'"{part}"' for part in self.parts)

    @property
    def parts(self) -> tuple[str, str, str]:
        return (self.namespace, self.layer, self.name)

    @property
    def folded(self) -> tuple[str, str, str]:
        """The name in lower case: two tables must differ in it."""
        return (self.namespace.casefold(), self.layer.casefold(), self.name.casefold())

    @property
    def levels(self) -> tuple[str, ...]:
        """The name as the catalog has it."""
        return self.parts

    def ends_with(self, parts: Sequence[str]) -> bool:
        """Whether the name ends with these parts, ignoring case; a layer with dots may be given
        level by level.
        """
        folded = tuple(part.casefold() for part in parts)
        return self.folded[-len(folded) :] == folded or (
            len(folded) > 3 and folded == tuple(".".join(self.folded).split("."))
        )

    @property
    def hidden(self) -> bool:
        """Whether it is one of Lakebed's own, not shown to users: a derived table, a table of a
        run, or a dropped table.
        """
        return _HIDDEN.fullmatch(self.name) is not None

    @property
    def derived(self) -> bool:
        """Whether it is a hidden table that is kept: it is computed from another table, and care,
        checks and backups treat it like any other.
        """
        return self.hidden and _DERIVED.fullmatch(self.name) is not None

    @property
    def temporary(self) -> bool:
        """Whether it is a hidden table that is not kept: a table of a run, or a dropped table."""
        return self.hidden and not self.derived

    @property
    def spark(self) -> str:
        """The name in Spark SQL, with the catalog, so that it means the same in a user's own
        session.
        """
        return ".".join((CATALOG, *map(spark_identifier, self.parts)))

    @property
    def duckdb(self) -> str:
        """The name in DuckDB, where the namespace is the catalog."""
        return ".".join(map(duckdb_identifier, self.parts))

    @property
    def folder(self) -> str:
        """Its warehouse folder below the lake's root.

        Used once in the life of a lake: see `fresh_folder`.
        """
        return f"{self.namespace}/warehouse/{folder_name(self.layer)}/{folder_name(self.name)}"

    @property
    def pipeline_folder(self) -> str:
        """The folder of its pipeline's draft, below the lake's root."""
        return f"{self.namespace}/pipelines/{self.layer}/{self.name}"

    def fresh_folder(self, token: str) -> str:
        """A folder that no table ever had, for when `folder` was used before."""
        return f"{self.folder}-{token[:8]}"


@dataclass(frozen=True)
class ForeignName(TableName):
    """The name of a foreign table or view, which does not have three checked parts: it can be read,
    not changed.

    `parts` are three all the same: everything between the first level and the last is one part.
    """

    own: tuple[str, ...] = ()  # its levels

    def __post_init__(self) -> None:
        """Accepts any name, because the catalog has it."""

    @classmethod
    def of(cls, levels: Sequence[str]) -> "ForeignName":
        """The name with these levels, at least two."""
        first, *between, last = levels
        return cls(first, ".".join(between), last, tuple(levels))

    def __str__(self) -> str:
        return ".".join(
            part if _BARE.fullmatch(part) else duckdb_identifier(part) for part in self.own
        )

    @property
    def levels(self) -> tuple[str, ...]:
        return self.own

    def ends_with(self, parts: Sequence[str]) -> bool:
        """The catalog may precede the whole name; a deep name is also found by its three
        `parts`.
        """
        folded, own = (
            tuple(part.casefold() for part in each) for each in (parts, (CATALOG, *self.own))
        )
        return own[-len(folded) :] == folded or (len(self.own) > 3 and folded == self.folded)

    @property
    def hidden(self) -> bool:
        return False

    @property
    def spark(self) -> str:
        return ".".join((CATALOG, *map(spark_identifier, self.own)))

    @property
    def duckdb(self) -> str:
        """Three parts, as DuckDB takes no more."""
        return ".".join(map(duckdb_identifier, self.parts if self.layer else (CATALOG, *self.own)))


@dataclass(frozen=True, order=True)
class AssetKey:
    """A Dagster asset key; its first segment is the schema, the rest the table (ADR-004)."""

    path: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.path:
            raise BadName("asset key", "[]", "it has no segment")
        for segment in self.path:
            ASSET_NAMES.require("asset key segment", segment)

    def __str__(self) -> str:
        return "/".join(self.path)

    def table(self, namespace: str, schema_mapping: Mapping[str, str] | None = None) -> TableName:
        """The table of this asset; a single segment is in the schema `main`, which no mapping
        renames.
        """
        if len(self.path) == 1:
            return _asset_table(namespace, DEFAULT_SCHEMA, self.path[0])
        first, *rest = self.path
        return _asset_table(namespace, (schema_mapping or {}).get(first, first), "_".join(rest))


def _asset_table(namespace: str, schema: str, name: str) -> TableName:
    return TableName(namespace, schema, TABLE_NAMES.require("asset", name))


def tables_of_assets(
    keys: Iterable[AssetKey], namespace: str, schema_mapping: Mapping[str, str] | None = None
) -> dict[AssetKey, TableName]:
    """Each asset's table; raises `NameCollision` if two assets would share one."""
    tables = {key: key.table(namespace, schema_mapping) for key in keys}
    owners: dict[tuple[str, str, str], AssetKey] = {}
    for key, table in tables.items():
        other = owners.setdefault(table.folded, key)
        if other != key:
            raise NameCollision(f"asset {other}", f"asset {key}", str(table))
    return tables


def tables_named(tables: Iterable[TableName], names: Collection[str] | None) -> list[TableName]:
    """The tables whose last name is one of these, ignoring case; all tables if `names` is None."""
    folded = None if names is None else {name.casefold() for name in names}
    return [table for table in tables if folded is None or table.name.casefold() in folded]


def new_run_id() -> str:
    """A new run id: 32 hexadecimal digits, unique; later ids sort later."""
    return f"{time.time_ns() // 1_000_000:012x}{uuid4().hex[:20]}"


def is_run_id(text: str) -> bool:
    """Whether the text has the form of a run id."""
    return _RUN_ID.fullmatch(text) is not None


def run_time(run_id: str) -> datetime:
    """When a run's id was created, shortly before the run began."""
    return datetime.fromtimestamp(int(run_id[:12], 16) / 1000, UTC)


def run_of_branch(branch: str) -> str | None:
    """The run that writes to the branch; None for a branch that is not a run's."""
    found = _RUN_BRANCH.fullmatch(branch)
    return found[1] if found else None


def run_of_hidden(name: str) -> str | None:
    """The run that a hidden table belongs to and ends with; None for any other table, also for a
    derived one.
    """
    found = _OF_RUN.fullmatch(name)
    return found[1] if found else None


def short_id(run_id: str) -> str:
    """Enough of a run's id to tell it from others: its time, and some of the random part."""
    return run_id[:16]


def require_ref_name(ref: str) -> None:
    """Raise for a tag or branch name that an engine or Lakebed would read as something else."""
    REF_NAMES.require("tag or branch", ref)


def require_no_collision(new: TableName, existing: Iterable[TableName]) -> None:
    """Raise for a table whose name differs from an existing one only in case."""
    for other in existing:
        if other != new and other.folded == new.folded:
            raise NameCollision(f"table {other}", f"table {new}", str(other))


def split_identifier(text: str) -> tuple[str, ...]:
    """The parts of a dotted name, without quotes."""
    parts = tuple(_PART.findall(text))
    if ".".join(parts) != text:
        raise BadName("table", text, "its quotes or dots do not match")
    return tuple(_unquoted(part) for part in parts)


def _unquoted(part: str) -> str:
    quote = part[0]
    return part[1:-1].replace(quote * 2, quote) if quote in '`"' else part


def spark_identifier(part: str) -> str:
    """One part of a name, quoted for Spark SQL."""
    return "`" + part.replace("`", "``") + "`"


def duckdb_identifier(part: str) -> str:
    """One part of a name, quoted for DuckDB."""
    return '"' + part.replace('"', '""') + '"'


def folder_name(part: str) -> str:
    """A part of a name as a folder: never hidden, never '..', never longer than a file system
    takes.
    """
    shown = re.sub(r"^[._]", lambda lead: f"~{ord(lead[0]):02x}", part)
    if len(shown) <= 200:
        return shown
    return f"{shown[:180]}~{sha256(part.encode()).hexdigest()[:16]}"


def id_text(snapshot: int | None) -> str | None:
    """A snapshot's id as JSON text: programs whose numbers are floats (JavaScript, jq) would round
    it.
    """
    return None if snapshot is None else str(snapshot)


def split_names(text: str) -> tuple[str, ...]:
    """The names in a list as people write it: `a, b`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
