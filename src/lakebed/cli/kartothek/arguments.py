"""Arguments that commands about Kartothek datasets share."""

from typing import Annotated

import typer

DatasetArgument = Annotated[
    str,
    typer.Argument(metavar="DATASET", help="LOCATION/DATASET, such as s3://bucket/exports/sales."),
]
TableOption = Annotated[
    str | None, typer.Option("--table", help="The table of a dataset that has several.")
]
