"""Proposals and judgements in words, with what to write or to run. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Literal

from lakebed.names import spark_identifier
from lakebed.query.advice.estimate import Arranged
from lakebed.query.advice.figures import ROW_GROUP, TableFigures
from lakebed.query.advice.judge import Judgement
from lakebed.query.advice.propose import ArrangementProposal
from lakebed.query.advice.workload import LogCoverage

AdviceKind = Literal["layout", "sort_in_place", "no_pruning_gain", "unused", "costs_more"]


@dataclass(frozen=True)
class LayoutAdvice:
    """One piece of advice. `files` and `needed` (bytes of needed columns) are of one read that it
    concerns, on average; `saved` are bytes over all reads of the log. `amplification` is what the
    table and its layouts take if it is followed, as a multiple of the table's bytes.
    """

    table: str
    kind: AdviceKind
    layout: str  # its name; empty if the table itself is to be sorted
    why: str
    reads: int = 0
    files_now: float = 0.0
    files_then: float = 0.0
    needed_now: int = 0
    needed_then: int = 0
    saved: int = 0
    amplification: float = 1.0
    partition_by: tuple[str, ...] = ()
    sort_by: tuple[str, ...] = ()
    batch_by: tuple[str, ...] = ()
    config: tuple[str, ...] = ()  # lines for the pipeline's config.yaml
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class ThinLog:
    """A table of which the log tells too little for advice."""

    table: str
    reads: int
    days: int  # on which it was read


@dataclass(frozen=True)
class AdviceReport:
    """All advice, and what of the query log it is founded on."""

    log: LogCoverage
    folder: str = ""  # of the log; those of other machines are elsewhere
    advice: tuple[LayoutAdvice, ...] = ()
    thin: tuple[ThinLog, ...] = ()
    tables: int = 0  # whose reads were looked at
    unknown: tuple[str, ...] = ()  # tables of the log that are no more, or cannot be read


def proposed(
    proposal: ArrangementProposal, table: TableFigures, *, taken: Collection[str], stored: int
) -> LayoutAdvice:
    """Advice from a proposal; `taken` are names of layouts, `stored` the bytes of all of them."""
    arranged = proposal.arranged
    fields = tuple(str(field) for field in arranged.partition_by)
    name = "" if arranged.in_place else _free(f"by_{_plain(proposal.column)}", taken)
    more = 0 if arranged.in_place else table.bytes
    return LayoutAdvice(
        table.table,
        "sort_in_place" if arranged.in_place else "layout",
        name,
        _why(arranged, proposal, table),
        proposal.reads,
        round(proposal.before.files, 1),
        round(proposal.then.files, 1),
        int(proposal.before.needed),
        int(proposal.then.needed),
        proposal.saved,
        round((table.bytes + stored + more) / max(table.bytes, 1), 2),
        table.partition_by if arranged.in_place else fields,
        (arranged.sort_by,),
        () if arranged.in_place else table.batch_by,
        *_to_write(name, fields, (arranged.sort_by,), table),
    )


def judged(judgement: Judgement, table: TableFigures, *, stored: int) -> LayoutAdvice:
    """Advice to drop a layout."""
    layout, spec = judgement.layout, judgement.layout.spec
    return LayoutAdvice(
        table.table,
        judgement.fault,
        layout.name,
        _fault(judgement),
        judgement.reads,
        saved=judgement.saved,
        amplification=round((table.bytes + stored - layout.bytes) / max(table.bytes, 1), 2),
        partition_by=tuple(str(field) for field in spec.partition_by),
        sort_by=spec.sort_by,
        batch_by=spec.batch_columns,
        commands=(f"lakebed layout drop {table.table} {layout.name}",) if layout.exists else (),
    )


def _why(arranged: Arranged, proposal: ArrangementProposal, table: TableFigures) -> str:
    column = proposal.column
    if arranged.in_place:
        return (
            f"conditions on {column} read {_count(table.partitions, 'partition')} that are not"
            " sorted by it: sorted, with small row groups, they are as good as a layout. Files"
            " that are there are sorted when they are written again"
        )
    cut = arranged.partition_by[0] if arranged.partition_by else None
    if cut is None:
        return (
            f"conditions on {column} leave out few of {table.files:,} files: sorted by it, with"
            " small row groups, few of them are read"
        )
    why = {"bucket": "only compared with single values", "truncate": "its beginnings cut it evenly"}
    told = why.get(cut.transform, "it has few values")
    return f"conditions on {column} leave out few of {table.files:,} files ({cut}: {told})"


def _fault(judgement: Judgement) -> str:
    match judgement.fault:
        case "no_pruning_gain":
            return (
                "NO_PRUNING_GAIN: the table's partitions in another order; Iceberg prunes by each"
                " of them alone, so no query reads less"
            )
        case "unused":
            return f"none of the {_seen(judgement)} used it"
        case "costs_more":
            return (
                f"its builds wrote {judgement.layout.written:,} bytes while the log was written;"
                f" its reads, {judgement.reads:,} of the {_seen(judgement)}, saved"
                f" {judgement.saved:,}"
            )


def _seen(judgement: Judgement) -> str:
    return f"{_count(judgement.of, 'read')} of the table on {_count(judgement.days, 'day')}"


def _to_write(
    name: str, fields: Sequence[str], sort: Sequence[str], table: TableFigures
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines of the config, and commands."""
    listed = {"partition_by": fields, "sort_by": sort, "batch_by": table.batch_by}
    if not name:
        return _sorted_in_place(sort, table)
    if table.layouts_key:
        lines = [f"    {key}: {_listed(given)}" for key, given in listed.items() if given]
        return (f"{table.layouts_key}:", f"  - name: {name}", *lines), ()
    options = (
        f"--{key.replace('_', '-')} {quote(one)}" for key, given in listed.items() for one in given
    )
    return (), (" ".join((f"lakebed layout add {table.table} --name {name}", *options)),)


def _sorted_in_place(
    sort: Sequence[str], table: TableFigures
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if table.layouts_key:
        return (f"sort_by: {_listed(sort)}",), ()
    alter, execute = f"ALTER TABLE {table.table}", "lakebed table execute"
    order = quote(f"{alter} WRITE ORDERED BY {', '.join(map(spark_identifier, sort))}")
    small = f"SET TBLPROPERTIES ('write.parquet.row-group-size-bytes' = '{ROW_GROUP}')"
    return (), (f"{execute} {order}", f'{execute} "{alter} {small}"')


def _listed(given: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{one}"' if "," in one or "(" in one else one for one in given) + "]"


def _free(name: str, taken: Collection[str]) -> str:
    known = {one.casefold() for one in taken}
    return next(
        one
        for one in (name, *(f"{name}_{number}" for number in range(2, len(known) + 3)))
        if one.casefold() not in known
    )


def _plain(column: str) -> str:
    return "".join(one if one.isalnum() else "_" for one in column.casefold())


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
