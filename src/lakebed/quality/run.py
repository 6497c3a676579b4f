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
    """Run the gate; a gate that cannot be run has not passed."""
    began = time.monotonic()
    query = queries.query(gate.name)
    try:
        count = queries.bad_rows(gate.name, compute=compute)
        rows = [] if count == 0 else compute.rows(query, limit=SAMPLE + 1)
        if count is None:
            count = len(rows) if len(rows) <= SAMPLE else _count(query, compute)
        error = ""
    except LakebedError as failure:
        rows, count, error = [], 0, str(failure.what)
    return Verdict(
        gate.name,
        gate.severity,
        passed=count == 0 and not error,
        bad_rows=count,
        sample=tuple(_shown(row) for row in rows[:SAMPLE]),
        seconds=round(time.monotonic() - began, 3),
        description=gate.description,
        remediation=gate.remediation,
        tags=gate.tags,
        error=error,
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
