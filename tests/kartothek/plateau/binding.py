"""Lakebed's functions under the signatures that plateau's suites expect.

An adapter and nothing more: stores become `Files`, frames become Arrow, and Lakebed's errors get
the class and the words of plateau's, by one table.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import plateau.core._time
from plateau.core.dataset import DatasetMetadata
from plateau.core.utils import ensure_store
from plateau.io_components.metapartition import MetaPartition

from lakebed import kartothek
from lakebed.engines.files import FolderFiles
from lakebed.errors import LakebedError, UnknownName
from lakebed.kartothek.writing.frames import arrow_table

# What Lakebed says → the class and the words of plateau.
_ERRORS: list[tuple[str, type[Exception], str]] = [
    ("schema of the dataset", ValueError, "Schemas for dataset '{uuid}' are not compatible!"),
    ("there already is a dataset", RuntimeError, "Dataset already exists."),
    (
        r"'(\w+)' is a partition key and needs no index",
        RuntimeError,
        "Cannot create secondary index on partition columns: {{'{0}'}}",
    ),
    (
        "has rows without a value",
        ValueError,
        "Original dataframe size differs: partition_on on a column with null values.",
    ),
    ("has the partition keys", ValueError, "Incompatible set of partition keys encountered."),
    ("has no index on", ValueError, "Incorrect indices provided for dataset."),
    (r"there is no column '(\w+)'", RuntimeError, "Column `{0}` could not be found."),
    ("rows cannot be read", ValueError, "Unexpected type."),
]


@contextmanager
def plateau_errors(uuid: str | None) -> Iterator[None]:
    try:
        yield
    except LakebedError as error:
        for ours, kind, theirs in _ERRORS:
            if found := re.search(ours, str(error)):
                raise kind(theirs.format(*found.groups(), uuid=uuid)) from error
        raise


def files_of(store: Any) -> FolderFiles:
    return FolderFiles(Path(ensure_store(store).root))


def store_dataframes(
    dfs: Any,
    store: Any,
    dataset_uuid: str | None = None,
    metadata: dict[str, str] | None = None,
    partition_on: Any = None,
    secondary_indices: Any = None,
    overwrite: bool = False,
    table_name: str = "table",
    sort_partitions_by: Any = None,
    **_: Any,
) -> DatasetMetadata:
    options = kartothek.DatasetOptions(
        names(partition_on),
        names(secondary_indices),
        {"creation_time": now(), **(metadata or {})},
        sort_by=names(sort_partitions_by),
    )
    with plateau_errors(dataset_uuid):
        state = kartothek.store(
            files_of(store),
            dataset_uuid,
            plain(dfs),
            table=table_name,
            options=options,
            overwrite=overwrite,
        )
    return DatasetMetadata.load_from_store(state.uuid, ensure_store(store))


def update_dataset(
    df_list: Any,
    store: Any = None,
    dataset_uuid: str | None = None,
    delete_scope: Any = None,
    metadata: dict[str, str] | None = None,
    partition_on: Any = None,
    secondary_indices: Any = None,
    sort_partitions_by: Any = None,
    table_name: str | None = None,
    **_: Any,
) -> DatasetMetadata:
    assert dataset_uuid
    files = files_of(store)
    try:
        kartothek.load_state(files, dataset_uuid)
    except UnknownName:
        return store_dataframes(
            df_list,
            store,
            dataset_uuid,
            metadata,
            partition_on,
            secondary_indices,
            table_name=table_name or "table",
            sort_partitions_by=sort_partitions_by,
        )
    with plateau_errors(dataset_uuid):
        kartothek.update(
            files,
            dataset_uuid,
            plain(df_list),
            delete_scope=delete_scope or (),
            metadata=metadata,
            table=table_name,
            partition_keys=names(partition_on) or None,
            indexed=names(secondary_indices) or None,
            sort_by=names(sort_partitions_by),
        )
    return DatasetMetadata.load_from_store(dataset_uuid, ensure_store(store))


def load_dataframes(
    dataset_uuid: str | None = None,
    store: Any = None,
    factory: Any = None,
    columns: Any = None,
    predicates: Any = None,
    categoricals: Any = None,
    dates_as_object: bool = True,
    dispatch_by: Any = None,
    **_: Any,
) -> list[Any]:
    uuid = dataset_uuid or factory.dataset_uuid
    files = files_of(store or factory.store_factory)
    chosen = columns["table"] if isinstance(columns, dict) else columns
    with plateau_errors(uuid):
        if dispatch_by is None:
            plan = kartothek.plan_read(files, uuid, columns=chosen, predicates=predicates)
            tables = list(kartothek.read_partitions(files, plan))
        else:
            groups = kartothek.plan_groups(
                files, uuid, dispatch_by, columns=chosen, predicates=predicates
            )
            read = [list(kartothek.read_partitions(files, plan)) for _, plan in groups]
            tables = [joined(parts) for parts in read]
    return [
        kartothek.to_pandas(rows, dates_as_object=dates_as_object, categoricals=categoricals or ())
        for rows in tables
    ]


def load_table(**arguments: Any) -> list[Any]:
    """As the suites expect of a reader of one table: one frame for each row, or an empty one."""
    import pandas as pd

    arguments.pop("dispatch_by", None)
    frames = load_dataframes(**arguments)
    categoricals = arguments.get("categoricals") or ()
    whole = pd.concat(frames) if frames else pd.DataFrame()
    whole = whole.astype(dict.fromkeys(categoricals, "category"))
    return [whole.iloc[[row]] for row in range(len(whole))] or [whole]


def build_indices(store: Any, dataset_uuid: str, columns: Any) -> None:
    with plateau_errors(dataset_uuid):
        kartothek.build_indices(files_of(store), dataset_uuid, columns)


def delete_dataset(dataset_uuid: str, store: Any) -> None:
    kartothek.delete(files_of(store), dataset_uuid)


def garbage_collect(dataset_uuid: str, store: Any) -> None:
    kartothek.collect_garbage(files_of(store), dataset_uuid, older_than=timedelta(0))


def plain(frames: Any) -> Any:
    """Frames without plateau's wrapper."""
    if isinstance(frames, MetaPartition):
        return frames.data
    return [plain(one) for one in frames] if isinstance(frames, list) else frames


def joined(tables: list[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables(tables)


def names(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def now() -> str:
    """The time by plateau's clock, which its suites stop."""
    return str(plateau.core._time.datetime_utcnow().isoformat())


__all__ = [
    "arrow_table",
    "build_indices",
    "delete_dataset",
    "garbage_collect",
    "load_dataframes",
    "load_table",
    "store_dataframes",
    "update_dataset",
]
