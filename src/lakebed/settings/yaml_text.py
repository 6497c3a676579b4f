"""YAML that somebody wrote, read within bounds: a few short lines of aliases can stand for more than any machine holds."""

from typing import Any

import yaml

LARGEST = 256 * 1024
_MOST = 100_000


class YamlTooLarge(yaml.YAMLError):
    """A text that would take too long, or never end, to be read."""


def read_yaml(text: str) -> tuple[Any, Any]:
    """The node of a text and its value; `yaml.YAMLError` for whatever is wrong. Aliases may be used, and count each time."""
    if len(text.encode(errors="replace")) > LARGEST:
        raise YamlTooLarge(f"the text is longer than {LARGEST // 1024} KiB")
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        if _size(node, {}) > _MOST:
            raise YamlTooLarge(f"with its aliases written out the text has more than {_MOST:,} values")
        return node, loader.construct_document(node)
    except RecursionError:
        raise YamlTooLarge("the text is nested too deeply") from None
    except ValueError as error:  # a date that is none, a number of thousands of digits
        raise YamlTooLarge(f"a value cannot be read: {error}") from None
    finally:
        loader.dispose()


def _size(node: Any, known: dict[int, int]) -> int:
    """How many nodes there are when aliases are written out; each node is looked at once."""
    if id(node) not in known:
        known[id(node)] = 0
        known[id(node)] = 1 + sum(_size(part, known) for part in _parts(node))
    if not known[id(node)]:
        raise YamlTooLarge("an alias stands inside of what it names")
    return known[id(node)]


def _parts(node: Any) -> list[Any]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []
