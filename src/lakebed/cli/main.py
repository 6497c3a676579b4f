"""The `lakebed` program."""

import gc
import sys
from typing import Annotated

import typer

from lakebed.cli import (
    backup,
    care,
    doctor,
    fsck,
    init,
    lineage,
    ls,
    preview,
    query,
    query_log,
    run,
    runs,
    zone,
)
from lakebed.cli.demo import command as demo
from lakebed.cli.kartothek import noun as kartothek
from lakebed.cli.layout import noun as layout
from lakebed.cli.output.help import load_help
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import (
    DebugOption,
    JsonOption,
    LakeOption,
    NoWorkerOption,
    QuietOption,
)
from lakebed.cli.pipeline import noun as pipeline
from lakebed.cli.sql import command as sql
from lakebed.cli.table import followers
from lakebed.cli.table import noun as table
from lakebed.cli.worker import command as worker
from lakebed.engines.worker.end_report import report_end

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: lakebed demo, or: lakebed init my-lake --template shop",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"lakebed {version('lakebed')}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit."),
]


@app.callback()
def root(
    context: typer.Context,
    lake: LakeOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
    no_worker: NoWorkerOption = False,
    version: VersionOption = False,  # noqa: ARG001 - its callback acts
) -> None:
    """A lakehouse kept in one folder that grows to a cluster."""
    context.obj = Screen(lake, json, quiet, debug, no_worker)


for commands in (
    *(init, doctor, ls, demo),
    *(run, preview, runs, lineage, pipeline),
    *(query, sql, query_log),
    *(table, layout, zone, followers, care, fsck, backup, kartothek, worker),
):
    commands.add_to(app)


def main() -> None:
    """Run the program."""
    # Most objects of a command stay until its end. To look for garbage among them as often as
    # Python does by default, and once more at the end, would take a tenth of the time.
    gc.set_threshold(20_000)
    load_help(sys.argv[1:])
    try:
        app(prog_name="lakebed")
    except SystemExit as ended:
        report_end(ended.code)
        raise
    finally:
        gc.freeze()
