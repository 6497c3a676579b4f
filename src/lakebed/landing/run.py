"""The rows of a zone's files, every one accounted for."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from lakebed.errors import BadFiles, FileMissing, FilesChanged
from lakebed.landing.archive import quarantine_files
from lakebed.landing.checking.check import check
from lakebed.landing.checking.frames import frame_of, observed_frame
from lakebed.landing.checking.outcome import CheckedFiles
from lakebed.landing.checking.propose import Proposal, propose
from lakebed.landing.checking.read_groups import Address
from lakebed.landing.checking.remembered_types import NOTHING_REMEMBERED, RememberedTypes
from lakebed.landing.checking.sample import SampleFolder
from lakebed.landing.formats.sniff import sniff_all
from lakebed.landing.formats.sniffed import BadFile, SniffedFile
from lakebed.landing.spec import ZoneSpec
from lakebed.names import ZoneName
from lakebed.ports import (
    FileInfo,
    Files,
    Frame,
    LandingReader,
    ObservedRows,
    QuarantinedFile,
)
from lakebed.settings import DATA
from lakebed.types import ColumnType

_SHOWN = 10
# when files are checked: before their rows are used, or by the job that reads them, where it can
WhenChecked = Literal["first", "while_reading"]


@dataclass(frozen=True)
class ZoneRows:
    """The rows of a zone's good files. `frame` is None if no file has a column."""

    frame: Frame | None
    files: tuple[FileInfo, ...]
    rows_by_file: Mapping[str, int] = field(default_factory=dict)
    set_aside: tuple[QuarantinedFile, ...] = ()
    # rows of quarantined files, where they could be counted
    rejected: Mapping[str, int | None] = field(default_factory=dict)
    # the outcome of checking all rows; until `prove` has been called, what it is if all are good
    checked: CheckedFiles | None = field(default=None, repr=False)
    # Where the job that reads the rows checks them: to be called once it has ended. None as answer
    # means that the files must be checked before their rows are used.
    prove: Callable[[], CheckedFiles | None] | None = field(default=None, repr=False)

    @property
    def may_be_bad(self) -> bool:
        """Whether rows are used of files that may yet turn out to be bad."""
        return self.prove is not None

    def proved(self, *, where: str) -> "ZoneRows":
        """The same once the job that reads the rows has ended; `BadFiles` if it cannot vouch for
        every value.
        """
        if self.prove is None:
            return self
        checked = self.prove()
        if checked is None:
            raise BadFiles("not all values were as they seemed.", where=where)
        return replace(self, checked=checked, prove=None)


def open_zone(
    reader: LandingReader,
    files: Files,
    zone: ZoneName,
    chosen: Sequence[FileInfo],
    spec: ZoneSpec,
    *,
    address: Address,
    run_id: str,
    keep: bool = False,
    remembered: RememberedTypes = NOTHING_REMEMBERED,
    checked: WhenChecked = "first",
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> ZoneRows:
    """The rows of the chosen files. Every file is checked first; one bad row makes its file bad.

    Checked `while_reading`, files that look good are left to the job that reads their rows, where
    that is possible: until it has ended, they may be bad.

    A file of 0 bytes has no rows, unless the zone calls it bad. Columns have the `remembered`
    types.

    Bad files are moved to `_quarantine/{run_id}/` with their reasons, or fail the run with
    `BadFiles` if the zone says so; with `keep` they always fail it, and nothing is moved.
    """
    chosen = tuple(dict.fromkeys(chosen))
    empty = {file.path: 0 for file in chosen if not file.size and spec.empty_file == "no_rows"}
    filled = [file for file in chosen if file.path not in empty]
    sniffed = _sniffed(files, zone, filled, spec, known_names=remembered.types)
    good = [one for one in sniffed if isinstance(one, SniffedFile)]
    if checked == "while_reading" and reader.observes and len(good) == len(sniffed):
        into = SampleFolder(files, sample_folder(run_id), address)
        proposal = propose(
            reader, files, good, spec, address=address, remembered=remembered, into=into
        )
        if proposal:
            return to_be_proved(chosen, proposal, observed_frame(reader, proposal, address))
    outcome = check(reader, files, good, spec, address=address, remembered=remembered)
    bad = (*(one for one in sniffed if isinstance(one, BadFile)), *_counted(outcome.bad, good))
    if bad and (keep or spec.on_bad_file == "fail"):
        raise _refusal(bad, zone, spec)
    if wanted := [one for one in bad if one.other_reader]:
        raise _left_to_others(wanted, zone)
    if linked := [one for one in bad if one.file.target]:
        raise _linked(linked, zone)
    aside = quarantine_files(files, bad, zone, run_id=run_id, at=now())
    rows = empty | dict(outcome.rows)
    return ZoneRows(
        frame_of(reader, outcome, spec, address),
        tuple(file for file in chosen if file.path in rows),
        rows,
        aside,
        {one.file.path: one.rows for one in bad},
        outcome,
    )


def sample_folder(run_id: str) -> str:
    """Where a run puts copies of the first lines of files, for a moment."""
    return f"{DATA}/staging/{run_id}/samples"


def to_be_proved(chosen: tuple[FileInfo, ...], proposal: Proposal, read: ObservedRows) -> ZoneRows:
    """The rows of files that look good, checked by the job that reads them."""
    return ZoneRows(
        read.frame,
        chosen,
        checked=proposal.outcome(),
        prove=lambda: proposal.proved(read.seen()),
    )


def infer_zone_types(
    reader: LandingReader,
    files: Files,
    zone: ZoneName,
    chosen: Sequence[FileInfo],
    spec: ZoneSpec,
    *,
    address: Address,
) -> Mapping[str, ColumnType]:
    """The column types of all good files; nothing is moved."""
    sniffed = _sniffed(files, zone, [file for file in chosen if file.size], spec)
    return check(
        reader,
        files,
        [one for one in sniffed if isinstance(one, SniffedFile)],
        spec,
        address=address,
    ).learned


def _sniffed(
    files: Files,
    zone: ZoneName,
    chosen: Sequence[FileInfo],
    spec: ZoneSpec,
    *,
    known_names: Collection[str] = (),
) -> tuple[SniffedFile | BadFile, ...]:
    try:
        sniffed = sniff_all(files, chosen, spec, known_names=known_names)
    except FileMissing as error:
        raise FilesChanged(
            "the file disappeared before it was read.",
            where=error.path,
            safe="Nothing was published.",
            next="Run it again.",
        ) from error
    formats = {one.format: one.file.path for one in sniffed if isinstance(one, SniffedFile)}
    if spec.mixed_formats == "refuse" and len(formats) > 1:
        found = ", ".join(f"{kind} ({path})" for kind, path in formats.items())
        raise BadFiles(
            f"the zone has files of several formats: {found}.",
            where=str(zone),
            next="Put them into separate zones, or set mixed_formats: union in zone.yaml.",
        )
    return sniffed


def _counted(bad: Iterable[BadFile], sniffed: Iterable[SniffedFile]) -> tuple[BadFile, ...]:
    """Bad files with their number of rows: a Parquet file states it, even if its rows cannot be
    read.
    """
    told = {one.file.path: one.rows for one in sniffed}
    return tuple(
        one if one.rows is not None else replace(one, rows=told[one.file.path]) for one in bad
    )


def _refusal(bad: Sequence[BadFile], zone: ZoneName, spec: ZoneSpec) -> BadFiles:
    told = "; ".join(f"{one.file.path}: {one.reason}" for one in bad[:_SHOWN])
    more = f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    advice = ", or set on_bad_file: quarantine in zone.yaml" if spec.on_bad_file == "fail" else ""
    return BadFiles(
        f"{len(bad)} file{'s' if len(bad) > 1 else ''} cannot be read: {told}{more}.",
        where=str(zone),
        safe="Nothing was published, and no file was moved.",
        next=f"Fix the file or remove it{advice}.",
    )


def _linked(bad: Sequence[BadFile], zone: ZoneName) -> BadFiles:
    """Moving a symbolic link, or what it leads to, would break it."""
    told = "; ".join(f"{one.file.path}: {one.reason}" for one in bad[:_SHOWN])
    return BadFiles(
        f"files that symbolic links lead to cannot be read, and are not moved: {told}.",
        where=str(zone),
        safe="Nothing was published, and no file was moved.",
        next="Fix the file, or remove it together with the link.",
    )


def _left_to_others(bad: Sequence[BadFile], zone: ZoneName) -> BadFiles:
    told = "; ".join(f"{one.file.path}: {one.reason}" for one in bad[:_SHOWN])
    return BadFiles(
        f"values do not fit this table's columns, and {bad[0].other_reader}, which also reads the"
        f" zone, may accept them: {told}.",
        where=str(zone),
        safe="Nothing was published, and no file was moved.",
        next=(
            "Let this table widen its columns (on_schema_change: append), set types or nulls in"
            " zone.yaml, or remove the file."
        ),
    )
