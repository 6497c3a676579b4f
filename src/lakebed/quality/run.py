"""Running a gate, and its verdict."""

import time
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from lakebed.errors import LakebedError
from lakebed.ports import Compute, Verdict
from lakebed.quality.shared_scans import GateQueries
from lakebed.quality.spec import Gate

SAMPLE = 20  # bad rows that are kept
_LONGEST = 200  # characters of a cell that are kept


def run_gate(gate: Gate, queries: GateQueries, *, compute: Compute) -> Verdict:
    """Run the gate. Raises if it cannot be run: nothing is known about the rows then."""
    began = time.monotonic()
    query = queries.query(gate.name)
    count = queries.bad_rows(gate.name, compute=compute)
    rows = [] if count == 0 else compute.rows(query, limit=SAMPLE + 1)
    if count is None:
        count = len(rows) if len(rows) <= SAMPLE else _count(query, compute)
    return Verdict(
        gate.name,
        gate.severity,
        passed=count == 0,
        bad_rows=count,
        sample=tuple(_shown(row) for row in rows[:SAMPLE]),
        seconds=round(time.monotonic() - began, 3),
        description=gate.description,
        remediation=gate.remediation,
        tags=gate.tags,
    )


def could_not_run(gate: Gate, error: LakebedError) -> Verdict:
    """What is kept of a gate that could not be run. It blocks, even if the gate would only warn."""
    return Verdict(
        gate.name,
        gate.severity,
        passed=False,
        bad_rows=0,
        description=gate.description,
        remediation=gate.remediation,
        tags=gate.tags,
        error=f"could not run: {error.what}",
    )


def _count(query: str, compute: Compute) -> int:
    (counted,) = compute.rows(f"SELECT count(*) AS bad FROM ({query}\n)", limit=1)
    return int(counted["bad"])


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _cell(value) for name, value in row.items()}


def _cell(value: Any) -> Any:
    """A value for JSON; long texts are cut."""
    if value is None or isinstance(value, bool | int | float):
        return value
    spelt = value.isoformat(" ") if isinstance(value, datetime) else str(value)
    if isinstance(value, date | Decimal):
        return spelt
    return spelt if len(spelt) <= _LONGEST else spelt[:_LONGEST] + "…"
