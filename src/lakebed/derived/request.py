"""What `layout add` was asked for, in the words of a pipeline's config."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from lakebed.derived.checks import DeclaredLayouts
from lakebed.derived.spec import LayoutSpec, read_layout
from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.settings import reason


def requested_spec(**given: Any) -> LayoutSpec:
    """The layout that was asked for; `UsageError` if it is none."""
    batch = given.pop("batch_by")
    asked = {key: value for key, value in given.items() if value} | (
        {} if batch is None else {"batch_by": batch}
    )
    try:
        return LayoutSpec.model_validate(read_layout(asked))
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{first['loc'][0]}: " if first["loc"] else ""
        raise UsageError(f"{where}{reason(first)}") from None


def declared_elsewhere(table: TableName, spec: LayoutSpec, declared: DeclaredLayouts) -> UsageError:
    """The error of whoever asks for a layout that a pipeline has to declare: the lines to write."""
    lines = [
        f"{declared.key}:",
        f"  - name: {spec.label}",
        *(f"    {key}: [{', '.join(values)}]" for key, values in _lines(spec)),
    ]
    write = f"Add to {declared.key} there" if declared.specs else "Write there"
    return UsageError(
        f"{table} has a pipeline, which declares its layouts.",
        where=declared.where,
        next=f"{write}, then run it:\n" + "\n".join(lines),
    )


def _lines(spec: LayoutSpec) -> Iterator[tuple[str, Sequence[str]]]:
    if spec.partition_by:
        yield "partition_by", [str(field) for field in spec.partition_by]
    if spec.sort_by:
        yield "sort_by", spec.sort_by
    if spec.batch_by is not None:
        yield "batch_by", spec.batch_by
