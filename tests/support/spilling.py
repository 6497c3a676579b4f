"""A process that asks queries which do not fit into memory: `python -m tests.support.spilling
LAKE ROUNDS`.

Prints a line of JSON a query: what it answered, and the temporary files that were there meanwhile.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from lakebed.app import Lake, open_lake

ROWS = 400_000
MEMORY = "25MB"
_WIDE = "hash(i) AS h, hash(i + 1) AS a, hash(i + 2) AS b, (i % 1000)::DECIMAL(18, 2) AS c"
SORTED = f"SELECT i, {_WIDE} FROM range({ROWS}) AS t(i) ORDER BY h"
# With an inner LIMIT it is asked of another DuckDB of the same process.
SORTED_PART = (
    f"SELECT i, {_WIDE} FROM (SELECT i FROM range({ROWS}) AS t(i) LIMIT {ROWS}) ORDER BY h"
)


def temporary_files() -> list[Path]:
    """Whatever DuckDBs keep there just now."""
    return [path for path in Path(tempfile.gettempdir()).rglob("duckdb_temp*") if path.is_file()]


def answer(batches: Any) -> dict[str, Any]:
    """What a passage through the rows finds: any torn row shows in it."""
    rows, total, wrong, last, files = 0, 0, 0, -1, 0
    for batch in batches:
        files = max(files, len(temporary_files())) if not rows else files
        h = batch.column("h")
        rows += batch.num_rows
        total += pc.sum(batch.column("i")).as_py()
        wrong += pc.sum(pc.less(h[1:], h[:-1])).as_py() or 0
        wrong += int(h[0].as_py() < last)
        last = h[len(h) - 1].as_py()
    return {"rows": rows, "total": total, "wrong": wrong, "files": files}


def ask(lake: Lake, sql: str = SORTED) -> dict[str, Any]:
    with lake.query(sql) as result:
        return answer(result.to_arrow_batches(rows=50_000))


def main() -> None:
    with open_lake(Path(sys.argv[1])) as lake:
        for _ in range(int(sys.argv[2])):
            print(json.dumps(ask(lake)), flush=True)


if __name__ == "__main__":
    main()
