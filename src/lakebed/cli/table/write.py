"""Commands for manual changes: table execute, write."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_count
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_tables
from lakebed.cli.parsing.options import named_columns
from lakebed.presentation.table import manual_change_json

if TYPE_CHECKING:
    from lakebed.ports import RunRecord

WrittenTableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="namespace.layer.name, or the last parts of an existing one.",
        autocompletion=known_tables,
    ),
]
SchemaChangeOption = Annotated[
    str, typer.Option("--on-schema-change", help="fail, append or sync.")
]
ModeOption = Annotated[str, typer.Option("--mode", help="A strategy: append, overwrite, merge …")]
KeyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--key", callback=named_columns, help="Columns that identify a row: a,b; repeatable."
    ),
]
OrderOption = Annotated[
    str | None, typer.Option("--order", help="Column that says which of two rows is newer.")
]
GatesOption = Annotated[
    bool, typer.Option("--no-gates", help="Skip the gates of the table's pipeline.")
]


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` these commands."""
    command(noun, "execute", examples=_EXECUTE)(execute)
    command(noun, "write", examples=_WRITE)(write)


_EXECUTE = """
lakebed table execute "DELETE FROM orders WHERE order_id = 7"
lakebed table execute "UPDATE silver.orders SET country = 'DE' WHERE country = 'GER'"
lakebed table execute "ALTER TABLE orders ADD COLUMN note STRING"
"""


def execute(
    screen: Screen,
    statement: Annotated[
        str, typer.Argument(help="One INSERT, UPDATE, DELETE, MERGE or ALTER TABLE, in Spark SQL.")
    ],
    no_gates: GatesOption = False,
) -> None:
    """Change a table manually: on a branch, published in one step once the gates pass."""
    with screen.spinner("changing the table"):
        record = screen.lake.execute(statement, gates=not no_gates)
    print_change(screen, record)


_WRITE = """
lakebed table write shop.gold.targets targets.csv
lakebed table write orders corrections.parquet --mode merge --key order_id
lakebed table write orders germany.csv --mode overwrite --where "country = 'DE'"
"""


def write(
    screen: Screen,
    name: WrittenTableArgument,
    file: Annotated[
        Path, typer.Argument(help="A Parquet, CSV or JSON-lines file on this machine.")
    ],
    mode: ModeOption = "append",
    key: KeyOption = None,
    order: OrderOption = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            help="With --mode overwrite: replace only the rows that match this condition, in Spark"
            " SQL. All rows of the file must match it.",
        ),
    ] = None,
    on_schema_change: SchemaChangeOption = "fail",
    no_gates: GatesOption = False,
) -> None:
    """Write the rows of a file to a table, which is created if it does not exist."""
    with screen.spinner("writing"), screen.lake.spark_ahead():
        from lakebed.engines.arrow.local_files import read_rows

        record = screen.lake.write(
            name,
            read_rows(file),
            mode=mode,
            key=key or (),
            order=order,
            where=where,
            on_schema_change=on_schema_change,
            gates=not no_gates,
        )
    print_change(screen, record)


def print_change(screen: Screen, record: "RunRecord") -> None:
    """Print what a manual change did."""

    def text() -> None:
        counts = " · ".join(f"{name} {format_count(count)}" for name, count in record.rows.items())
        screen.say(f"{record.table}: {counts or record.message} (run {record.run_id[:16]})")

    screen.show(manual_change_json(record), text)
