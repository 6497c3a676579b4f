"""Commands that change a table as a whole: rollback, tag, clone, rename, drop, restore."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakebed.cli.command import command
from lakebed.cli.completing import dropped_tables
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.wording import timed
from lakebed.cli.tables import NameArgument
from lakebed.names import ForeignName
from lakebed.ports import id_text

if TYPE_CHECKING:
    from lakebed.tables import Rollback

AtOption = Annotated[
    str | None,
    typer.Option("--at", metavar="POINT", help="A snapshot, tag, branch, run or time; the present state unless given."),
]


def add_to(nouns: typer.Typer) -> None:
    """Give the noun `table` these commands."""
    for name, examples, function in (
        ("rollback", _ROLLBACK, rollback),
        ("tag", _TAG, tag),
        ("untag", _UNTAG, untag),
        ("clone", _CLONE, clone),
        ("rename", _RENAME, rename),
        ("drop", _DROP, drop),
        ("dropped", _DROPPED, dropped),
        ("restore", _RESTORE, restore),
    ):
        command(nouns, name, examples=examples)(function)


_ROLLBACK = """
lakebed table rollback orders --to 2026-11-01T08:00
lakebed table rollback orders --to before_migration --hold
lakebed table rollback orders --to 01a1dfe2 --requeue --dry-run
"""


def rollback(
    screen: Screen,
    name: NameArgument,
    to: Annotated[str, typer.Option("--to", metavar="POINT", help="A snapshot, tag, run (its state) or time.")],
    requeue: Annotated[bool, typer.Option("--requeue", help="Files of undone runs wait again: the next run reads them.")] = False,
    hold: Annotated[bool, typer.Option("--hold", help="Files of undone runs are set aside: no run reads them.")] = False,
    wait: Annotated[float, typer.Option("--wait", min=0, help="Seconds to wait for a run that has the table.")] = 0.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
) -> None:
    """Make readers see an earlier state of a table again, with the columns it had. Nothing is lost: roll forward the same way."""
    lake = screen.lake()
    if dry_run:
        plan = lake.table_work.plan_rollback(name, to, requeue_files=requeue, hold_files=hold)
    else:
        plan = lake.rollback(name, to, requeue=requeue, hold=hold, wait=wait)
    screen.show(_facts(plan, done=not dry_run), lambda: _told(screen, plan, dry_run))


def _facts(plan: "Rollback", *, done: bool) -> dict[str, Any]:
    return {
        "table": str(plan.table),
        "from": id_text(plan.base),
        "to": id_text(plan.to.id),
        "of": plan.to.at,
        "undone": plan.undone,
        "redone": plan.redone,
        "requeued": [file.path for file in plan.files],
        "done": done and not plan.changes_nothing,
    }


def _told(screen: Screen, plan: "Rollback", dry_run: bool) -> None:
    if plan.changes_nothing:
        screen.say(f"{plan.table} stands at snapshot {plan.to.id} already")
        return
    verb = "would stand" if dry_run else "stands"
    screen.say(f"{plan.table} {verb} at snapshot {plan.to.id}, of {timed(plan.to.at)} UTC")
    for label, runs in (("undone", plan.undone), ("back again", plan.redone)):
        if runs:
            screen.say(f"  {label}: {', '.join(run[:16] for run in runs)}")
    if plan.files:
        screen.say(f"  files that wait again: {len({file.path for file in plan.files})}")
    if not dry_run:
        screen.say(f"  the way back: lakebed table rollback {plan.table} --to {plan.base}")


_TAG = """
lakebed table tag orders before_migration
lakebed table tag orders q3 --at 2026-09-30T23:59
"""


def tag(
    screen: Screen,
    name: NameArgument,
    tag: Annotated[str, typer.Argument(help="The tag's name.")],
    at: AtOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Move a tag that is there.")] = False,
) -> None:
    """Give a state of a table a name; what has a name does not expire."""
    snapshot = screen.lake().tag(name, tag, at=at, replace=replace)
    screen.show({"tag": tag, "snapshot": id_text(snapshot.id)}, lambda: screen.say(f"{tag} is snapshot {snapshot.id}"))


_UNTAG = """
lakebed table untag orders before_migration
"""


def untag(screen: Screen, name: NameArgument, ref: Annotated[str, typer.Argument(help="A tag or branch.")]) -> None:
    """Remove a tag, or a branch made by hand; what only it kept may expire."""
    screen.lake().table_work.remove_ref(name, ref)
    screen.show({"removed": ref}, lambda: screen.say(f"{ref} is gone"))


_CLONE = """
lakebed table clone orders shop.silver.orders_dev
lakebed table clone orders shop.silver.orders_then --at 2026-11-01
lakebed table clone orders --branch experiment
"""


def clone(
    screen: Screen,
    name: NameArgument,
    to: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="The new table: namespace.layer.name.")] = None,
    at: AtOption = None,
    branch: Annotated[str | None, typer.Option("--branch", metavar="NAME", help="A branch of the table instead.")] = None,
) -> None:
    """Begin a table, or a branch, with a state of another, for development: no file is copied, neither can hurt the other."""
    from lakebed.errors import UsageError

    if (to is None) == (branch is None):
        raise UsageError("a clone is a new table or a branch.", next="Give a table's name, or --branch NAME.")
    lake = screen.lake()
    if branch:
        made = f"{lake.find(name)} branch {branch} at snapshot {lake.table_work.branch(name, branch, at=at).id}"
    else:
        made = str(lake.clone(name, to or "", at=at))
    screen.show({"made": made}, lambda: screen.say(f"made {made}"))


_RENAME = """
lakebed table rename orders shop.silver.orders_old
"""


def rename(screen: Screen, name: NameArgument, to: Annotated[str, typer.Argument(help="namespace.layer.name")]) -> None:
    """Give a table another name. Its files and history stay; its pipeline, if it has one, would make a new table."""
    table = screen.lake().rename(name, to)
    screen.show({"table": str(table)}, lambda: screen.say(f"it is {table} now"))


_DROP = """
lakebed table drop orders_old
"""


def drop(screen: Screen, name: NameArgument) -> None:
    """Take a table or a view out of sight. A table's files stay for a while: `lakebed table restore` brings it back."""
    lake = screen.lake()
    found, view = lake.find_anything(name)
    if view and not isinstance(found, ForeignName):
        lake.table_work.drop_view(found)
        screen.show({"view": str(found)}, lambda: screen.say(f"dropped the view {found}; its pipeline makes it again"))
        return
    gone = lake.drop(name)

    def text() -> None:
        screen.say(f"dropped {gone.table}")
        screen.say(f"bring it back with: lakebed table restore {gone.table}")

    screen.show({"table": str(gone.table), "uuid": gone.uuid}, text)


_DROPPED = """
lakebed table dropped
"""


def dropped(screen: Screen) -> None:
    """Tables that were dropped and can be restored."""
    known = screen.lake().table_work.dropped()
    rows = [{"table": str(one.table), "uuid": one.uuid, "at": one.at} for one in known]

    def text() -> None:
        if not rows:
            screen.say("no table is waiting to be restored")
            return
        screen.table(("table", "dropped (UTC)", "uuid"), [(str(one.table), timed(one.at), one.uuid) for one in known])

    screen.show(rows, text)


_RESTORE = """
lakebed table restore orders
lakebed table restore orders --to shop.silver.orders_again
"""


def restore(
    screen: Screen,
    name: Annotated[
        str, typer.Argument(help="The dropped table's name, the end of it, or its uuid.", autocompletion=dropped_tables)
    ],
    to: Annotated[str | None, typer.Option("--to", metavar="TABLE", help="Another name: namespace.layer.name.")] = None,
) -> None:
    """Bring a dropped table back with all its rows and history."""
    table = screen.lake().restore(name, to=to)
    screen.show({"table": str(table)}, lambda: screen.say(f"{table} is back"))
