"""A YAML file: its values, and the line of each."""

import re
from collections.abc import Collection, Iterator
from typing import Any

import yaml
from pydantic_core import ErrorDetails

from lakebed.errors import BadText, near, sentence, suggestion
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
            for key, value in node.value:
                here = (*path, str(key.value))
                yield here, key.start_mark.line + 1
                yield from self._walk(value, here)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                yield from self._walk_named(item, path)

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

    def error_for(self, error: ErrorDetails, *, known: Collection[str]) -> BadText:
        """The error for what pydantic found, with its line; for an unknown key, the nearest `known`
        ones are suggested.
        """
        path = tuple(str(part) for part in error["loc"])
        line, excerpt = self.find(path)
        dotted = ".".join(path)
        if error["type"] == "extra_forbidden":
            what, advice = f"there is no setting {dotted!r}.", suggestion(near(path[-1], known))
        else:
            what, advice = f"{dotted}: {reason(error)}", ""
        return self._refusal(what, where=self.where, line=line, excerpt=excerpt, next=advice)


def reason(error: ErrorDetails) -> str:
    """Pydantic's message as a sentence, without its prefix."""
    return sentence(re.sub(r"^Value error, ", "", error["msg"]).rstrip())
