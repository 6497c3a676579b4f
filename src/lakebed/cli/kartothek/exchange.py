"""Commands that exchange rows with the lake: kartothek export, import."""

from typing import Annotated

import typer

from lakebed.cli.kartothek.arguments import DatasetArgument, TableOption
from lakebed.cli.output.formats import plural
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_tables
from lakebed.cli.parsing.options import named_columns
from lakebed.cli.table.write import (
    GatesOption,
    KeyOption,
    ModeOption,
    OrderOption,
    SchemaChangeOption,
    WrittenTableArgument,
    print_change,
)
from lakebed.presentation.kartothek import export_json


def add_to(noun: typer.Typer) -> None:
    """Give the noun `kartothek` these commands."""
    command(noun, "export", examples=_EXPORT)(export)
    command(noun, "import", examples=_IMPORT)(import_)


_EXPORT = """
lakebed kartothek export silver.orders exports/orders --partition-by country --index order_id
lakebed kartothek export silver.orders s3://bucket/exports/orders
"""


def export(
    screen: Screen,
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="A table of the lake.", autocompletion=known_tables),
    ],
    dataset: DatasetArgument,
    partition_by: Annotated[
        list[str] | None,
        typer.Option(
            "--partition-by", callback=named_columns, help="Partition keys: a,b; repeatable."
        ),
    ] = None,
    index: Annotated[
        list[str] | None,
        typer.Option("--index", callback=named_columns, help="Columns to index: a,b; repeatable."),
    ] = None,
    string_profile: Annotated[
        str,
        typer.Option("--string-profile", help="large_string, or string for plateau before 4.5."),
    ] = "large_string",
    anew: Annotated[
        bool, typer.Option("--anew", help="Replace all rows of the dataset, whoever wrote them.")
    ] = False,
) -> None:
    """Export a table to a Kartothek dataset, in one commit; rows are copied.

    Later exports write only what changed, and say so when they have to export everything anew. The
    exported snapshot is protected from expiry until the next export.
    """
    with screen.spinner("exporting"):
        result = screen.lake.kartothek.export_table(
            table,
            dataset,
            partition_by=partition_by,
            index=index,
            string_profile=string_profile,
            anew=anew,
        )

    def text() -> None:
        if result.anew:
            screen.say(f"exported anew: {result.anew}")
        screen.say(
            f"{result.table} → {result.dataset}: {plural(result.files_read, 'file')} read,"
            f" {plural(result.partitions_added, 'partition')} added,"
            f" {result.partitions_removed} removed, {result.partitions} in all"
        )
        for warning in result.warnings:
            screen.say(f"  warning: {warning}")

    screen.show(export_json(result), text)


_IMPORT = """
lakebed kartothek import exports/orders shop.bronze.orders
lakebed kartothek import s3://bucket/exports/orders orders --mode merge --key order_id
"""


def import_(
    screen: Screen,
    dataset: DatasetArgument,
    table: WrittenTableArgument,
    mode: ModeOption = "append",
    key: KeyOption = None,
    order: OrderOption = None,
    on_schema_change: SchemaChangeOption = "fail",
    dataset_table: TableOption = None,
    no_gates: GatesOption = False,
) -> None:
    """Import a Kartothek dataset into a table: on a branch, published once the gates pass."""
    with screen.spinner("importing"):
        record = screen.lake.kartothek.import_dataset(
            dataset,
            table,
            mode=mode,
            key=key or (),
            order=order,
            on_schema_change=on_schema_change,
            dataset_table=dataset_table,
            gates=not no_gates,
        )
    print_change(screen, record)
