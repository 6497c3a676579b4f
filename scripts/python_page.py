"""Writes docs/python.md: every noun and verb of the Python API, each with an example that runs.

`make docs` runs it; a test compares. The examples are in examples/python_api.py.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Unpack, get_args, get_origin

import lakebed
from lakebed import Lake
from lakebed.app.layouts import LakeLayouts
from lakebed.app.spark.workers import Workers
from lakebed.kartothek.lake_noun import LakeDatasets
from lakebed.landing import Zones
from lakebed.pipelines import Pipelines, Runs
from lakebed.query.lazy.table import LazyTable
from lakebed.query.results.result import QueryResult
from lakebed.tables import Followers, Tables

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "python.md"
EXAMPLES = ROOT / "examples" / "python_api.py"
NOUNS: dict[str, Any] = {
    "lakebed": lakebed,
    "lake": Lake,
    "lake.tables": Tables,
    "lake.layouts": LakeLayouts,
    "lake.pipelines": Pipelines,
    "lake.runs": Runs,
    "lake.zones": Zones,
    "lake.followers": Followers,
    "lake.workers": Workers,
    "lake.kartothek": LakeDatasets,
    "QueryResult": QueryResult,
    "LazyTable": LazyTable,
}
HEAD = """\
# Python

Generated from the code by `make docs`; the examples are in `examples/python_api.py`, and a test
runs them in this order.

Whatever a command does, a method of the same name does: `lakebed table rollback` is
`lake.tables.rollback`. All errors are a `lakebed.LakebedError`; the
[reference](reference.md#errors) lists them, and the fields that keywords of
[runs](reference.md#requests-for-runs) and [queries](reference.md#requests-for-queries) have. The
[glossary](glossary.md#types-of-the-python-api) says what the types are.
"""
_CELL = re.compile(r"^# %% (.*)\n", re.MULTILINE)
_MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=\w)")
_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
_WIDTH, _LONGEST_DEFAULT = 100, 40


@dataclass(frozen=True)
class Example:
    """A part of the examples: the names that it is of, and code."""

    names: tuple[str, ...]
    code: str


def examples() -> tuple[Example, ...]:
    """All of them, in the order in which they run."""
    _, *parts = _CELL.split(EXAMPLES.read_text())
    return tuple(
        Example(tuple(names.split(", ")), code.strip() + "\n")
        for names, code in zip(parts[::2], parts[1::2], strict=True)
    )


def members() -> set[str]:
    """The full name of every public noun and verb."""
    return {
        f"{noun}.{name}"
        for noun, home in NOUNS.items()
        for name in (lakebed.__all__ if home is lakebed else dir(home))
        if not name.startswith("_")
    }


def page() -> str:
    """The whole page."""
    shown = examples()
    return HEAD + "\n".join(line for noun in NOUNS for line in _noun(noun, shown)) + "\n"


def _noun(noun: str, shown: tuple[Example, ...]) -> Iterator[str]:
    yield f"\n## {noun}\n"
    if noun != "lakebed":
        yield inspect.getdoc(_function(noun)) or ""
    for example in shown:
        if example.names[0].rpartition(".")[0] == noun:
            yield from _example(example)


def _example(example: Example) -> Iterator[str]:
    yield f"\n### {', '.join(name.rpartition('.')[2] for name in example.names)}\n"
    for name in example.names:
        if name not in NOUNS:
            yield f"```text\n{signature(name)}\n```\n"
            yield f"{inspect.getdoc(_function(name)) or ''}\n"
    yield f"```python\n{example.code}```"


def _named(name: str) -> Any:
    """What a name means: `lake` is any open lake, and its nouns what its properties return."""
    noun, _, last = name.rpartition(".")
    if name in NOUNS and noun != "lake":
        return NOUNS[name]
    home = NOUNS[noun]
    return getattr(home, last) if home is lakebed else inspect.getattr_static(home, last)


def _function(name: str) -> Any:
    """The function behind a method or property."""
    named = _named(name)
    return getattr(named, "func", None) or getattr(named, "fget", None) or named


def signature(name: str) -> str:
    """How it is called, on one line or with a line for each argument; of a property its type."""
    called = inspect.signature(_function(name))
    returned = "" if inspect.isclass(_named(name)) else _type(called.return_annotation)
    end = f" -> {returned}" if returned else ""
    if _function(name) is not _named(name):
        return f"{name}{end}"
    arguments = list(_arguments(called))
    line = f"{name}({', '.join(arguments)}){end}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join((f"{name}(", *(f"    {argument}," for argument in arguments), f"){end}"))


def _arguments(called: inspect.Signature) -> Iterator[str]:
    keywords_only = False
    for argument in called.parameters.values():
        if argument.kind is argument.VAR_POSITIONAL:
            keywords_only = True
        if argument.kind is argument.KEYWORD_ONLY and not keywords_only:
            keywords_only = True
            yield "*"
        if argument.name != "self":
            yield _argument(argument)


def _argument(argument: inspect.Parameter) -> str:
    stars = _STARS.get(argument.kind.name, "")
    default = "" if argument.default is argument.empty else f" = {_default(argument.default)}"
    return f"{stars}{argument.name}: {_type(argument.annotation)}{default}"


def _default(value: Any) -> str:
    text = "…" if callable(value) else repr(value)
    return text if len(text) <= _LONGEST_DEFAULT and "<" not in text else "…"


def _type(annotation: Any) -> str:
    """An annotation without modules and quotes."""
    if annotation is inspect.Signature.empty:
        return ""
    if get_origin(annotation) in (Annotated, Unpack):
        return _type(get_args(annotation)[0])
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"^\*?Unpack\[(.*)\]$", r"\1", _MODULES.sub("", text))


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(ROOT)}")
