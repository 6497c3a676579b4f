"""Settings of pipelines that read files by a pattern: partitions, batches and layouts."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from lakebed.types import is_storable, read_table_type

# SQL's words for types that Spark names otherwise
_SQL_WORDS = {
    "varchar": "string",
    "char": "string",
    "character varying": "string",
    "double precision": "double",
    "int4": "int",
    "int8": "bigint",
    "float4": "float",
    "float8": "double",
    "hugeint": "decimal(38,0)",
    "bytea": "binary",
    "blob": "binary",
    "timestamptz": "timestamp",
    "timestamp with time zone": "timestamp",
    "datetime": "timestamp_ntz",
}
_WORD = re.compile(r"([A-Za-z_][\w ]*?)\s*(\(.*\))?\s*", re.DOTALL)
_LENGTHS = {"varchar", "char", "character varying"}


def stored_type(text: str) -> str:
    """The type of a table that a word of SQL or Spark names; `ValueError` if there is none."""
    word = _WORD.fullmatch(text.strip())
    name = word[1].casefold() if word else ""
    plain = _SQL_WORDS.get(name, text)
    if name in _SQL_WORDS and word and word[2] and name not in _LENGTHS:
        plain = text
    found = read_table_type(plain)
    if not is_storable(found):
        raise ValueError(f"there is no type {text!r}: write VARCHAR, INTEGER, DOUBLE, DATE …")
    return str(found)


_Type = Annotated[str, AfterValidator(stored_type)]


def as_names(given: Any) -> Any:
    """Accepts `a, b` and a single name as lists."""
    if isinstance(given, str):
        return [part.strip() for part in given.split(",") if part.strip()]
    return given


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PartitionKey(_Part):
    """A column by whose values files are kept apart."""

    name: str = Field(min_length=1)
    type: _Type | None = None


def _keys(given: Any) -> Any:
    """Accepts names, and mappings with a name and a type."""
    named = as_names(given)
    if not isinstance(named, list | tuple):
        return named
    return [{"name": key} if isinstance(key, str) else key for key in named]


def _distinct(keys: tuple[PartitionKey, ...]) -> tuple[PartitionKey, ...]:
    names = [key.name.casefold() for key in keys]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"the key {twice} is listed twice")
    return keys


_Keys = Annotated[tuple[PartitionKey, ...], BeforeValidator(_keys), AfterValidator(_distinct)]
Names = Annotated[tuple[str, ...], BeforeValidator(as_names)]
BATCH_COLUMNS = AliasChoices("batch_partition_columns", "batch_by")
LAYOUTS = AliasChoices("alternate_partitions", "partition_alternates", "layouts")


class Partitions(_Part):
    """How a table is partitioned."""

    style: Literal["hive"] = "hive"
    keys: _Keys = ()


class LayoutSpec(_Part):
    """Another arrangement of a table's rows; the name is only for people."""

    name: str = ""
    comment: str = ""
    partition: Partitions = Field(
        default=Partitions(),
        validation_alias=AliasChoices("partition", "partitions", "partition_by"),
    )
    batch_partition_columns: Names = Field(default=(), validation_alias=BATCH_COLUMNS)
    incremental_keys: Names = ()


def layout(given: Any) -> Any:
    """Accepts `partition_by: [a, b]` for a mapping with keys."""
    if not isinstance(given, dict):
        return given
    return {
        name: {"keys": value} if name == "partition_by" else value for name, value in given.items()
    }


def _layouts(given: Any) -> Any:
    return [layout(one) for one in given] if isinstance(given, list | tuple) else given


Layouts = Annotated[tuple[LayoutSpec, ...], BeforeValidator(_layouts)]
