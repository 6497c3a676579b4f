"""Quality: gates that must pass before a table is published."""

from lakebed.quality.run import SAMPLE, judge
from lakebed.quality.spec import ColumnSpec, Gate, column_gates, read_gate

__all__ = ["SAMPLE", "ColumnSpec", "Gate", "column_gates", "judge", "read_gate"]
