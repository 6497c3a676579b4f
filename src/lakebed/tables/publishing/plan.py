"""What a publication does, and how one that a crash left unfinished is settled. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from lakebed.errors import ColumnsChanged, Diverged, TableDropped, UnknownName
from lakebed.names import TableName
from lakebed.ports import MAIN, Column, Publication, RefMove, TableMetadata
from lakebed.tables.columns.renames import Renames


@dataclass(frozen=True)
class PublishRequest:
    """Move `ref` of a table to the head of `branch`.

    With `unchanged` the ref stays, and only the branch is removed.

    `base` is the snapshot that the branch was computed from: the ref must still point at it (None:
    the ref does not exist yet). `becomes`, `columns` and `renames` are as in `RefMove`. `prepared`
    are the columns that rows were written for: the table must still have them.
    """

    table: TableName
    branch: str
    ref: str = MAIN
    becomes: TableName | None = None
    columns: tuple[str, ...] | None = None
    renames: Renames = ()
    unchanged: bool = False
    base: int | Literal["any ancestor"] | None = "any ancestor"
    prepared: tuple[Column, ...] = ()

    @property
    def tables(self) -> tuple[TableName, ...]:
        """The tables whose pointers the plan needs."""
        return (self.table, self.becomes) if self.becomes else (self.table,)


@dataclass(frozen=True)
class Settlement:
    """How a publication that a crash left unfinished is settled: completed where possible,
    otherwise undone.
    """

    whole: bool  # whether the publication will have happened
    complete: tuple[RefMove, ...] = ()
    undo: tuple[RefMove, ...] = ()
    kept: tuple[
        RefMove, ...
    ] = ()  # moved, and committed upon since: undoing it would lose later rows


def plan_publication(
    run_id: str, asked: Iterable[PublishRequest], tables: Mapping[TableName, TableMetadata]
) -> Publication:
    """The moves of one publication, ordered by name so that two publishers cannot deadlock."""
    moves = (_move(ask, _found(ask.table, tables), tables) for ask in asked)
    return Publication(run_id, tuple(sorted(moves, key=lambda move: (move.published, move.table))))


def require_columns(table: TableName, prepared: Iterable[Column], metadata: TableMetadata) -> None:
    """`ColumnsChanged` unless a table still has these columns.

    A column that was dropped and added again is another one: values written for the first are not
    read.
    """
    present = {(column.id, column.name, column.type) for column in metadata.columns}
    changed = [
        column.name for column in prepared if (column.id, column.name, column.type) not in present
    ]
    if changed:
        raise ColumnsChanged(str(table), changed)


def _found(table: TableName, tables: Mapping[TableName, TableMetadata]) -> TableMetadata:
    if table not in tables:
        raise TableDropped(str(table))
    return tables[table]


def _move(
    ask: PublishRequest, metadata: TableMetadata, tables: Mapping[TableName, TableMetadata]
) -> RefMove:
    if ask.branch not in metadata.refs:
        raise UnknownName(f"branch of {ask.table}", ask.branch, metadata.refs)
    head = metadata.refs[ask.branch].snapshot
    if ask.becomes:
        if ask.becomes in tables:  # another process created the table meanwhile
            raise Diverged(str(ask.becomes), ask.ref, ask.branch)
        return RefMove(ask.table, ask.branch, to=head, base=None, ref=ask.ref, becomes=ask.becomes)
    present = metadata.refs.get(ask.ref)
    if ask.unchanged and present:
        return RefMove(
            ask.table, ask.branch, to=present.snapshot, base=present.snapshot, ref=ask.ref
        )
    require_columns(ask.table, ask.prepared, metadata)
    base = present.snapshot if present else None
    if ask.base not in ("any ancestor", base) or (
        present and not metadata.descends(head, from_=present.snapshot)
    ):
        raise Diverged(str(ask.table), ask.ref, ask.branch)
    return RefMove(
        ask.table,
        ask.branch,
        to=head,
        base=base,
        ref=ask.ref,
        columns=ask.columns,
        renames=ask.renames,
    )


def plan_settlement(
    publication: Publication, tables: Mapping[TableName, TableMetadata]
) -> Settlement:
    """Complete it if every move is done or still possible; otherwise undo it, except for moves
    committed upon since.
    """
    moved = tuple(move for move in publication.moves if _is_done(move, tables))
    waiting = tuple(
        move for move in publication.moves if move not in moved and _is_possible(move, tables)
    )
    if len(moved) + len(waiting) == len(publication.moves):
        return Settlement(whole=True, complete=waiting)
    undo = tuple(
        move for move in moved if tables[move.published].refs[move.ref].snapshot == move.to
    )
    return Settlement(
        whole=False, undo=undo, kept=tuple(move for move in moved if move not in undo)
    )


def _is_done(move: RefMove, tables: Mapping[TableName, TableMetadata]) -> bool:
    metadata = tables.get(move.published)
    ref = metadata.refs.get(move.ref) if metadata else None
    return (
        metadata is not None and ref is not None and metadata.descends(ref.snapshot, from_=move.to)
    )


def _is_possible(move: RefMove, tables: Mapping[TableName, TableMetadata]) -> bool:
    metadata = tables.get(move.table)
    if metadata is None or move.to not in metadata.snapshots:
        return False
    if move.becomes:
        return move.becomes not in tables
    ref = metadata.refs.get(move.ref)
    return (ref.snapshot if ref else None) == move.base
