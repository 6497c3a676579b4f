"""`lake.kartothek`: Kartothek datasets by their addresses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lakebed.kartothek.format.addresses import split_address
from lakebed.kartothek.format.names import DEFAULT_TABLE
from lakebed.kartothek.format.state import KEEP, DatasetState
from lakebed.kartothek.history.versions import DatasetVersion, days_text, versions
from lakebed.kartothek.lifecycle.describing import (
    DatasetDescription,
    DatasetSummary,
    describe_dataset,
    list_datasets,
)
from lakebed.kartothek.lifecycle.findings import DatasetFinding
from lakebed.kartothek.lifecycle.garbage import SAFE_AGE, collect_garbage
from lakebed.kartothek.lifecycle.verifying import verify
from lakebed.kartothek.reading.read import read_table
from lakebed.kartothek.writing.changing import update
from lakebed.kartothek.writing.creating import store
from lakebed.kartothek.writing.options import DEFAULTS, DatasetOptions
from lakebed.kartothek.writing.rows import WriteRows, write_rows
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class DatasetQuery:
    """SQL over one dataset, which has its own name in it."""

    files: Files
    dataset: str
    sql: str
    table: str | None = None
    limit: int | None = None
    at: str | None = None


class Datasets:
    """Kartothek datasets, each by its address LOCATION/DATASET; a location need not be in a lake.

    `lakebed.kartothek` has functions for everything else, which take the `Files` of a location.
    """

    def __init__(
        self, open_location: Callable[[str], Files], run: Callable[[DatasetQuery], Any]
    ) -> None:
        self._open, self._run = open_location, run

    def files(self, location: str) -> Files:
        """The files of a location: a folder, `s3://`, `az://` or `gs://`."""
        return self._open(location)

    def list(self, location: str) -> tuple[DatasetSummary, ...]:
        """The datasets in a location."""
        return list_datasets(self._open(location))

    def show(self, dataset: str) -> DatasetDescription:
        """A dataset's tables, columns, partition keys, indices and metadata."""
        return describe_dataset(*self._found(dataset))

    def verify(self, dataset: str, *, full: bool = False) -> tuple[DatasetFinding, ...]:
        """What is wrong with a dataset; `full` reads all values of indexed columns too."""
        return verify(*self._found(dataset), full=full)

    def gc(
        self, dataset: str, *, older_than: timedelta = SAFE_AGE, dry_run: bool = False
    ) -> tuple[str, ...]:
        """Remove files that the dataset does not need any more; returns their paths."""
        return collect_garbage(*self._found(dataset), older_than=older_than, dry_run=dry_run)

    def read(
        self,
        dataset: str,
        *,
        table: str | None = None,
        columns: Sequence[str] | None = None,
        predicates: Any = None,
        at: str | None = None,
    ) -> Any:
        """The rows that satisfy the predicates, as an Arrow table; `at` is a version or a time."""
        files, uuid = self._found(dataset)
        return read_table(files, uuid, table=table, columns=columns, predicates=predicates, at=at)

    def store(
        self,
        dataset: str,
        rows: Any,
        *,
        table: str = DEFAULT_TABLE,
        fields: Mapping[str, Any] | None = None,
        options: DatasetOptions = DEFAULTS,
        overwrite: bool = False,
    ) -> DatasetState:
        """A dataset with these rows: frames, Arrow batches, and in a lake also frames of Spark,
        whose executors write them. `lakebed.kartothek.store` says more.
        """
        files, uuid = self._found(dataset)
        return store(
            files,
            uuid,
            rows,
            table=table,
            fields=fields,
            options=options,
            overwrite=overwrite,
            write=self._writer(files, rows),
        )

    def update(
        self,
        dataset: str,
        rows: Any = (),
        *,
        delete_scope: Sequence[Mapping[str, Any]] = (),
        metadata: Mapping[str, str] | None = None,
        table: str | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> DatasetState:
        """Remove the rows of the scope and add these, in one commit; `rows` as for `store`."""
        files, uuid = self._found(dataset)
        return update(
            files,
            uuid,
            rows,
            delete_scope=delete_scope,
            metadata=metadata,
            table=table,
            fields=fields,
            write=self._writer(files, rows),
        )

    def versions(self, dataset: str) -> tuple[DatasetVersion, ...]:
        """The former states that the dataset keeps, and the current one last."""
        return versions(*self._found(dataset))

    def keep(self, dataset: str, *, days: float) -> None:
        """Keep former states from now on, until they have been superseded for so many days."""
        files, uuid = self._found(dataset)
        update(files, uuid, metadata={KEEP: days_text(days)})

    def query(
        self,
        dataset: str,
        sql: str,
        *,
        table: str | None = None,
        limit: int | None = None,
        at: str | None = None,
    ) -> Any:
        """Run SQL over a dataset where it is; the SQL names it as it is named.

        A condition on partition keys or indexed columns leaves out partitions.
        """
        files, uuid = self._found(dataset)
        return self._run(DatasetQuery(files, uuid, sql, table, limit, at))

    def _writer(self, files: Files, rows: Any) -> WriteRows:
        """What writes the data files of these rows."""
        return write_rows

    def _found(self, dataset: str) -> tuple[Files, str]:
        location, uuid = split_address(dataset)
        return self._open(location), uuid
