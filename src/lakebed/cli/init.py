"""The command `init`."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.presentation.lake import created_json


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "init", examples=_INIT)(init)


_INIT = """
lakebed init shop-lake --template shop
lakebed init --set timezone=Europe/Amsterdam
lakebed init income-lake --from-schema econ-schema.yaml
lakebed init s3://bucket/lake --set catalog.kind=postgres --set catalog.url=postgresql://host:5432/lake
"""


def init(
    screen: Screen,
    path: Annotated[
        str | None, typer.Argument(help="Folder or s3:// address. Default: the current folder.")
    ] = None,
    template: Annotated[
        str | None, typer.Option("--template", metavar="NAME", help="Files to start with: shop.")
    ] = None,
    from_schema: Annotated[
        str | None,
        typer.Option(
            "--from-schema",
            metavar="FILE",
            help="A YAML file with `tables:`; each becomes a pipeline that reads its source.",
        ),
    ] = None,
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="NAME", help="Of the tables of --from-schema.")
    ] = "lake",
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting for lakebed.yaml; repeatable."),
    ] = None,
) -> None:
    """Create a lake."""
    from lakebed.app.create import (
        create_lake,
        schema_files,
        starter_files,
        variables_to_set,
    )
    from lakebed.settings import SETTINGS_FILE, settings_tree

    values = settings_tree(set or [])
    started = starter_files(template)
    if from_schema is not None:
        started |= schema_files(Path(from_schema), namespace=namespace)
    with screen.spinner("creating the lake"):
        lake = create_lake(path or screen.lake_path or ".", files=started, settings=values)
    root, settings, files = lake.root, lake.settings, (SETTINGS_FILE, *started)
    unset = variables_to_set(root, values, os.environ)

    def text() -> None:
        screen.say(
            f"created a lake at {root} (catalog: {settings.catalog.kind}, timezone:"
            f" {settings.timezone})"
        )
        for file in files:
            screen.say(f"  {file}")
        if unset:
            screen.say(
                "lakebed.yaml is in the bucket, so these variables must say how to reach it:"
            )
        for name, value in unset.items():
            screen.say(f"  export {name}={shlex.quote(value)}")
        screen.say(f"next: lakebed doctor --lake {root}")

    screen.show(created_json(root, settings, files, unset), text)
