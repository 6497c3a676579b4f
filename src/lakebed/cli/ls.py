"""The command `ls`."""

from typing import Annotated, Any

import typer

from lakebed.cli.output.screen import Screen
from lakebed.cli.output.wording import counted, sized, timed
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_names


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "ls", examples=_LS)(ls)


_LS = """
lakebed ls
lakebed ls silver
lakebed ls 'ecommerce.*.clean_*' --json
"""


def ls(
    screen: Screen,
    pattern: Annotated[
        str | None, typer.Argument(help="A name, a part of one, or a pattern with * and ?.", autocompletion=known_names)
    ] = None,
) -> None:
    """List tables and views, those that others made in the catalog too."""
    lake = screen.lake()
    rows = [_listed(str(table), "table", metadata) for table, metadata in lake.tables(pattern).items()]
    rows += [_viewed(str(view), metadata) for view, metadata in lake.views(pattern).items()]
    rows += [_foreign(one, lake.foreign_metadata(one)) for one in lake.foreign(pattern)]
    kinds = any(row["kind"] != "table" for row in rows)

    def text() -> None:
        if not rows:
            screen.say("no tables" + (f" fit {pattern!r}" if pattern else " yet"))
            return
        heads = ("table", *(("kind",) if kinds else ()), "rows", "files", "size", "updated (UTC)", "branches")
        shown = [tuple(_cell(row, head) for head in heads) for row in rows]
        screen.table(heads, shown, right=("rows", "files", "size", "branches"))

    screen.show(rows, text)


def _cell(row: dict[str, Any], head: str) -> str:
    if head in ("table", "kind"):
        return str(row[head])
    value = row[{"size": "bytes", "updated (UTC)": "updated_at"}.get(head, head)]
    if value is None:
        return ""
    return sized(value) if head == "size" else counted(value) if isinstance(value, int) else timed(value)


_NOTHING = dict.fromkeys(("rows", "files", "bytes", "updated_at", "branches"))


def _viewed(view: str, metadata: Any) -> dict[str, Any]:
    return {"table": view, "kind": "view", **_NOTHING, "updated_at": metadata.updated_at, "location": metadata.location}


def _foreign(one: Any, metadata: Any) -> dict[str, Any]:
    """Without figures where it is a view, or cannot be read."""
    name, kind = str(one.name or one.table), f"foreign {one.kind}"
    if metadata is None:
        return {"table": name, "kind": kind, **_NOTHING, "location": one.location}
    return _listed(name, kind, metadata)


def _listed(table: str, kind: str, metadata: Any) -> dict[str, Any]:
    head = metadata.head()
    return {
        "table": table,
        "kind": kind,
        "rows": head.rows if head else 0,
        "files": head.count("total-data-files") if head else 0,
        "bytes": head.count("total-files-size") if head else 0,
        "updated_at": head.at if head else metadata.updated_at,
        "branches": sum(ref.kind == "branch" for ref in metadata.refs.values()),
        "location": metadata.location,
    }
