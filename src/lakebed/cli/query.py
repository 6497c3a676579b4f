"""Commands that read: query, explain."""

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lakebed.cli.output.explained import show_explained
from lakebed.cli.output.formats import format_count, plural
from lakebed.cli.output.results import show_table
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.request_options import takes
from lakebed.errors import UsageError
from lakebed.requests import ExplainKeywords, QueryKeywords, QueryRequest
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.query.results.result import QueryResult

_SHOWN = 1000  # rows on a screen
_WIDEST = 10_000  # characters of a value, on a terminal

FormatOption = Annotated[
    Literal["table", "csv", "json", "ndjson", "parquet", "arrow"] | None,
    typer.Option(
        "--format", help="table, csv, json, ndjson, parquet or arrow. Default: by the file's name."
    ),
]
OutputOption = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="Write to a file.")
]
NullOption = Annotated[
    str | None,
    typer.Option(
        "--null", metavar="TEXT", help="What stands for NULL in CSV. Default: an empty text."
    ),
]
SqlArgument = Annotated[
    str,
    typer.Argument(
        metavar="SQL", help="One SELECT in DuckDB's SQL; - reads it from standard input."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Give the app these commands."""
    command(app, "query", examples=_QUERY)(query)
    command(app, "explain", examples=_EXPLAIN)(explain)


_QUERY = """
lakebed query "SELECT country, sum(amount) FROM silver.orders GROUP BY 1"
lakebed query "SELECT * FROM orders" --at 2026-11-01 --format csv
lakebed query "SELECT * FROM orders" -o orders.parquet
lakebed query 'SELECT * FROM orders$snapshots'
"""


_PLACES = {"format": "limit", "output": "format", "null": "output", "explain": "namespace"}


@takes(QueryRequest, after=_PLACES)
def query(
    screen: Screen,
    sql: SqlArgument,
    options: QueryKeywords,
    format: FormatOption = None,
    output: OutputOption = None,
    null: NullOption = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show which files would be read, and why; read nothing."),
    ] = False,
) -> None:
    """Query the lake's tables in SQL, all as of one point in time. Starts no JVM."""
    request = QueryRequest(sql_text(sql), **options)
    if explain:
        show_explained(screen, screen.lake.explain(request))
        return
    with screen.lake.query(request, route="cli") as result:
        hand_over(screen, result, format, output, null=null, limit=request.limit)
        if request.profile:
            _profile(screen, result)


def sql_text(given: str) -> str:
    """The SQL of an argument, or of standard input."""
    return sys.stdin.read() if given == "-" else given


def hand_over(
    screen: Screen,
    result: "QueryResult",
    format: Any,
    output: str | None,
    *,
    null: str | None,
    limit: int | None,
) -> None:
    """Print the rows or write them to a file, in the format given or the one that fits."""
    from lakebed.query.results.export import BINARY, format_of, new_file, write

    format = format or (format_of(output) if output else "json" if screen.as_json else "table")
    if null is not None and format != "csv":
        raise UsageError("--null is for CSV: the other formats have a NULL.", next="Omit it.")
    if output:
        if format == "table":
            raise UsageError(
                "the format table is for the screen only.", next="Choose another --format."
            )
        with new_file(output) as file:
            write(result, format, file, null=null or "")
        if result.profile:
            screen.progress(f"{plural(result.profile.rows, 'row')} written to {output}")
    elif format == "table":
        count, more = show_table(
            screen,
            result,
            most=limit if limit is not None else _SHOWN,
            widest=screen.text_limit(_WIDEST),
        )
        shown_rows = (
            f"the first {plural(count, 'row')}; more with --limit or -o FILE"
            if more
            else plural(count, "row")
        )
        if not screen.quiet:
            screen.say(shown_rows)
    elif format in BINARY and sys.stdout.isatty():
        raise UsageError(
            f"{format} cannot be shown on a screen.",
            next="Add -o FILE, or pipe it to another program.",
        )
    elif not screen.quiet:
        write(result, format, sys.stdout.buffer, null=null or "")


def _profile(screen: Screen, result: "QueryResult") -> None:
    took = result.profile
    if took is None:
        return
    read = result.explain()
    files, size = sum(table.files for table in read), sum(table.bytes for table in read)
    screen.progress(
        f"planned in {took.plan_ms:.1f} ms, ran in {took.run_ms:.1f} ms, {plural(took.rows, 'row')}"
    )
    screen.progress(
        f"{plural(files, 'file')} of {sum(table.total_files for table in read)},"
        f" {format_size(size)}"
    )
    for step in took.operators[:12]:
        screen.progress(
            f"{step.ms:9.2f} ms  {format_count(step.rows):>12} rows  {step.name}  {step.detail}"
        )


_EXPLAIN = """
lakebed explain "SELECT * FROM silver.orders WHERE day = DATE '2026-11-01'"
lakebed explain "SELECT * FROM orders" --at yesterday_tag --json
"""


@takes(QueryRequest)
def explain(screen: Screen, sql: SqlArgument, options: ExplainKeywords) -> None:
    """Show which files of each table a query would read, and why, without reading them."""
    show_explained(screen, screen.lake.explain(sql_text(sql), **options))
