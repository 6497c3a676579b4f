"""What will be done, decided before anything is done."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Step(Protocol):
    """One piece of work as frozen data: building a step changes nothing."""

    @property
    def action(self) -> str:
        """What it does: the name under which it is recorded."""
        ...

    @property
    def subject(self) -> str:
        """What it does that to: a table, a zone, a folder."""
        ...

    @property
    def why(self) -> str:
        """Why it is done."""
        ...


S = TypeVar("S", bound=Step)


@dataclass(frozen=True)
class Plan(Generic[S]):
    """Steps in the order in which they are carried out, in three parts.

    `prepare` changes nothing that readers see, so a failure there is undone by forgetting it.
    `publish` makes all of it visible at once. `after` tidies up: its steps can be repeated, and a
    failure takes nothing back.
    """

    prepare: tuple[S, ...] = ()
    publish: tuple[S, ...] = ()
    after: tuple[S, ...] = ()
    reason: str = ""  # why the work is done, or why there is nothing to do

    @property
    def steps(self) -> tuple[S, ...]:
        return (*self.prepare, *self.publish, *self.after)
