"""What the lake's pipelines declare about tables, for rooms that pipelines are built on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.names import TableName

if TYPE_CHECKING:
    from lakebed.derived.checks import DeclaredLayouts
    from lakebed.pipelines import Pipelines, RunServices
    from lakebed.tables.migration.plan import DeclaredPartitions


@dataclass(frozen=True)
class LakeDeclarations:
    """The `TableDeclarations` and `LayoutDeclarations` of a lake. Drafts are read at every call."""

    services: "Callable[[], RunServices]"

    @property
    def _pipelines(self) -> "Pipelines":
        from lakebed.pipelines import Pipelines

        return Pipelines(self.services())

    def keys_of(self, table: TableName) -> tuple[str, ...]:
        """The columns by which a table's pipeline identifies rows."""
        return self._pipelines.keys_of(table)

    def partitions_of(self, table: TableName) -> "tuple[DeclaredPartitions, ...]":
        """How a table's draft declares its partitioning, then its newest release if it differs."""
        return self._pipelines.partitions_of(table)

    def layouts(self) -> "Mapping[TableName, DeclaredLayouts]":
        """The layouts that drafts declare for their tables."""
        return self._pipelines.layouts()
