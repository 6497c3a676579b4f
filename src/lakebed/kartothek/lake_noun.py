"""`lake.kartothek`: also exchanges rows between tables and datasets."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from lakebed.errors import UnknownName
from lakebed.kartothek.exchange.executors import Executors
from lakebed.kartothek.exchange.exporting import ExportResult, export_table
from lakebed.kartothek.exchange.layout import ExportOptions
from lakebed.kartothek.exchange.rows import DatasetRows
from lakebed.kartothek.exchange.source import TableSource
from lakebed.kartothek.exchange.table_rows import table_writer
from lakebed.kartothek.format.column_types import StringProfile
from lakebed.kartothek.noun import DatasetQuery, Datasets
from lakebed.kartothek.reading.read import ReadPlan, plan_read
from lakebed.kartothek.writing.partition_files import PartitionSpec
from lakebed.kartothek.writing.rows import WriteRows, WrittenRows, write_rows
from lakebed.ports import RunRecord
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class LakeExchange:
    """What an exchange needs of a lake: tables to export, under protection, `lake.write`, and
    Spark's executors.
    """

    source: Callable[[str, str], AbstractContextManager[TableSource]]
    write: Callable[..., RunRecord]
    executors: Executors


class LakeDatasets(Datasets):
    """Kartothek datasets by their addresses, and the exchange with the lake's tables."""

    def __init__(
        self,
        open_location: Callable[[str], Files],
        run: Callable[[DatasetQuery], Any],
        exchange: LakeExchange,
    ) -> None:
        super().__init__(open_location, run)
        self._exchange = exchange

    def export_table(
        self,
        table: str,
        dataset: str,
        *,
        partition_by: Sequence[str] | None = None,
        index: Sequence[str] | None = None,
        string_profile: str = StringProfile.LARGE_STRING,
        anew: bool = False,
    ) -> ExportResult:
        """Bring a dataset to the present snapshot of a table; rows are always copied.

        After the first export only files of the table that came or went are written. The
        exported snapshot is protected from expiry until the next export. `anew` replaces all rows
        of a dataset, whoever wrote them. Spark's executors write more than 64 MiB.
        """
        if string_profile not in list(StringProfile):
            raise UnknownName("string profile", string_profile, list(StringProfile))
        options = ExportOptions(
            None if partition_by is None else tuple(partition_by),
            None if index is None else tuple(index),
            StringProfile(string_profile),
            anew,
        )
        files, uuid = self._found(dataset)
        with self._exchange.source(table, f"kartothek {files.where}/{uuid}") as source:
            write = table_writer(self._opener(files), self._exchange.executors)
            return export_table(files, uuid, source, options, write=write)

    def frame(
        self,
        dataset: str,
        *,
        table: str | None = None,
        columns: Sequence[str] | None = None,
        predicates: Any = None,
        at: str | None = None,
    ) -> Any:
        """The rows that satisfy the predicates, as a Spark frame whose executors read the files."""
        files, uuid = self._found(dataset)
        plan = plan_read(files, uuid, table=table, columns=columns, predicates=predicates, at=at)
        return self._exchange.executors.read(self._opener(files), plan)

    def import_dataset(
        self,
        dataset: str,
        table: str,
        *,
        mode: str = "append",
        key: str | Sequence[str] = (),
        order: str | None = None,
        where: str | None = None,
        on_schema_change: str = "fail",
        gates: bool = True,
        dataset_table: str | None = None,
        columns: Sequence[str] | None = None,
        predicates: Any = None,
    ) -> RunRecord:
        """Write the rows of a dataset to a table as `lake.write` does: on a branch, published once
        the gates pass.
        """
        files, uuid = self._found(dataset)
        plan = plan_read(files, uuid, table=dataset_table, columns=columns, predicates=predicates)
        return self._exchange.write(
            table,
            self._rows(files, plan),
            mode=mode,
            key=key,
            order=order,
            where=where,
            on_schema_change=on_schema_change,
            gates=gates,
        )

    def _rows(self, files: Files, plan: ReadPlan) -> Any:
        """The rows of a plan, read by executors; a column without a type needs the table's."""
        if any(pa.types.is_null(plan.schema.field(name).type) for name in plan.columns):
            return DatasetRows(files, plan)
        found = self._exchange.executors.read(self._opener(files), plan)
        return found.hint("rebalance")  # many small partitions become few files of the table

    def _writer(self, files: Files, rows: Any) -> WriteRows:
        executors = self._exchange.executors
        if not executors.has(rows):
            return write_rows

        def write(
            files: Files,
            spec: PartitionSpec,
            rows: Any,
            *,
            table: str,
            fields: Mapping[str, Any] | None,
        ) -> WrittenRows:
            opener = self._opener(files)
            return executors.write_frame(rows, opener, spec, table=table, fields=fields)

        return write

    def _opener(self, files: Files) -> Callable[[], Files]:
        return partial(self._open, files.address)
