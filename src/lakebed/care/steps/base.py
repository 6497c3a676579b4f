"""What every step of care says: what it does, to what, how much there is, and why it is due."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.care.spec import Action
from lakebed.names import TableName


@dataclass(frozen=True, kw_only=True)
class BaseCareStep:
    """One thing that is due, for a table or for the lake."""

    table: TableName | None = None
    why: str = ""

    @property
    def action(self) -> Action:
        raise NotImplementedError

    @property
    def subject(self) -> str:
        return str(self.table) if self.table else "lake"

    @property
    def counts(self) -> Mapping[str, int]:
        return {}

    @property
    def size(self) -> int:
        """Bytes that the step frees or rewrites."""
        return 0
