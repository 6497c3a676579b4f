"""Commands that try pipelines out and write nothing: test, compile, preview."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.build_progress import BuildProgress
from lakebed.cli.output.formats import plural
from lakebed.cli.output.results import cell
from lakebed.cli.output.run_text import failed_gate, summary
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_pipelines
from lakebed.cli.parsing.request_options import takes
from lakebed.presentation.pipeline import preview_json, sql_json
from lakebed.presentation.run import gates_json, gates_label
from lakebed.requests import CompileKeywords, GateKeywords, RunRequest, SqlKeywords

if TYPE_CHECKING:
    from lakebed.pipelines.preview.selected import GateResults


def add_to(app: typer.Typer) -> None:
    """Give the app these commands."""
    command(app, "test", examples=_TEST)(run_gates)
    command(app, "compile", examples=_COMPILE)(compile)
    command(app, "preview", examples=_PREVIEW)(preview)


_TEST = """
lakebed test
lakebed test silver.orders
lakebed test tag:finance --json
"""


@takes(RunRequest)
def run_gates(screen: Screen, options: GateKeywords) -> None:
    """Run the gates on the published tables. Exits with 1 if one fails that does not only warn."""
    progress, began = BuildProgress(screen), time.monotonic()

    def show(judged: "GateResults", total: int) -> None:
        progress.total = total
        progress.line(
            gates_label(judged),
            str(judged.table),
            _details(judged),
            _problems(judged, progress.row_limit),
        )

    with screen.spinner("running the gates"), screen.lake.spark_ahead():
        results = screen.lake.pipelines.test(**options, on_end=show)
    labels = [gates_label(judged) for judged in results]
    took = time.monotonic() - began
    screen.show(
        [gates_json(judged) for judged in results],
        lambda: screen.say(summary(labels, took) if labels else "No gates selected."),
    )
    if "FAIL" in labels:
        raise typer.Exit(1)


def _details(judged: "GateResults") -> str:
    if judged.reason:
        return judged.reason
    passed, total = sum(verdict.passed for verdict in judged.verdicts), len(judged.verdicts)
    took = sum(verdict.seconds for verdict in judged.verdicts)
    return (
        f"{plural(total, 'gate') if passed == total else f'{passed} of {total} gates'} passed in"
        f" {took:.1f} s"
    )


def _problems(judged: "GateResults", longest: int | None) -> Iterator[str]:
    for verdict in judged.verdicts:
        if not verdict.passed:
            yield from failed_gate(verdict, longest=longest)


_COMPILE = """
lakebed compile silver.orders
lakebed compile silver.orders --gates
lakebed compile orders --full-refresh --vars day=2026-10-01
lakebed compile orders --start 2024-01-01 --end 2024-02-01
"""


@takes(RunRequest, after={"gates": "exclude"})
def compile(
    screen: Screen,
    options: CompileKeywords,
    gates: Annotated[bool, typer.Option("--gates", help="Include the queries of gates.")] = False,
) -> None:
    """Print the SQL that would run now, on pinned snapshots. Starts no JVM."""
    compiled = screen.lake.pipelines.compile(**options)
    found = [sql for sql in compiled if gates or not sql.gate]

    def text() -> None:
        for sql in found:
            if len(found) > 1:
                screen.say(Styled(f"-- {sql.file}{f' ({sql.gate})' if sql.gate else ''}", "dim"))
            screen.say(sql.text.strip())

    screen.show([sql_json(sql) for sql in found], text)


_PREVIEW = """
lakebed preview silver.orders
lakebed preview orders --limit 5 --json
"""


@takes(RunRequest)
def preview(
    screen: Screen,
    name: Annotated[
        str, typer.Argument(metavar="PIPELINE", help="Which one.", autocompletion=known_pipelines)
    ],
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="How many rows to compute.")
    ] = 20,
    *,
    options: SqlKeywords,
) -> None:
    """Show the first rows of a pipeline's result, from a zone's _samples/ if any.

    Writes nothing.
    """
    with screen.spinner(f"computing {limit} rows"), screen.lake.spark_ahead():
        found = screen.lake.pipelines.preview(name, limit=limit, **options)
    names = [field.name for field in found.fields]

    def text() -> None:
        screen.table(names, [[cell(row[name]) for name in names] for row in found.rows])
        sampled = f", from samples of {', '.join(map(str, found.sampled))}" if found.sampled else ""
        screen.say(f"{plural(len(found.rows), 'row')} of {found.table}{sampled}")

    screen.show(preview_json(found), text)
