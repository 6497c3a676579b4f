"""Random queries over two tables with the columns of `query_lakes`: conditions, joins, subqueries,
queries of WITH, pivots.
"""

import random

# Of each column, values that its rows have, and others: of other types, wide, with collations, at the
# ends of the calendar.
LITERALS = {
    "id": ["0", "15", "37", "-1", "99999999999", "15.5", "'15'"],
    "n": ["0", "2", "-3", "5", "3000000000"],
    "x": ["0", "1.5", "-2.25", "1e10", "'nan'::double", "'inf'::double", "2"],
    "m": ["0", "1.50", "-2.25", "3", "0.001", "12345678901"],
    "s": ["'a'", "'ab'", "''", "'é'", "'b'", "'A'", "'b' COLLATE NOCASE", "'B' COLLATE NOACCENT"],
    "day": [
        "DATE '2026-01-03'",
        "'2026-01-04'",
        "TIMESTAMP '2026-01-03 12:00:00'",
        "DATE '2026-01-01' + 2",
        "DATE '0001-01-01'",
        "'9999-12-31'",
    ],
    "at": [
        "TIMESTAMP '2026-01-03 05:00:00'",
        "DATE '2026-01-04'",
        "'2026-01-02 00:00:00'",
        "TIMESTAMP '9999-12-31 23:59:59.999999'",
        "DATE '0001-01-01'",
    ],
    "atz": [
        "TIMESTAMPTZ '2026-01-03 05:00:00+01'",
        "'2026-01-03 05:00:00Z'",
        "TIMESTAMP '2026-01-04 00:00:00'",
        "DATE '2026-01-02'",
        "TIMESTAMPTZ '9999-12-31 23:59:59.999999Z'",
        "TIMESTAMPTZ '9999-12-31 23:30:00-01'",
        "'0001-01-01 00:00:00+01'",
    ],
    "flag": ["true", "false"],
    "h": [
        "12345678901234567890123456789012345615",
        "12345678901234567890123456789012345637",
        "-12345678901234567890123456789012345637",
        "12345678901234567890123456789012345637.5",
        "99999999999999999999999999999999999999",
        "1e37",
        "7",
    ],
    "w": [
        "1234567890123456789012345678.9012345615",
        "1234567890123456789012345678.9012345637",
        "-1234567890123456789012345678.9012345637",
        "1234567890123456789012345678",
        "1234567890123456789012345678.90123456375",
        "12345678901234567890123456789",
        "1e27",
    ],
}
OPS = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM"]
JOINS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "ASOF JOIN"]


SHOWN = [
    "*",
    "*",
    "*, n AS id",
    "n AS id, *",
    "*, id AS id_1",
    "id, n, s, day, at",
    "n AS id, id AS n, s, x, m",
    "id, n, m, s, day, flag, n AS id, s AS n_1",
    "DISTINCT id, n, s, day",
    "DISTINCT ON (id, n, s) id, n, s",
    "id, n, s, row_number() OVER (PARTITION BY s ORDER BY id, n, x, m, day, at, atz, flag) AS m",
    "s, day, n, count(*) AS id, sum(m) AS m",
    "s, n, max(id) AS id",
    "unnest({{'id': n, 'k': 1}}) AS q, id, n, s",
    "id, n, unnest([1, n]) AS s",
    "unnest([id, n]) AS id, s, n",
    "COLUMNS(['n', 'id']) AS n, id AS n_1, s",
    "COLUMNS('^(id|n|s)$')",
    "* REPLACE (n AS id)",
    "* EXCLUDE (id), n AS id",
    "* RENAME (n AS id, id AS n)",
    "{{'id': n}} AS q, id, n",
    "n AS ID, s AS N, id AS S",
]
_ENDS = [
    "",
    "",
    "",
    " ORDER BY ALL",
    " ORDER BY ALL LIMIT 9",
    " ORDER BY ALL OFFSET 5",
    " GROUP BY ALL",
    " GROUP BY ROLLUP (s, n)",
]


class QueryWriter:
    """Writes random conditions and queries over the tables a and b."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def leaf(self, *prefixes: str) -> str:
        chance = self.chance
        column = chance.choice(list(LITERALS))
        name = f"{chance.choice(prefixes)}{column}"
        value = chance.choice(LITERALS[column])
        match chance.randrange(9):
            case 0:
                return f"{name} IS {chance.choice(['', 'NOT '])}NULL"
            case 1:
                return (
                    f"{name} {chance.choice(['', 'NOT '])}IN ({value},"
                    f" {chance.choice(LITERALS[column])})"
                )
            case 2:
                return f"{name} BETWEEN {value} AND {chance.choice(LITERALS[column])}"
            case 3:
                return f"{value} {chance.choice(OPS)} {name}"
            case 4 if column == "s":
                return f"{name} LIKE {chance.choice(['%r', '%r', '%r'])}" % chance.choice(
                    ["a%", "ab%", "%b", "z%", "a_", "é%"]
                )
            case 5 if column == "s":
                return f"starts_with({name}, {value})"
        return f"{name} {chance.choice(OPS)} {value}"

    def condition(self, *prefixes: str, depth: int = 2) -> str:
        if depth == 0 or self.chance.random() < 0.4:
            return self.leaf(*prefixes)
        joined = self.chance.choice([" AND ", " OR ", " AND "]).join(
            f"({self.condition(*prefixes, depth=depth - 1)})"
            for _ in range(self.chance.choice([2, 2, 3]))
        )
        return f"NOT ({joined})" if self.chance.random() < 0.15 else joined

    def inner(self, depth: int = 2) -> str:
        """A query whose rows somebody asks about: filtered, renamed, grouped, cut off, ranked,
        joined.
        """
        chance = self.chance
        source = (
            chance.choice(["{a}", "{b}"])
            if depth == 0 or chance.random() < 0.5
            else f"({self.inner(depth - 1)})"
        )
        shown = chance.choice(SHOWN)
        if chance.random() < 0.15:
            return (
                f"SELECT l.*, r.id AS other FROM {source} l {chance.choice(['', 'LEFT '])}JOIN"
                " {b} r ON l.n = r.n"
            )
        where = f" WHERE {self.condition('')}" if chance.random() < 0.4 else ""
        return f"SELECT {shown} FROM {source}{where}{chance.choice(_ENDS)}"

    def outer(self) -> str:
        """A condition on a subquery, as such or by WITH, alone or beside a table."""
        chance, condition = self.chance, self.condition("", "q.", depth=1)
        match chance.randrange(7):
            case 0:
                return f"SELECT * FROM ({self.inner()}) q WHERE {condition}"
            case 4:
                other = self.condition("", "q.", depth=1)
                return (
                    f"WITH q AS ({self.inner()}) SELECT * FROM q WHERE {condition} UNION ALL SELECT"
                    f" * FROM q WHERE {other}"
                )
            case 5:
                kind, on = chance.choice(JOINS[:4]), self.condition("q.", "r.", depth=1)
                where, shown = (
                    self.condition("q.", "r.", depth=1),
                    "count(*), count(q.n), sum(q.n), count(r.n), sum(r.n)",
                )
                return (
                    f"WITH q AS ({self.inner()}) SELECT {shown} FROM q {kind} q AS r ON q.n = r.n"
                    f" AND {on} WHERE {where}"
                )
            case 1:
                return f"WITH q AS ({self.inner()}) SELECT * FROM q WHERE {condition}"
            case 2:
                p, q = self.inner(), f"SELECT * FROM p WHERE {self.condition('', depth=1)}"
                return f"WITH p AS ({p}), q AS ({q}) SELECT * FROM q WHERE {condition}"
            case 3:
                return (
                    f"WITH q AS ({self.inner()}) SELECT * FROM q WHERE {condition} UNION ALL SELECT"
                    " * FROM q"
                )
        kind = chance.choice(JOINS[:-1])
        right = [] if kind in ("SEMI JOIN", "ANTI JOIN") else ["q."]
        on = f"l.n = q.n AND {self.condition('l.', 'q.', depth=1)}"
        where = self.condition("l.", *right, depth=1)
        return f"SELECT l.id FROM {{a}} l {kind} ({self.inner()}) q ON {on} WHERE {where}"

    def odd(self) -> str:
        """Constructs that show other columns than they name, or read what they do not name, or
        another state.
        """
        chance, leaf = self.chance, self.leaf
        column = chance.choice(["id", "n"])
        value = chance.choice(LITERALS[column])
        match chance.randrange(9):
            case 0:
                return (
                    "SELECT * FROM (SELECT unnest({{'id': n, 'k': 1}}) AS q, id, n FROM {a})"
                    f" WHERE {column} = {value}"
                )
            case 1:
                shown = f"COLUMNS(['n', 'id']) AS z, {column} AS z_1"
                return (
                    f"SELECT * FROM (SELECT {shown} FROM {{a}}) WHERE z_1 {chance.choice(OPS)}"
                    f" {value}"
                )
            case 2:
                counts = (
                    f"(SELECT count(*) FROM x WHERE {leaf('')}), (SELECT count(*) FROM"
                    f" query_table('x') WHERE {leaf('')})"
                )
                return f"WITH x AS ({self.inner(1)}) SELECT {counts}"
            case 3:
                letter = chance.choice(["Ä", "ä"])
                return (
                    f'SELECT * FROM (SELECT id AS "Ä", n AS "ä" FROM {{a}}) WHERE "{letter}"'
                    f" {chance.choice(OPS)} {value}"
                )
            case 4:
                queries = f'WITH "Ä" AS ({self.inner(0)}), "ä" AS ({self.inner(0)})'
                return (
                    f'{queries} SELECT count(*) FROM "Ä" WHERE {leaf("")} UNION ALL SELECT count(*)'
                    f' FROM "ä" WHERE {leaf("")}'
                )
            case 5:
                pivot = "PIVOT {a} ON flag IN (true, false) USING count(id) GROUP BY s, n, day"
                return f"SELECT * FROM ({pivot}) WHERE {leaf('')}"
            case 6:
                return f"PIVOT ({self.inner(1)}) ON n USING count(*) GROUP BY s"
            case 7:
                return f"SELECT count(*), min(id), sum(n) FROM {{old}} WHERE {self.condition('')}"
        then, now = (
            f"SELECT {chance.choice(SHOWN)} FROM {{old}}",
            f"SELECT * FROM {{a}} WHERE {leaf('')}",
        )
        return (
            f"SELECT q.id, q.n, p.id FROM ({then}) q JOIN ({now}) p ON q.id = p.id WHERE"
            f" {leaf('q.', 'p.')}"
        )

    def shaped(self) -> str:
        """PIVOT and UNPIVOT of states, with values from queries, and tables whose names
        are texts.
        """
        leaf = self.leaf("")
        match self.chance.randrange(6):
            case 0:
                return f"SELECT count(*), sum(id) FROM query_table('{{a}}') WHERE {leaf}"
            case 1:
                values = "SELECT s FROM {old} WHERE s = 'a'"
                return (
                    f"PIVOT (FROM {{a}} WHERE {leaf}) ON s IN ({values}) USING count(*) GROUP BY n"
                )
            case 2:
                return (
                    f"SELECT * FROM (UNPIVOT {{old}} ON id, n INTO NAME x VALUE id_1) WHERE {leaf}"
                )
            case 3:
                return (
                    "SELECT * FROM (PIVOT {old} ON flag USING sum(n) GROUP BY id, s) WHERE"
                    f" {leaf}"
                )
            case 4:
                return f"PIVOT (FROM {{a}} WHERE {leaf}) ON flag, n % 2 USING count(*) GROUP BY s"
        return (
            f"WITH q AS (FROM {{old}} WHERE {leaf}) SELECT * FROM (PIVOT q ON s USING count(*)"
            " GROUP BY n) SEMI JOIN q USING (n)"
        )

    def query(self) -> str:
        match self.chance.randrange(6):
            case 0 | 1:
                return f"SELECT * FROM {{a}} WHERE {self.condition('', 'a.')}"
            case 2:
                return f"SELECT count(*), sum(id) FROM {{a}} AS t WHERE {self.condition('', 't.')}"
            case 3:
                inner = f"SELECT id FROM {{b}} WHERE {self.condition('')}"
                return f"SELECT id, s FROM {{a}} WHERE {self.condition('')} AND id IN ({inner})"
            case 4:
                return (
                    f"WITH c AS (SELECT * FROM {{b}} WHERE {self.condition('')}) SELECT * FROM c"
                    " UNION ALL SELECT * FROM {a}"
                )
        return self.join()

    def join(self) -> str:
        kind = self.chance.choice(JOINS)
        if kind == "ASOF JOIN":
            where = self.condition("l.", "r.")
            return (
                "SELECT l.id, r.at FROM {a} l ASOF JOIN {b} r ON l.n = r.n AND l.at >= r.at"
                f" WHERE {where}"
            )
        right = [] if kind in ("SEMI JOIN", "ANTI JOIN") else ["r."]
        shown = "l.id, l.s" + (", r.id, r.n" if right else "")
        on = f"l.id = r.id AND {self.condition('l.', 'r.', depth=1)}"
        return (
            f"SELECT {shown} FROM {{a}} l {kind} {{b}} r ON {on} WHERE"
            f" {self.condition('l.', *right)}"
        )
