"""Predicates in DuckDB's SQL."""

from lakebed.engines.duckdb.sql.types import literal, text
from lakebed.names import duckdb_identifier
from lakebed.ports import Always, And, Comparison, In, IsNull, Not, Or, Predicate, StartsWith


def condition(predicate: Predicate) -> str:
    """The predicate as a condition that is true for the same rows."""
    match predicate:
        case Comparison(column, op, value):
            return f"{duckdb_identifier(column)} {op} {_literal(value)}"
        case IsNull(column, negated):
            return f"{duckdb_identifier(column)} IS {'NOT ' if negated else ''}NULL"
        case In(column, values, negated):
            return (
                f"{duckdb_identifier(column)} {'NOT ' if negated else ''}IN"
                f" ({', '.join(map(_literal, values))})"
            )
        case StartsWith(column, prefix, negated):
            return (
                f"{'NOT ' if negated else ''}starts_with({duckdb_identifier(column)},"
                f" {text(prefix)})"
            )
        case And(parts):
            return f"({' AND '.join(map(condition, parts))})" if parts else "true"
        case Or(parts):
            return f"({' OR '.join(map(condition, parts))})" if parts else "false"
        case Not(part):
            return f"(NOT {condition(part)})"
        case Always(yes):
            return str(yes).lower()


def _literal(value: object) -> str:
    return f"{literal(value)}::BLOB" if isinstance(value, bytes) else literal(value)
