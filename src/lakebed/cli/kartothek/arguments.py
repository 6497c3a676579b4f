"""Arguments that commands about Kartothek datasets share."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.screen import Screen
from lakebed.errors import NoLake

if TYPE_CHECKING:
    from lakebed.kartothek import Datasets

DatasetArgument = Annotated[
    str,
    typer.Argument(metavar="DATASET", help="LOCATION/DATASET, such as s3://bucket/exports/sales."),
]
TableOption = Annotated[
    str | None, typer.Option("--table", help="The table of a dataset that has several.")
]


def datasets_of(screen: Screen) -> "Datasets":
    """Datasets as the lake's settings reach them; outside a lake, as variables say."""
    from lakebed.app import open_datasets

    try:
        return screen.lake.kartothek
    except NoLake:
        if screen.lake_path:
            raise
        return open_datasets()
