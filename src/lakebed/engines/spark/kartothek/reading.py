"""A planned query as a Spark frame: executors read the partitions."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from lakebed.engines.arrow import as_storable, storable_schema, table_type
from lakebed.kartothek import ReadPlan
from lakebed.kartothek.reading.data_files import read_partition
from lakebed.names import spark_identifier
from lakebed.ports.files.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TASKS = 200


def spark_frame(
    session: "SparkSession", open_location: Callable[[], Files], plan: ReadPlan
) -> "DataFrame":
    """The rows of a plan with Spark's types; unsigned 64-bit integers are decimals.

    Files are read when the frame is: garbage collection may remove them before, if it does not
    keep them long enough.
    """
    import pyarrow as pa

    fields = [pa.field(name, plan.schema.field(name).type) for name in plan.columns]
    schema = storable_schema(pa.schema(fields), {})
    types = ", ".join(f"{spark_identifier(one.name)} {table_type(one.type)}" for one in schema)
    parts, table, columns, own = plan.partitions, plan.table, plan.columns, plan.schema

    def read(batches: Iterable[Any]) -> Iterable[Any]:
        files = open_location()
        for number in (one for batch in batches for one in batch.column(0).to_pylist()):
            rows = read_partition(files, parts[number], table=table, schema=own, columns=columns)
            yield from as_storable(rows.to_batches(), schema)

    tasks = max(1, min(len(parts), _TASKS))
    numbers = session.range(0, len(parts), 1, tasks)
    return numbers.mapInArrow(read, types)
