"""Statements made from attacks and honest queries by cutting, joining and wrapping; and the process
in which they are tried.
"""

import json
import random
import re
import resource
import sys
import threading
from typing import Any

from tests.query.attacks import ATTACKS, HONEST, SECRET, SIZES

_PIECES = re.compile(r"'[^']*'|\"[^\"]*\"|\w+|\s+|[^\w\s]")
_WRAPS = [
    "SELECT * FROM ({0}) x",
    "WITH a AS ({0}) SELECT * FROM a",
    "WITH RECURSIVE a AS (SELECT 1 UNION ALL {0}) FROM a LIMIT 5",
    "({0})",
    "{0} UNION ALL SELECT 1",
    "SELECT 1 WHERE EXISTS ({0})",
    "SELECT ({0})",
    "SELECT list_transform([1], x -> ({0}))",
    "{0};",
    "{0} -- ",
    "/* {0} */ SELECT 1",
    "SELECT 1 /* ' */ , ({0}) -- '",
    "FROM (FROM ({0}))",
    "SELECT $${0}$$",
    "{0} LIMIT 3",
    "EXPLAIN {0}",
    "PIVOT ({0}) ON 1 USING count(*)",
]
_BITS = [
    " ", "\n", "\t", "\u00a0", "\u200b", "\ufeff", "\0", "é", "\U0001f600", "'", '"', "`", ";", "--", "/*", "*/", "$$", "(", ")",
    "[", "]", "{", "}", ",", ".", ":", "::", "?", "$1", "@", "#1", "\\", "%", "=>", ":=", "->",
    "'{secret}'", "'{lake}/lakebed.yaml'",
    "'{lake}/.data/lake.db'", "read_text('{secret}')", "glob('{lake}/**')", "query('FROM read_csv(''{secret}'')')",
    "getenv('HOME')", "COPY (SELECT 1) TO '{out}/x'", "orders", "shop.silver.orders", "NULL", "1e400", "-1", "0x", "DISTINCT",
    "LATERAL", "AT (VERSION => 1)", "COLUMNS(*)", "OVER ()", "FILTER (WHERE true)", "INTERVAL 1 DAY", "e'\\''", "U&'\\0041'",
]  # fmt: skip


def statements(count: int, *, seed: int) -> list[str]:
    """So many statements, the same ones for the same seed."""
    chance = random.Random(seed)
    seeds = [*ATTACKS, *HONEST, *SIZES[:2]]
    return [_made(chance, seeds) for _ in range(count)]


def _made(chance: random.Random, seeds: list[str]) -> str:
    text = chance.choice(seeds)
    for _ in range(chance.randint(1, 4)):
        text = chance.choice((_wrapped, _spliced, _cut, _doubled, _inserted, _cased, _swapped))(
            chance, text, seeds
        )
    return text[:30_000]


def _wrapped(chance: random.Random, text: str, seeds: list[str]) -> str:
    return chance.choice(_WRAPS).replace("{0}", text)


def _spliced(chance: random.Random, text: str, seeds: list[str]) -> str:
    ours, theirs = _PIECES.findall(text), _PIECES.findall(chance.choice(seeds))
    return "".join(ours[: chance.randint(0, len(ours))] + theirs[chance.randint(0, len(theirs)) :])


def _cut(chance: random.Random, text: str, seeds: list[str]) -> str:
    pieces = _PIECES.findall(text)
    if pieces:
        del pieces[chance.randrange(len(pieces))]
    return "".join(pieces)


def _doubled(chance: random.Random, text: str, seeds: list[str]) -> str:
    pieces = _PIECES.findall(text)
    if pieces:
        at = chance.randrange(len(pieces))
        pieces.insert(at, pieces[at])
    return "".join(pieces)


def _inserted(chance: random.Random, text: str, seeds: list[str]) -> str:
    pieces = _PIECES.findall(text)
    pieces.insert(chance.randint(0, len(pieces)), chance.choice(_BITS))
    return "".join(pieces)


def _cased(chance: random.Random, text: str, seeds: list[str]) -> str:
    return chance.choice((text.upper, text.lower, text.swapcase))()


def _swapped(chance: random.Random, text: str, seeds: list[str]) -> str:
    """A table, or whatever follows FROM, in exchange for something else."""
    return re.sub(
        r"(?i)(from\s+)[\w.\"]+", lambda found: found[1] + chance.choice(_BITS), text, count=1
    )


def main() -> None:
    """Try each statement of the job: what the walls say, and what a locked connection does with it
    although they said no.
    """
    job: dict[str, Any] = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for sql in job["statements"]:
        sys.stdout.write(json.dumps(_tried(job["ground"], sql)) + "\n")
        sys.stdout.flush()


def _tried(ground: dict[str, Any], sql: str) -> dict[str, Any]:
    from lakebed.engines.duckdb.untrusted.child import locked
    from lakebed.errors import BadQuery
    from lakebed.query.guard.duckdb_guard import check_duckdb_tree
    from lakebed.query.guard.statement_guard import check_untrusted

    told: dict[str, Any] = {"guard": True, "look": True, "ran": "", "leaked": False}
    tables = [tuple(parts) for parts in ground["tables"]]
    try:
        check_untrusted(sql, tables)
    except BadQuery:
        told["guard"] = False
    connection = locked(ground)
    try:
        row = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
        check_duckdb_tree(json.loads(row[0] if row else "{}"), tables)
    except BadQuery:
        told["look"] = False
    except Exception as error:  # text that is no text to DuckDB, such as half a character
        told["look"] = False
        told["ran"] = type(error).__name__
    timer = threading.Timer(1.0, connection.interrupt)
    timer.start()
    try:
        found = connection.execute(sql)
        told["leaked"] = SECRET in str(found.fetchmany(1000))
        told["ran"] = "ok"
    except Exception as error:
        told["ran"], told["leaked"] = type(error).__name__, SECRET in str(error)
    finally:
        timer.cancel()
        connection.close()
    return told


if __name__ == "__main__":
    main()
