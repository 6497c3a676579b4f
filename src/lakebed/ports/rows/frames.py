"""Rows that an engine has not computed yet, and their columns."""

from dataclasses import dataclass
from typing import Any

Frame = Any  # the engine's own type, such as a Spark DataFrame


@dataclass(frozen=True)
class Field:
    """A column of a frame; its type is the engine's text, such as `decimal(12,2)`."""

    name: str
    type: str
