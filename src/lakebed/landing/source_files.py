"""Files of a source: read like those of a zone, but never moved."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from lakebed.errors import BadFiles, LakebedError
from lakebed.landing.checking.check import check
from lakebed.landing.checking.frames import frame_of, observed_frame
from lakebed.landing.checking.propose import propose
from lakebed.landing.checking.read_groups import Address
from lakebed.landing.checking.remembered_types import RememberedTypes
from lakebed.landing.checking.sample import SampleFolder
from lakebed.landing.formats.shown_types import shown_columns
from lakebed.landing.formats.sniff import sniff_alike, sniff_all
from lakebed.landing.formats.sniffed import BadFile, SniffedFile
from lakebed.landing.run import WhenChecked, ZoneRows, to_be_proved
from lakebed.landing.spec import ZONE_FILE, ZoneSpec
from lakebed.landing.zone_files import ZoneColumn, zone_columns
from lakebed.ports import FileInfo, Files, LandingReader

_SHOWN = 10
_PIPELINE_SETTINGS = {"format", "header"}


class SourceSpec(ZoneSpec):
    """How the files of a source are read: its settings are those of a pipeline."""

    @property
    def takes_nulls(self) -> bool:
        return False

    def how_to_set(self, setting: str, value: str) -> str:
        if setting in _PIPELINE_SETTINGS:
            return f"set {setting}: {value} in config.yaml"
        return f"a landing zone can read it, with {setting}: {value} in its {ZONE_FILE}"

    def how_to_type(self, column: str, type_: str) -> str:
        return f"set columns: {{{column}: {type_}}} in config.yaml"


def source_columns(
    files: Files, chosen: Iterable[FileInfo], spec: ZoneSpec, *, known: Mapping[str, str]
) -> tuple[ZoneColumn, ...]:
    """The columns of some files: those that are declared or `known`, and those that the first lines
    of CSV files show.
    """
    shown = shown_columns(files, chosen, spec)
    return tuple(zone_columns(spec, {"": known}, shown))


def open_source(
    reader: LandingReader,
    files: Files,
    chosen: Sequence[FileInfo],
    spec: ZoneSpec,
    *,
    where: str,
    address: Address,
    remembered: RememberedTypes,
    path_column: str,
    checked: WhenChecked = "first",
    samples: SampleFolder | None = None,
) -> ZoneRows:
    """The rows of the chosen files, and in which file each is. Every file is checked first;
    `BadFiles` names those that cannot be read.

    Checked `while_reading`, files that look good are left to the job that reads their rows, where
    that is possible, and `samples` of them are taken: until it has ended, they may be bad.
    """
    filled = [file for file in chosen if file.size]
    if checked == "while_reading" and samples and reader.observes:
        alike = sniff_alike(files, filled, spec, known_names=remembered.types)
        likely = [one for one in alike if isinstance(one, SniffedFile)]
        asked = partial(propose, address=address, remembered=remembered, into=samples)
        proposal = asked(reader, files, likely, spec) if len(likely) == len(alike) else None
        with suppress(LakebedError):  # checking tells what it is
            if proposal and proposal.target:
                read = observed_frame(reader, proposal, address, path_column=path_column)
                return to_be_proved(tuple(chosen), proposal, read)
    sniffed = sniff_all(files, filled, spec, known_names=remembered.types)
    good = [one for one in sniffed if isinstance(one, SniffedFile)]
    outcome = check(reader, files, good, spec, address=address, remembered=remembered)
    bad = (*(one for one in sniffed if isinstance(one, BadFile)), *outcome.bad)
    if bad:
        raise _refusal(bad, where)
    frame = (
        frame_of(reader, outcome, spec, address, path_column=path_column)
        if outcome.target
        else None
    )
    return ZoneRows(frame, tuple(chosen), dict(outcome.rows), checked=outcome)


def _refusal(bad: Sequence[BadFile], where: str) -> BadFiles:
    told = "; ".join(f"{one.file.path}: {one.reason}" for one in bad[:_SHOWN])
    more = f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    return BadFiles(
        f"{len(bad)} file{'s' if len(bad) > 1 else ''} cannot be read: {told}{more}.",
        where=where,
        safe="Nothing of this batch was published; other batches are not affected.",
        next="Fix or remove what is wrong.",
    )
