"""Commands that make and drop layouts: layout add, drop."""

from typing import Annotated

import typer

from lakebed.cli.layout.arguments import LayoutArgument
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import TableArgument
from lakebed.presentation.layout import dropped_layout_json, layout_json


def add_to(noun: typer.Typer) -> None:
    """Give the noun `layout` these commands."""
    command(noun, "add", examples=_ADD)(add)
    command(noun, "drop", examples=_DROP)(drop)


_ADD = """
lakebed layout add income --partition-by "truncate(2, geo_fips)" --sort-by geo_fips
lakebed layout add orders --sort-by customer --name by_customer
"""


def add(
    screen: Screen,
    table: TableArgument,
    partition_by: Annotated[
        list[str] | None,
        typer.Option(
            "--partition-by",
            metavar="FIELD",
            help="country, month(at), bucket(16, id), truncate(2, code); repeatable.",
        ),
    ] = None,
    sort_by: Annotated[
        list[str] | None,
        typer.Option("--sort-by", metavar="TERM", help="id, at desc; repeatable."),
    ] = None,
    batch_by: Annotated[
        list[str] | None,
        typer.Option(
            "--batch-by",
            metavar="COLUMN",
            help="Columns whose values are built by themselves; repeatable. Default: the first"
            " partition column of the table.",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="LAYOUT", help="Default: by_ and its columns.")
    ] = "",
) -> None:
    """Give a table without a pipeline a further layout.

    Writes only metadata; `lakebed layout build` writes its rows. A pipeline declares the layouts of
    its table in config.yaml.
    """
    lake = screen.lake
    with lake.spark_ahead():
        made = lake.layouts.add(
            table,
            partition_by=partition_by or (),
            sort_by=sort_by or (),
            batch_by=batch_by,
            name=name,
        )

    def text() -> None:
        screen.say("layout ", bold(made.name), f" of {made.table}")
        if made.why:
            screen.say(f"  {made.why}")
        screen.say(f"  to write its rows: lakebed layout build {made.table}")

    screen.show(layout_json(made), text)


_DROP = """
lakebed layout drop income by_geo_fips
"""


def drop(screen: Screen, table: TableArgument, layout: LayoutArgument) -> None:
    """Drop a layout. The table itself stays; care removes the layout's files."""
    found = screen.lake.layouts.drop(table, layout)
    screen.show(
        dropped_layout_json(found, layout),
        lambda: screen.say(f"dropped the layout {layout} of {found}"),
    )
