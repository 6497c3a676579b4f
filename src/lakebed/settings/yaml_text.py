"""YAML read within bounds: a few lines of aliases can expand to more than any machine's memory."""

from typing import Any

import yaml

LARGEST = 256 * 1024
_MOST = 100_000


class YamlTooLarge(yaml.YAMLError):
    """A text that would take too much time or memory to read, or never end."""


def read_yaml(text: str) -> tuple[Any, Any]:
    """The node of a text and its value; raises `yaml.YAMLError`.

    Aliases are allowed, and counted each time.
    """
    if len(text.encode(errors="replace")) > LARGEST:
        raise YamlTooLarge(f"the text is longer than {LARGEST // 1024} KiB")
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        if _size(node, {}) > _MOST:
            raise YamlTooLarge(
                f"with its aliases expanded, the text has more than {_MOST:,} values"
            )
        return node, loader.construct_document(node)
    except RecursionError:
        raise YamlTooLarge("the text is nested too deeply") from None
    except ValueError as error:  # an impossible date, a number with thousands of digits
        raise YamlTooLarge(f"a value cannot be read: {error}") from None
    finally:
        loader.dispose()


def _size(node: Any, known: dict[int, int]) -> int:
    """The number of nodes with aliases expanded; each node is visited once."""
    if id(node) not in known:
        known[id(node)] = 0
        known[id(node)] = 1 + sum(_size(part, known) for part in _parts(node))
    if not known[id(node)]:
        raise YamlTooLarge("an alias refers to a value that contains it")
    return known[id(node)]


def _parts(node: Any) -> list[Any]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []
