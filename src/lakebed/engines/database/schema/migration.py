"""One step from a version of the database to the next."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Table


@dataclass(frozen=True)
class Migration:
    """Tables and columns to add, then statements to run.

    Never edited once released: a change is a further step.
    """

    version: int
    creates: tuple[Table, ...] = ()
    adds: tuple[Column[Any], ...] = ()  # skipped where the table was created with them just now
    then: tuple[str, ...] = ()
