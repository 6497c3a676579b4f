"""Variables for templates, as the command line takes them."""

import re
from collections.abc import Iterable
from typing import Any

from lakebed.errors import UsageError

_PAIR = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def variables(given: Iterable[str] | None) -> dict[str, Any]:
    """`day=2026-10-01` or `{day: 2026-10-01, n: 3}`; later ones win. Dates stay strings."""
    found: dict[str, Any] = {}
    for text in given or ():
        found |= _variables(text)
    return found


def _variables(text: str) -> dict[str, Any]:
    if pair := _PAIR.fullmatch(text.strip()):
        return {pair[1]: _plain(pair[2], text)}
    tree = _plain(text, text)
    if not isinstance(tree, dict) or not all(isinstance(name, str) for name in tree):
        raise UsageError(
            f"{text!r} is not a variable.",
            where="--vars",
            next="Write --vars day=2026-10-01, or --vars '{a: 1, b: 2}'.",
        )
    return tree


def _plain(text: str, whole: str) -> Any:
    """Numbers, booleans, lists and mappings as YAML reads them; a date stays a string."""
    import json

    import yaml

    from lakebed.settings import read_yaml

    try:
        value = read_yaml(text)[1]
    except yaml.YAMLError:
        raise UsageError(f"{whole!r} is not valid YAML.", where="--vars") from None
    return text if hasattr(value, "isoformat") else json.loads(json.dumps(value, default=str))
