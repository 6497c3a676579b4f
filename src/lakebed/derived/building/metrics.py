"""What a build took, under the names that runs of sources use. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lakebed.derived.building.steps import LayoutBuild, LayoutDone
from lakebed.ports import TableMetadata

_METRIC = "partition_alternate"


def stored_bytes(metadata: TableMetadata) -> int:
    """The bytes of a table's data files."""
    head = metadata.head()
    return (head.count("total-files-size") if head else None) or 0


def amplification(source: TableMetadata, layouts: Iterable[TableMetadata]) -> float:
    """How many bytes are stored for each byte of the table, its layouts included."""
    own = stored_bytes(source)
    return round((own + sum(map(stored_bytes, layouts))) / own, 3) if own else 0.0


def commit_metrics(done: LayoutDone) -> dict[str, float]:
    """The metrics of one commit."""
    return {
        f"{_METRIC}.batch.duration_ms": round(done.seconds * 1000),
        f"{_METRIC}.batch.files_processed": done.files,
        f"{_METRIC}.batch.bytes_processed": done.bytes,
    }


def largest(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """The larger value of each metric."""
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}


def with_totals(
    builds: Sequence[LayoutBuild], source: TableMetadata, layouts: Sequence[TableMetadata]
) -> tuple[LayoutBuild, ...]:
    """The builds with what they took in all, and how much is stored now."""
    factor = amplification(source, layouts)
    return tuple(
        replace(
            build,
            metrics=largest(commit_metrics(LayoutDone()), build.metrics)
            | {
                f"{_METRIC}.total_duration_ms": round(build.seconds * 1000),
                f"{_METRIC}.storage.amplification": factor,
            },
        )
        for build in builds
    )
