"""Counters, as rows: numbers in the order of commits, none of them issued twice."""

from sqlalchemy import Connection, func, select, text

from lakebed.engines.database.schema import counters, events, followers

EVENTS = "events"
_RAISE = text(  # both databases know ON CONFLICT; asking first and inserting then is a race
    "INSERT INTO lakebed_counters (name, value) VALUES (:name, :by) ON CONFLICT (name)"
    " DO UPDATE SET value = lakebed_counters.value + :by RETURNING value"
)


def raise_counter(connection: Connection, name: str, *, by: int) -> int:
    """Raise a counter, in the caller's transaction; returns its new value.

    Until the transaction ends, everybody else who raises this counter waits: whoever sees a number
    sees all smaller ones. So this belongs at the end of a transaction, after all its other rows.
    """
    return int(connection.execute(_RAISE, {"name": name, "by": by}).scalar_one())


def value_of(connection: Connection, name: str) -> int:
    """A counter's present value; 0 if nobody has raised it."""
    return connection.execute(select(counters.c.value).where(counters.c.name == name)).scalar() or 0


def last_event_number(connection: Connection) -> int:
    """The largest number of an event that the counter, the events and the followers know of."""
    known = (select(func.max(one.c.number)) for one in (events, followers))
    return max(
        value_of(connection, EVENTS), *(connection.execute(one).scalar() or 0 for one in known)
    )


def set_counter(connection: Connection, name: str, value: int) -> None:
    """Let a counter go on from this value."""
    raise_counter(connection, name, by=value - value_of(connection, name))
