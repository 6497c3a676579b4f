"""Several runs requested at once, and their options."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

from lakebed.names import TableName
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.pin_inputs import Specs
from lakebed.pipelines.services import RunServices
from lakebed.tables import HeldLease, LeaseWait, hold_lease, run_holder


@dataclass(frozen=True)
class Build:
    """Several runs requested at once."""

    specs: Specs
    services: RunServices
    options: RunOptions
    sleep: Callable[[float], None] = time.sleep

    def interrupt(self) -> None:
        """Ask active runs to end, and cancel what they compute."""
        self.options.stop.set()
        self.services.ports.sessions.cancel()


def hold_table(build: Build, table: TableName, run_id: str) -> AbstractContextManager[HeldLease]:
    """The lease under which a run works."""
    services, options = build.services, build.options
    limit = services.ports.settings.lease.limit_seconds
    waiting = LeaseWait(
        options.request.wait, options.stop, partial(options.listener.on_wait, table)
    )
    return hold_lease(
        services.ports.leases,
        str(table),
        holder=run_holder(run_id, services.ports.holder),
        limit=limit,
        wait=waiting,
    )
