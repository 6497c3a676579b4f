"""What layouts need of a lake."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from lakebed.derived.checks import DeclaredLayouts
from lakebed.derived.identity import layouts_lease
from lakebed.names import TableName, new_run_id
from lakebed.ports import Compute, LakePorts
from lakebed.tables import HeldLease, LeaseWait, TableServices, hold_lease

_PATIENCE = 30.0  # seconds to wait for another process that changes layouts of the same table


class LayoutDeclarations(Protocol):
    """The layouts that pipelines declare for their tables."""

    def layouts(self) -> Mapping[TableName, DeclaredLayouts]:
        """Of all drafts; raises if one of them cannot be read."""
        ...


@dataclass(frozen=True)
class LayoutServices:
    """The services of tables, and what pipelines do for layouts."""

    tables: TableServices
    declarations: LayoutDeclarations

    @property
    def ports(self) -> LakePorts:
        return self.tables.ports

    def holding(self, name: str, *, wait: float = 0.0) -> AbstractContextManager[HeldLease]:
        """A lease of this name for the length of a block."""
        return hold_lease(
            self.ports.leases,
            name,
            holder=f"{self.ports.holder} (layouts)",
            limit=self.ports.settings.lease.limit_seconds,
            wait=LeaseWait(wait),
        )

    def changing_layouts(self, table: TableName) -> AbstractContextManager[HeldLease]:
        """The lease of whoever makes or drops layouts of a table; waits for another process that
        does.
        """
        return self.holding(layouts_lease(table), wait=_PATIENCE)


class LayoutSession:
    """A session of Spark that is opened when it is first needed."""

    def __init__(self, id_: str, open_: Callable[[str], Compute]) -> None:
        self.id, self._open = id_, open_
        self._compute: Compute | None = None

    @property
    def compute(self) -> Compute:
        if self._compute is None:
            self._compute = self._open(self.id)
        return self._compute

    def close(self) -> None:
        if self._compute:
            self._compute.close()
            self._compute = None


@contextmanager
def layout_session(services: LayoutServices) -> Iterator[LayoutSession]:
    """A session for the length of a block; its id is in every snapshot that it commits."""
    session = LayoutSession(new_run_id(), services.ports.sessions.open)
    try:
        yield session
    finally:
        session.close()
