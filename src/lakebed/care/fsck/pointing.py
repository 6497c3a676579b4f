"""When the metadata file of a table is lost: which other one can replace it without losing
anything. Pure.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from lakebed.ports import MAIN, MetadataFile, RecordedEvent, RefMove

_MOVES_MAIN = {"published", "rolled_back", "compacted"}
_SLACK = timedelta(seconds=5)  # an event is written just after the metadata that it is about


@dataclass(frozen=True)
class Replacement:
    """The metadata file to point at; `replay` is the publication in the lost one, to be repeated on
    it.
    """

    file: MetadataFile
    replay: RefMove | None = None


def newest(files: Collection[MetadataFile]) -> MetadataFile | None:
    """The last of a table's metadata files, by the time they were written."""
    return max(files, key=lambda file: (file.metadata.updated_at, file.number), default=None)


def replacement(
    lost: str,
    before: MetadataFile | None,
    files: Collection[MetadataFile],
    lists: Collection[int],
    events: Sequence[RecordedEvent],
    published: RefMove | None = None,
) -> Replacement | str:
    """What replaces the `lost` metadata file, or why nothing can.

    `before` is the metadata file that the catalog pointed at before it, one of the readable
    `files`. `lists` are the snapshots whose manifest lists are in the table's folder, `events` the
    table's recorded events, `published` its part of the last publication.
    """
    found = before or newest(files)
    if found is None:
        return "there is no other metadata file of this table that can be read"
    if len({file.metadata.uuid for file in files}) > 1:
        return "its folder has metadata files of several tables"
    if found is not before and lost not in found.metadata.metadata_log:
        return (
            f"the newest one that can be read ({found.location.rsplit('/', 1)[-1]}) is not its"
            " direct predecessor"
        )
    known = {snapshot for file in files for snapshot in file.metadata.snapshots}
    if unknown := sorted(set(lists) - known):
        return (
            f"the newest one that can be read does not know snapshot {', '.join(map(str, unknown))}"
        )
    if published and _is_before(found, published) and events[-1].event.kind == "published":
        return Replacement(found, published)
    return _contradicted(found, events) or Replacement(found)


def _is_before(found: MetadataFile, move: RefMove) -> bool:
    """Whether the publication is the next commit."""
    branch, ref = found.metadata.refs.get(move.branch), found.metadata.head(move.ref)
    stood = (
        branch is not None and branch.snapshot == move.to and (ref.id if ref else None) == move.base
    )
    return stood and move.becomes is None and move.branch != move.ref


def _contradicted(found: MetadataFile, events: Sequence[RecordedEvent]) -> str:
    moves = [
        noted.event
        for noted in events
        if noted.event.kind in _MOVES_MAIN and noted.event.detail.get("ref", MAIN) == MAIN
    ]
    head = found.metadata.head()
    if (
        moves
        and moves[-1].snapshot is not None
        and moves[-1].snapshot != (head.id if head else None)
    ):
        return (
            f"main stood at snapshot {moves[-1].snapshot}, but the newest one that can be read"
            " disagrees"
        )
    later = [
        noted
        for noted in events
        if noted.event.kind not in _MOVES_MAIN and noted.at > found.metadata.updated_at + _SLACK
    ]
    if later:
        return (
            f"it was {later[-1].event.kind.replace('_', ' ')} after the newest one that can be"
            " read was written"
        )
    return ""
