"""The functions and values of templates, over plain data that was decided beforehand."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from jinja2 import StrictUndefined, TemplateRuntimeError, Undefined

from lakebed.errors import near, suggestion
from lakebed.templates.literal import literal, mask_escapes, reserved_character
from lakebed.templates.template_names import RANGE

JsonValues = Mapping[str, Any]  # TemplateValues as JSON
_NONE_GIVEN = object()


class TemplateFault(TemplateRuntimeError):
    """Something a template uses does not exist. Whoever catches this knows the line."""

    def __init__(self, what: str | None = None, next: str = "") -> None:
        self.next = next
        super().__init__(what)


class UndefinedWord(StrictUndefined):
    """A name, key or attribute that does not exist.

    Not even a list that contains it can be output.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        self._fail_with_undefined_error()


class WordWithoutValue(Undefined):
    """A value that this run does not have: it can be tested (`is defined`, `is none`, `if`), not
    used.
    """

    __slots__ = ()

    def __str__(self) -> str:
        self._fail_with_undefined_error()

    def __iter__(self) -> Iterator[Any]:
        self._fail_with_undefined_error()

    def __len__(self) -> int:
        self._fail_with_undefined_error()

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, WordWithoutValue)

    def __hash__(self) -> int:
        return hash(None)

    __repr__ = __str__


class _Settings(dict[str, Any]):
    """`config`: a missing key is an error where it is used."""

    def __missing__(self, key: str) -> Undefined:
        hint = f"the settings have no key {key!r}. {suggestion(near(str(key), self))}".strip()
        return UndefinedWord(hint, name=str(key), exc=TemplateFault)


def bindings(values: JsonValues) -> dict[str, Any]:
    """All functions and values of a template, for one run."""
    return {
        "ref": _reader_of_tables(values["refs"]),
        "landing_zone": _reader_of_zones(values["zones"]),
        "var": _reader_of_vars(values["vars"]),
        "is_incremental": lambda: values["is_incremental"],
        **{word: _answering(answer) for word, answer in values["answers"].items()},
        "this": _present("this", values["this"], "the table does not exist yet"),
        "watermark": _watermark("watermark", values["watermark"]),
        "watermark_value": _watermark("watermark_value", values["watermark_value"], mask_escapes),
        "run_started_at": values["run_started_at"],
        **{word: _bound(word, values[word]) for word in sorted(RANGE)},
        "config": _Settings(values["config"]),
    }


def output_text(value: object) -> str:
    """A value as output. None, or a function that was not called, is an error."""
    if value is None:
        raise TemplateFault(
            "this expression has no value (none).",
            "Give it one, or write |literal after it for NULL.",
        )
    if callable(value) and not isinstance(value, Undefined):
        raise TemplateFault("this is a function, not a value.", "Call it: add () after its name.")
    return str(value)


def literal_filter(value: object) -> str:
    """`|literal`: a value as a Spark SQL literal."""
    return literal(str(value) if isinstance(value, Undefined) else value)


def is_none(value: object) -> bool:
    """`is none`, also true for a value that this run does not have."""
    return value is None or isinstance(value, WordWithoutValue)


def _answering(answer: bool) -> Callable[[], bool]:
    return lambda: answer


def _present(word: str, value: str | None, why: str) -> object:
    if value is not None:
        return value
    guard = "Guard it with {% if is_incremental() %} … {% endif %}."
    hint = f"{word} has no value in this run: {why}. {guard}"
    return WordWithoutValue(hint, name=word, exc=TemplateFault)


def _bound(word: str, value: str | None) -> object:
    if value is not None:
        return value
    advice = "Give --start and --end, or guard it with {% if batch_start %} … {% endif %}."
    hint = f"{word} has no value in this run: it was given no range. {advice}"
    return WordWithoutValue(hint, name=word, exc=TemplateFault)


def _watermark(word: str, value: str | None, form: Callable[[str], str] = str) -> object:
    if value is None:
        return _present(word, None, "there is nothing to compare with")
    if sign := reserved_character(value):
        return UndefinedWord(
            f"{word} holds U+{ord(sign):04X}, which is not a character.",
            name=word,
            exc=TemplateFault,
        )
    return form(value)


def _reader_of_tables(refs: Mapping[str, str]) -> Callable[[str], str]:
    def ref(name: str) -> str:
        return refs[name] if name in refs else _unknown("table", name, refs)

    return ref


def _reader_of_zones(zones: Iterable[tuple[str, str | None, str]]) -> Callable[..., str]:
    known = {(zone, pattern): text for zone, pattern, text in zones}

    def landing_zone(name: str, pattern: str | None = None) -> str:
        if (name, pattern) in known:
            return known[name, pattern]
        return _unknown("landing zone", name, (zone for zone, _ in known))

    return landing_zone


def _reader_of_vars(given: JsonValues) -> Callable[..., object]:
    def var(name: str, default: object = _NONE_GIVEN) -> object:
        if name in given:
            return given[name]
        if default is _NONE_GIVEN:
            _unknown(
                "variable",
                name,
                given,
                f"Give it with --vars '{{{name}: …}}', or write a default: var('{name}', …).",
            )
        return default

    return var


def _unknown(kind: str, name: str, known: Iterable[str], otherwise: str = "") -> NoReturn:
    raise TemplateFault(f"there is no {kind} {name!r}.", suggestion(near(name, known)) or otherwise)
