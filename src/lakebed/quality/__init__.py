"""Quality: gates that must pass before a table is published."""

from lakebed.quality.run import SAMPLE, could_not_run, run_gate
from lakebed.quality.shared_scans import GateQueries
from lakebed.quality.spec import ColumnSpec, ColumnTests, Gate, column_gates, read_gate
from lakebed.quality.unique_integers import count_if_unique

__all__ = [
    "SAMPLE",
    "ColumnSpec",
    "ColumnTests",
    "Gate",
    "GateQueries",
    "column_gates",
    "could_not_run",
    "count_if_unique",
    "read_gate",
    "run_gate",
]
