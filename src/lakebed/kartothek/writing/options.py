"""What is decided when a dataset is created."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.kartothek.format.column_types import StringProfile
from lakebed.kartothek.format.names import MetadataFormat
from lakebed.kartothek.format.state import KEEP, SEGMENTS
from lakebed.kartothek.history.versions import days_text
from lakebed.kartothek.writing.partition_files import PartitionSpec


@dataclass(frozen=True)
class DatasetOptions:
    """How a new dataset is partitioned, indexed and written."""

    partition_keys: tuple[str, ...] = ()
    indexed: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    format: MetadataFormat = MetadataFormat.JSON
    strings: StringProfile = StringProfile.LARGE_STRING
    sort_by: tuple[str, ...] = ()
    row_group_rows: int = 1_000_000
    keep_days: float | None = None  # for how long former states can be read; None: they cannot

    index_segments: bool = False  # appends are cheap, and plateau does not see the indices

    @property
    def user_metadata(self) -> Mapping[str, str]:
        """The metadata, with what Lakebed stores there."""
        kept = {} if self.keep_days is None else {KEEP: days_text(self.keep_days)}
        return {**self.metadata, **kept, **({SEGMENTS: "true"} if self.index_segments else {})}

    def spec(self, uuid: str) -> PartitionSpec:
        return PartitionSpec(
            uuid,
            self.partition_keys,
            self.indexed,
            self.sort_by,
            self.strings,
            self.row_group_rows,
        )


DEFAULTS = DatasetOptions()
