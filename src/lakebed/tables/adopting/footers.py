"""What the footer of a Parquet file says: its columns, and where their values lie."""

import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from lakebed.ports import ColumnStatistics, FileInfo, Files
from lakebed.ports.files.ranged_file import RangedFile
from lakebed.tables.adopting.arrow_types import FileColumn, file_columns, leaf_count

_WINDOW = 64 * 1024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_ZERO = date(1970, 1, 1)


class UnreadableFooter(Exception):
    """Why a file is not a Parquet file that can be read."""


@dataclass(frozen=True)
class Footer:
    """A file's columns in order, how many rows it has, and statistics of plain columns."""

    columns: tuple[FileColumn, ...]
    rows: int
    statistics: dict[str, ColumnStatistics]
    offsets: tuple[int, ...]


def read_footer(files: Files, file: FileInfo) -> Footer:
    """The footer of a file; `UnreadableFooter` if it has none."""
    from pyarrow import ArrowException  # late: cheap commands must not load Arrow
    from pyarrow.parquet import ParquetFile

    try:
        with (
            io.BufferedReader(RangedFile(files, file.path, size=file.size), _WINDOW) as stream,
            ParquetFile(stream) as parquet,
        ):
            schema, metadata = parquet.schema_arrow, parquet.metadata
            return Footer(
                file_columns(schema, parquet.schema),
                metadata.num_rows,
                dict(_statistics(schema, metadata)),
                tuple(sorted(_offsets(metadata))),
            )
    except (ArrowException, OSError) as error:
        raise UnreadableFooter(
            f"it is not a complete Parquet file: {str(error).splitlines()[0]}"
        ) from None


def _offsets(metadata: Any) -> Iterator[int]:
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.num_columns:
            column = group.column(0)
            starts = (column.dictionary_page_offset, column.data_page_offset)
            yield min(start for start in starts if start)


def _statistics(schema: Any, metadata: Any) -> Iterator[tuple[str, ColumnStatistics]]:
    leaf = 0
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    for field in schema:
        convert = _CONVERSIONS.get(_kind(field.type))
        if convert:
            yield field.name, _joined([group.column(leaf) for group in groups], convert)
        leaf += leaf_count(field.type)


def _kind(type_: Any) -> str:
    text = str(type_)
    if text.startswith(("timestamp[ms", "timestamp[us")):
        return "timestamp"
    return "decimal" if text.startswith("decimal128") else text.removeprefix("large_")


def _joined(columns: Sequence[Any], convert: Callable[[Any], Any]) -> ColumnStatistics:
    """The statistics of all row groups; no bounds unless every group with values has them."""
    values, nulls, known = 0, 0, True
    lower: list[Any] = []
    upper: list[Any] = []
    for column in columns:
        values += column.num_values
        told: Any = column.statistics if column.is_stats_set else None
        counted = told is not None and told.has_null_count
        nulls, known = nulls + (told.null_count if counted else 0), known and counted
        if counted and told.null_count == column.num_values:
            continue
        lower.append(_bound(told, "min", convert))
        upper.append(_bound(told, "max", convert))
    sound = lower and None not in (*lower, *upper)
    return ColumnStatistics(
        values,
        nulls if known else None,
        min(lower) if sound else None,
        max(upper) if sound else None,
    )


def _bound(told: Any, end: str, convert: Callable[[Any], Any]) -> Any:
    if told is None or not told.has_min_max:
        return None
    try:
        return convert(getattr(told, end))
    except (ValueError, OverflowError, ArithmeticError, UnicodeError):  # beyond Python's calendar
        return None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _float(value: Any) -> float | None:
    return value if isinstance(value, float) and not math.isnan(value) else None


def _day(value: Any) -> int | None:
    return (value - _DAY_ZERO).days if type(value) is date else None


def _moment(value: Any) -> int | None:
    if not isinstance(value, datetime):
        return None
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def _decimal(value: Any) -> Decimal | None:
    return value if isinstance(value, Decimal) else None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "int8": _number, "int16": _number, "int32": _number, "int64": _number, "float": _float,
    "double": _float, "string": _text, "date32[day]": _day, "timestamp": _moment,
    "decimal": _decimal,
}  # fmt: skip
