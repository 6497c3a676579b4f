"""Commands about drafts: pipeline ls, save, drafts, restore, delete."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import PipelineArgument
from lakebed.presentation.pipeline import (
    draft_json,
    pipeline_json,
    restored_draft_json,
    saved_draft_json,
)

if TYPE_CHECKING:
    from lakebed.pipelines.releases.states import PipelineState


def add_to(noun: typer.Typer) -> None:
    """Give the noun `pipeline` these commands."""
    command(noun, "ls", examples=_LS)(ls)
    command(noun, "save", examples=_SAVE)(save)
    command(noun, "drafts", examples=_DRAFTS)(drafts)
    command(noun, "restore", examples=_RESTORE)(restore)
    command(noun, "delete", examples=_DELETE)(delete)


_LS = """
lakebed pipeline ls
lakebed pipeline ls --json
"""


def ls(screen: Screen) -> None:
    """List pipelines: the newest release, whether the draft differs from it, and deleted
    pipelines.
    """
    found = screen.lake.pipelines.list()

    def text() -> None:
        if not found:
            screen.say("no pipelines yet")
            return
        rows = [
            (str(one.table), _draft_text(one), str(one.version or ""), format_time(one.released_at))
            for one in found
        ]
        screen.table(("pipeline", "draft", "release", "released (UTC)"), rows, right=("release",))

    screen.show([pipeline_json(one) for one in found], text)


def _draft_text(state: "PipelineState") -> str:
    words = {
        "unreleased": "never released",
        "changed": f"changed since release {state.version}",
        "released": f"same as release {state.version}",
        "absent": "its folder is gone",
        "deleted": (
            f"deleted {format_time(state.deleted_at)}, can be restored until"
            f" {format_time(state.purged_at)}"
        ),
    }
    return words[state.draft]


_SAVE = """
lakebed pipeline save silver.orders
"""


def save(screen: Screen, name: PipelineArgument) -> None:
    """Save the draft as it is now. Running, releasing and restoring save it too."""
    draft, is_new = screen.lake.pipelines.save(name)
    message = (
        f"{'saved' if is_new else 'already saved:'} draft {draft.digest[:12]} of {draft.table}"
    )
    screen.show(saved_draft_json(draft, is_new=is_new), lambda: screen.say(message))


_DRAFTS = """
lakebed pipeline drafts silver.orders
lakebed pipeline drafts orders --json
"""


def drafts(screen: Screen, name: PipelineArgument) -> None:
    """List the saved drafts of a pipeline, newest first."""
    found = screen.lake.pipelines.drafts(name)

    def text() -> None:
        if not found:
            screen.say("no saved drafts: run the pipeline, or save it with lakebed pipeline save")
            return
        rows = [(one.digest[:12], format_time(one.at), ", ".join(one.files)) for one in found]
        screen.table(("draft", "saved (UTC)", "files"), rows)

    screen.show([draft_json(one) for one in found], text)


_RESTORE = """
lakebed pipeline restore silver.orders
lakebed pipeline restore silver.orders 2
lakebed pipeline restore silver.orders 3f9c21ab
"""


def restore(
    screen: Screen,
    name: PipelineArgument,
    state: Annotated[
        str | None,
        typer.Argument(
            metavar="[VERSION]",
            help="A release, or a saved draft's digest. Default: the last draft, if it is gone.",
        ),
    ] = None,
) -> None:
    """Make a release or a saved draft the draft again. The present draft is saved first."""
    which, done = screen.lake.pipelines.restore(name, state)

    def text() -> None:
        for mark, paths in (("~", done.written), ("-", done.removed)):
            for path in paths:
                screen.say(f"  {mark} {path}")
        changed = done.written or done.removed
        if changed:
            screen.say(f"restored {done.table} from {which}")
        else:
            screen.say(f"nothing to do: the draft of {done.table} is the same as {which}")

    screen.show(restored_draft_json(done, source=which), text)


_DELETE = """
lakebed pipeline delete silver.orders
"""


def delete(screen: Screen, name: PipelineArgument) -> None:
    """Delete a pipeline: its draft is saved, its releases are kept for a while, its table stays."""
    state = screen.lake.pipelines.delete(name)
    until = format_time(state.purged_at)

    def text() -> None:
        screen.say(
            f"deleted {state.table}; its table stays; until {until} UTC: lakebed pipeline restore"
            f" {state.table}"
        )

    screen.show(pipeline_json(state), text)
