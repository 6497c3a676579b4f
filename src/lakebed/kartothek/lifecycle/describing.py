"""What a dataset is: its tables, keys, indices and size, from the state alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import LakebedError
from lakebed.kartothek.format.names import MetadataFormat
from lakebed.kartothek.lifecycle.deleting import datasets
from lakebed.kartothek.reading.states import load_schema, load_stored
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class DatasetSummary:
    """A dataset in a list; `error` says why it cannot be read."""

    dataset: str
    partitions: int = 0
    tables: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    indices: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class DatasetDescription:
    """A dataset: `columns` are name and type of each column of each table."""

    dataset: str
    location: str
    format: MetadataFormat
    partitions: int
    partition_keys: tuple[str, ...]
    indices: tuple[str, ...]
    tables: Mapping[str, tuple[tuple[str, str], ...]]
    metadata: Mapping[str, str]


def list_datasets(files: Files) -> tuple[DatasetSummary, ...]:
    """The datasets in a location; one that cannot be read is listed with its error."""
    return tuple(_summary(files, name) for name in datasets(files))


def describe_dataset(files: Files, uuid: str) -> DatasetDescription:
    """One dataset."""
    stored = load_stored(files, uuid)
    state = stored.state
    schemas = {table: load_schema(files, state, table) for table in state.tables}
    return DatasetDescription(
        uuid,
        files.where,
        stored.format,
        len(state.partitions),
        state.partition_keys,
        state.indexed,
        {
            name: tuple((one.name, str(one.type)) for one in found)
            for name, found in schemas.items()
        },
        state.metadata,
    )


def _summary(files: Files, name: str) -> DatasetSummary:
    try:
        state = load_stored(files, name).state
    except LakebedError as error:
        return DatasetSummary(name, error=error.what)
    return DatasetSummary(
        name, len(state.partitions), state.tables, state.partition_keys, state.indexed
    )
