"""How a staged batch matches its table: queries that count the matches, and the error for duplicate
keys. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lakebed.errors import BadBatch
from lakebed.names import spark_identifier
from lakebed.tables.merging.merge import is_late, same_key
from lakebed.tables.merging.strategies import Incremental, SoftDelete, Strategy

EXAMPLES = 5


def match_check_query(
    strategy: Strategy, *, target: str, staged: str, repeats: bool = True
) -> str | None:
    """A query of one row about arriving keys that the table has: `doubled` have several valid rows
    there, `late` have a newer row there, and `gone` are the late ones that have no valid row.

    None for a strategy that allows several rows per key. If no key of the batch repeats,
    `repeats=False` saves a GROUP BY.
    """
    if not strategy.one_row_per_key:
        return None
    return (
        "SELECT count_if(rows > 1) AS doubled, count_if(is_late) AS late, count_if(is_late AND"
        f" rows = 0) AS gone\nFROM ({_met(strategy, target, staged, repeats=repeats)})"
    )


def merge_shows_duplicates(strategy: Strategy) -> bool:
    """Whether the counts of a MERGE show that an arriving key has several rows in the table.

    So it is where each arriving row, whose key does not repeat, is inserted or updates all rows of
    its key: then nothing needs to be counted before.
    """
    return isinstance(strategy, Incremental | SoftDelete) and not strategy.order


def matched_once(counts: Mapping[str, int], *, arrived: int) -> bool:
    """Whether a MERGE inserted or updated exactly one row for each one that arrived.

    False if its counts are not known.
    """
    known = "inserted" in counts and "updated" in counts
    return known and counts["inserted"] + counts["updated"] == arrived


def duplicate_keys_query(
    strategy: Strategy, *, target: str, staged: str, repeats: bool = True
) -> str:
    """A query for some of the `doubled` keys: `example` (the key as JSON) and in how many
    `rows`.
    """
    met = _met(strategy, target, staged, repeats=repeats)
    return (
        f"SELECT to_json(key) AS example, rows FROM ({met}) WHERE rows > 1 ORDER BY rows DESC,"
        f" example LIMIT {EXAMPLES}"
    )


def refuse_duplicate_keys(
    strategy: Strategy, count: int, examples: Sequence[Mapping[str, Any]], *, table: str
) -> None:
    """Raise because arriving keys have several rows in the table: it is unknown which of them to
    update.
    """
    named = ", ".join(f"{example['example']} ({example['rows']}×)" for example in examples)
    which = "open versions" if strategy.valid_to else "rows"
    raise BadBatch(
        f"{count} arriving {'key occurs' if count == 1 else 'keys occur'} in several {which} of the"
        f" table already ({', '.join(strategy.keys)}): {named}. {strategy.strategy} keeps one.",
        where=table,
        safe="The table is unchanged.",
        next=(
            "Remove the surplus rows, choose a unique_key that tells them apart, rebuild the table"
            " (--full-refresh), or use delete_insert, which replaces all rows of a key."
        ),
    )


def _met(strategy: Strategy, target: str, staged: str, *, repeats: bool) -> str:
    """A query: for each arriving key in the table, how many `rows` are valid, and whether one is
    newer.
    """
    keys, order = _listed(strategy.keys), strategy.order
    newest = spark_identifier(order) if order else ""
    arriving = f"SELECT {', '.join(filter(None, (keys, newest)))} FROM {staged}"
    if order and repeats:
        arriving = f"SELECT {keys}, max({newest}) AS {newest} FROM {staged} GROUP BY {keys}"
    is_open = f"t.{spark_identifier(strategy.valid_to)} IS NULL" if strategy.valid_to else "TRUE"
    asked = (
        same_key(strategy.keys) if order else f"{same_key(strategy.keys)} AND {is_open}"
    )  # closed versions may be newer
    any_late = f"bool_or({is_late(order, 't', 's')})" if order else "FALSE"
    return (
        f"SELECT struct({_listed(strategy.keys, 's.')}) AS key, count_if({is_open}) AS rows,"
        f" {any_late} AS is_late\nFROM {target} t JOIN ({arriving}) s ON {asked} GROUP BY"
        f" {_listed(strategy.keys, 's.')}"
    )


def _listed(names: Sequence[str], prefix: str = "") -> str:
    return ", ".join(prefix + spark_identifier(name) for name in names)
