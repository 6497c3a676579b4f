"""A small follower: copies the rows of all tables into one file, which also holds all it has seen.

It can be killed at any moment. What is in its file it relies on: those snapshots are protected.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lakebed.engines.iceberg import catalog_properties
from lakebed.names import TableName
from lakebed.tables import Follower, TableChange, TableState
from tests.support.benches import RealBench


@dataclass
class Copies:
    """What the file says: the tables as they were seen, and the rows of those that can be read."""

    states: list[TableState] = field(default_factory=list)
    rows: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> "Copies":
        if not file.exists():
            return cls()
        found = json.loads(file.read_text())
        return cls([_state(one) for one in found["states"]], found["rows"])

    def store(self, file: Path) -> None:
        """In one step: whoever is killed leaves the former file or this one."""
        new = file.with_suffix(".new")
        new.write_text(json.dumps(asdict(self)))
        os.replace(new, file)

    @property
    def held(self) -> list[TableState]:
        """The states whose snapshots are relied on."""
        return [state for state in self.states if not state.dropped]

    def tables(self) -> dict[TableName, list[int]]:
        return {state.table: self.rows[state.uuid] for state in self.held}


def _state(found: dict[str, Any]) -> TableState:
    return TableState(**found | {"table": TableName(**found["table"])})


class Mirror:
    """One life of the follower. `reached` is told of every point at which it may die."""

    def __init__(
        self, bench: RealBench, file: Path, *, reached: Callable[[str], None] = lambda _: None
    ) -> None:
        self._bench, self._file, self._reached = bench, file, reached
        self._follower = Follower(
            "mirror",
            catalog=bench.catalog,
            events=bench.events,
            records=bench.records,
            leases=bench.leases,
        )

    def step(self) -> bool:
        """One look, with all that follows from it; returns whether there was anything to do."""
        copies = Copies.load(self._file)
        look = self._follower.look(copies.states)
        self._reached("looked")
        for change in look.changes:
            self._handle(change, copies)
        self._follower.release(but=copies.held)
        self._reached("released")
        self._follower.acknowledge(look)
        self._reached("acknowledged")
        return bool(look.changes or look.events)

    def _handle(self, change: TableChange, copies: Copies) -> None:
        before, now = change.before, change.now
        rows = None
        if now and not now.dropped and not {"amended", "renamed"}.issuperset(change.kinds):
            rows = self._copied(now)
            if rows is None:
                return  # it changed again: the next look finds it
        if before:
            copies.states.remove(before)
        if now:
            copies.states.append(now)
        if before and (now is None or now.dropped):
            copies.rows.pop(before.uuid, None)
        elif now and rows is not None:
            copies.rows[now.uuid] = rows
        copies.store(self._file)
        self._reached("stored")

    def _copied(self, state: TableState) -> list[int] | None:
        if not self._follower.protect(state):
            return None
        self._reached("protected")
        if state.snapshot is None:
            return []
        table = self._opened(state.location)
        if table is None:
            return None
        # From here on nothing may be missing.
        rows = table.scan(snapshot_id=state.snapshot).to_arrow()["id"].to_pylist()
        self._reached("read")
        return sorted(rows)

    def _opened(self, location: str) -> Any:
        """The table by its metadata file; None if the file is gone, for the table has newer ones."""
        from pyiceberg.table import StaticTable

        properties = catalog_properties(self._bench.settings, self._bench.root)
        try:
            return StaticTable.from_metadata(location, properties)
        except OSError:
            return None


def follow(pipe: Connection, bench: RealBench, file: Path) -> None:
    """Follows until somebody kills it; tells if something went wrong."""
    mirror = Mirror(bench, file)
    pipe.send("ready")
    try:
        while True:
            if not mirror.step():
                time.sleep(0.02)
    except Exception as error:  # the test shows it
        pipe.send(f"{type(error).__name__}: {error}")
