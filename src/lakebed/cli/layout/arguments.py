"""Arguments that commands about layouts share."""

from typing import Annotated

import typer

from lakebed.cli.parsing.completion import known_layouts, known_tables

AnyTableArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[TABLE]",
        help="namespace.layer.name, or the last parts of it. Default: all tables.",
        autocompletion=known_tables,
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="LAYOUT",
        help="Only the layout of this name.",
        autocompletion=known_layouts,
    ),
]
LayoutArgument = Annotated[
    str,
    typer.Argument(metavar="LAYOUT", help="The layout's name.", autocompletion=known_layouts),
]
