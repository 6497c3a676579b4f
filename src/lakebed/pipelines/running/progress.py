"""What the steps of a run have produced so far: the only part of a run that changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from lakebed.landing import WhenChecked, ZoneRows
from lakebed.names import ZoneName
from lakebed.pipelines.planning.compile import CompiledQuery
from lakebed.ports import BatchRun, Column, ColumnAlias, Field, Frame, RunRecord, Verdict
from lakebed.tables import SchemaChange

ZonePattern = tuple[ZoneName, str | None]


@dataclass
class RunProgress:
    """Filled in step by step, and only by the steps of the run that owns it."""

    record: RunRecord
    begun: RunRecord  # as it was at the start
    # Zones, and the files that were read from them.
    landed: dict[ZonePattern, ZoneRows] = field(default_factory=dict)
    # remembered: column → type
    zone_types: dict[ZonePattern, Mapping[str, str]] = field(default_factory=dict)
    files_checked: WhenChecked = "first"
    digests: dict[str, str] = field(default_factory=dict)  # of files, by path
    # The result.
    frame: Frame = None
    compiled: CompiledQuery | None = None
    fields: tuple[Field, ...] = ()
    result_rows: int | None = None
    keys: int | None = None  # distinct ones
    # what the arriving keys met in the table
    key_matches: Mapping[str, int] = field(default_factory=dict)
    # Of a source: what the record will say about the batch, and the files that were read.
    due: BatchRun | None = None
    read: ZoneRows | None = None
    # The table.
    schema_change: SchemaChange = field(default_factory=SchemaChange)
    # the table's columns when the rows were shaped for them; empty: before that
    prepared: tuple[Column, ...] = ()
    # the branch's columns as they will be named; empty: as they are
    aliases: tuple[ColumnAlias, ...] = ()
    # the snapshot that the run's files were put on top of, where others had appended meanwhile
    rebased_on: int | None = None
    skip_write: bool = False
    unchanged: bool = False
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # of layouts, for the record's message
    publishing: Literal["", "tried", "done"] = ""  # "tried": it may have happened
    # A replay.
    # the files of the batch at hand
    batch: dict[ZonePattern, ZoneRows] = field(default_factory=dict)
    replay_fields: tuple[Field, ...] = ()  # the hidden table's columns, once it exists
    # rows not yet added
    collected: list[tuple[Frame, tuple[Field, ...]]] = field(default_factory=list)
    # the hidden table has rows; at the end: the frame has the strategy's own columns
    replayed: bool = False

    @property
    def may_be_bad(self) -> bool:
        """Whether rows are used of files that may yet turn out to be bad."""
        batch = [self.read] if self.read else []
        return any(landed.may_be_bad for landed in (*self.landed.values(), *batch))

    def start_over(self) -> None:
        """Forget all that was done, and check files first."""
        new = RunProgress(self.begun, self.begun, due=self.due)
        for one in fields(self):
            setattr(self, one.name, getattr(new, one.name))
