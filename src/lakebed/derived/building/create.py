"""Making, changing and dropping the hidden tables of layouts, and listing them in their table."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lakebed.derived.building.columns import (
    SOURCE_COLUMNS,
    column_definitions,
    column_ids,
    same_type,
)
from lakebed.derived.building.services import LayoutServices, LayoutSession
from lakebed.derived.checks import require_possible
from lakebed.derived.identity import (
    DERIVED_TABLES,
    KIND,
    SPEC,
    layout_properties,
    listed_tables,
    listing,
    new_table_name,
)
from lakebed.derived.spec import LayoutSpec
from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.ports import SetProperties, TableMetadata
from lakebed.tables import create_table, order_statement, string_literal
from lakebed.work import retry

# One file is open at a time in each task, and rows of one partition are written by one task.
_WRITING = {"write.distribution-mode": "hash", "write.spark.fanout.enabled": "false"}
_DESCRIBED = (KIND, SPEC, SOURCE_COLUMNS)  # set last: before, the table is no layout


@dataclass(frozen=True)
class LayoutMaker:
    """Makes and drops layouts of one table."""

    services: LayoutServices
    session: LayoutSession
    table: TableName

    def create(
        self, spec: LayoutSpec, source: TableMetadata, *, replaces: TableName | None = None
    ) -> TableName:
        """Make a layout without rows. It is listed first: a crash leaves no hidden table that
        nobody knows of, and a name that has no table does no harm.
        """
        require_possible(spec, self.table, source)
        hidden = new_table_name(self.table, underscore=not self.services.ports.catalog.owns_files)
        self._list(lambda names: {*names, hidden})
        try:
            self._make(hidden, spec, source)
        except BaseException:
            self.services.ports.catalog.purge(hidden)  # no row of it was ever written
            self._list(lambda names: names - {hidden})
            raise
        if replaces:
            self.forget(replaces)
        return hidden

    def _make(self, hidden: TableName, spec: LayoutSpec, source: TableMetadata) -> None:
        placement = self.services.tables.placement
        told = layout_properties(spec, hidden, source.uuid)
        told[SOURCE_COLUMNS] = column_ids(source.columns)
        write = placement.properties(self.table, is_sorted=bool(spec.order))
        own = {key: value for key, value in told.items() if key not in _DESCRIBED}
        columns = column_definitions(source.columns)
        partitions = [field.spark for field in spec.fields]
        statement = create_table(
            hidden,
            columns,
            location=placement.new_location(hidden),
            properties={**write, **_WRITING, **own},
            partition_by=partitions,
        )
        execute = self.session.compute.execute
        execute(statement)
        self._require_same_types(hidden, source)
        if spec.order:
            execute(order_statement(hidden, spec.order))
        # Spark sets another distribution together with the order
        described = {key: told[key] for key in _DESCRIBED}
        execute(_set_properties(hidden, _WRITING | described))

    def _require_same_types(self, hidden: TableName, source: TableMetadata) -> None:
        """Some types of Iceberg are others in Spark: such a column would not be a copy."""
        made = {column.name: column.type for column in self._metadata(hidden).columns}
        for column in source.columns:
            if not same_type(made[column.name], column.type):
                raise UsageError(
                    f"Spark would store the column {column.name} of {self.table}, of Iceberg's type"
                    f" {column.type}, as {made[column.name]}.",
                    next="Tables with such columns have no layouts.",
                )

    def add_columns(self, hidden: TableName, source: TableMetadata) -> None:
        """Add the columns that the table has gained."""
        there = {column.name for column in self._metadata(hidden).columns}
        new = [column for column in source.columns if column.name not in there]
        if new:
            text = f"ALTER TABLE {hidden.spark} ADD COLUMNS ({column_definitions(new)})"
            self.session.compute.execute(text)
            self._require_same_types(hidden, source)
        known = {SOURCE_COLUMNS: column_ids(source.columns)}
        amend_properties(self.services, hidden, known)

    def forget(self, hidden: TableName) -> None:
        """Drop a layout. Readers may go on with its files until care removes them."""
        self._list(lambda names: names - {hidden})
        if hidden in self.services.ports.catalog.pointers([hidden]):
            self.services.ports.catalog.drop(hidden)

    def _list(self, change: Callable[[set[TableName]], Iterable[TableName]]) -> None:
        """Change the list of the table's layouts; names without a table go."""

        def attempt() -> None:
            _, pointer, metadata = self.services.tables.look_up(self.table)
            listed = set(listed_tables(metadata))
            there = set(self.services.ports.catalog.pointers(listed)) if listed else set()
            wanted = SetProperties({DERIVED_TABLES: listing([*change(there)])})
            self.services.ports.catalog.amend(self.table, [wanted], expected=pointer)

        retry(attempt, repeatable=False)

    def _metadata(self, hidden: TableName) -> TableMetadata:
        return self.services.tables.look_up(hidden)[2]


def amend_properties(
    services: LayoutServices, table: TableName, properties: dict[str, str | None] | dict[str, str]
) -> None:
    """Set properties of a table, whatever else has changed about it."""

    def attempt() -> None:
        _, pointer, _ = services.tables.look_up(table)
        services.ports.catalog.amend(table, [SetProperties(properties)], expected=pointer)

    retry(attempt, repeatable=False)


def _set_properties(table: TableName, properties: dict[str, str]) -> str:
    listed = ", ".join(
        f"{string_literal(key)} = {string_literal(value)}" for key, value in properties.items()
    )
    return f"ALTER TABLE {table.spark} SET TBLPROPERTIES ({listed})"
