"""Mistakes in settings files, generated from the models: every key misspelt, of a wrong type, with a
wrong value, left empty, and in a wrong place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lakebed.errors import BadPipeline, BadText
from lakebed.landing import ZoneSpec, parse_zone_spec
from lakebed.pipelines.definition.config import PipelineConfig
from lakebed.pipelines.definition.configure import configure
from lakebed.pipelines.definition.schema_file import pipelines_of_schema
from lakebed.settings import Document, Root, Settings, load_settings

Path = tuple[str, ...]
_NAMES = {"namespaces": "shop", "tables": "shop.silver.orders", "columns": "id"}
_TEXTS = {str, int, float, bool, NoneType}


@dataclass(frozen=True)
class SettingsFile:
    """A file with settings: its name, its model, and what reads its text."""

    name: str
    model: type[BaseModel]
    read: Callable[[str], object]
    base: str = ""  # what it needs to be right
    at: Path = ()  # where the keys of the model are
    kinds: tuple[str, ...] = ("misspelt", "type", "value", "empty", "place")


@dataclass(frozen=True)
class Mistake:
    """A file with one mistake in it."""

    file: SettingsFile
    path: Path
    kind: str
    text: str


def _configured(text: str) -> object:
    document = Document(text, where="config.yaml", refusal=BadPipeline)
    return configure(document, {}, source="pipeline.sql")


def _schema(text: str) -> object:
    return pipelines_of_schema(text, where="schema.yaml", namespace="shop")


FILES = (
    SettingsFile(
        "lakebed.yaml",
        Settings,
        lambda text: load_settings(text, {}, root=Root.parse("/lake")),
    ),
    SettingsFile("config.yaml", PipelineConfig, _configured),
    SettingsFile("zone.yaml", ZoneSpec, lambda text: parse_zone_spec(text, where="zone.yaml")),
    SettingsFile(
        "schema.yaml",
        PipelineConfig,
        _schema,
        base="tables: {orders: {source: 'in/{year}.csv'}}",
        at=("tables", "orders"),
        kinds=("misspelt", "place"),  # its values are those of config.yaml
    ),
)


def keys(model: type[BaseModel], above: Path = ()) -> Iterator[tuple[Path, FieldInfo]]:
    """All keys of a model, those of groups in it included."""
    for name, field in model.model_fields.items():
        yield (*above, name), field
        for part in _models(field.annotation):
            inner = (_NAMES[name],) if name in _NAMES else ()
            yield from keys(part, (*above, name, *inner))


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models in an annotation; lists of them are not entered."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in {tuple, list}:
        return []
    return [model for part in get_args(annotation) for model in _models(part)]


def mistakes() -> Iterator[Mistake]:
    for file in FILES:
        seen: set[Path] = set()
        for path, field in keys(file.model):
            if path not in seen:
                seen.add(path)
                yield from (one for one in _of_key(file, path, field) if one.kind in file.kinds)


def _of_key(file: SettingsFile, path: Path, field: FieldInfo) -> Iterator[Mistake]:
    typo = _misspelt(path[-1])
    yield _mistake(file, path, "misspelt", (*path[:-1], typo), "x")
    yield _mistake(file, path, "type", path, _wrong_type(field.annotation))
    yield _mistake(file, path, "value", path, _wrong_value(field))
    yield _mistake(file, path, "empty", path, None)
    yield _mistake(file, path, "place", _wrong_place(file, path), "x")


def _mistake(file: SettingsFile, path: Path, kind: str, at: Path, value: Any) -> Mistake:
    tree = yaml.safe_load(file.base) or {}
    node = tree
    for name in (*file.at, *at)[:-1]:
        node = node.setdefault(name, {})
    node[at[-1]] = value
    if file.model is Settings and path[0] == "catalog" and kind != "place" and len(at) > 1:
        node.setdefault("kind", "rest")
    return Mistake(file, path, kind, yaml.safe_dump(tree, sort_keys=False))


def _misspelt(name: str) -> str:
    middle = len(name) // 2
    swapped = name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :]
    return swapped if swapped != name and len(name) > 3 else f"{name}s"


def _parts(annotation: Any) -> set[Any]:
    parts = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    return {get_origin(part) or part for part in parts} - {NoneType}


def _wrong_type(annotation: Any) -> Any:
    parts = _parts(annotation)
    if parts & {tuple, list}:
        return {"a": 1}
    if parts <= _TEXTS and str not in parts:
        return "perhaps"
    return [1] if parts & {str, Literal} else "perhaps"


def _wrong_value(field: FieldInfo) -> Any:
    parts = _parts(field.annotation)
    if parts & {dict}:
        return {"no such!": "nonsense"}
    if parts & {tuple, list}:
        return ["no such!", "no such!"]
    return -1 if not parts & {str, bool, Literal} else "no such!"


def _wrong_place(file: SettingsFile, path: Path) -> Path:
    if len(path) > 1:
        return (path[-1],)
    group = (
        next(
            name
            for name, field in file.model.model_fields.items()
            if name not in {path[0], "catalog", *_NAMES} and _models(field.annotation)
        )
        if file.model is not ZoneSpec
        else "types"
    )
    return (group, path[0])


@cache
def told(mistake: Mistake) -> str:
    """What is said of it: the error without its excerpt, or that it is accepted."""
    try:
        mistake.file.read(mistake.text)
    except BadText as error:
        what = error.what.partition("\n")[0]
        return " ".join(filter(None, (f"{error.where}: {what}", error.next)))
    return "accepted"


def table() -> str:
    """All mistakes and what is said of them, a line each."""
    lines = (
        f"{one.file.name} | {'.'.join(one.path)} | {one.kind} | {told(one)}" for one in mistakes()
    )
    return "\n".join(lines) + "\n"
