"""Arguments and options that several commands share."""

from collections.abc import Iterable
from typing import Annotated

import typer

from lakebed.cli.parsing.completion import all_pipelines, known_tables
from lakebed.cli.parsing.request_options import argument_of, option_of
from lakebed.names import split_names
from lakebed.requests import QueryRequest, RunRequest

SelectorsArgument = Annotated[list[str] | None, argument_of(RunRequest, "select")]
SelectOption = Annotated[list[str] | None, option_of(RunRequest, "select")]
ExcludeOption = Annotated[list[str] | None, option_of(RunRequest, "exclude")]
VarsOption = Annotated[list[str] | None, option_of(RunRequest, "vars")]
AtOption = Annotated[str | None, option_of(QueryRequest, "at")]
LimitOption = Annotated[int | None, option_of(QueryRequest, "limit")]
NamespaceOption = Annotated[str | None, option_of(QueryRequest, "namespace")]
TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="namespace.layer.name, or the last parts of it.",
        autocompletion=known_tables,
    ),
]
PipelineArgument = Annotated[
    str,
    typer.Argument(
        metavar="PIPELINE",
        help="namespace.layer.name, or the last parts of it.",
        autocompletion=all_pipelines,
    ),
]


def named_columns(given: list[str] | None) -> list[str] | None:
    """The columns of an option that may be repeated, or name several: `a,b`."""
    return given and [name for text in given for name in split_names(text)]


def all_selectors(
    arguments: Iterable[str] | None, options: Iterable[str] | None
) -> tuple[str, ...]:
    """The selectors given as arguments, and those given with --select."""
    return (*(arguments or ()), *(options or ()))
