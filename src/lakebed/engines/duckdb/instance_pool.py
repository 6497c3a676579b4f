"""The DuckDB instances of a lake in one process: few and shared, because each caches the footers of
files it has read.

Queries see tables as views under the tables' own names. Two queries share a view that selects the
same; one that needs another snapshot under a name in use gets another instance.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import Any

import duckdb

from lakebed.engines.duckdb.sql.views import SetupPart

_SPARE = 2
_UNUSED = 500  # unused views that are kept
_MEASURE_EVERY = 32  # connections after which the cache is measured
_CACHED_BYTES = """SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory()
WHERE tag IN ('OBJECT_CACHE', 'EXTERNAL_FILE_CACHE')"""

Make = Callable[[Any, SetupPart], None]  # on this connection


@dataclass
class _SharedPart:
    """A part that exists, or is being created by the holder of its lock."""

    part: SetupPart
    users: int = 0
    done: bool = False
    lock: Lock = field(default_factory=Lock)


class DuckInstance:
    """One DuckDB.

    Its bookkeeping is done under the pool's lock; parts are created outside it, because that reads
    files.
    """

    def __init__(self, connection: Any) -> None:
        self.connection, self.users, self.ended = connection, 0, 0
        self._made: OrderedDict[tuple[str, ...], _SharedPart] = OrderedDict()
        # In a Python without a main file, such as a notebook, each connection would draw a progress
        # bar.
        self._draws = bool(
            connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()[0]
        )

    def cursor(self) -> Any:
        """Another connection.

        A setting takes longer than opening it, so it is set only where needed.
        """
        cursor = self.connection.cursor()
        if self._draws:
            cursor.execute("SET enable_progress_bar = false")
        return cursor

    def fits(self, parts: Sequence[SetupPart]) -> bool:
        """Whether no running query sees something else under one of these names."""
        known = ((self._made.get(part.name), part) for part in parts)
        return all(made is None or made.part == part or not made.users for made, part in known)

    def enter(self, parts: Sequence[SetupPart]) -> list[_SharedPart]:
        self.users += 1
        return [self._use(part) for part in parts]

    def _use(self, part: SetupPart) -> _SharedPart:
        made = self._made.get(part.name)
        if made is None or made.part != part:
            made = self._made[part.name] = _SharedPart(part)
        self._made.move_to_end(part.name)
        made.users += 1
        return made

    def leave(self, used: Sequence[_SharedPart]) -> None:
        self.users -= 1
        self.ended += 1
        for made in used:
            made.users -= 1
        unused = [made for made in self._made.values() if made.part.drop and not made.users]
        for made in unused[:-_UNUSED]:
            del self._made[made.part.name]
            with suppress(duckdb.Error):  # the next part of this name replaces it
                self.connection.execute(made.part.drop)

    def cached_bytes(self) -> int:
        """How many bytes of files it caches: footers and whatever else it has read."""
        with self.connection.cursor() as cursor:
            return int(cursor.execute(_CACHED_BYTES).fetchone()[0])


class PooledConnection:
    """A connection for one query, in an instance that has the query's parts."""

    def __init__(
        self,
        instance: DuckInstance,
        used: Sequence[_SharedPart],
        leave: "Callable[[PooledConnection], None]",
    ) -> None:
        self.instance, self.used, self._leave = instance, used, leave
        self.connection: Any = instance.cursor()

    def make(self, make: Make) -> None:
        """Create the missing parts; if two queries need one, the second waits for the first."""
        for made in self.used:
            with made.lock:
                if not made.done:
                    make(self.connection, made.part)
                    made.done = True

    def release(self) -> None:
        self._leave(self)


class InstancePool:
    """`connect` opens an instance.

    One that caches more than `most` bytes of files gets no further query.

    `spare` unused instances are kept.
    """

    def __init__(self, connect: Callable[[], Any], *, most: int, spare: int = _SPARE) -> None:
        self._open_instance, self._most, self._spare = connect, most, spare
        self._open: list[DuckInstance] = []
        self._lock = (
            RLock()
        )  # a garbage-collected result releases in the middle of whatever this thread does

    def connect(self, parts: Sequence[SetupPart], make: Make) -> PooledConnection:
        """A connection that has these parts."""
        with self._lock:
            instance = next((one for one in self._open if one.fits(parts)), None)
            if instance is None:
                instance = DuckInstance(self._open_instance())
                self._open.append(instance)
            seat = PooledConnection(instance, instance.enter(parts), self._release)
        try:
            seat.make(make)
        except BaseException:
            seat.release()
            raise
        return seat

    def _release(self, seat: PooledConnection) -> None:
        with suppress(duckdb.Error):
            seat.connection.close()
        instance = seat.instance
        with self._lock:
            instance.leave(seat.used)
            due = instance.ended % _MEASURE_EVERY == 0
            if instance in self._open and (
                self._is_spare(instance) or (due and instance.cached_bytes() > self._most)
            ):
                self._open.remove(instance)
            if instance not in self._open and not instance.users:
                instance.connection.close()

    def _is_spare(self, instance: DuckInstance) -> bool:
        return not instance.users and sum(not one.users for one in self._open) > self._spare

    def close(self) -> None:
        """Close the unused instances; the others end with their last query."""
        with self._lock:
            idle, self._open = [one for one in self._open if not one.users], []
        for instance in idle:
            instance.connection.close()
