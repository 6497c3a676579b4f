"""Writes docs/reference.md from the code: settings, variables, commands, errors.

`make docs` runs it; a test compares.

The last section is written manually, and kept.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

from lakebed import errors
from lakebed.cli.main import app
from lakebed.derived.checks import LAYOUT_NAMES
from lakebed.errors import LakebedError
from lakebed.kartothek.format.names import DATASET_NAMES, DATASET_TABLES
from lakebed.landing import ZoneSpec
from lakebed.landing.plan import UNFINISHED
from lakebed.landing.spec import ZONE_FILE
from lakebed.name_rules import ASSET_NAMES, PLAIN_NAMES, REF_NAMES, TABLE_NAMES, NameRule
from lakebed.pipelines import PipelineConfig
from lakebed.requests import QueryRequest, RunRequest
from lakebed.settings import OTHER_VARIABLES, environment_variables, secret_settings, setting_fields

PIPELINES = "Set in a pipeline's `config.yaml`, or in an annotation of its source, which wins."
ZONES = "Set in a zone's `zone.yaml`."
RUNS = (
    "Fields of `lakebed.RunRequest`. `lake.run` takes them as keywords or as one request, and"
    " `lakebed run` as flags; so do `plan`, `compile` and `preview`, as far as it matters to them."
)
QUERIES = (
    "Fields of `lakebed.QueryRequest`. `lake.query` takes them as keywords or as one request, and"
    " `lakebed query` as flags; so does `explain`, as far as it matters to it."
)


def _literally(text: str) -> str:
    return text.replace(".", "[.]")


NAMES = (
    "A name must match its whole pattern, a regular expression, and none of those that are"
    " reserved. Names of tables are compared ignoring case. Where a name has several parts, one"
    ' that contains a dot is quoted: `shop.raw."a.b"`.'
)
_PART = r"[^/\x00-\x1f\x7f\\]+"
FILE_NAMES = NameRule(  # `landing/put.py` has a reason for each
    "file in a zone with its folders",
    f"{_PART}(/{_PART})*",
    "",
    reserved=(
        "(.*/)?[_.].*",
        _literally(ZONE_FILE),
        f".*({'|'.join(map(_literally, UNFINISHED))})",
    ),
)
NAME_RULES = (
    PLAIN_NAMES,
    TABLE_NAMES,
    ASSET_NAMES,
    REF_NAMES,
    LAYOUT_NAMES,
    FILE_NAMES,
    DATASET_NAMES,
    DATASET_TABLES,
)
PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
HEAD = """\
# Reference

Generated from the code by `make docs`. Edit only the last section.

"""
BY_HAND = "## JSON of each command\n"


def page() -> str:
    """The whole page."""
    written = (
        *of_model("Pipelines", PIPELINES, PipelineConfig),
        *of_model("Zones", ZONES, ZoneSpec),
        *of_model("Requests for runs", RUNS, RunRequest, what="Option"),
        *of_model("Requests for queries", QUERIES, QueryRequest, what="Option"),
    )
    return HEAD + "\n".join(
        (
            *settings(),
            *other_variables(),
            *written,
            *names(),
            *commands(),
            *tree_of_errors(),
            by_hand(),
        )
    )


def by_hand() -> str:
    """The last section as it is on the page; a test compares it with what the commands print."""
    return BY_HAND + PAGE.read_text().split(BY_HAND, 1)[1]


def settings() -> Iterator[str]:
    yield "## Settings\n"
    yield (
        "Set in `lakebed.yaml`, or by the environment variable, which wins. Secrets are read from"
        " variables only.\n"
    )
    yield "| Setting | Variable | Default | Meaning |\n|---|---|---|---|"
    names = {path: variable for variable, path in environment_variables().items()}
    hidden = set(secret_settings())
    for path, field in setting_fields():
        default = "variable only" if path in hidden else _default(field)
        yield (
            f"| `{'.'.join(path)}` | `{names[path]}` | {default} |"
            f" {_cell(field.description or '')} |"
        )
    yield ""


def _default(field: Any) -> str:
    if field.is_required():
        return "required" if field.description else "by kind"
    value = field.get_default(call_default_factory=True)
    return "" if value in (None, "", (), {}) else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def of_model(
    title: str, said: str, model: type[BaseModel], *, what: str = "Setting"
) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"{said}\n"
    yield f"| {what} | Default | Meaning |\n|---|---|---|"
    for name, field in model.model_fields.items():
        yield f"| `{name}` | {_default(field)} | {_cell(field.description or '')} |"
    yield ""


def other_variables() -> Iterator[str]:
    yield "## Other variables\n"
    yield "| Variable | Meaning |\n|---|---|"
    for name, meaning in OTHER_VARIABLES.items():
        yield f"| `{name}` | {_cell(meaning)} |"
    yield ""


def names() -> Iterator[str]:
    yield "## Names\n"
    yield f"{NAMES}\n"
    yield "| Name of | Pattern | Characters | Reserved |\n|---|---|---|---|"
    for rule in NAME_RULES:
        reserved = ", ".join(f"`{_cell(word)}`" for word in rule.reserved)
        longest = f"at most {rule.longest}" if rule.longest else "any number"
        yield f"| {rule.kinds} | `{_cell(rule.pattern)}` | {longest} | {reserved} |"
    yield ""


def commands() -> Iterator[str]:
    yield "## Commands\n"
    yield (
        "Every command takes `--lake PATH`, `--json`, `-q`, `--debug` and `--no-worker`, before or"
        " after its name.\n"
    )
    yield "| Command | What it does | Arguments and options |\n|---|---|---|"
    shared = {"lake", "json", "quiet", "debug", "no_worker", "help"}
    for name, command in listed_commands():
        own = [_option(parameter) for parameter in command.params if parameter.name not in shared]
        what = (command.help or "").splitlines()[0]
        yield f"| `lakebed {name}` | {what} | {', '.join(own)} |"
    yield ""


def listed_commands() -> list[tuple[str, Any]]:
    """Every command, with its full name."""
    return list(_walk(typer.main.get_command(app), ()))


def _walk(group: Any, above: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _walk(command, (*above, name))
        else:
            yield " ".join((*above, name)), command


def _option(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    return f"`{parameter.opts[-1]}`"


def tree_of_errors() -> Iterator[str]:
    yield "## Errors\n"
    yield "| Error | Meaning | Exit code | Retryable |\n|---|---|---|---|"
    for kind in kinds_of_errors():
        meaning = (inspect.getdoc(kind) or "").splitlines()[0]
        yield (
            f"| `{kind.__name__}` | {_cell(meaning)} | {kind.exit_code} |"
            f" {'yes' if kind.retryable else 'no'} |"
        )
    yield ""


def kinds_of_errors() -> list[type[LakebedError]]:
    """Every error, in the order of the tree."""
    return [
        kind
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, LakebedError)
    ]


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(PAGE.parent.parent)}")
