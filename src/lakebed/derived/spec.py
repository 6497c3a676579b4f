"""What a layout is asked to be: other partitions and order for the rows of a table. Pure."""

import hashlib
import json
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from lakebed.names import split_names
from lakebed.tables.arrangement import (
    PartitionField,
    SortField,
    parse_partition_field,
    parse_sort_field,
)
from lakebed.types import stored_type

_PARTITION = ("partition", "partitions")


def _as_list(given: Any) -> Any:
    """Accepts `a, bucket(8, b)`, in a list, too."""
    if isinstance(given, str):
        return [part.strip() for part in re.split(r",(?![^(]*\))", given) if part.strip()]
    if isinstance(given, list | tuple):
        return [
            part for one in given for part in (_as_list(one) if isinstance(one, str) else [one])
        ]
    return given


def as_names(given: Any) -> Any:
    """Accepts `a, b` and a single name as lists."""
    return split_names(given) if isinstance(given, str) else given


def _sorted_so(terms: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(parse_sort_field(term)) for term in terms)


_Names = Annotated[tuple[str, ...], BeforeValidator(as_names)]
_Field = Annotated[PartitionField, BeforeValidator(parse_partition_field)]


_Type = Annotated[str, AfterValidator(stored_type)]


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


class Partitions(_Part):
    """How a table is partitioned."""

    style: Literal["hive"] = "hive"
    keys: _Keys = ()


class LayoutSpec(BaseModel):
    """Another arrangement of a table's rows. The name is for people, and unique for its table.

    `batch_by` are the columns whose values are built and known to be fresh by themselves; None:
    those of the table. `types` are declared types of partition columns, which the table must have.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: str = ""
    comment: str = ""
    partition_by: Annotated[tuple[_Field, ...], BeforeValidator(_as_list)] = ()
    sort_by: Annotated[_Names, AfterValidator(_sorted_so)] = ()
    batch_by: _Names | None = Field(
        default=None, validation_alias=AliasChoices("batch_by", "batch_partition_columns")
    )
    incremental_keys: _Names = ()
    types: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> "LayoutSpec":
        fields = [str(field).casefold() for field in self.partition_by]
        if twice := next((one for one in fields if fields.count(one) > 1), None):
            raise ValueError(f"the key {twice} is listed twice")
        if not self.partition_by and not self.sort_by:
            raise ValueError("a layout needs partition_by or sort_by")
        if self.batch_by is not None and not {*self.incremental_keys} <= {*self.batch_by}:
            raise ValueError("incremental_keys must be among the columns of batch_by")
        return self

    @property
    def label(self) -> str:
        """The name that people see."""
        fields = (*self.partition_by, *(term.by for term in self.order))
        return self.name or "by_" + "_".join(dict.fromkeys(one.column for one in fields))

    @property
    def order(self) -> tuple[SortField, ...]:
        """How rows are sorted in files: as asked, or else by what partitions are cut from."""
        if self.sort_by:
            return tuple(map(parse_sort_field, self.sort_by))
        cut = (one.column for one in self.partition_by if one.transform != "identity")
        return tuple(parse_sort_field(column) for column in dict.fromkeys(cut))

    @property
    def batch_columns(self) -> tuple[str, ...]:
        """The batch columns of a spec that is complete: see `complete`."""
        return self.batch_by if self.batch_by is not None else self.incremental_keys

    @property
    def fields(self) -> tuple[PartitionField, ...]:
        """All partition fields: a batch column that is none becomes the last one, so that a batch
        can be replaced by itself.
        """
        there = {one.column.casefold() for one in self.partition_by if one.transform == "identity"}
        missing = (name for name in self.batch_columns if name.casefold() not in there)
        return (*self.partition_by, *(PartitionField(column=name) for name in missing))

    @property
    def digest(self) -> str:
        """Of everything that decides how the rows are stored."""
        said = [[str(one).casefold() for one in part] for part in (self.fields, self.order)]
        said.append([name.casefold() for name in self.batch_columns])
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


def read_layout(given: Any) -> Any:
    """Accepts the seed's `partition: {style: hive, keys: [{name: …, type: …}]}`, and keys or
    a list as `partition_by`.
    """
    if not isinstance(given, dict):
        return given
    known = next((name for name in (*_PARTITION, "partition_by") if name in given), None)
    if known is None:
        return given
    rest = {name: value for name, value in given.items() if name != known}
    asked = given[known]
    if known == "partition_by" and not isinstance(asked, dict):
        return rest | {"partition_by": _as_list(asked)}
    found = Partitions.model_validate(asked if isinstance(asked, dict) else {"keys": asked})
    types = {key.name: key.type for key in found.keys if key.type}
    return rest | {"partition_by": [key.name for key in found.keys], "types": types}


def spec_json(spec: LayoutSpec) -> str:
    """A spec as a table's property stores it."""
    told = {
        "name": spec.name,
        "comment": spec.comment,
        "partition_by": [str(field) for field in spec.partition_by],
        "sort_by": list(spec.sort_by),
        "batch_by": list(spec.batch_columns),
    }
    return json.dumps(told)


def read_spec(text: str) -> LayoutSpec | None:
    """The spec that a property holds; None if it cannot be understood."""
    try:
        return LayoutSpec.model_validate(json.loads(text))
    except ValueError:
        return None
