"""Where a new table is placed, and what it is created with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from lakebed.errors import NameTaken
from lakebed.names import TableName, require_no_collision
from lakebed.ports import UNPUBLISHED, LakePorts
from lakebed.settings import RestCatalog
from lakebed.tables.moved_lake import require_relocated
from lakebed.tables.statements import PARALLEL_READS, create_table, write_properties

USED_MARKER = (
    "_used"  # a file that stays when care clears a table's folder: the folder is not used again
)


@dataclass(frozen=True)
class TablePlacement:
    """Decides where a new table is placed and how it is written, from the lake's catalog, files and
    settings.
    """

    ports: LakePorts

    def require_relocated(self, *tables: TableName) -> None:
        """Raise for a lake that was copied and not relocated: its tables still point at the
        original's files. `tables` are about to be written to. Raise, too, if another database owns
        the lake.
        """
        ports = self.ports
        require_relocated(ports.catalog, ports.files, ports.root, tables)
        ports.require_owner()

    def new_location(self, table: TableName) -> str | None:
        """The location of a new table: its folder, or a new one if that folder was ever used.

        None for a REST catalog, which places tables itself.
        """
        require_no_collision(table, self.ports.catalog.pointers())
        self.require_no_view(table)
        self.ports.catalog.create_namespace(table.namespace, table.layer)
        if isinstance(self.ports.settings.catalog, RestCatalog):
            return None
        used = next(iter(self.ports.files.list(table.folder)), None) is not None
        return self.ports.root.at(table.fresh_folder(uuid4().hex) if used else table.folder)

    def require_no_view(self, table: TableName) -> None:
        """Raise if a view has this name: it must be dropped before a table can take the name."""
        if table in self.ports.catalog.views():
            raise NameTaken(
                f"{table} is a view.",
                where=str(table),
                next=f"Drop it first: lakebed table drop {table}",
            )

    def temporary_location(self, table: TableName) -> str | None:
        """The location of a hidden table that is removed after the run."""
        is_rest = isinstance(self.ports.settings.catalog, RestCatalog)
        return None if is_rest else self.ports.root.at(table.folder)

    def temporary_properties(self, *, bounds_of: str | None = None) -> Mapping[str, str]:
        """How the files of such a table are written: fast, because they are read twice and then
        removed. Only one column's bounds are kept.
        """
        bounds = {f"write.metadata.metrics.column.{bounds_of}": "full"} if bounds_of else {}
        return {
            "write.parquet.compression-codec": "uncompressed",
            "write.metadata.metrics.default": "counts",
            **PARALLEL_READS,
            **bounds,
        }

    def properties(self, table: TableName, *, is_sorted: bool = False) -> Mapping[str, str]:
        """How the files of a table are written."""
        return write_properties(self.ports.settings.write_for(table, is_sorted=is_sorted))

    def create_statement(
        self,
        table: TableName,
        columns: str,
        *,
        hidden: TableName | None = None,
        partition_by: Sequence[str] = (),
        is_sorted: bool = False,
    ) -> str:
        """CREATE TABLE at a table's own location, under its name, or under a hidden name until it
        is published.
        """
        return create_table(
            hidden or table,
            columns,
            location=self.new_location(table),
            properties={
                **self.properties(table, is_sorted=is_sorted),
                **({UNPUBLISHED: "true"} if hidden else {}),
            },
            partition_by=partition_by,
        )
