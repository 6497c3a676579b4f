"""Three readers of one table: Spark, DuckDB through `lake.query`, PyIceberg."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakebed.app import Lake
from lakebed.names import TableName
from tests.query.matrix import ODD, TYPES, Predicate, canonical

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.schema import Schema

TABLE = TableName("shop", "silver", "every-type")
_CHUNK = 40  # columns for which Spark generates code; without, it tells 0.0 and -0.0 apart

Row = dict[str, Any]


@dataclass
class Trio:
    """One table of a lake, three ways to its rows."""

    lake: Lake
    table: TableName = TABLE

    def make(self, columns: "Schema | None" = None) -> None:
        self.lake.stores.catalog.create_namespace(self.table.namespace, self.table.layer)
        self.lake.iceberg.create_table(
            self.table.parts, columns or schema(), location=self.lake.root.at(self.table.folder)
        )

    @property
    def iceberg(self) -> Any:
        return self.lake.iceberg.load_table(self.table.parts)

    def append(self, rows: Sequence[Row]) -> None:
        table = self.iceberg
        table.append(arrow(rows, table.schema()))

    def by_spark(self, at: int | None = None) -> list[Row]:
        version = f" VERSION AS OF {at}" if at else ""
        found = self.lake.spark.sql(
            f"SELECT * FROM {self.table.spark}{version} ORDER BY id"
        ).toArrow()
        return read(found)

    def by_duckdb(self, at: int | None = None) -> list[Row]:
        return read(
            self.lake.query(f"SELECT * FROM {self.table.duckdb} ORDER BY id", at=at).to_arrow()
        )

    def by_pyiceberg(self, at: int | None = None) -> list[Row]:
        return read(self.iceberg.scan(snapshot_id=at).to_arrow().sort_by("id"))

    # -- predicates: the ids of the rows that fulfil each

    def fulfilled_in_spark(self, predicates: Sequence[Predicate]) -> list[list[int]]:
        answers: list[list[int]] = []
        for start in range(0, len(predicates), _CHUNK):
            chunk = predicates[start : start + _CHUNK]
            asked = ", ".join(f"({one.spark}) AS p{number}" for number, one in enumerate(chunk))
            found = (
                self.lake.spark.sql(f"SELECT id, {asked} FROM {self.table.spark} ORDER BY id")
                .toArrow()
                .to_pylist()
            )
            answers += [
                [row["id"] for row in found if row[f"p{number}"]] for number in range(len(chunk))
            ]
        return answers

    def fulfilled_in_duckdb(self, predicates: Iterable[Predicate]) -> list[list[int]]:
        return [
            [
                row[0]
                for row in self.lake.query(
                    f"SELECT id FROM {self.table.duckdb} WHERE {one.duckdb} ORDER BY id"
                )
            ]
            for one in predicates
        ]

    def fulfilled_in_pyiceberg(self, predicates: Iterable[Predicate]) -> list[list[int] | None]:
        """None where PyIceberg has no such predicate."""
        table = self.iceberg
        answers: list[list[int] | None] = []
        for one in predicates:
            condition = expression(one)
            found = (
                None
                if condition is None
                else table.scan(row_filter=condition, selected_fields=("id",)).to_arrow()
            )
            answers.append(None if found is None else sorted(found["id"].to_pylist()))
        return answers


def schema(types: Mapping[str, tuple[str, list[Any]]] = TYPES) -> "Schema":
    """The table's columns, as PyIceberg has them; it numbers them itself."""
    from pyiceberg import types as of
    from pyiceberg.schema import Schema

    def struct(**fields: Any) -> Any:
        return of.StructType(
            *(
                of.NestedField(100 + number, name, kind)
                for number, (name, kind) in enumerate(fields.items())
            )
        )

    plain = {
        "boolean": of.BooleanType(), "int": of.IntegerType(), "long": of.LongType(), "float": of.FloatType(),
        "double": of.DoubleType(), "date": of.DateType(), "timestamp": of.TimestampType(), "timestamptz": of.TimestamptzType(),
        "string": of.StringType(), "uuid": of.UUIDType(), "fixed[4]": of.FixedType(4), "binary": of.BinaryType(),
        "decimal(9, 2)": of.DecimalType(9, 2), "decimal(18, 4)": of.DecimalType(18, 4), "decimal(38, 10)": of.DecimalType(38, 10),
        "list<int>": of.ListType(200, of.IntegerType(), False),
        "list<struct<a: int, b: string>>": of.ListType(201, struct(a=of.IntegerType(), b=of.StringType()), False),
        "map<string, int>": of.MapType(202, of.StringType(), 203, of.IntegerType(), False),
        "map<string, struct<x: int>>": of.MapType(204, of.StringType(), 205, struct(x=of.IntegerType()), False),
        "struct<a: int, b: string, c: struct<d: double>>": struct(
            a=of.IntegerType(), b=of.StringType(), c=struct(d=of.DoubleType())
        ),
        ODD["odd st"][0]: struct(**{"a": of.IntegerType(), "in-ner": struct(**{"d.d": of.DoubleType()})}),
        ODD["ol"][0]: of.ListType(206, struct(**{"1a": of.IntegerType(), "b b": of.StringType()}), False),
        ODD["om"][0]: of.MapType(
            207, of.StringType(), 208, struct(**{"x$": of.ListType(209, struct(**{"y€": of.IntegerType()}), False)}), False
        ),
    }  # fmt: skip
    columns = {"id": of.LongType()} | {name: plain[kind] for name, (kind, _) in types.items()}
    return Schema(
        *(
            of.NestedField(number, name, kind)
            for number, (name, kind) in enumerate(columns.items(), 1)
        )
    )


def arrow(rows: Sequence[Row], schema: "Schema") -> "pa.Table":
    """Rows as PyIceberg writes them."""
    import pyarrow as pa
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    fields = schema_to_pyarrow(schema)
    columns = []
    for field in fields:
        values = [_stored(row.get(field.name)) for row in rows]
        if isinstance(field.type, pa.ExtensionType):
            columns.append(
                pa.ExtensionArray.from_storage(
                    field.type, pa.array(values, field.type.storage_type)
                )
            )
        else:
            columns.append(pa.array(values, field.type))
    return pa.Table.from_arrays(columns, schema=fields)


def _stored(value: Any) -> Any:
    return value.bytes if isinstance(value, UUID) else value


def read(table: "pa.Table") -> list[Row]:
    """Rows in a form that all three share."""
    return [{name: _uuid(name, value) for name, value in row.items()} for row in table.to_pylist()]


def _uuid(name: str, value: Any) -> Any:
    """A uuid is text to Spark, sixteen bytes to some."""
    if name == "u" and value is not None:
        return str(UUID(bytes=value) if isinstance(value, bytes) else value)
    return canonical(value)


def expression(predicate: Predicate) -> Any:
    """The predicate in PyIceberg's words, or None."""
    from pyiceberg import expressions

    of: Any = expressions  # its classes take more arguments than the type checker sees
    kinds = {
        "=": of.EqualTo, "!=": of.NotEqualTo, "<": of.LessThan, "<=": of.LessThanOrEqual, ">": of.GreaterThan,
        ">=": of.GreaterThanOrEqual,
    }  # fmt: skip
    column, values = predicate.column, predicate.values
    match predicate.op:
        case "is null":
            return of.IsNull(column)
        case "not null":
            return of.NotNull(column)
        case "in":
            return of.In(column, set(values))
        case "not in":
            return of.NotIn(column, set(values))
        case "between":
            return of.And(
                of.GreaterThanOrEqual(column, values[0]), of.LessThanOrEqual(column, values[1])
            )
        case "like":
            return of.StartsWith(column, values[0].removesuffix("%"))
    return kinds[predicate.op](column, values[0])
