"""What a commit records in the same step: a publication records runs, any other change records
events.

Each commit method of a catalog takes one of the two and stores all of it, or changes nothing. A new
field is stored by every catalog: a contract test goes through the fields of both.
"""

from dataclasses import dataclass

from lakebed.ports.state.events import Event
from lakebed.ports.state.ledger import ConsumedFile, Descent, FileStateChange, ZoneTypes
from lakebed.ports.state.runs import RunRecord


@dataclass(frozen=True)
class PublicationRecords:
    """What is recorded with a publication. Its events follow from the publication itself.

    Column types are stored only if no other run changed them since this one began; otherwise the
    publication fails with `TypesChanged`.
    """

    runs: tuple[RunRecord, ...] = ()
    consumed: tuple[ConsumedFile, ...] = ()
    types: tuple[ZoneTypes, ...] = ()


@dataclass(frozen=True)
class ChangeRecords:
    """What is recorded with a change that publishes nothing: a rollback, a tag, a rename,
    a drop…
    """

    file_states: tuple[FileStateChange, ...] = ()
    events: tuple[Event, ...] = ()
    descents: tuple[Descent, ...] = ()


NO_PUBLICATION_RECORDS = PublicationRecords()
NO_CHANGE_RECORDS = ChangeRecords()
