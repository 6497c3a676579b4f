"""Random queries while tables and their layouts change at random: with layouts every answer is what
it is without.
"""

from pathlib import Path

import pytest

from tests.query.layouts.fuzzed_lake import FuzzedLake
from tests.query.query_writer import QueryWriter
from tests.support.scale import SCALE, fuzz_seed

# Queries that read a layout, for each of four seeds: 500 in all, 10,000 in `make test-long`.
COMPARED = 125 if SCALE == 1 else 250 * SCALE
PER_STATE = 12  # queries between two changes


class LayoutWriter(QueryWriter):
    """Random queries, with more of those whose answer does not depend on the order of rows."""

    def any(self) -> str:
        """A query that DuckDB 1.5 answers rightly over its own tables, too: in a column of NULLs
        it finds nothing for `x IS DISTINCT FROM 1 OR x < 1`.
        """
        found = self._any()
        while "IS DISTINCT FROM" in found and (" OR " in found or "NOT (" in found):
            found = self._any()
        return found

    def _any(self) -> str:
        match self.chance.randrange(10):
            case 0 | 1:
                return self.query()
            case 2 | 3:
                return self.join()
            case 4:
                return self.outer()
            case 5:
                return self.odd()
            case 6:
                return self.shaped()
            case 7:
                return self.united()
            case 8:
                return self.ranked()
        return self.nested()

    def united(self) -> str:
        how = self.chance.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT ALL", "EXCEPT"))
        one, other = self.condition(""), self.condition("")
        return f"SELECT id, s FROM {{a}} WHERE {one} {how} SELECT id, s FROM {{b}} WHERE {other}"

    def ranked(self) -> str:
        shown = self.chance.choice(
            (
                "rank() OVER (PARTITION BY s ORDER BY n)",
                "sum(n) OVER (PARTITION BY day)",
                "dense_rank() OVER (ORDER BY id DESC NULLS LAST)",
                "count(*) OVER (PARTITION BY flag, s)",
            )
        )
        return f"SELECT id, x, {shown} FROM {{a}} WHERE {self.condition('')}"

    def nested(self) -> str:
        outer, inner = self.condition("t.", depth=1), self.condition("u.", depth=1)
        return self.chance.choice(
            (
                f"SELECT * FROM {{a}} t WHERE {outer} AND EXISTS (SELECT 1 FROM {{b}} u WHERE"
                f" u.id = t.id AND {inner})",
                f"SELECT t.id, (SELECT count(*) FROM {{b}} u WHERE u.n = t.n AND {inner}) FROM"
                f" {{a}} t WHERE {outer}",
                f"SELECT s, n, count(*), max(m) FROM {{a}} t WHERE {outer} GROUP BY ROLLUP (s, n)"
                " HAVING count(*) > 1",
            )
        )


@pytest.mark.parametrize("seed", range(4))
def test_layouts_change_no_answer(tmp_path: Path, seed: int) -> None:
    writer = LayoutWriter(fuzz_seed(seed))
    fuzzed = FuzzedLake(tmp_path / "lake", writer.chance.randrange(1 << 30))
    compared = asked = 0
    while compared < COMPARED and asked < 40 * COMPARED:
        if asked and asked % PER_STATE == 0:
            fuzzed.change()
        sql = fuzzed.spelt(writer.any())
        asked += 1
        compared += fuzzed.compare(fuzzed.forced(sql) if writer.chance.random() < 0.7 else sql)
    fuzzed.close()
    assert compared == COMPARED, (asked, fuzzed.done)
