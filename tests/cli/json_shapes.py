"""What docs/reference.md says of the JSON that commands print, read so that answers can be compared
with it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).parent.parent.parent / "docs" / "reference.md"
HEADING = "\n## JSON of each command\n"
_LINE = re.compile(
    r"(?P<indent> *)(?P<name>\S.*?)(?P<absent>\??): (?P<type>\S+(?: \S+)*)(?: {2,}.*)?"
)
_PLAIN: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "time": (str,),
    "int": (int,),
    "number": (int, float),
    "bool": (bool,),
    "null": (type(None),),
    "any": (object,),
    "object": (dict,),
    "map": (dict,),
    "list": (list,),
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)")


@dataclass
class Line:
    """`key: type`, and the lines that are indented below it."""

    name: str
    type: str
    may_be_absent: bool = False
    below: "list[Line]" = field(default_factory=list)


def described(text: str | None = None) -> dict[str, Line]:
    """The lines without indentation, by name: commands, `error`, and the shapes with a name of
    their own.
    """
    section = (text or REFERENCE.read_text()).split(HEADING, 1)[1].split("\n## ", 1)[0]
    found: dict[str, Line] = {}
    for block in re.findall(r"```text\n(.*?)```", section, re.DOTALL):
        above: list[tuple[int, Line]] = []
        for text_line in filter(str.strip, block.splitlines()):
            read = _LINE.fullmatch(text_line)
            assert read, f"not `key: type`: {text_line}"
            indent, line = (
                len(read["indent"]),
                Line(read["name"], read["type"], bool(read["absent"])),
            )
            while above and above[-1][0] >= indent:
                above.pop()
            if above:
                above[-1][1].below.append(line)
            else:
                assert line.name not in found, f"described twice: {line.name}"
                found[line.name] = line
            above.append((indent, line))
    return found


def differences(value: Any, line: Line, named: Mapping[str, Line]) -> list[str]:
    """Where an answer is not what the line says; empty: nowhere."""
    return list(_differences(value, line.type, line.below, named, line.name))


def _differences(
    value: Any, type_: str, below: list[Line], named: Mapping[str, Line], where: str
) -> Iterator[str]:
    choices = _choices(type_)
    fitting = [choice for choice in choices if _is_of_kind(value, choice, named)]
    if not fitting:
        yield f"{where} is {value!r}, and not {type_}"
        return
    found = [list(_inside(value, choice, below, named, where)) for choice in fitting]
    if all(found):
        yield from found[0]


def _inside(
    value: Any, choice: str, below: list[Line], named: Mapping[str, Line], where: str
) -> Iterator[str]:
    kind, _, of = choice.partition(" of ")
    if kind == "time" and not _TIME.fullmatch(value):
        yield f"{where} is {value!r}, and no time"
    elif kind.endswith(" and"):
        yield from _keys(value, [*named[kind.removesuffix(" and")].below, *below], named, where)
    elif kind in named:
        yield from _differences(value, named[kind].type, named[kind].below, named, where)
    elif kind == "object":
        yield from _keys(value, below, named, where)
    elif kind in {"list", "map"}:
        for place, one in enumerate(value) if kind == "list" else value.items():
            yield from _differences(one, of or "object", below, named, f"{where}[{place}]")


def _keys(
    value: dict[str, Any], lines: list[Line], named: Mapping[str, Line], where: str
) -> Iterator[str]:
    known = {line.name: line for line in lines}
    yield from (
        f"{where} has a key {key} that is not described" for key in value if key not in known
    )
    for key, line in known.items():
        if key in value:
            yield from _differences(value[key], line.type, line.below, named, f"{where}.{key}")
        elif not line.may_be_absent:
            yield f"{where} lacks {key}"


def _is_of_kind(value: Any, choice: str, named: Mapping[str, Line]) -> bool:
    kind = choice.partition(" of ")[0].removesuffix(" and")
    if kind not in _PLAIN:
        return _is_of_kind(value, named[kind].type, named)
    if isinstance(value, bool) and kind in {"int", "number"}:
        return False
    return isinstance(value, _PLAIN[kind])


def _choices(type_: str) -> list[str]:
    """`a or b` as two; what is in brackets stays together, and brackets around all of it go."""
    parts, depth = [""], 0
    for word in type_.split(" "):
        if word == "or" and depth == 0:
            parts.append("")
            continue
        depth += word.count("(") - word.count(")")
        parts[-1] = f"{parts[-1]} {word}".strip()
    if len(parts) == 1 and parts[0].startswith("("):
        return _choices(parts[0][1:-1])
    return parts
