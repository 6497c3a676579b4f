"""Queries made at random, in the SQL that Spark and DuckDB share, over the tables a and b.

A name that two columns have is not asked for: Spark refuses it, DuckDB takes the first.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakebed.ports import Column

COLUMNS = {
    "a": (Column("id", "long", False), Column("n", "int", False), Column("s", "string", False)),
    "b": (Column("id", "long", False), Column("m", "int", False), Column("s", "string", False)),
}
_JOINS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
_TEXTS = {"s", "s2"}  # what is called so holds texts, everything else numbers


def rows_of(chance: random.Random, table: str) -> list[dict[str, Any]]:
    def value(column: Column) -> Any:
        if chance.random() < 0.2:
            return None
        texts = ["x", "xy", "y", ""]
        return chance.choice(texts) if column.type == "string" else chance.randrange(4)

    return [
        {column.name: value(column) for column in COLUMNS[table]}
        for _ in range(chance.randrange(9))
    ]


@dataclass
class Visible:
    """What a SELECT can name: columns by alias, and those that USING made one of."""

    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)

    def with_source(self, alias: str, names: Sequence[str]) -> "Visible":
        return Visible({**self.sources, alias: tuple(names)}, set(self.merged))

    @property
    def counted(self) -> Counter[str]:
        return Counter(name for names in self.sources.values() for name in names)

    def references(self) -> Iterator[str]:
        """Every name that means one column, twice where it is the shorter one."""
        for alias, names in self.sources.items():
            yield from (f"{alias}.{name}" for name, times in Counter(names).items() if times == 1)
        for name, times in self.counted.items():
            if times == 1 or name in self.merged:
                yield from (name, name)

    def star(self) -> list[str]:
        merged = [name for name in self.merged if name in self.counted]
        return merged + [
            name for names in self.sources.values() for name in names if name not in self.merged
        ]


Made = tuple[str, tuple[str, ...]]  # a query or a source, and the names of its columns


class QueryMaker:
    def __init__(self, chance: random.Random) -> None:
        self.chance, self.aliases = chance, 0

    def query(self, depth: int = 2) -> str:
        ctes: list[str] = []
        named: dict[str, tuple[str, ...]] = {}
        for number in range(self.chance.choice([0, 0, 1, 2])):
            text, names = self.select(depth - 1, named)
            ctes.append(f"c{number} AS ({text})")
            named[f"c{number}"] = names
        body, columns = self.select(depth, named)
        if self.chance.random() < 0.2:
            other, more = self.select(depth, named)
            word = self.chance.choice(["UNION ALL", "UNION", "EXCEPT", "INTERSECT"])
            kinds = [[name in _TEXTS for name in names] for names in (columns, more)]
            body += f" {word} {other}" if kinds[0] == kinds[1] else ""
        return f"WITH {', '.join(ctes)} {body}" if ctes else body

    def select(self, depth: int, named: Mapping[str, tuple[str, ...]]) -> Made:
        text, names = self.source(depth, named)
        seen = Visible({self.alias(): names})
        text += f" AS {next(iter(seen.sources))}"
        for _ in range(self.chance.choice([0, 0, 1, 1, 2])):
            more, seen = self.join(depth, named, seen)
            text += more
        where = f" WHERE {self.condition(seen, 3, depth)}" if self.chance.random() < 0.8 else ""
        if self.chance.random() < 0.15:
            column = self.reference(seen)
            name = "s" if self.is_text(column) else "k"
            text = f"SELECT {column} AS {name}, count(*) AS n FROM {text}{where} GROUP BY {column}"
            return text, (name, "n")
        word = self.chance.choice(["SELECT", "SELECT", "SELECT DISTINCT"])
        items, columns = self.items(seen)
        return f"{word} {items} FROM {text}{where}", columns

    def alias(self) -> str:
        self.aliases += 1
        return f"t{self.aliases}"

    def source(self, depth: int, named: Mapping[str, tuple[str, ...]]) -> Made:
        if named and self.chance.random() < 0.5:
            name = self.chance.choice(list(named))
            return name, named[name]
        if depth > 0 and self.chance.random() < 0.4:
            text, names = self.select(depth - 1, named)
            return f"({text})", names
        table = self.chance.choice(["a", "b"])
        return table, tuple(column.name for column in COLUMNS[table])

    def join(
        self, depth: int, named: Mapping[str, tuple[str, ...]], seen: Visible
    ) -> tuple[str, Visible]:
        text, names = self.source(depth, named)
        alias, kind = self.alias(), self.chance.choice(_JOINS)
        both = seen.with_source(alias, names)
        after = seen if kind.startswith("LEFT ") and "LEFT JOIN" not in kind else both
        if self.chance.random() < 0.1:
            return f" CROSS JOIN {text} AS {alias}", both
        once = seen.counted["id"] == 1 or ("id" in seen.merged and seen.counted["id"])
        if once and names.count("id") == 1 and self.chance.random() < 0.25:
            if after is both:
                both.merged.add("id")
            return f" {kind} {text} AS {alias} USING (id)", after
        return f" {kind} {text} AS {alias} ON {self.on(seen, alias, names, both)}", after

    def on(self, seen: Visible, alias: str, names: Sequence[str], both: Visible) -> str:
        right = [name for name in self.numbers(Visible({alias: tuple(names)})) if "." in name]
        left = [name for name in self.numbers(seen) if "." in name]
        same = (
            f"{self.chance.choice(left)} = {self.chance.choice(right)}"
            if left and right
            else "1 = 1"
        )
        more = f" AND {self.condition(both, 2, 0)}" if self.chance.random() < 0.6 else ""
        return same + more

    def items(self, seen: Visible) -> Made:
        kind = self.chance.randrange(4)
        if kind == 0:
            return "*", tuple(seen.star())
        if kind == 1:
            alias = self.chance.choice(list(seen.sources))
            return f"{alias}.*", seen.sources[alias]
        more = [self.named(self.reference(seen)) for _ in range(self.chance.randrange(1, 4))]
        if kind == 2:
            return ", ".join(["*", *(text for text, _ in more)]), (
                *seen.star(),
                *(name for _, name in more),
            )
        return ", ".join(text for text, _ in more), tuple(name for _, name in more)

    def named(self, reference: str) -> tuple[str, str]:
        """An item with a name that tells its kind, or without one."""
        if reference != "1" and self.chance.random() < 0.3:
            return reference, reference.split(".")[-1]
        if self.is_text(reference):
            return f"{reference} AS s2", "s2"
        name = self.chance.choice(["id", "n", "m", "k"])
        computed = self.chance.random() < 0.15
        return f"{reference}{' + 1' if computed else ''} AS {name}", name

    @staticmethod
    def is_text(reference: str) -> bool:
        return reference.split(".")[-1] in _TEXTS

    def reference(self, seen: Visible) -> str:
        return self.chance.choice([*seen.references()] or ["1"])

    def numbers(self, seen: Visible) -> list[str]:
        return [name for name in seen.references() if not self.is_text(name)]

    def condition(self, seen: Visible, size: int, depth: int) -> str:
        chance = self.chance
        if size > 0 and chance.random() < 0.5:
            word = chance.choice(["AND", "AND", "OR"])
            parts = [self.condition(seen, size - 1, depth) for _ in range(2)]
            return f"({parts[0]} {word} {parts[1]})"
        if size > 0 and chance.random() < 0.15:
            return f"NOT ({self.condition(seen, size - 1, depth)})"
        if depth > 0 and chance.random() < 0.1:
            return f"EXISTS ({self.select(0, {})[0]})"
        column, value = self.reference(seen), chance.randrange(4)
        if self.is_text(column):
            return column + chance.choice([" = 'x'", " LIKE 'x%'", " IS NULL", " > 'x'", " <> ''"])
        endings = [
            f"= {value}", f"{chance.choice(['<', '>=', '<>'])} {value}", f"IN (1, {value})",
            "NOT IN (1, 2)", f"BETWEEN 1 AND {value}", "IS NULL", "IS NULL", "IS NOT NULL",
            f"IS NOT DISTINCT FROM {value}", f"IS DISTINCT FROM {value}", "+ 1 = 2",
            f"= {chance.choice(self.numbers(seen) or ['1'])}",
        ]  # fmt: skip
        return f"{column} {chance.choice(endings)}"
