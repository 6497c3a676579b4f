"""Conditions of a query as predicates that prune files. What is not certain is left out."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from lakebed.ports import And, Column, Comparison, In, IsNull, Or, Predicate, StartsWith
from lakebed.query.parsing.literals import EXACT, literal_of, parameter_for, value_for
from lakebed.query.parsing.parse_nodes import Condition, Json, TableRead, folded

_OPS: Mapping[str, Any] = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "!=",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
}
_MIRRORED: Mapping[str, Any] = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_NULLS = {"OPERATOR_IS_NULL": False, "OPERATOR_IS_NOT_NULL": True}
_PREFIXES = {"~~", "prefix", "starts_with", "^@"}

Find = Callable[[Sequence[str]], Column | None]  # the column of the table that a name means


def predicate_of(
    conditions: Iterable[Condition],
    find: Find,
    *,
    timezone: str,
    parameters: Mapping[str, object] | None = None,
) -> Predicate | None:
    """The conditions on one table's rows as a predicate, or a weaker one; None if there is none."""
    reading = _Translation(find, timezone, parameters or {})
    found = [(reading.of(condition.expression), condition.outer) for condition in conditions]
    parts = tuple(
        part for part, outer in found if part is not None and not (outer and fits_null(part))
    )
    if len(parts) > 1:
        return And(parts)
    return parts[0] if parts else None


def fits_null(predicate: Predicate) -> bool:
    """Whether a row of NULLs may fulfil a predicate."""
    match predicate:
        case IsNull(_, negated):
            return not negated
        case And(parts):
            return all(map(fits_null, parts))
        case Or(parts):
            return any(map(fits_null, parts))
    return False


class _Translation:
    """Translates expressions: each result is true whenever the expression is, or None."""

    def __init__(self, find: Find, timezone: str, parameters: Mapping[str, object]) -> None:
        self._find, self._timezone, self._parameters = find, timezone, parameters

    def of(self, expression: Json) -> Predicate | None:
        kind = expression["type"]
        if kind in _OPS:
            return self._compared(expression["left"], expression["right"], _OPS[kind])
        match kind:
            case "CONJUNCTION_AND":
                parts = tuple(part for child in expression["children"] if (part := self.of(child)))
                return And(parts) if parts else None
            case "CONJUNCTION_OR":
                either = [self.of(child) for child in expression["children"]]
                return Or(tuple(part for part in either if part)) if all(either) else None
            case "COMPARE_BETWEEN":
                return self._between(expression)
            case "COMPARE_IN" | "COMPARE_NOT_IN":
                return self._in(expression["children"], negated=kind == "COMPARE_NOT_IN")
            case "OPERATOR_IS_NULL" | "OPERATOR_IS_NOT_NULL":
                column = self._column(expression["children"][0])
                return IsNull(column.name, _NULLS[kind]) if column else None
            case "FUNCTION":
                return self._starts_with(expression)
        return None

    def _column(self, expression: Json) -> Column | None:
        return (
            self._find(expression["column_names"]) if expression["class"] == "COLUMN_REF" else None
        )

    def _value(self, expression: Json, column: Column) -> object | None:
        if expression["class"] == "PARAMETER":
            return parameter_for(self._parameters.get(expression["identifier"]), column.type)
        literal = literal_of(expression)
        return value_for(literal, column.type, timezone=self._timezone) if literal else None

    def _compared(self, left: Json, right: Json, op: Any) -> Predicate | None:
        if left["class"] != "COLUMN_REF":
            left, right, op = right, left, _MIRRORED[op]
        column = self._column(left)
        value = self._value(right, column) if column else None
        return Comparison(column.name, op, value) if column and value is not None else None

    def _between(self, expression: Json) -> Predicate | None:
        """Both bounds, or one: the value and both bounds are compared as one type, by one
        collation. So the bound that is not known may change what the other one means.
        """
        lower = self._compared(expression["input"], expression["lower"], ">=")
        upper = self._compared(expression["input"], expression["upper"], "<=")
        if lower and upper:
            return And((lower, upper))
        column = self._column(expression["input"])
        alone = lower or upper
        if column is None or not isinstance(alone, Comparison):
            return None
        return alone if self._keeps_its_meaning(alone.value) else None

    def _keeps_its_meaning(self, value: object) -> bool:
        """Whether comparing with this value gives the same for doubles and for times: if nothing is
        rounded, and no time zone turns times around.
        """
        match value:
            case bool():
                return False
            case float():
                return True
            case int():
                return abs(value) < EXACT
            case datetime():
                return self._timezone == "UTC"
            case date():
                return True
        return False

    def _in(self, children: Sequence[Json], *, negated: bool) -> Predicate | None:
        column = self._column(children[0])
        values = [self._value(child, column) for child in children[1:]] if column else []
        if column is None or not values or any(value is None for value in values):
            return None
        return In(column.name, tuple(values), negated)

    def _starts_with(self, expression: Json) -> Predicate | None:
        if (
            expression.get("function_name") not in _PREFIXES
            or len(expression["children"]) != 2
            or expression.get("schema")
        ):
            return None
        column = self._column(expression["children"][0])
        literal = literal_of(expression["children"][1])
        if (
            column is None
            or column.type != "string"
            or literal is None
            or literal.type != "VARCHAR"
            or literal.cast
        ):
            return None
        text = str(literal.value)
        if expression["function_name"] == "~~":
            text = text.replace("_", "%").split("%")[0]
        return StartsWith(column.name, text) if text else None


def finder(read: TableRead, columns: Mapping[int, Sequence[Column]]) -> Find:
    """Finds the column of a table that a name means.

    `columns` are those of all tables of the query, by place.
    """
    own = _by_name(columns[read.byte])

    def find(names: Sequence[str]) -> Column | None:
        parts = tuple(map(folded, names))
        if len(parts) == 1:
            return own.get(parts[0]) if _only_here(read, parts[0], columns) else None
        qualified = [source for source in read.scope if parts[:-1] in source.qualifiers]
        ours = len(qualified) == 1 and qualified[0].byte == read.byte and parts[0] not in own
        return own.get(parts[-1]) if ours else None

    return find


def _by_name(columns: Sequence[Column]) -> dict[str, Column | None]:
    """Columns by name; None for a name that two columns share."""
    count = Counter(folded(column.name) for column in columns)
    return {
        folded(column.name): column if count[folded(column.name)] == 1 else None
        for column in columns
    }


def _only_here(read: TableRead, name: str, columns: Mapping[int, Sequence[Column]]) -> bool:
    """Whether no other source of the FROM can have a column of this name."""
    for source in read.scope:
        if source.byte != read.byte:
            known = columns.get(source.byte) if source.byte is not None else None
            if known is None or any(folded(column.name) == name for column in known):
                return False
    return True
