"""Spark behind the port `LandingReader`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lakebed.engines.spark.failures import answering
from lakebed.engines.spark.frame_columns import conform, union
from lakebed.engines.spark.landing.check import (
    check_files,
    corrupt_records,
    infer_files,
    two_spellings,
)
from lakebed.engines.spark.landing.observe import can_observe, read_observed
from lakebed.engines.spark.landing.reader import (
    keep_cores_busy,
    read_group,
    with_path,
    with_path_field,
)
from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup, FileRows, ObservedRows, UnreadableFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkLandingReader:
    """Reads landing files in one session."""

    def __init__(self, session: "SparkSession") -> None:
        self._spark = session
        # With pruning on, Spark counts rows of a CSV file without noticing the broken ones.
        session.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")

    def infer(self, group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
        with answering():
            return infer_files(self._spark, group)

    def check(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | UnreadableFiles:
        with answering():
            keep_cores_busy(self._spark, groups)
            return check_files(self._spark, groups)

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        with answering():
            return corrupt_records(self._spark, groups)

    def two_spellings(self, groups: Sequence[FileGroup], column: str) -> tuple[str, str] | None:
        with answering():
            return two_spellings(self._spark, groups, column)

    def read(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> "DataFrame":
        with answering():
            keep_cores_busy(self._spark, groups)
            if groups:
                return union([self._group(group, fields, path_column) for group in groups])
            columns = ", ".join(
                f"CAST(NULL AS {field.type}) AS {spark_identifier(field.name)}"
                for field in with_path_field(fields, path_column)
            )
            return self._spark.sql(f"SELECT {columns} WHERE 1 = 0")

    @property
    def observes(self) -> bool:
        return can_observe(self._spark)

    def read_observed(
        self, groups: Sequence[FileGroup], fields: Sequence[Field], *, path_column: str = ""
    ) -> ObservedRows:
        with answering():
            keep_cores_busy(self._spark, groups)
            return read_observed(self._spark, groups, fields, path_column=path_column)

    def _group(self, group: FileGroup, fields: Sequence[Field], path_column: str) -> "DataFrame":
        rows = with_path(read_group(self._spark, group), path_column)
        return conform(rows, with_path_field(fields, path_column))
