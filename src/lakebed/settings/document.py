"""A YAML file: its values, and the line of each."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from lakebed.errors import BadText
from lakebed.settings.refusals import first_error, plain_path, reason, unknown_name
from lakebed.settings.secrecy import masked
from lakebed.settings.yaml_text import YamlTooLarge, read_yaml

Path = tuple[str, ...]


class Document:
    """A mapping of names to values; `refusal` is raised for any other text."""

    def __init__(self, text: str, *, where: str, refusal: type[BadText]) -> None:
        self.where, self._refusal = where, refusal
        self._text = text.splitlines()
        node, self.tree = self._parsed(text)
        self._lines = dict(self._walk(node, ()))

    def _parsed(self, text: str) -> tuple[Any, dict[str, Any]]:
        try:
            node, tree = read_yaml(text)
        except YamlTooLarge as error:
            raise self._refusal(f"{error}.", where=self.where) from None
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else None
            excerpt = masked(self._text[line - 1]) if line and line <= len(self._text) else ""
            what = f"this is not valid YAML: {error.problem}."
            raise self._refusal(what, where=self.where, line=line, excerpt=excerpt) from None
        except yaml.YAMLError as error:
            raise self._refusal(f"this is not valid YAML: {error}", where=self.where) from None
        if not isinstance(tree, dict | None):
            raise self._refusal(
                "the settings are a mapping of names to values.", where=self.where, line=1
            )
        return node, tree or {}

    def _walk(self, node: Any, path: Path) -> Iterator[tuple[Path, int]]:
        if isinstance(node, yaml.MappingNode):
            self._require_each_once(node, path)
            for key, value in node.value:
                here = (*path, str(key.value))
                yield here, key.start_mark.line + 1
                yield from self._walk(value, here)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                yield from self._walk_named(item, path)

    def _require_each_once(self, node: yaml.MappingNode, path: Path) -> None:
        """YAML itself would take the last of them, and forget the others."""
        seen: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in seen:
                raise self._refusal(
                    f"{'.'.join((*path, name))} is there twice; first on line {seen[name]}.",
                    where=self.where,
                    line=line,
                    excerpt=masked(self._text[line - 1]),
                    next="Make one of the two.",
                )
            seen[name] = line

    def _walk_named(self, item: Any, path: Path) -> Iterator[tuple[Path, int]]:
        """An item of a list that has a `name` is found by it, any other by its keys."""
        parts = item.value if isinstance(item, yaml.MappingNode) else ()
        name = next((value.value for key, value in parts if key.value == "name"), None)
        if isinstance(name, str):
            path = (*path, name)
            yield path, item.start_mark.line + 1
        yield from self._walk(item, path)

    def find(self, path: Path) -> tuple[int | None, str]:
        """Line and text of the key, or of the nearest key above it; secrets in it are masked."""
        while path and path not in self._lines:
            path = path[:-1]
        line = self._lines.get(path)
        return line, masked(self._text[line - 1]) if line else ""

    def error_for(
        self,
        error: ValidationError,
        *,
        model: type[BaseModel],
        above: Path = (),
        elsewhere: Mapping[str, str] = MappingProxyType({}),
    ) -> BadText:
        """The error for what pydantic found in a `model`, with its line. The model may be a part of
        the file, `above` which there is more. `elsewhere`: see `unknown_name`.
        """
        first = first_error(error.errors())
        inside = plain_path(first, model)
        path = (*above, *inside)
        line, excerpt = self.find(path)
        dotted = ".".join(path)
        if first["type"] == "extra_forbidden":
            what, advice = (
                f"there is no setting {dotted!r}.",
                unknown_name(inside, model, elsewhere),
            )
        else:
            what, advice = f"{dotted}: {reason(first)}", ""
        return self._refusal(
            what, where=self.where, line=line, excerpt=excerpt, next=advice, path=path
        )
