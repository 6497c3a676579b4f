"""From the fields of a request, the options of the commands that make it."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Annotated, Any, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo

from lakebed.cli.parsing.completion import known_pipelines
from lakebed.cli.parsing.variables import variables
from lakebed.requests import Request, Spelling

_COMPLETIONS = {"SELECTOR": known_pipelines}  # by what stands for the value

Command = Callable[..., None]
Parameters = Mapping[str, inspect.Parameter]


def takes(
    request: type[Request], *, after: Mapping[str, str] | None = None
) -> Callable[[Command], Command]:
    """Give a command options of a request: those that the type of its parameter `options` lists.

    `after` says which options of the command's own help texts show after which others.
    """

    def taking(function: Command) -> Command:
        own = inspect.signature(function).parameters
        listed = get_type_hints(own["options"].annotation)
        fields = {
            name: field
            for name, field in request.model_fields.items()
            if name in listed and _spelling(field).offered
        }

        @wraps(function)
        def run(*arguments: Any, **values: Any) -> None:
            options = {name: _value(name, field, values) for name, field in fields.items()}
            function(*arguments, options=options, **values)

        run.__signature__ = _signature(own, fields, after or {})  # type: ignore[attr-defined]
        return run

    return taking


def option_of(request: type[Request], name: str, **more: Any) -> Any:
    """Typer's option for one field of a request."""
    return _option(name, request.model_fields[name], **more)


def argument_of(request: type[Request], name: str) -> Any:
    """Typer's argument for one field of a request whose values may follow the command."""
    return _argument(request.model_fields[name])


# -- one field


def _option(name: str, field: FieldInfo, **more: Any) -> Any:
    spelled = _spelling(field)
    flags = (spelled.short, spelled.long or f"--{name.replace('_', '-')}")
    text = f"Same as {spelled.argument}." if spelled.argument else _help(field)
    return typer.Option(
        *filter(None, flags),
        metavar=spelled.metavar or None,
        help=f"{text.removesuffix('.')}; repeatable." if _is_repeatable(field) else text,
        autocompletion=_COMPLETIONS.get(spelled.metavar),
        min=_limit(field, "ge"),
        max=_limit(field, "le"),
        **more,
    )


def _argument(field: FieldInfo) -> Any:
    spelled = _spelling(field)
    return typer.Argument(
        metavar=f"[{spelled.argument}]...",
        help=_help(field),
        autocompletion=_COMPLETIONS.get(spelled.metavar),
    )


def _value(name: str, field: FieldInfo, values: dict[str, Any]) -> Any:
    """What a field is, taken from what typer has read."""
    value = values.pop(name)
    if argument := _spelling(field).argument:
        return (*(values.pop(argument.lower()) or ()), *(value or ()))
    if _is_repeatable(field):
        return variables(value) if _is_mapping(field) else tuple(value or ())
    return not value if field.default is True else value


def _spelling(field: FieldInfo) -> Spelling:
    return next((each for each in field.metadata if isinstance(each, Spelling)), Spelling())


def _help(field: FieldInfo) -> str:
    return _spelling(field).help or field.description or ""


def _limit(field: FieldInfo, bound: str) -> float | None:
    return next((getattr(each, bound) for each in field.metadata if hasattr(each, bound)), None)


def _is_mapping(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is Mapping


def _is_repeatable(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is tuple or _is_mapping(field)


# -- the signature of a command


def _signature(own: Parameters, fields: Mapping[str, FieldInfo], after: Mapping[str, str]) -> Any:
    shown: list[inspect.Parameter] = []
    for name, parameter in own.items():
        if name == "options":
            shown += (each for pair in fields.items() for each in _parameters(*pair))
        elif name in after:
            names = [each.name for each in shown]
            shown.insert(names.index(after[name]) + 1, parameter)
        else:
            shown.append(parameter)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature([shown[0], *(each.replace(kind=keyword) for each in shown[1:])])


def _parameters(name: str, field: FieldInfo) -> Iterator[inspect.Parameter]:
    keyword = inspect.Parameter.KEYWORD_ONLY
    if argument := _spelling(field).argument:
        kind = Annotated[list[str] | None, _argument(field)]
        yield inspect.Parameter(argument.lower(), keyword, default=None, annotation=kind)
    # a flag says the opposite of what holds without it
    default = False if field.default is True else field.default
    read: Any = list[str] | None if _is_repeatable(field) else field.annotation
    yield inspect.Parameter(
        name,
        keyword,
        default=None if _is_repeatable(field) else default,
        annotation=Annotated[read, _option(name, field)],
    )
