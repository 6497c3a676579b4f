"""Which of Spark's settings are secrets, and where they would become visible. Decides only.

Spark masks secrets in its event log and on its web pages only under keys that it was started with:
a secret set on a session later is in the events of every job in clear text.
"""

import re
from collections.abc import Iterable, Mapping

from lakebed.settings import SECRET_WORD


def is_secret(key: str) -> bool:
    """Whether the value of a setting must not be shown."""
    return bool(re.search(SECRET_WORD, key))


def at_start(key: str) -> str:
    """The key of a session's setting as it is given when Spark starts."""
    return key if key.startswith("spark.") else f"spark.hadoop.{key}"


def is_configured(key: str, told: Mapping[str, str]) -> bool:
    """Whether a Spark started with this configuration has a value for a setting."""
    return key in told or at_start(key) in told


def has_value(key: str, value: str, told: Mapping[str, str]) -> bool:
    """Whether it has exactly this value."""
    return told.get(key, told.get(at_start(key))) == value


def logs_events(told: Mapping[str, str]) -> bool:
    """Whether a Spark started with this configuration writes an event log."""
    return told.get("spark.eventLog.enabled", "false").lower() == "true"


def would_log_secret(wanted: Mapping[str, str], told: Mapping[str, str]) -> bool:
    """Whether setting these on a session would write a secret to the event log."""
    unmasked = (
        key
        for key, value in wanted.items()
        if is_secret(key) and key not in told and not has_value(key, value, told)
    )
    return logs_events(told) and any(unmasked)


def start_lines(keys: Iterable[str], told: Mapping[str, str]) -> tuple[str, ...]:
    """Lines for spark-defaults.conf that give Spark these secrets and mask them, without the
    values.
    """
    masks = (
        ()
        if told.get("spark.redaction.regex") == SECRET_WORD
        else (f"spark.redaction.regex {SECRET_WORD}",)
    )
    return (*(f"{at_start(key)} …" for key in keys), *masks)
