"""What a query reads, as text: the files of each table, and what was decided about its layouts."""

from typing import TYPE_CHECKING

from lakebed.cli.output.formats import format_count, plural
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.presentation.query import explained_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.query.planning.explain import TableExplanation

_HEADINGS = ("layout", "verdict", "reason", "files", "bytes", "needed", "fresh", "stale", "cost")


def show_explained(screen: Screen, tables: "tuple[TableExplanation, ...]") -> None:
    """Print what a query reads."""

    def text() -> None:
        if not tables:
            screen.say("The query reads no tables of the lake.")
        for table in tables:
            _show_table(screen, table)

    screen.show([explained_json(table) for table in tables], text)


def _show_table(screen: Screen, table: "TableExplanation") -> None:
    from lakebed.query.planning.explain import REASONS

    at = f" at snapshot {table.snapshot}" if table.snapshot is not None else ""
    screen.say(bold(table.table), at)
    if table.how not in ("metadata", "view", "spark"):
        screen.say(f"  reads {_files(table)}; at most {plural(table.rows, 'row')}")
    screen.say(f"  {table.reason}: {REASONS[table.reason]}")
    if table.why:
        screen.say(f"  needs Spark for: {table.why}")
    if table.how == "iceberg":
        screen.say(
            "  read through DuckDB's Iceberg reader: rows were deleted, or nested fields"
            " have changed"
        )
    if table.condition:
        screen.say(f"  files chosen by: {table.condition}")
    if table.columns:
        screen.say(f"  columns: {', '.join(table.columns)}")
    if table.layouts:
        _show_layouts(screen, table)


def _files(table: "TableExplanation") -> str:
    size = f"{format_size(table.bytes)} of {format_size(table.total_bytes)}"
    if not table.layout:
        return f"{format_count(table.files)} of {format_count(table.total_files)} files, {size}"
    of_table = sum(one.source_files for one in table.layouts if one.verdict == "chosen")
    own = plural(table.files - of_table, "file")
    rest = f" and {of_table} of {plural(table.total_files, 'file')} of the table"
    return f"{own} of the layout {table.layout}{rest if of_table else ''}, {size}"


def _show_layouts(screen: Screen, table: "TableExplanation") -> None:
    from lakebed.query.layouts.verdict import LAYOUT_REASONS

    source = ("(the table)", "", "", "", "", format_size(table.source_needed_bytes), "", "")
    rows = [
        (
            one.layout,
            one.verdict,
            one.reason,
            format_count(one.files),
            format_size(one.bytes),
            format_size(one.needed_bytes),
            format_count(one.fresh_batches),
            format_count(one.stale_batches),
            format_size(one.cost),
        )
        for one in table.layouts
    ]
    screen.table(_HEADINGS, [(*source, format_size(table.source_cost)), *rows], right=_HEADINGS[3:])
    for reason in dict.fromkeys(one.reason for one in table.layouts):
        screen.say(f"  {reason}: {LAYOUT_REASONS[reason]}")
