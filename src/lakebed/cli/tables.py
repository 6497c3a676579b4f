"""Commands about one table: describe, history."""

from typing import Annotated, Any

import typer

from lakebed.cli.command import command
from lakebed.cli.screen import Screen
from lakebed.cli.wording import counted, sized, timed


def known_tables(incomplete: str) -> list[str]:
    """Names for shell completion; silent where there is no lake."""
    from lakebed.app import open_lake
    from lakebed.errors import LakebedError

    try:
        with open_lake() as lake:
            return [name for name in map(str, lake.stores.catalog.pointers()) if name.startswith(incomplete)]
    except LakebedError:
        return []


NameArgument = Annotated[
    str, typer.Argument(metavar="TABLE", help="namespace.layer.name, or the end of it.", autocompletion=known_tables)
]


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `table`."""
    nouns = typer.Typer(no_args_is_help=True, help="About one table: describe, history.")
    command(nouns, "describe", examples=_DESCRIBE)(describe)
    command(nouns, "history", examples=_HISTORY)(history)
    app.add_typer(nouns, name="table")


_DESCRIBE = """
lakebed table describe ecommerce.silver.orders
lakebed table describe orders --json
"""


def describe(screen: Screen, name: NameArgument) -> None:
    """Columns, layout, refs and size of a table."""
    lake = screen.lake()
    table = lake.find(name)
    metadata = lake.describe(table)
    head = metadata.head()
    facts: dict[str, Any] = {
        "table": str(table),
        "uuid": metadata.uuid,
        "location": metadata.location,
        "format_version": metadata.format_version,
        "updated_at": metadata.updated_at,
        "rows": head.count("total-records") if head else 0,
        "files": head.count("total-data-files") if head else 0,
        "bytes": head.count("total-files-size") if head else 0,
        "partition_by": metadata.partition_by,
        "sort_by": metadata.sort_by,
        "columns": metadata.columns,
        "refs": list(metadata.refs.values()),
        "properties": metadata.properties,
    }

    def text() -> None:
        screen.say(f"[bold]{table}[/bold]")
        screen.say(f"  rows {counted(facts['rows'])} · files {counted(facts['files'])} · {sized(facts['bytes'])}")
        screen.say(f"  updated {timed(metadata.updated_at)} UTC · {metadata.location}")
        for label, parts in (("partitioned by", metadata.partition_by), ("sorted by", metadata.sort_by)):
            if parts:
                screen.say(f"  {label} {', '.join(parts)}")
        columns = [(column.name, column.type, "required" if column.required else "", column.doc) for column in metadata.columns]
        screen.table(("column", "type", "", "description"), columns)
        refs = [(ref.name, ref.kind, str(ref.snapshot)) for ref in metadata.refs.values()]
        if refs:
            screen.table(("ref", "kind", "snapshot"), refs)

    screen.show(facts, text)


_HISTORY = """
lakebed table history orders
lakebed table history orders --ref run_7 --json
"""


def history(
    screen: Screen,
    name: NameArgument,
    ref: Annotated[str, typer.Option("--ref", help="A branch or tag.")] = "main",
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many snapshots to show.")] = 50,
) -> None:
    """The snapshots of a table, newest first."""
    lake = screen.lake()
    snapshots = lake.history(name, ref=ref)
    rows: list[dict[str, Any]] = [
        {
            "snapshot": snapshot.id,
            "at": snapshot.at,
            "operation": snapshot.operation,
            "added": snapshot.count("added-records") or 0,
            "deleted": snapshot.count("deleted-records") or 0,
            "rows": snapshot.count("total-records"),
            "run": snapshot.run_id,
        }
        for snapshot in snapshots[:limit]
    ]

    def text() -> None:
        if not rows:
            screen.say(f"{ref} has no snapshot yet")
            return
        numbers = ("added", "deleted", "rows")
        shown = [
            (str(row["snapshot"]), timed(row["at"]), row["operation"], *(counted(row[key]) for key in numbers), row["run"] or "")
            for row in rows
        ]
        screen.table(("snapshot", "at (UTC)", "operation", *numbers, "run"), shown, right=numbers)
        if len(snapshots) > limit:
            screen.say(f"… and {len(snapshots) - limit} older; see more with --limit")

    screen.show(rows, text)
