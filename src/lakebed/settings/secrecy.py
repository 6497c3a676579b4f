"""Secrets in addresses and lines of text, recognized by how they are written, and masked."""

import re
from urllib.parse import unquote

MASK = "********"
SECRET_WORD = "(?i)secret|passw|pwd|token|access[._-]?key|api[._-]?key|credential|scram|signature"  # noqa: S105  a pattern

# user:password@ before a host, also with slashes in the password; host:port/…@ is not one. A web
# server may take a
# name alone as a token.
_BEFORE_HOST = re.compile(r"(://[^\s:/?#@]*:)(?!\d+[/?#])\S*(?=@)")
_ALONE = re.compile(r"(https?://)[^\s:/?#@]+(?=@)", re.IGNORECASE)
# key=value and key: value, as in URL parameters, on a command line and in YAML; keys may be
# percent-encoded.
_KEY = re.compile(r"""([\w%.+-]+)["']?\s*[=:]\s*["']?""")
_VALUE = re.compile(r"""[^\s&;,'"{}]*""")


def masked(text: str) -> str:
    """The text with everything masked that looks like a secret."""
    covered = _ALONE.sub(rf"\1{MASK}", _BEFORE_HOST.sub(rf"\1{MASK}", text))
    shown, at = "", 0
    for key in _KEY.finditer(covered):
        if key.start() >= at and re.search(SECRET_WORD, unquote(key[1])):
            value = _VALUE.match(covered, key.end())
            shown, at = shown + covered[at : key.end()] + MASK, value.end() if value else key.end()
    return shown + covered[at:]


def holds_secret(address: str) -> bool:
    """Whether any part of an address looks like a password or token."""
    return masked(address) != address


def without_secret(address: str) -> str:
    """The address, for pydantic; it raises for one with a password or token in it."""
    if holds_secret(address):
        raise ValueError(
            "an address may not contain a password or token; give it by its LAKEBED_* variable"
        )
    return address
