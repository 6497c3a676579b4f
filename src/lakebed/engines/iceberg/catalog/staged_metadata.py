"""Metadata files that a commit writes before any row points at them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy.exc import IntegrityError

from lakebed.errors import LakebedError, PointerMoved
from lakebed.names import TableName
from lakebed.ports import NAME, Amendment, Pointer, RefMove, SetProperties


class StagedMetadata:
    """Writes them beside the present ones, and removes those that are not needed after all."""

    def __init__(self, file_properties: Mapping[str, str], *, now: Callable[[], float]) -> None:
        self._file_properties = file_properties
        self._now = now  # the store's clock

    def move(self, pointer: Pointer, move: RefMove) -> str:
        """The location of the metadata after a move of refs."""
        from lakebed.engines.iceberg.metadata.staging import stage_move

        return stage_move(pointer.location, move, properties=self._file_properties, now=self._now())

    def amendments(self, location: str, amendments: Sequence[Amendment]) -> str:
        """The location of the metadata after some amendments."""
        from lakebed.engines.iceberg.metadata.staging import stage_amendments

        return stage_amendments(
            location, amendments, properties=self._file_properties, now=self._now()
        )

    def named(self, location: str, table: TableName) -> str:
        """Metadata that has the table's name: its folder does not tell it, and the catalog may be
        lost one day.
        """
        return self.amendments(location, [SetProperties({NAME: str(table)})])

    def discard(self, locations: Collection[str]) -> None:
        """Remove metadata files that no row points at."""
        from lakebed.engines.iceberg.metadata.staging import discard

        for location in locations:
            discard(location, properties=self._file_properties)

    @contextmanager
    def kept_only_if_used(
        self, staged: Mapping[TableName, str], expected: Mapping[TableName, Pointer], what: str
    ) -> Iterator[None]:
        """Staged files are removed if the transaction in this block certainly did not happen."""
        fresh = [
            location for table, location in staged.items() if location != expected[table].location
        ]
        try:
            yield
        except (PointerMoved, IntegrityError) as error:
            self.discard(fresh)
            if isinstance(
                error, IntegrityError
            ):  # another process published first, or the name is taken
                raise PointerMoved(what) from error
            raise
        except LakebedError as error:
            if (
                not error.retryable
            ):  # otherwise the outcome may be unknown, and the files may be in use
                self.discard(fresh)
            raise
