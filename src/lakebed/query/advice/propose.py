"""Which other arrangement of a table would have paid for its queries: another sort order in place,
or layouts. Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lakebed.query.advice.estimate import Arranged, ReadEstimate, estimate, leaf_size
from lakebed.query.advice.figures import PatternFigures, TableFigures, ValueFigures
from lakebed.tables.arrangement import PartitionField

MARGIN = 0.8  # what is more trouble must cost at most so much of what is less
_QUICK = 16 * 1024 * 1024  # a read that costs less is not worth a word
_GOOD_LEAF = 32 * 1024 * 1024  # bytes of a partition that are always enough
_MOST = 3  # proposals for a table
_BUILD = 2  # a build reads all bytes and writes as many
_LONGEST_PREFIX = 8
_BUCKETS = (4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class ArrangementProposal:
    """An arrangement, and what it changes for the reads that gain by it: on average, before and
    then.
    """

    arranged: Arranged
    column: str
    reads: int
    before: ReadEstimate
    then: ReadEstimate
    saved: int  # bytes of needed columns, over all reads of the log

    @property
    def speedup(self) -> float:
        """How many times less such a read costs."""
        return self.before.cost / max(self.then.cost, 1)


def propose(table: TableFigures) -> tuple[ArrangementProposal, ...]:
    """What would have paid for its build within the log, most valuable first."""
    found: list[ArrangementProposal] = []
    while len(found) < _MOST:
        sorted_already = any(one.arranged.in_place for one in found)
        options = [_best(column, table, sorted_already) for column in _asked(table)]
        paying = [one for one in options if one and _gain(one) > _BUILD * table.bytes]
        if not paying:
            break
        chosen = max(paying, key=_gain)
        found.append(chosen)
        table = _after(chosen, table)
    return tuple(found)


def _gain(proposal: ArrangementProposal) -> float:
    return proposal.reads * (proposal.before.cost - proposal.then.cost)


def _asked(table: TableFigures) -> list[str]:
    """The columns of conditions of slow reads. Batches are apart in any layout."""
    slow = (one for one in table.patterns if one.cost >= _QUICK)
    names = dict.fromkeys(column for one in slow for column, _ in one.pattern.conditions)
    apart = {name.casefold() for name in table.batch_by}
    return [name for name in names if name in table.columns and name not in apart]


def _best(column: str, table: TableFigures, sorted_already: bool) -> ArrangementProposal | None:
    """The best arrangement for conditions on a column: the least trouble, unless more is clearly
    better.
    """
    ways = _ways(table.columns[column], table)
    best: tuple[float, Arranged] | None = None
    for options in ways[1 if sorted_already else 0 :]:
        left = [(_remaining(one, column, table), one) for one in options]
        if left:
            cheapest = min(left, key=lambda one: one[0])
            if best is None or cheapest[0] <= MARGIN * best[0]:
                best = cheapest
    return _proposal(best[1], column, table) if best else None


def _ways(column: ValueFigures, table: TableFigures) -> list[list[Arranged]]:
    """The arrangements for a column, those of least trouble first."""
    name = column.name
    in_place = [] if _is_sorted_by(name, table) else [Arranged(sort_by=name, in_place=True)]
    partitioned = [
        [Arranged((field,), name) for field in fields]
        for fields in (_by_value(column, table), _by_bucket(column))
    ]
    enough = min(_GOOD_LEAF, table.file_size / 2)
    return [
        in_place,
        [Arranged(sort_by=name)],
        *([one for one in options if leaf_size(one, table) >= enough] for options in partitioned),
    ]


def _is_sorted_by(name: str, table: TableFigures) -> bool:
    return bool(table.sort_by) and table.sort_by[0].split()[0].casefold() == name.casefold()


def _by_value(column: ValueFigures, table: TableFigures) -> Iterator[PartitionField]:
    """The column itself, or beginnings of its texts that conditions give."""
    compared = {dict(one.pattern.conditions).get(column.name.casefold()) for one in table.patterns}
    longest = column.usual_prefix if "prefix" in compared else _LONGEST_PREFIX
    for width, count in sorted(column.prefixes.items()):
        if 1 < count < column.distinct and width <= longest:
            yield PartitionField(column=column.name, transform="truncate", width=width)
    yield PartitionField(column=column.name)


def _by_bucket(column: ValueFigures) -> Iterator[PartitionField]:
    for count in _BUCKETS:
        if count < column.distinct:
            yield PartitionField(column=column.name, transform="bucket", width=count)


def _gaining(
    arranged: Arranged, column: str, table: TableFigures
) -> Iterator[tuple[PatternFigures, ReadEstimate]]:
    """The reads with a condition on the column that would use an arrangement."""
    for one in table.patterns:
        then = estimate(arranged, one, table)
        compared = column in dict(one.pattern.conditions) and one.cost >= _QUICK
        # fewer files alone are a matter of compaction
        less = then.cost <= MARGIN * one.cost and then.needed <= MARGIN * one.needed
        if compared and less:
            yield one, then


def _remaining(arranged: Arranged, column: str, table: TableFigures) -> float:
    """What the reads with a condition on the column still cost."""
    gained = {one.pattern: then.cost for one, then in _gaining(arranged, column, table)}
    mine = (one for one in table.patterns if column in dict(one.pattern.conditions))
    return sum(one.reads * gained.get(one.pattern, one.cost) for one in mine)


def _proposal(arranged: Arranged, column: str, table: TableFigures) -> ArrangementProposal | None:
    gaining = list(_gaining(arranged, column, table))
    reads = sum(one.reads for one, _ in gaining)
    if not reads:
        return None

    def average(estimates: list[tuple[int, ReadEstimate]]) -> ReadEstimate:
        files = sum(count * one.files for count, one in estimates) / reads
        return ReadEstimate(files, sum(count * one.needed for count, one in estimates) / reads)

    before = average([(one.reads, ReadEstimate(one.files, one.needed)) for one, _ in gaining])
    then = average([(one.reads, estimated) for one, estimated in gaining])
    saved = int(reads * (before.needed - then.needed))
    return ArrangementProposal(
        arranged, table.columns[column].name, reads, before, then, max(saved, 0)
    )


def _after(proposal: ArrangementProposal, table: TableFigures) -> TableFigures:
    """The table as if a proposal had been followed."""
    gained = {
        one.pattern: then
        for one, then in _gaining(proposal.arranged, proposal.column.casefold(), table)
    }

    def improved(one: PatternFigures) -> PatternFigures:
        then = gained.get(one.pattern)
        return replace(one, files=then.files, needed=then.needed) if then else one

    return replace(table, patterns=tuple(map(improved, table.patterns)))
