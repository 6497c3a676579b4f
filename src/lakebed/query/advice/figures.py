"""What a table's manifests, and a sample of its rows, tell about ways to read it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.query.advice.workload import ReadPattern

ROW_GROUP = 1024 * 1024  # bytes, in files of tables with a sort order
TARGET_FILE = 512 * 1024 * 1024  # bytes, what Iceberg aims at
OPEN_COST = 256 * 1024  # bytes that could be read while a file is opened


@dataclass(frozen=True)
class ValueFigures:
    """The values of a column, as a sample tells. `prefixes`: how many beginnings of so many
    characters its texts have; empty for other types.
    """

    name: str
    distinct: int
    prefixes: Mapping[int, int] = field(default_factory=dict)

    @property
    def usual_prefix(self) -> int:
        """How many characters a condition on the beginning probably gives: the log does not
        tell. The fewest that leave out most of the rows.
        """
        enough = [length for length, count in sorted(self.prefixes.items()) if count >= 8]
        return enough[0] if enough else max(self.prefixes, default=1)


@dataclass(frozen=True)
class PatternFigures:
    """What reads of one pattern cost now, on average over sampled values."""

    pattern: ReadPattern
    reads: int
    files: float
    needed: float  # bytes of the needed columns, without row groups that are skipped
    partitions: float  # of the table that are read
    batches: float  # of the table that are read
    needed_in_all: int  # bytes of the needed columns in the whole table

    @property
    def cost(self) -> float:
        return self.needed + OPEN_COST * self.files


@dataclass(frozen=True)
class TableFigures:
    """A table as it is. `batch_by` is what a layout of it is built by."""

    table: str
    files: int
    bytes: int
    rows: int
    partition_by: tuple[str, ...]
    sort_by: tuple[str, ...]
    partitions: int
    batch_by: tuple[str, ...]
    batches: int
    columns: Mapping[str, ValueFigures]  # of conditions, by name in lower case
    patterns: tuple[PatternFigures, ...]
    layouts_key: str = ""  # under which its pipeline declares layouts; empty without a pipeline

    @property
    def file_size(self) -> float:
        return self.bytes / max(self.files, 1)
