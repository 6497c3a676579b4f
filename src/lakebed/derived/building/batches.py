"""The batches that a table has, told by its files, and conditions for their rows. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.batches.keys import BatchKey, KeyValues, condition, in_order, label, literal
from lakebed.derived.labels import FileLabels
from lakebed.errors import UsageError
from lakebed.names import spark_identifier
from lakebed.ports import ScanFile

MOST_BATCHES = 100_000  # of a layout


@dataclass(frozen=True)
class BatchSize:
    """A batch of a table, and how much it takes there; of a table whose files do not tell batches
    apart, an even share.
    """

    label: str
    values: KeyValues = ()
    files: int = 0
    bytes: int = 0
    rows: int = 0

    def __add__(self, file: ScanFile) -> "BatchSize":
        size = (self.files + 1, self.bytes + file.size, self.rows + file.rows)
        return BatchSize(self.label, self.values, *size)


def batches_of_files(labels: FileLabels, files: Iterable[ScanFile]) -> list[BatchSize] | None:
    """The batches that files belong to, in order; None if one may belong to several."""
    found: dict[KeyValues, BatchSize] = {}
    for file in files:
        values = labels.values(file.partition)
        if values is None:
            return None
        found[values] = (found.get(values) or BatchSize(label(labels.keys, values), values)) + file
    return sorted(found.values(), key=lambda one: in_order(one.values))


def distinct_query(keys: Sequence[BatchKey], relation: str) -> str:
    """A query for the batches of a relation whose files do not tell."""
    names = ", ".join(spark_identifier(key.name) for key in keys)
    return f"SELECT DISTINCT {names} FROM {relation}"


def batches_of_rows(
    keys: Sequence[BatchKey], rows: Sequence[Mapping[str, Any]], files: Sequence[ScanFile]
) -> list[BatchSize]:
    """The batches that `distinct_query` found; `rows` may be one more than are possible."""
    if len(rows) > MOST_BATCHES:
        names = ", ".join(key.name for key in keys)
        raise UsageError(
            f"{names} has more than {MOST_BATCHES:,} values: too many for batches.",
            next="Choose coarser columns as batch_by.",
        )
    share = max(len(rows), 1)
    size = (
        -(-len(files) // share),
        sum(file.size for file in files) // share,
        sum(file.rows for file in files) // share,
    )
    found = [tuple(row[key.name] for key in keys) for row in rows]
    return [BatchSize(label(keys, one), one, *size) for one in sorted(found, key=in_order)]


def any_batch(keys: Sequence[BatchKey], batches: Sequence[KeyValues]) -> str:
    """Spark SQL that is true for exactly the rows of these batches; null-safe."""
    if len(keys) != 1:
        return " OR ".join(f"({condition(keys, values)})" for values in batches)
    (key,) = keys
    given = [literal(value, key.type) for (value,) in batches if value is not None]
    parts = [f"{spark_identifier(key.name)} IN ({', '.join(given)})"] if given else []
    parts += [condition(keys, values) for values in batches if values == (None,)]
    return " OR ".join(parts)
