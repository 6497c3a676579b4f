"""What a check of a dataset found."""

from dataclasses import dataclass
from typing import Literal

from lakebed.errors import LakebedError

Level = Literal["problem", "warning", "info"]


@dataclass(frozen=True)
class DatasetFinding:
    """A problem loses rows or hides them, a warning concerns other readers, an info is harmless."""

    level: Level
    what: str
    where: str = ""
    next: str = ""


def problem(error: LakebedError) -> DatasetFinding:
    """What a reader would be told."""
    return DatasetFinding("problem", error.what, error.where, error.next)
