"""What pydantic found wrong with settings, as people read it. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic_core import ErrorDetails

from lakebed.errors import near, sentence, suggestion
from lakebed.settings.secrecy import holds_secret

_LONGEST = 40
_PLACES = 2
_NAME = "<name>"  # stands for a key of a mapping
_EXPECTED = {
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple": "a list: [a, b]",
    "list": "a list: [a, b]",
    "dict": "a mapping, with its own names below it",
    "model": "a mapping, with its own names below it",
    "byte": "a size, such as 512MiB",
}
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def first_error(errors: Sequence[ErrorDetails]) -> ErrorDetails:
    """The error to show: a name that nothing has before what is missing because of it."""
    return next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])


def plain_path(error: ErrorDetails, model: type[BaseModel]) -> tuple[str, ...]:
    """Where the error is in the file: without the tag that tells the members of a union apart."""
    path, parts = list[str](), list[Any]([model])
    for part in map(str, error["loc"]):
        inner = [one for annotation in parts for one in _inside(annotation, part)]
        tagged = any(part in _tags(annotation) for annotation in parts)
        if inner or (not tagged and any(map(_models, parts))):
            path.append(part)
            parts = inner
    return tuple(path)


def _tags(annotation: Any) -> set[str]:
    """The values of `kind` by which the members of a union are told apart."""
    kinds = (one.model_fields.get("kind") for one in _models(annotation))
    return {str(tag) for kind in kinds if kind for tag in get_args(kind.annotation)}


def reason(error: ErrorDetails) -> str:
    """What is wrong with a value, as a sentence."""
    return sentence(_reason(error))


def _reason(error: ErrorDetails) -> str:
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "it is missing"
    if kind in _BOUNDS:
        word, bound = _BOUNDS[kind]
        return f"it must be {word} {context[bound]:g}{_but(given)}"
    if kind == "union_tag_not_found":
        return f"it needs {context['discriminator']}"
    if kind == "union_tag_invalid":
        what, expected = context["discriminator"], context["expected_tags"]
        return f"{what} must be one of {expected}{_but(context['tag'])}"
    if kind == "literal_error":
        return f"it must be {context['expected']}{_but(given)}"
    if kind in {"too_short", "string_too_short"}:
        return "it must not be empty"
    if kind == "string_too_long":
        return f"it must have at most {context['max_length']} characters"
    if expected := _EXPECTED.get(kind.partition("_")[0]):
        if given is None:
            return f"it is empty: write {expected}, or remove it"
        return f"it must be {expected}{_but(given)}"
    return re.sub(r"^Value error, ", "", error["msg"]).rstrip()


def _but(given: Any) -> str:
    """What stands there instead, if it is short and no secret."""
    text = repr(given)
    plain = isinstance(given, str | int | float)
    return f", not {text}" if plain and len(text) <= _LONGEST and not holds_secret(text) else ""


def unknown_name(path: Sequence[str], model: type[BaseModel], elsewhere: Mapping[str, str]) -> str:
    """What to do about a name that there is not: where it belongs, the nearest names, or all.

    `elsewhere` are names of other files, and what they are in.
    """
    name, here = path[-1], names_at(model, path[:-1])
    places: dict[str, list[str]] = {}
    for place in sorted(_all_names(model), key=len):
        places.setdefault(place[-1], []).append(".".join(place))
    if name in places:
        return f"It is written as {' or '.join(dict.fromkeys(places[name][:_PLACES]))}."
    if name in elsewhere:
        return f"It belongs into {elsewhere[name]}."
    if close := near(name, here):
        return suggestion(close)
    if close := near(name, places):
        return suggestion(tuple(places[one][0] for one in close))
    if close := near(name, elsewhere):
        return f"{suggestion(close[:1])} It belongs into {elsewhere[close[0]]}."
    return f"Possible here: {', '.join(here)}."


def names_at(model: type[BaseModel], path: Sequence[str]) -> tuple[str, ...]:
    """The names that may stand at a path."""
    parts: list[Any] = [model]
    for name in path:
        parts = [inner for part in parts for inner in _inside(part, name)]
    found = [name for part in parts for one in _models(part) for name in _names(one)]
    return tuple(dict.fromkeys(found))


def _all_names(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        yield (*above, name)
        inner = (_NAME,) if _is_mapping(field.annotation) else ()
        for part in _models(field.annotation):
            yield from _all_names(part, (*above, name, *inner))


def _names(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        yield from map(str, alias.choices) if isinstance(alias, AliasChoices) else (name,)


def _inside(annotation: Any, name: str) -> Iterator[Any]:
    """The annotations of what a name or a place in a list may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for own, field in annotation.model_fields.items():
            if name in {own, *_aliases(field.validation_alias)}:
                yield field.annotation
    elif get_origin(annotation) in {Union, UnionType, Annotated}:
        for part in get_args(annotation):
            yield from _inside(part, name)
    elif get_origin(annotation) in {dict, tuple, list}:
        yield get_args(annotation)[1 if _is_mapping(annotation) else 0]


def _aliases(alias: Any) -> tuple[str, ...]:
    return tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else ()


def _is_mapping(annotation: Any) -> bool:
    return get_origin(annotation) is dict


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models that a value may be, or be made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
