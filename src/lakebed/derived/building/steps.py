"""What a build of layouts does, as frozen steps, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from lakebed.batches.keys import KeyValues
from lakebed.derived.building.batches import BatchSize
from lakebed.derived.spec import LayoutSpec
from lakebed.names import TableName
from lakebed.work import Listener


@dataclass(frozen=True, kw_only=True)
class BaseLayoutStep:
    """A step for one layout of a table. `name` is the one that people use."""

    source: TableName
    name: str
    why: str = ""

    @property
    def subject(self) -> str:
        return f"{self.source} {self.name}"


@dataclass(frozen=True, kw_only=True)
class CreateLayout(BaseLayoutStep):
    """Make its hidden table, without any row; `replaces` one of the same name."""

    action: ClassVar[str] = "create layout"
    spec: LayoutSpec
    replaces: TableName | None = None


@dataclass(frozen=True, kw_only=True)
class ForgetLayout(BaseLayoutStep):
    """Drop a hidden table that is no longer needed; care removes its files."""

    action: ClassVar[str] = "forget layout"
    table: TableName


@dataclass(frozen=True, kw_only=True)
class AddColumns(BaseLayoutStep):
    """Add columns that its table has gained: no row has a value there."""

    action: ClassVar[str] = "add columns"
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ClearLayout(BaseLayoutStep):
    """Remove all rows, whoever wrote them."""

    action: ClassVar[str] = "clear layout"


@dataclass(frozen=True, kw_only=True)
class RemoveBatches(BaseLayoutStep):
    """Remove the rows of batches that the table no longer has."""

    action: ClassVar[str] = "remove batches"
    batches: tuple[tuple[str, KeyValues], ...]

    @property
    def subject(self) -> str:
        return f"{self.source} {self.name}: {_listed([label for label, _ in self.batches])}"


@dataclass(frozen=True, kw_only=True)
class BuildBatches(BaseLayoutStep):
    """Write the rows of some batches, in one commit that replaces what it had of them."""

    action: ClassVar[str] = "build batches"
    batches: tuple[BatchSize, ...]
    number: int = 1
    of: int = 1

    @property
    def bytes(self) -> int:
        return sum(batch.bytes for batch in self.batches)

    @property
    def files(self) -> int:
        return sum(batch.files for batch in self.batches)

    @property
    def subject(self) -> str:
        return f"{self.source} {self.name}: {_listed([batch.label for batch in self.batches])}"


@dataclass(frozen=True, kw_only=True)
class Restamp(BaseLayoutStep):
    """Say that batches which nobody has touched are those of the table's present snapshot, so that
    its earlier ones may expire. Changes metadata only.
    """

    action: ClassVar[str] = "stamp"
    snapshot: int


LayoutStep = (
    CreateLayout | ForgetLayout | AddColumns | ClearLayout | RemoveBatches | BuildBatches | Restamp
)


@dataclass(frozen=True)
class LayoutDone:
    """How a step ended."""

    built: int = 0  # batches
    files: int = 0
    bytes: int = 0
    skipped: tuple[str, ...] = ()  # batches that another process has built, or is building
    message: str = ""
    seconds: float = 0.0


LayoutListener = Listener[LayoutStep, LayoutDone]


@dataclass(frozen=True)
class LayoutBuild:
    """What a build did to one layout."""

    source: TableName
    name: str
    built: int = 0
    removed: int = 0
    skipped: int = 0
    files: int = 0  # that it read
    bytes: int = 0
    seconds: float = 0.0
    created: bool = False
    complete: bool = False  # it has exactly the rows of its table, as of `snapshot`
    snapshot: int | None = None
    warnings: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    error: str = ""

    @property
    def changed(self) -> bool:
        return bool(self.built or self.removed or self.created or self.error)


def _listed(labels: list[str]) -> str:
    first = labels[0] if labels else ""
    return (first or "all rows") + (f" … {labels[-1]}" if len(labels) > 1 else "")
