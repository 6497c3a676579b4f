"""Secrets that stand in addresses and lines, found by how they are written there, and masked."""

import re
from urllib.parse import unquote

MASK = "********"
SECRET_WORD = "(?i)secret|passw|pwd|token|access[._-]?key|api[._-]?key|credential|scram|signature"  # noqa: S105  a pattern

# me:word@ before a host, also with slashes in the word; host:port/…@ is none. To a web server a name alone is as good as a word.
_BEFORE_HOST = re.compile(r"(://[^\s:/?#@]*:)(?!\d+[/?#])\S*(?=@)")
_ALONE = re.compile(r"(https?://)[^\s:/?#@]+(?=@)", re.IGNORECASE)
# key=word and key: word, as in parameters of an address, on a command line and in YAML; keys may be percent-encoded.
_KEY = re.compile(r"""([\w%.+-]+)["']?\s*[=:]\s*["']?""")
_VALUE = re.compile(r"""[^\s&;,'"{}]*""")


def masked(text: str) -> str:
    """The same, fit to be shown: whatever looks like a secret in an address or a line is covered."""
    covered = _ALONE.sub(rf"\1{MASK}", _BEFORE_HOST.sub(rf"\1{MASK}", text))
    shown, at = "", 0
    for key in _KEY.finditer(covered):
        if key.start() >= at and re.search(SECRET_WORD, unquote(key[1])):
            value = _VALUE.match(covered, key.end())
            shown, at = shown + covered[at : key.end()] + MASK, value.end() if value else key.end()
    return shown + covered[at:]


def holds_secret(address: str) -> bool:
    """Whether an address carries a password or token, in any of its parts."""
    return masked(address) != address
