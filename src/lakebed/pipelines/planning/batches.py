"""The batches that a table was built from: which run consumed which files, in which order. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby

from lakebed.errors import BadFiles
from lakebed.landing import archiving_run
from lakebed.names import run_time
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.pins import Batch, ZoneKey, ZonePin, arrival_order
from lakebed.ports import FileInfo, RunRecord

_Found = tuple[tuple[float, str], ZoneKey, FileInfo]  # when and by which run; the zone; the file
_NOW = (float("inf"), "")


def batches_of(
    landing: Mapping[ZoneKey, ZonePin],
    *,
    record: Callable[[str], RunRecord | None],
    each_file: bool = False,
) -> tuple[Batch, ...]:
    """The files of a rebuild, grouped by the run that took them first, in the order of runs;
    waiting files come last.

    A file in `_processed/` that the table never had belongs to the run that archived it. For runs
    whose records have been removed, the start is taken from the run id, to the millisecond.
    """
    found = sorted(_found(landing), key=lambda one: one[0])
    taken = (
        _batch(run_id, tuple(ones), record)
        for (_, run_id), ones in groupby(found, key=lambda one: one[0])
    )
    return tuple(one for batch in taken for one in (_each_file(batch) if each_file else (batch,)))


def _each_file(batch: Batch) -> Iterator[Batch]:
    """One batch per file, each a microsecond after the one before, so that no two batches have the
    same time.
    """
    for number, file in enumerate(sorted(_files(batch), key=arrival_order)):
        alone = {key: (file,) for key, chosen in batch.files.items() if file in chosen}
        yield replace(batch, files=alone, later=timedelta(microseconds=number))


def _files(batch: Batch) -> set[FileInfo]:
    return {file for chosen in batch.files.values() for file in chosen}


def require_separate_extracts(
    spec: PipelineSpec, landing: Mapping[ZoneKey, ZonePin], batches: Sequence[Batch]
) -> None:
    """Raise if waiting files could be mixed up: where absent keys count, two extracts read as one
    hide what the second lacks.
    """
    as_one = [Batch({key: pin.files for key, pin in landing.items()})]
    waiting = [batch for batch in batches or as_one if not batch.run_id]
    count = max((len(_files(batch)) for batch in waiting), default=0)
    if count < 2 or not spec.strategy.absence_matters or spec.config.one_file_a_run is not None:
        return
    raise BadFiles(
        f"{count} files are waiting, and {spec.strategy.strategy} acts on keys that an extract"
        " lacks: is each file an extract, or are they parts of one?",
        where=str(spec.table),
        safe="Nothing was written.",
        next="Set one_file_a_run: true if each is an extract, false if they are parts of one.",
    )


def _found(landing: Mapping[ZoneKey, ZonePin]) -> Iterator[_Found]:
    for key, pin in landing.items():
        for file in pin.files:
            yield _first_taken(file, pin), key, file


def _first_taken(file: FileInfo, pin: ZonePin) -> tuple[float, str]:
    row, archived_by = pin.known.get(file.path), archiving_run(file)
    own = [(row.taken_at, row.run_id)] if row else []
    # Archived before this table took it: it belongs among the files that others took with it.
    others = (
        [(run_time(archived_by).timestamp(), archived_by)]
        if archived_by and not (row and row.run_id <= archived_by)
        else []
    )
    return min((*own, *others), default=_NOW)


def _batch(
    run_id: str, found: tuple[_Found, ...], record: Callable[[str], RunRecord | None]
) -> Batch:
    files: dict[ZoneKey, tuple[FileInfo, ...]] = {}
    for _, key, file in found:
        files[key] = (*files.get(key, ()), file)
    if not run_id:
        return Batch(files)
    known = record(run_id)
    at = known.moment or known.started_at if known else run_time(run_id)
    return Batch(files, run_id, at, (known and known.asked_at) or at)
