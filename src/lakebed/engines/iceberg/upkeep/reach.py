"""Reach, with PyIceberg loaded when it is first asked: most commands never ask."""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from lakebed.ports import ForeignTable, Pointer, ReachableFile

if TYPE_CHECKING:
    from lakebed.engines.iceberg.upkeep.reaching import IcebergReach


class LazyReach:
    """Follows metadata to files."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = properties

    @cached_property
    def _reach(self) -> "IcebergReach":
        from lakebed.engines.iceberg.upkeep.reaching import IcebergReach

        return IcebergReach(self._properties)

    def files(self, pointer: Pointer | ForeignTable, *, snapshots: Collection[int] | None = None) -> Iterator[ReachableFile]:
        return self._reach.files(pointer, snapshots=snapshots)
