"""The conditions of reads, with values of sampled rows: the log does not tell theirs. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lakebed.ports import And, Comparison, IsNull, Predicate, StartsWith
from lakebed.query.advice.figures import ValueFigures
from lakebed.query.advice.sample import SampledRow
from lakebed.query.advice.workload import Comparing, ReadPattern


@dataclass(frozen=True)
class TypicalConditions:
    """What reads of a table may have asked."""

    columns: Mapping[str, ValueFigures]  # by name in lower case
    rows: Sequence[SampledRow]

    def predicates(
        self, pattern: ReadPattern, *, only: Collection[str] | None = None
    ) -> list[Predicate | None]:
        """The conditions of a pattern, once for each row; `only`: those on some columns."""
        conditions = [
            (name, how)
            for name, how in pattern.conditions
            if name in self.columns and (only is None or name in only)
        ]
        if not conditions or not self.rows:
            return [None]
        return [
            And(tuple(self._condition(name, how, row.get(name)) for name, how in conditions))
            for row in self.rows
        ]

    def _condition(self, name: str, how: Comparing, value: object) -> Predicate:
        column = self.columns[name]
        if value is None:
            return IsNull(column.name)
        if how == "prefix" and isinstance(value, str):
            return StartsWith(column.name, value[: column.usual_prefix])
        return Comparison(column.name, ">=" if how == "range" else "=", value)
