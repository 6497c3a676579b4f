"""Estimates and warnings before anything is read: from sizes and formats alone. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lakebed.batches.finding import FoundBatch
from lakebed.sizes import format_size

_MIB, _GIB = 1024**2, 1024**3
LARGE_BATCH = _GIB
MANY_FILES_A_BATCH = 1_000
MANY_FILES = 10_000
SMALL_FILE = 100 * _MIB
MANY_FILES_A_VALUE = 1_000
MANY_VALUES = 1_000
DEEPEST = 4
TARGET_FILE = 512 * _MIB  # what Iceberg aims at
GOOD_FILE = (256 * _MIB, _GIB)
ROW_GROUP = 128 * _MIB  # of a table without a sort order
# Bytes in memory, and in Parquet, for each byte of a source file.
_IN_MEMORY = {"json": 1.5, "csv": 2.0, "parquet": 4.0}
_IN_PARQUET = {"json": 0.15, "csv": 0.3, "parquet": 1.0}
_PACKED = 8.0  # text that gzip packs into one byte
# What Spark's driver keeps of a file while it is read: its path and status, several times over.
# Rows take no more memory if there are more of them: they are streamed, and sorted on disk.
_OF_A_FILE = 64 * 1024
_FEWEST_AT_ONCE = 1_000
_FEWEST_IN_BATCH = 10


@dataclass(frozen=True)
class Estimate:
    """What a batch will take, before it is read."""

    memory: int
    output: int


@dataclass(frozen=True)
class TableShape:
    """What a table will look like on disk, as far as paths tell."""

    partition_keys: tuple[str, ...]
    leaves: int  # combinations of values of the partition keys that occur in paths
    values: tuple[tuple[str, int], ...] = ()  # how many each key has, where paths tell
    output: int = 0

    @property
    def files(self) -> int:
        """Data files: at least one for each combination of values."""
        return max(self.leaves, -(-self.output // TARGET_FILE))

    @property
    def file_size(self) -> int:
        return self.output // max(self.files, 1)


def estimate(batch: FoundBatch, format_: str, *, packed: bool = False) -> Estimate:
    """The memory that rows of a batch take, and the size of its data files."""
    size = batch.bytes * (_PACKED if packed else 1.0)
    return Estimate(int(size * _IN_MEMORY[format_]), int(size * _IN_PARQUET[format_]))


def files_at_once(memory: int) -> int:
    """How many files a driver with this much memory is given at once; the files of a larger batch
    are read in parts.
    """
    return max(_FEWEST_AT_ONCE, memory // _OF_A_FILE)


def is_large(batch: FoundBatch, expected: Estimate) -> bool:
    """Whether a batch is warned about."""
    return max(expected.memory, batch.bytes) > LARGE_BATCH or batch.files > MANY_FILES_A_BATCH


def batch_warnings(
    batch: FoundBatch, expected: Estimate, *, keys: Sequence[str], distinct: Mapping[str, int]
) -> Iterator[str]:
    """Why a batch may be too large; names a key that would divide it. `distinct` says how many
    values the other names of the pattern have in it.
    """
    finer = _finer(batch, keys, distinct)
    if max(expected.memory, batch.bytes) > LARGE_BATCH:
        yield (
            f"batch {batch.label} is estimated at {format_size(max(expected.memory, batch.bytes))};"
            f" the threshold is {format_size(LARGE_BATCH)}. {finer}"
        )
    if batch.files > MANY_FILES_A_BATCH:
        many = f"more than {MANY_FILES_A_BATCH:,} are slow"
        yield f"batch {batch.label} has {batch.files:,} files; {many}. {finer}"


def _finer(batch: FoundBatch, keys: Sequence[str], distinct: Mapping[str, int]) -> str:
    """Advice on finer batches: the coarsest key that suffices, else the finest there is."""
    several = sorted(
        (count, name)
        for name, count in distinct.items()
        if count > 1 and _worth_a_batch(batch.files // count, batch.bytes // count)
    )
    if not several:
        return "No other value in the paths divides it well: put one there, such as the month."
    enough = [
        name
        for count, name in several
        if batch.bytes / count <= LARGE_BATCH and batch.files / count <= MANY_FILES_A_BATCH
    ]
    chosen = enough[0] if enough else several[-1][1]
    return f"Consider finer batch_partition_columns: [{', '.join((*keys, chosen))}]."


def _worth_a_batch(files: int, size: int) -> bool:
    """Whether so much is better read by itself: a batch costs some seconds, whatever it holds."""
    return files >= _FEWEST_IN_BATCH or size >= SMALL_FILE


def table_warnings(shape: TableShape) -> Iterator[str]:
    """Why a table may be slow to read."""
    if shape.files > MANY_FILES:
        yield f"the table will have about {shape.files:,} files; more than {MANY_FILES:,} are slow."
    if shape.files > 1 and shape.file_size < SMALL_FILE:
        yield (
            f"files will have about {format_size(shape.file_size)} on average; aim at"
            f" {format_size(GOOD_FILE[0])} to {format_size(GOOD_FILE[1])}: partition by fewer"
            " columns."
        )
    if len(shape.partition_keys) > DEEPEST:
        yield (
            f"the table has {len(shape.partition_keys)} levels of partitions; 2 to 4 are enough."
            " Other columns are as well found by sort_by, with small row groups."
        )
    counts = dict(shape.values)
    for name in shape.partition_keys[:-1]:
        if counts.get(name, 0) > MANY_VALUES:
            yield (
                f"{name} has {counts[name]:,} values and is not the last level; more than"
                f" {MANY_VALUES:,} belong on the last."
            )
    yield from _crowded(shape)


def row_group_advice(shape: TableShape, *, is_sorted: bool) -> Iterator[str]:
    """What would make single rows in large files quickly found."""
    if shape.file_size > ROW_GROUP and not is_sorted:
        yield (
            f"files of about {format_size(shape.file_size)} have row groups of 128 MiB, which are"
            " read as a whole: with sort_by they have 1 MiB, and a filter on the first column reads"
            " few"
        )


def _crowded(shape: TableShape) -> Iterator[str]:
    for name, count in shape.values:
        if count and shape.files / count > MANY_FILES_A_VALUE:
            yield (
                f"each value of {name} will have about {shape.files // count:,} files; more than"
                f" {MANY_FILES_A_VALUE:,} are slow."
            )
