"""Settings of pipelines that read files by a pattern: partitions, batches and layouts."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from lakebed.derived.spec import LayoutSpec, read_layout
from lakebed.types import stored_type

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


def _layouts(given: Any) -> Any:
    return [read_layout(one) for one in given] if isinstance(given, list | tuple) else given


def _named_once(layouts: tuple[LayoutSpec, ...]) -> tuple[LayoutSpec, ...]:
    names = [layout.label.casefold() for layout in layouts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two layouts have the name {twice}: give each its own `name`")
    return layouts


Layouts = Annotated[tuple[LayoutSpec, ...], BeforeValidator(_layouts), AfterValidator(_named_once)]
