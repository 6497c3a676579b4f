"""The command `table adopt`."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_count
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.table.write import GatesOption, print_change
from lakebed.presentation.table import adoption_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.tables.adopting.look import Adoption


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` this command."""
    command(noun, "adopt", examples=_ADOPT)(adopt)


_ADOPT = """
lakebed table adopt exports/income shop.bronze.income
lakebed table adopt exports/income shop.bronze.income --dry-run
lakebed table adopt s3://archive/events shop.bronze.events --rewrite
"""


def adopt(
    screen: Screen,
    folder: Annotated[
        str,
        typer.Argument(
            help="A folder of Parquet files on this machine, or s3://bucket/path. Folders below it"
            " such as year=2020 become partitions."
        ),
    ],
    name: Annotated[
        str, typer.Argument(metavar="TABLE", help="namespace.layer.name of the new table.")
    ],
    rewrite: Annotated[
        bool,
        typer.Option(
            "--rewrite", help="Copy the rows to files of the table, instead of using the files."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what the table would be; change nothing.")
    ] = False,
    no_gates: GatesOption = False,
) -> None:
    """Make a table of a folder of Parquet files; the files stay where they are, and stay yours."""
    if dry_run:
        with screen.spinner("reading footers"):
            found = screen.lake.plan_adoption(folder, name, rewrite=rewrite)
        screen.show(adoption_json(found), lambda: _print_adoption(screen, found))
        return
    with screen.spinner("adopting"):
        record = screen.lake.adopt(folder, name, rewrite=rewrite, gates=not no_gates)
    print_change(screen, record)


def _print_adoption(screen: Screen, found: "Adoption") -> None:
    verb = "would be copied to" if found.rewrite else "would be part of"
    screen.say(
        f"{format_count(found.files)} files with {format_count(found.rows)} rows"
        f" ({format_size(found.bytes)}) {verb} {found.table}"
    )
    if found.partition_by:
        screen.say(f"  partitioned by {', '.join(found.partition_by)}")
    screen.table(("column", "type"), [(field.name, field.type) for field in found.columns])
    if found.left_out_count:
        more = found.left_out_count - len(found.left_out)
        listed = ", ".join(found.left_out) + (f" and {more} more" if more else "")
        screen.say(f"  left out, as they are empty or not Parquet: {listed}")
