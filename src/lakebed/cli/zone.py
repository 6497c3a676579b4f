"""Commands about landing zones: zone ls, show, put, retry."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_count, format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_zones
from lakebed.presentation.zone import landed_json, zone_json, zone_readers, zone_summary_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.landing import ZoneColumn, ZoneFile


ZoneArgument = Annotated[
    str,
    typer.Argument(
        metavar="ZONE", help="namespace.zone, or just the zone.", autocompletion=known_zones
    ),
]


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `zone`."""
    noun = typer.Typer(no_args_is_help=True, help="About landing zones: ls, show, put, retry.")
    command(noun, "ls", examples=_LS)(ls)
    command(noun, "show", examples=_SHOW)(show)
    command(noun, "put", examples=_PUT)(put)
    command(noun, "retry", examples=_RETRY)(retry)
    app.add_typer(noun, name="zone")


_LS = """
lakebed zone ls
lakebed zone ls --json
"""


def ls(screen: Screen) -> None:
    """List zones: how many files are waiting, processed or quarantined, and which tables
    read them.
    """
    found = screen.lake.zones.list()
    numbers = ("waiting", "taken", "processed", "quarantined")

    def text() -> None:
        if not found:
            screen.say("no zones yet: create one with lakebed zone put NAMESPACE.ZONE FILE")
            return
        rows = [
            (
                str(zone.zone),
                *(format_count(zone.counts[state]) for state in numbers),
                ", ".join(zone_readers(zone)),
                zone.spec.description,
            )
            for zone in found
        ]
        screen.table(("zone", *numbers, "read by", "description"), rows, right=numbers)

    screen.show([zone_summary_json(zone) for zone in found], text)


_SHOW = """
lakebed zone show orders
lakebed zone show ecommerce.orders --json
"""


def show(screen: Screen, zone: ZoneArgument) -> None:
    """Show a zone: the types its columns are read as, and its files with their states.

    To read a column as another type, set it in zone.yaml: types: {column: string}.
    """
    with screen.spinner("checking whether files are still being written"):
        found = screen.lake.zones.show(zone, watch=True)

    def text() -> None:
        screen.say(bold(found.zone), f" read by {', '.join(zone_readers(found)) or 'no pipeline'}")
        if found.types:
            names = [
                f"{one.column} ({one.pattern})" if one.pattern else one.column
                for one in found.types
            ]
            types = [
                (name, one.type, _said_by(one))
                for name, one in zip(names, found.types, strict=True)
            ]
            screen.table(("column", "read as", "by"), types)
        rows = [
            (
                file.path,
                file.state,
                format_size(file.size),
                format_time(file.modified),
                _file_details(file),
            )
            for file in found.files
        ]
        if rows:
            screen.table(("file", "state", "size", "modified (UTC)", ""), rows, right=("size",))
        else:
            screen.say("  no files")
        if found.counts["quarantined"]:
            screen.say(f"to read quarantined files again: lakebed zone retry {found.zone}")
        for link in found.refused_links:
            screen.say(f"  refused: {link.path} {link.fault}: to {link.target}")

    screen.show(zone_json(found), text)


def _said_by(column: "ZoneColumn") -> str:
    if not column.value:
        return column.said_by
    return f"{column.said_by}: {column.value} in {column.file.rpartition('/')[2]}"


def _file_details(file: "ZoneFile") -> str:
    parts = [
        file.reason,
        f"run {file.run[:16]}" if file.run else "",
        f"taken by {', '.join(file.taken_by)}" if file.taken_by else "",
        f"waits for {', '.join(file.waits_for)}" if file.waits_for else "",
    ]
    return "; ".join(part for part in parts if part)


_PUT = """
lakebed zone put orders orders_2026-10-04.csv
lakebed zone put ecommerce.orders day.csv --replace
lakebed zone put orders few.csv --sample
"""


def put(
    screen: Screen,
    zone: ZoneArgument,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="Files on this machine.",
        ),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace files of the same names.")
    ] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="Put them into the samples, which previews read.")
    ] = False,
) -> None:
    """Put files into a zone. Give the full name to create a new zone."""
    with screen.spinner("copying files"):
        done = screen.lake.zones.put(zone, files, replace=replace, sample=sample)

    def text() -> None:
        for file in done:
            screen.say(f"put {file.path} ({format_size(file.size)})")

    screen.show(landed_json(done), text)


_RETRY = """
lakebed zone retry orders
lakebed zone retry orders orders_2026-10-04.csv
lakebed zone retry ecommerce.orders --run 01a1f5b5805a633e
"""


def retry(
    screen: Screen,
    zone: ZoneArgument,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Their names in the zone. Default: all."),
    ] = None,
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help="Only what this run has set aside.")
    ] = "",
) -> None:
    """Bring quarantined files back into their zone, so that the next run reads them.

    Correct zone.yaml first, or replace the file: it would be set aside again.
    """
    done = screen.lake.zones.retry(zone, files or (), run=run)

    def text() -> None:
        for file in done:
            screen.say(f"brought back {file.path} ({format_size(file.size)})")
        if not done:
            screen.say(f"no file of {zone} is in quarantine" + (f" by {run}" if run else ""))

    screen.show(landed_json(done), text)
