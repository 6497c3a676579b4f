"""Commands about Kartothek datasets: kartothek ls, show, verify, gc, query."""

from datetime import timedelta
from typing import Annotated

import typer

from lakebed.cli.kartothek import exchange, history
from lakebed.cli.kartothek.arguments import DatasetArgument, TableOption, datasets_of
from lakebed.cli.output.formats import plural
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import LimitOption
from lakebed.cli.query import (
    FormatOption,
    NullOption,
    OutputOption,
    SqlArgument,
    hand_over,
    sql_text,
)
from lakebed.presentation.kartothek import (
    dataset_json,
    datasets_json,
    garbage_json,
    verified_json,
)

_PROBLEMS = 1  # exit code


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `kartothek`."""
    noun = typer.Typer(
        no_args_is_help=True,
        help="About Kartothek datasets: ls, show, query, export, import, keep, verify, gc …",
    )
    command(noun, "ls", examples=_LS)(ls)
    command(noun, "show", examples=_SHOW)(show)
    command(noun, "verify", examples=_VERIFY)(verify)
    command(noun, "gc", examples=_GC)(gc)
    command(noun, "query", examples=_QUERY)(query)
    exchange.add_to(noun)
    history.add_to(noun)
    app.add_typer(noun, name="kartothek")


_LS = """
lakebed kartothek ls exports
lakebed kartothek ls s3://bucket/exports --json
"""


def ls(
    screen: Screen,
    location: Annotated[
        str,
        typer.Argument(metavar="LOCATION", help="A folder, or an s3://, az:// or gs:// address."),
    ],
) -> None:
    """List the Kartothek datasets in a location, which need not be in a lake."""
    found = datasets_of(screen).list(location)

    def text() -> None:
        if not found:
            screen.say(f"no datasets in {location}")
            return
        rows = [
            (
                one.dataset,
                str(one.partitions),
                ", ".join(one.partition_keys),
                ", ".join(one.indices),
                one.error,
            )
            for one in found
        ]
        headings = ("dataset", "partitions", "partitioned by", "indices", "")
        screen.table(headings, rows, right=("partitions",))

    screen.show(datasets_json(found), text)


_SHOW = """
lakebed kartothek show exports/sales
lakebed kartothek show s3://bucket/exports/sales --json
"""


def show(screen: Screen, dataset: DatasetArgument) -> None:
    """Show a Kartothek dataset: tables and columns, partition keys, indices, metadata."""
    found = datasets_of(screen).show(dataset)

    def text() -> None:
        screen.say(bold(found.dataset), f" in {found.location}")
        screen.say(f"  {plural(found.partitions, 'partition')}, metadata as {found.format}")
        if found.partition_keys:
            screen.say(f"  partitioned by {', '.join(found.partition_keys)}")
        if found.indices:
            screen.say(f"  indices: {', '.join(found.indices)}")
        for name, value in found.metadata.items():
            screen.say(f"  {name}: {value}")
        for table, columns in found.tables.items():
            screen.table((f"{table}: column", "type"), columns)

    screen.show(dataset_json(found), text)


_VERIFY = """
lakebed kartothek verify exports/sales
lakebed kartothek verify exports/sales --full --json
"""


def verify(
    screen: Screen,
    dataset: DatasetArgument,
    full: Annotated[
        bool, typer.Option("--full", help="Compare indices with all values of their columns.")
    ] = False,
) -> None:
    """Check a Kartothek dataset: files, footers, schemas, indices, and what plateau misreads.

    Changes nothing. The exit code is 1 if there are problems.
    """
    with screen.spinner("checking files"):
        found = datasets_of(screen).verify(dataset, full=full)

    def text() -> None:
        for one in found:
            where = f" ({one.where})" if one.where else ""
            screen.say(bold(f"{one.level}: "), f"{one.what}{where}")
            if one.next:
                screen.say(f"  {one.next}")
        if not found:
            screen.say(f"{dataset}: nothing is wrong")

    screen.show(verified_json(dataset, found), text)
    if any(one.level == "problem" for one in found):
        raise typer.Exit(_PROBLEMS)


_GC = """
lakebed kartothek gc exports/sales --dry-run
lakebed kartothek gc exports/sales --older-than 48
"""


def gc(
    screen: Screen,
    dataset: DatasetArgument,
    older_than: Annotated[
        float,
        typer.Option("--older-than", metavar="HOURS", min=0, help="Keep younger files."),
    ] = 24.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be removed; remove nothing.")
    ] = False,
) -> None:
    """Remove files that a Kartothek dataset does not need any more.

    Younger files stay: writers may be about to commit them, and readers may still need them.
    """
    age = timedelta(hours=older_than)
    paths = datasets_of(screen).gc(dataset, older_than=age, dry_run=dry_run)

    def text() -> None:
        for path in paths:
            screen.say(path)
        done = "would be removed" if dry_run else "removed"
        screen.say(f"{plural(len(paths), 'file')} {done}")

    screen.show(garbage_json(dataset, paths, dry_run=dry_run), text)


_QUERY = """
lakebed kartothek query exports/sales "SELECT country, sum(qty) FROM sales GROUP BY 1"
lakebed kartothek query s3://bucket/exports/sales "SELECT * FROM sales" -o sales.parquet
"""


def query(
    screen: Screen,
    dataset: DatasetArgument,
    sql: SqlArgument,
    table: TableOption = None,
    limit: LimitOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    null: NullOption = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="VERSION|TIME", help="Read a state that the dataset keeps."),
    ] = None,
) -> None:
    """Query a Kartothek dataset in SQL where it is; it has its own name in the SQL.

    Conditions on partition keys and indexed columns leave out partitions. Starts no JVM.
    """
    found = datasets_of(screen).query(dataset, sql_text(sql), table=table, limit=limit, at=at)
    with found as result:
        hand_over(screen, result, format, output, null=null, limit=limit)
