"""Commands that look at one table: describe, history."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakebed.cli.command import command
from lakebed.cli.completing import known_tables
from lakebed.cli.output.marks import bold
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.wording import counted, sized, timed
from lakebed.ports import id_text

if TYPE_CHECKING:
    from lakebed.app.tables import HistoryEntry
    from lakebed.names import TableName
    from lakebed.ports import ViewMetadata


NameArgument = Annotated[
    str, typer.Argument(metavar="TABLE", help="namespace.layer.name, or the end of it.", autocompletion=known_tables)
]


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `table`."""
    from lakebed.cli import changes, comparing, manual

    nouns = typer.Typer(no_args_is_help=True, help="About one table: describe, history, diff, rollback, tag, clone, drop …")
    command(nouns, "describe", examples=_DESCRIBE)(describe)
    command(nouns, "history", examples=_HISTORY)(history)
    comparing.add_to(nouns)
    changes.add_to(nouns)
    manual.add_to(nouns)
    app.add_typer(nouns, name="table")


_DESCRIBE = """
lakebed table describe ecommerce.silver.orders
lakebed table describe orders --json
"""


def describe(screen: Screen, name: NameArgument) -> None:
    """Columns, layout, refs and size of a table; columns and SQL of a view."""
    lake = screen.lake()
    table, view = lake.find_anything(name)
    if view:
        _view(screen, table, view)
        return
    metadata = lake.describe(name)
    head = metadata.head()
    facts: dict[str, Any] = {
        "table": str(table),
        "uuid": metadata.uuid,
        "location": metadata.location,
        "format_version": metadata.format_version,
        "updated_at": metadata.updated_at,
        "rows": head.rows if head else 0,
        "files": head.count("total-data-files") if head else 0,
        "bytes": head.count("total-files-size") if head else 0,
        "partition_by": metadata.partition_by,
        "sort_by": metadata.sort_by,
        "columns": metadata.columns,
        "refs": [{"name": ref.name, "snapshot": id_text(ref.snapshot), "kind": ref.kind} for ref in metadata.refs.values()],
        "properties": metadata.properties,
    }

    def text() -> None:
        screen.say(bold(table))
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


def _view(screen: Screen, name: "TableName", view: "ViewMetadata") -> None:
    facts: dict[str, Any] = {
        "view": str(name),
        "location": view.location,
        "updated_at": view.updated_at,
        "columns": view.columns,
        "dialect": view.dialect,
        "sql": view.sql,
        "properties": view.properties,
    }

    def text() -> None:
        screen.say(bold(name), " (view)")
        screen.say(f"  updated {timed(view.updated_at)} UTC · {view.location}")
        screen.table(("column", "type", "description"), [(column.name, column.type, column.doc) for column in view.columns])
        screen.say(view.sql)

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
    """What happened to a table, newest first: snapshots, those that were undone too, rollbacks, tags and other changes."""
    changes = screen.lake().table_work.history(name, ref=ref)
    rows = [_change(change) for change in changes[:limit]]

    def text() -> None:
        if not rows:
            screen.say(f"{ref} has no snapshot yet")
            return
        numbers = ("added", "deleted", "rows")
        shown = [
            (
                row["snapshot"] or "",
                timed(row["at"]),
                row["what"] + (" (undone)" if row["undone"] else ""),
                *("" if row[key] is None else counted(row[key]) for key in numbers),
                (row["run"] or "")[:16] or row["detail"],
            )
            for row in rows
        ]
        screen.table(("snapshot", "at (UTC)", "what", *numbers, "run or detail"), shown, right=numbers)
        if len(changes) > limit:
            screen.say(f"… and {len(changes) - limit} older; see more with --limit")

    screen.show(rows, text)


def _change(change: "HistoryEntry") -> dict[str, Any]:
    one, noted = change.snapshot, change.noted
    return {
        "snapshot": id_text(one.id if one else noted.event.snapshot if noted else None),
        "at": change.at,
        "what": change.what,
        "current": change.current,
        "undone": change.undone,
        "added": (one.count("added-records") or 0) if one else None,
        "deleted": one.deleted if one else None,
        "rows": one.rows if one else None,
        "run": one.run_id if one else None,
        "detail": ", ".join(f"{key} {value}" for key, value in noted.event.detail.items()) if noted else "",
    }
