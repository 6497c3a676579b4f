"""Results written to files: CSV, JSON, NDJSON, Parquet, Arrow.

Row by row or batch by batch, never all at once.
"""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import chain, count
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal
from uuid import uuid4

from lakebed.errors import UsageError
from lakebed.query.results.result import QueryResult

Format = Literal["table", "csv", "json", "ndjson", "parquet", "arrow"]
FORMATS: tuple[Format, ...] = ("table", "csv", "json", "ndjson", "parquet", "arrow")
BINARY = ("parquet", "arrow")
_EXACT = (
    2**53 - 1
)  # larger integers are rounded by programs whose numbers are floats: JavaScript, jq


def format_of(file: str) -> Format:
    """The format for a file, by its extension."""
    ending = file.rpartition(".")[2].lower()
    found = next(
        (
            one
            for one in FORMATS
            if one != "table" and ending in (one, {"ndjson": "jsonl"}.get(one))
        ),
        None,
    )
    if found is None:
        raise UsageError(
            f"{file} has no extension that names a format.",
            next=f"Add --format {'|'.join(FORMATS[1:])}.",
        )
    return found


def write(result: QueryResult, format: Format, stream: BinaryIO, *, null: str = "") -> None:
    """Write all rows to a stream; in CSV, `null` stands for NULL."""
    if format in BINARY:
        _columnar(result, format, stream)
        return
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=False)
    try:
        match format:
            case "csv":
                _csv(result, text, null)
            case "json":
                _json(result, text)
            case "ndjson":
                _ndjson(result, text)
    finally:
        text.flush()
        text.detach()


@contextmanager
def new_file(path: str) -> Iterator[BinaryIO]:
    """A file that appears only when it is complete."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        with part.open("wb") as stream:
            yield stream
        part.replace(target)
    except OSError as error:
        raise UsageError(
            f"the file cannot be written: {error.strerror or error}.", where=path
        ) from error
    finally:
        part.unlink(missing_ok=True)


def numbered(names: Sequence[str]) -> list[str]:
    """Names of columns; one that was there before gets a number: `id`, `id (2)`."""
    unique: list[str] = []
    for name in names:
        numbers = (f"{name} ({number})" for number in count(2))
        unique.append(next(one for one in chain([name], numbers) if one not in unique))
    return unique


def _columnar(result: QueryResult, format: Format, stream: BinaryIO) -> None:
    import pyarrow as pa

    reader = result.to_arrow_batches()
    if format == "arrow":
        with pa.ipc.new_stream(stream, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        return
    import pyarrow.parquet as pq

    with pq.ParquetWriter(stream, reader.schema) as parquet:
        for batch in reader:
            parquet.write_batch(batch)


def _csv(result: QueryResult, text: IO[str], null: str) -> None:
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(result.columns)
    for row in result:
        writer.writerow([null if value is None else cell(value) for value in row])


def _json(result: QueryResult, text: IO[str]) -> None:
    text.write("[")
    for number, line in enumerate(_objects(result)):
        text.write(",\n" if number else "\n")
        text.write(line)
    text.write("\n]\n")


def _ndjson(result: QueryResult, text: IO[str]) -> None:
    for line in _objects(result):
        text.write(f"{line}\n")


def _objects(result: QueryResult) -> Iterator[str]:
    names = numbered(result.columns)
    for row in result:
        values = {name: plain(value) for name, value in zip(names, row, strict=True)}
        yield json.dumps(values, ensure_ascii=False)


def cell(value: Any) -> str:
    """A value as text for a cell; NULL is empty."""
    found = plain(value)
    if found is None:
        return ""
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def plain(value: Any) -> Any:
    """A value for JSON.

    Decimals, large integers, NaN and infinities become text, so that nothing is lost.
    """
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -_EXACT <= value <= _EXACT else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex()
        case Mapping():
            return {
                key if isinstance(key, str) else cell(key): plain(inner)
                for key, inner in value.items()
            }
        case list() | tuple():
            return [plain(inner) for inner in value]
    return str(value)
