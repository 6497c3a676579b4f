"""Loads `Settings` from `lakebed.yaml` and the environment; errors show the line."""

from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, SecretStr, ValidationError

from lakebed.errors import BadSettings, BadText, LakebedError, near, suggestion
from lakebed.settings.catalog import PostgresCatalog, RestCatalog, SqliteCatalog
from lakebed.settings.document import Document, Path
from lakebed.settings.kartothek import KartothekSettings
from lakebed.settings.refusals import first_error, plain_path, reason
from lakebed.settings.root import SETTINGS_FILE, Root
from lakebed.settings.secrecy import holds_secret, masked
from lakebed.settings.spec import (
    FilesSettings,
    Settings,
)
from lakebed.settings.yaml_text import read_yaml

PREFIX = "LAKEBED_"
_PartT = TypeVar("_PartT", bound=BaseModel)
OTHER_VARIABLES = {
    "LAKEBED_LAKE": "the lake to work on when --lake is not given",
    "LAKEBED_CACHE": "folder for jars and start-up archives; unset: the user's cache folder",
    "LAKEBED_DEBUG": "1 shows the whole traceback of an error",
    "LAKEBED_WORKER": "off runs every command without a worker",
}
_TESTS_ONLY = "LAKEBED_TEST_"
_CATALOGS = (SqliteCatalog, PostgresCatalog, RestCatalog)
_CREDENTIALS = {"user", "password", "credential"}


def load_settings(text: str, environment: Mapping[str, str], *, root: Root) -> Settings:
    """The settings of the lake at `root`. Reads nothing but its arguments."""
    where = str(root).rstrip("/") + "/" + SETTINGS_FILE
    lines = Document(text, where=where, refusal=BadSettings)
    tree = lines.tree
    _require_no_secrets(tree, where, lines)
    _require_no_secret_addresses(tree, where, lines)
    try:
        settings = Settings.model_validate(
            _merged(tree, _without_idle_credentials(environment_overrides(environment), tree))
        )
    except ValidationError as error:
        raise _as_bad_settings(error, lines, environment) from None
    except BadSettings:
        raise
    except LakebedError as error:
        raise BadSettings(error.what, where=where, next=error.next) from None
    _require_shared_catalog(settings, root, where)
    return settings


def files_settings(environment: Mapping[str, str]) -> FilesSettings:
    """How to reach a bucket, by the environment alone: `lakebed.yaml` is in the bucket."""
    return _from_environment(FilesSettings, "files", environment)


def kartothek_settings(environment: Mapping[str, str]) -> KartothekSettings:
    """How to reach locations of Kartothek datasets without a lake."""
    return _from_environment(KartothekSettings, "kartothek", environment)


def _from_environment(part: type[_PartT], name: str, environment: Mapping[str, str]) -> _PartT:
    begin = f"{PREFIX}{name.upper()}_"
    ours = {key: value for key, value in environment.items() if key.startswith(begin)}
    try:
        return part.model_validate(environment_overrides(ours).get(name, {}))
    except ValidationError as error:
        first = error.errors()[0]
        raise BadSettings(reason(first), where=begin + str(first["loc"][0]).upper()) from None


def _require_shared_catalog(settings: Settings, root: Root, where: str) -> None:
    """Raise for a catalog that cannot work with the root or with a remote Spark."""
    needs_server = None
    if root.is_bucket:
        needs_server = "a lake in a bucket"
    elif not settings.spark.is_local:
        needs_server = f"a remote Spark ({masked(settings.spark.master)})"
    if needs_server and _keeps_sqlite(settings):
        raise BadSettings(
            f"{needs_server} cannot keep its catalog or state in SQLite: several machines would"
            " open one file.",
            where=where,
            next="Set catalog.kind to postgres, or to rest with a state_url.",
        )


def _keeps_sqlite(settings: Settings) -> bool:
    catalog = settings.catalog
    return isinstance(catalog, SqliteCatalog) or (
        isinstance(catalog, RestCatalog) and not catalog.state_url
    )


def environment_variables() -> dict[str, Path]:
    """Every variable that overrides a setting, with the setting's path."""
    return {PREFIX + "_".join(path).upper(): path for path, _ in setting_fields()}


def setting_fields(
    model: type[BaseModel] = Settings, above: Path = ()
) -> Iterator[tuple[Path, Any]]:
    """Every setting that is a value, not a group: its path and its field."""
    for name, field in model.model_fields.items():
        parts = [part for part in _alternatives(field.annotation) if _is_model(part)]
        if not parts:
            yield (*above, name), field
        seen: set[Path] = set()
        for part in parts:
            for path, inner in setting_fields(part, (*above, name)):
                if path not in seen:
                    seen.add(path)
                    yield path, inner


def secret_settings() -> tuple[Path, ...]:
    """The settings that only the environment may give."""
    return tuple(
        path for path, field in setting_fields() if SecretStr in get_args(field.annotation)
    )


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for child processes, which get secrets in other ways if they need them."""
    hidden = {PREFIX + "_".join(path).upper() for path in secret_settings()}
    ours = {
        name
        for name, value in environment.items()
        if name.startswith(PREFIX) and holds_secret(value)
    }
    return {name: value for name, value in environment.items() if name not in hidden | ours}


def environment_overrides(environment: Mapping[str, str]) -> dict[str, Any]:
    """Settings from the environment, as a tree; an unknown `LAKEBED_*` raises, suggesting the
    nearest known one.
    """
    known = environment_variables()
    texts = {known_path for known_path, field in setting_fields() if field.annotation is str} | set(
        secret_settings()
    )
    tree: dict[str, Any] = {}
    for variable, value in environment.items():
        if (
            not variable.startswith(PREFIX)
            or variable in OTHER_VARIABLES
            or variable.startswith(_TESTS_ONLY)
        ):
            continue
        if variable not in known:
            close = near(
                variable.removeprefix(PREFIX), (name.removeprefix(PREFIX) for name in known)
            )
            raise BadSettings(
                "there is no such variable.",
                where=variable,
                next=suggestion(tuple(PREFIX + name for name in close)),
            )
        path = known[variable]
        _put(tree, path, value if path in texts else _value(variable, value))
    return tree


def settings_tree(pairs: Iterable[str]) -> dict[str, Any]:
    """`spark.master=local[2]` and the like, as a tree."""
    tree: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadSettings("a setting is given as KEY=VALUE.", where=masked(pair))
        _put(tree, tuple(key.split(".")), _value(key, value))
    return tree


def _value(variable: str, text: str) -> Any:
    try:
        return read_yaml(text)[1]
    except yaml.YAMLError:
        raise BadSettings("the value is not valid YAML.", where=variable) from None


def _put(tree: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both_trees = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both_trees else value
    return merged


def _without_idle_credentials(over: dict[str, Any], tree: Mapping[str, Any]) -> dict[str, Any]:
    """Settings from the environment without credentials of another kind of catalog: one shell may
    serve several lakes.
    """
    given, below = over.get("catalog", {}), tree.get("catalog")
    kind = (
        given.get("kind") or (below.get("kind") if isinstance(below, Mapping) else None) or "sqlite"
    )
    model = next(
        (model for model in _CATALOGS if kind in get_args(model.model_fields["kind"].annotation)),
        None,
    )
    idle = _CREDENTIALS - set(model.model_fields) if model else set()
    kept = {name: value for name, value in given.items() if name not in idle}
    return {name: value for name, value in over.items() if name != "catalog"} | (
        {"catalog": kept} if kept else {}
    )


def _require_no_secrets(tree: Mapping[str, Any], where: str, lines: Document) -> None:
    for path in secret_settings():
        node: Any = tree
        for name in path:
            node = node.get(name) if isinstance(node, Mapping) else None
        if node is not None:
            line, _ = lines.find(path)  # the excerpt would print the secret
            variable = PREFIX + "_".join(path).upper()
            raise BadSettings(
                f"{'.'.join(path)} is a secret.",
                where=where,
                line=line,
                next=f"Give it by {variable} instead.",
            )


def _require_no_secret_addresses(tree: Mapping[str, Any], where: str, lines: Document) -> None:
    """Spark's addresses may contain a token, for there is no other way to give it; but not in the
    file.
    """
    spark = tree.get("spark")
    given = spark if isinstance(spark, Mapping) else {}
    for name in ("master", "repositories"):
        if holds_secret(str(given.get(name, ""))):
            line, _ = lines.find(("spark", name))
            what, variable = (
                f"spark.{name} contains a password or token.",
                f"{PREFIX}SPARK_{name.upper()}",
            )
            raise BadSettings(what, where=where, line=line, next=f"Give it by {variable} instead.")


def _as_bad_settings(
    error: ValidationError, lines: Document, environment: Mapping[str, str]
) -> BadText:
    first = first_error(error.errors())
    variable = PREFIX + "_".join(plain_path(first, Settings)).upper()
    if variable in environment:
        return BadSettings(reason(first), where=variable)
    return lines.error_for(error, model=Settings)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the type itself; the values of a mapping are not settings."""
    return get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)


def _is_model(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, BaseModel)
