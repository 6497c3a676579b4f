"""The keys of a staged batch: queries that check them, the errors, and the counts of a write.

Pure.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lakebed.errors import BadBatch, near, suggestion
from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.ports import Snapshot as TableSnapshot
from lakebed.tables.merging.row_equality import comparable, find_column, holds_map, other_columns
from lakebed.tables.merging.strategies import Strategy

EXAMPLES = 5
TABLE_UNCHANGED = "The table is unchanged."

_NEXT = {
    "null_keys": (
        "Leave such rows out in the query (WHERE {key} IS NOT NULL), or choose another unique_key."
    ),
    "repeated": (
        "Set watermark_column, so that the newest row of a key wins, or keep one row per key in the"
        " query."
    ),
    "tied": (
        "Choose a watermark_column that tells them apart, or keep one row per key in the query."
    ),
}
_MERGED = "spark.merge-into.num-target-rows-"
_WRITTEN = {"inserted": "added-records", "deleted": "deleted-records"}


def require_strategy_columns(strategy: Strategy, columns: Sequence[Field], *, table: str) -> None:
    """Raise for a result without the columns that its strategy needs, or with columns that the
    strategy adds.
    """
    wanted = {
        "unique_key": strategy.keys,
        "watermark_column": (strategy.order,),
        "partition_column": (strategy.partition,),
    }
    for setting, name in (
        (setting, name) for setting, names in wanted.items() for name in names if name
    ):
        found = find_column(name, columns)
        if not found:
            what = f"{setting} names the column {name!r}, and the result has no such column."
            raise _refused(table, what, suggestion(near(name, (column.name for column in columns))))
        if holds_map(found.type):
            what = (
                f"{setting} names the column {name!r}, which is {found.type}: maps can be neither"
                " compared nor sorted."
            )
            raise _refused(table, what, "Choose another column.")
    for name, _ in strategy.own_columns:
        if find_column(name, columns):
            what = f"the result has a column {name!r}, which {strategy.strategy} adds itself."
            raise _refused(table, what, "Leave it out of the query, or rename it there.")


def key_check_query(strategy: Strategy, *, staged: str) -> str | None:
    """A query of one row: `rows`, `null_keys` (rows), and, for strategies with one row per key,
    `keys` and `repeated`.

    None for a strategy without keys. Sorting takes 0.6 of the time of grouping at a million keys.
    """
    if not strategy.keys:
        return None
    keys = _listed(strategy.keys)
    if not strategy.one_row_per_key:  # the staged table's metadata answers this one
        return f"SELECT count(*) AS rows, count(*) - count({keys}) AS null_keys FROM {staged}"
    return (
        "SELECT count(*) AS rows, count_if(is_null) AS null_keys, count_if(nth = 1 AND NOT"
        " is_null) AS keys, count_if(nth = 2 AND NOT is_null) AS repeated\nFROM (SELECT"
        f" {_any_null(strategy)} AS is_null, row_number() OVER (PARTITION BY {keys} ORDER BY"
        f" {keys}) AS nth\nFROM {staged})"
    )


def tie_check_query(
    strategy: Strategy, counts: Mapping[str, int], *, staged: str, columns: Sequence[Field]
) -> str | None:
    """A query of one row, `tied`: how many keys have newest rows that are equally new and differ.

    None if none can.
    """
    if not (strategy.order and counts.get("repeated") and _telling(strategy, columns)):
        return None
    return f"SELECT count(*) AS tied FROM ({_tied_keys(strategy, staged=staged, columns=columns)})"


def violations(strategy: Strategy, counts: Mapping[str, int]) -> dict[str, int]:
    """The counts for which a batch is refused; empty if it is valid."""
    kinds = ("null_keys", "tied") if strategy.order else ("null_keys", "repeated")
    return {kind: counts[kind] for kind in kinds if counts.get(kind)}


def offending_keys_query(
    strategy: Strategy,
    counts: Mapping[str, int],
    *,
    staged: str,
    columns: Sequence[Field],
    limit: int = EXAMPLES,
) -> str:
    """A query for some keys of each violation: `offence`, `example` (the key as JSON) and in how
    many `rows`.
    """
    keys, is_null = (
        f"SELECT struct({_listed(strategy.keys)}) AS key FROM {staged}",
        _any_null(strategy),
    )
    groups = {
        "null_keys": f"SELECT key, count(*) AS rows FROM ({keys} WHERE {is_null}) GROUP BY key",
        "repeated": (
            f"SELECT key, count(*) AS rows FROM ({keys} WHERE NOT ({is_null})) GROUP BY key HAVING"
            " rows > 1"
        ),
        "tied": _tied_keys(strategy, staged=staged, columns=columns),
    }
    example = "to_json(key, map('ignoreNullFields', 'false')) AS example"
    return "\nUNION ALL ".join(
        f"(SELECT '{kind}' AS offence, {example}, rows FROM ({groups[kind]}) ORDER BY rows DESC,"
        f" example LIMIT {limit})"
        for kind in violations(strategy, counts)
    )


def require_valid_keys(
    strategy: Strategy,
    counts: Mapping[str, int],
    examples: Sequence[Mapping[str, Any]],
    *,
    table: str,
) -> None:
    """Raise for a batch with violations, naming some of its keys."""
    if found := violations(strategy, counts):
        what = " ".join(
            _sentence(kind, count, strategy, _named(examples, kind))
            for kind, count in found.items()
        )
        raise _refused(
            table, what, " ".join(_NEXT[kind].format(key=strategy.keys[0]) for kind in found)
        )


def row_counts(
    strategy: Strategy,
    summary: Mapping[str, str],
    *,
    staged_rows: int,
    distinct_keys: int | None,
    met: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """Rows `inserted`, `updated` and `deleted`, from the summary of the snapshot that a run wrote.

    For soft_delete, `deleted` are the rows marked. For scd2, `updated` are the versions closed, and
    `unchanged` the arriving keys with the values that the table has. `late` are keys whose row in
    the table is newer, as the match check counted them in `met`. `superseded` rows lost to a newer
    one of their batch. Unknown counts are left out.
    """
    superseded = (
        {"superseded": staged_rows - distinct_keys}
        if strategy.order and distinct_keys is not None
        else {}
    )
    if f"{_MERGED}inserted" not in summary:
        return {word: int(summary.get(key, 0)) for word, key in _WRITTEN.items()} | superseded
    done = merge_counts(strategy, summary)
    if distinct_keys is None or not met or len(done) < len(strategy.merge_metrics):
        return done | superseded
    late = {"late": met["late"]} if strategy.order else {}
    known = distinct_keys - done["inserted"] - met["late"]
    if strategy.valid_to:
        reopened = met["gone"] if strategy.absence_matters else 0
        return done | {"unchanged": known + reopened} | late | superseded
    return (
        done | {"updated": known} | late | superseded
    )  # a late row that was only unmarked does not count as updated


def merge_counts(strategy: Strategy, summary: Mapping[str, str]) -> dict[str, int]:
    """The rows that a MERGE changed, by the summary of its snapshot; unknown counts are left
    out.
    """
    metrics = strategy.merge_metrics
    counted = {word: int(summary.get(_MERGED + key, -1)) for word, key in metrics.items()}
    # Spark writes -1 where it does not know
    return {word: count for word, count in counted.items() if count >= 0}


def statement_counts(kind: str, made: TableSnapshot, *, before: int) -> dict[str, int]:
    """Counts of a manual statement.

    For an UPDATE no engine says how many rows changed, only how many were rewritten.
    """
    summary, added = made.summary, made.count("added-records") or 0
    merged = {
        word: int(summary[_MERGED + word])
        for word in ("inserted", "updated", "deleted")
        if _MERGED + word in summary
    }
    deleted = {} if made.rows is None else {"deleted": before - made.rows}
    counts = {"insert": {"inserted": added}, "delete": deleted, "update": {"rewritten": added}}
    return counts.get(kind, merged) | ({} if made.rows is None else {"total": made.rows})


def _refused(table: str, what: str, next: str) -> BadBatch:
    return BadBatch(what, where=table, safe=TABLE_UNCHANGED, next=next)


def _sentence(kind: str, count: int, strategy: Strategy, named: str) -> str:
    key, keys = ", ".join(strategy.keys), "key occurs" if count == 1 else "keys occur"
    return {
        "null_keys": (
            f"{count} {'row has' if count == 1 else 'rows have'} NULL in unique_key ({key}){named}."
        ),
        "repeated": (
            f"{count} {keys} in more than one row, and nothing says which is the newest"
            f" ({key}){named}."
        ),
        "tied": (
            f"{count} {keys} in rows that differ and are equally new by {strategy.order}"
            f" ({key}){named}."
        ),
    }[kind]


def _named(examples: Sequence[Mapping[str, Any]], kind: str) -> str:
    shown = [
        f"{example['example']} ({example['rows']}×)"
        for example in examples
        if example["offence"] == kind
    ]
    return f": {', '.join(shown)}" if shown else ""


def _telling(strategy: Strategy, columns: Sequence[Field]) -> tuple[Field, ...]:
    """The columns in which equally new rows of one key can differ."""
    return other_columns(columns, (*strategy.keys, strategy.order))


def _tied_keys(strategy: Strategy, *, staged: str, columns: Sequence[Field]) -> str:
    """A query, in one pass: the keys whose newest rows differ, and how many such rows each has."""
    values = ", ".join(
        comparable(spark_identifier(c.name), c.type) for c in _telling(strategy, columns)
    )
    order = f"ORDER BY {spark_identifier(strategy.order or '')} DESC NULLS LAST"
    by_age, as_new = (
        f"PARTITION BY {_listed(strategy.keys)} {order}",
        "RANGE BETWEEN CURRENT ROW AND CURRENT ROW",
    )
    return (
        f"SELECT key, rows FROM (SELECT struct({_listed(strategy.keys)}) AS key, row_number() OVER"
        f" ({by_age}) AS nth, count(*) OVER ({by_age} {as_new}) AS rows, min(struct({values})) OVER"
        f" ({by_age} {as_new}) AS lowest, max(struct({values})) OVER ({by_age} {as_new}) AS"
        f" highest\nFROM {staged} WHERE NOT ({_any_null(strategy)})) WHERE nth = 1 AND NOT (lowest"
        " <=> highest)"
    )


def _any_null(strategy: Strategy) -> str:
    return " OR ".join(f"{spark_identifier(key)} IS NULL" for key in strategy.keys)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(spark_identifier, names))
