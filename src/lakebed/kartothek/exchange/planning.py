"""What an export has to do, decided from the last one. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lakebed.errors import NameTaken, UsageError
from lakebed.kartothek.exchange.record import ExportRecord
from lakebed.kartothek.format.state import EXPORT, DatasetState

_ANEW = "Export it with --anew, which replaces all rows of the dataset, or choose another name."


@dataclass(frozen=True)
class ExportPlan:
    """Files whose rows are written, and labels that go; `anew` says why everything is replaced."""

    added: tuple[str, ...]
    kept: tuple[str, ...] = ()
    removed: frozenset[str] = frozenset()
    anew: str = ""

    @property
    def nothing(self) -> bool:
        return not (self.added or self.removed or self.anew)


def plan_export(
    state: DatasetState | None,
    record: ExportRecord | None,
    *,
    table_uuid: str,
    files: Collection[str],
    same_schema: bool,
    anew: bool,
) -> ExportPlan:
    """Only what changed since the last export, if it is known and the dataset is as it left it.

    `NameTaken` if the dataset is not an export of this table, or others have changed it.
    """
    if state is None:
        return ExportPlan(tuple(files))
    if anew:
        return ExportPlan(tuple(files), anew="as requested")
    if EXPORT not in state.metadata:
        raise _refused(state, "is not an export of a table")
    if record is None:
        return ExportPlan(tuple(files), anew="the record of the last export is lost")
    if record.table_uuid != table_uuid:
        raise _refused(state, f"is an export of another table ({record.table})")
    if record.labels != state.partitions.keys():
        raise _refused(state, "was changed by others since the last export")
    if not same_schema:
        return ExportPlan(tuple(files), anew="the columns of the table have changed")
    kept = tuple(key for key in record.files if key in files)
    if record.files and not kept:
        why = "no file of the last export is left: the table was rewritten or compacted"
        return ExportPlan(tuple(files), anew=why)
    gone = frozenset(
        label for key, labels in record.files.items() if key not in files for label in labels
    )
    added = tuple(key for key in files if key not in record.files)
    return ExportPlan(added, kept, gone)


def require_same_layout(
    state: DatasetState,
    partition_keys: Sequence[str] | None,
    indexed: Sequence[str] | None,
) -> None:
    """An export that adds to a dataset keeps its partition keys and indices."""
    for what, given, present in (
        ("partition keys", partition_keys, state.partition_keys),
        ("indices", indexed, state.indexed),
    ):
        if given is not None and set(given) != set(present):
            raise UsageError(
                f"the dataset has the {what} {list(present)}, not {list(given)}.",
                where=state.uuid,
                next="Leave them out, or export it --anew.",
            )


def _refused(state: DatasetState, why: str) -> NameTaken:
    return NameTaken(f"the dataset {state.uuid!r} {why}.", where=state.uuid, next=_ANEW)
