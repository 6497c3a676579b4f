"""Commands about the lake as a whole: init, doctor, ls."""

import os
import shlex
from typing import Annotated, Any

import typer

from lakebed.cli.command import command
from lakebed.cli.completing import known_names
from lakebed.cli.output.marks import Marked
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.wording import counted, sized, timed

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def add_to(app: typer.Typer) -> None:
    """Give the app these commands."""
    command(app, "init", examples=_INIT)(init)
    command(app, "doctor", examples=_DOCTOR)(doctor)
    command(app, "ls", examples=_LS)(ls)
    command(app, "demo", examples=_DEMO)(demo)


_INIT = """
lakebed init shop-lake --template shop
lakebed init --set timezone=Europe/Amsterdam
lakebed init s3://bucket/lake --set catalog.kind=postgres --set catalog.url=postgresql://host:5432/lake
"""


def init(
    screen: Screen,
    path: Annotated[str | None, typer.Argument(help="Folder or s3:// address; the present folder unless given.")] = None,
    template: Annotated[str | None, typer.Option("--template", metavar="NAME", help="Start with these files: shop.")] = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting for lakebed.yaml; repeatable.")
    ] = None,
) -> None:
    """Make a lake."""
    from lakebed.app.create import create_lake, variables_to_set
    from lakebed.settings import Root, settings_tree

    root = Root.parse(path or screen.lake_path or ".")
    values = settings_tree(set or [])
    with screen.waiting("making the lake"):
        settings, files = create_lake(root, values=values, template=template, environment=os.environ)
    unset = variables_to_set(root, values, os.environ)

    def text() -> None:
        screen.say(f"made a lake at {root} (catalog: {settings.catalog.kind}, timezone: {settings.timezone})")
        for file in files:
            screen.say(f"  {file}")
        if unset:
            screen.say("lakebed.yaml lies in the bucket: how to reach it must be said by variables, too")
        for name, value in unset.items():
            screen.say(f"  export {name}={shlex.quote(value)}")
        screen.say(f"next: lakebed doctor --lake {root}")

    screen.show({"root": str(root), "catalog": settings.catalog.kind, "files": files, "variables": unset}, text)


_DOCTOR = """
lakebed doctor
lakebed doctor --lake shop-lake --json
"""


def doctor(screen: Screen) -> None:
    """Look the machine and the lake over, and say how to mend what is wrong."""
    from lakebed.app import examine
    from lakebed.errors import NoLake

    try:
        lake = screen.lake()
    except NoLake:
        if screen.lake_path:
            raise
        lake = None
    findings = examine(lake, os.environ)

    def text() -> None:
        rows = [(Marked(found.state, _COLOURS[found.state]), found.component, found.version, found.detail) for found in findings]
        screen.table(("", "component", "version", "found"), rows)
        for found in findings:
            if found.fix:
                screen.say(f"{found.component}: {found.fix}")

    screen.show(findings, text)
    if any(found.state == "problem" for found in findings):
        raise typer.Exit(1)


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


_DEMO = """
lakebed demo
lakebed demo my-first-lake
"""


def demo(
    screen: Screen,
    path: Annotated[str | None, typer.Argument(help="Where to make the lake; a temporary folder unless given.")] = None,
) -> None:
    """Make a small shop lake and show what Lakebed can do with it."""
    from lakebed.cli.demo.demo import show

    show(screen, path)
