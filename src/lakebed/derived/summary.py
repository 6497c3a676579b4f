"""How a layout is, for people: what it has, what of it is fresh, and why not all. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from lakebed.derived.building.columns import fit_of
from lakebed.derived.building.metrics import stored_bytes
from lakebed.derived.checks import only_reorders
from lakebed.derived.freshness import StaleReason
from lakebed.derived.look import LayoutState
from lakebed.derived.spec import LayoutSpec
from lakebed.names import TableName
from lakebed.ports import TableMetadata

StateName = Literal["fresh", "stale", "not built", "TAINTED", "SCHEMA_DRIFT"]
_SHOWN = 3
_WHY = {
    "changed": "the table has changed",
    "lost": "the snapshot that it was built from has expired or was rolled back",
    "spec": "it is asked for otherwise",
}
_REORDERS = (
    "it has the table's own partitions in another order, so that no query reads less"
    " (NO_PRUNING_GAIN)"
)


@dataclass(frozen=True)
class LayoutSummary:
    """A layout of a table. `fresh` and `stale` count batches, those that it lacks included;
    `amplification` is what is stored for each byte of the table, with all its layouts.
    """

    table: TableName
    name: str
    partition_by: tuple[str, ...]
    sort_by: tuple[str, ...]
    batch_by: tuple[str, ...]
    state: StateName
    why: str = ""
    fresh: int = 0
    stale: int = 0
    rows: int | None = 0
    files: int | None = 0
    bytes: int = 0
    source_bytes: int = 0
    amplification: float = 0.0
    hidden: TableName | None = None  # None: it does not exist yet
    comment: str = ""


def summarize(
    found: LayoutState,
    table: TableName,
    source: TableMetadata,
    labels: Collection[str] | None,
    *,
    amplification: float,
) -> LayoutSummary:
    """A layout as it is now; `labels` are the table's batches, None if its files do not tell."""
    layout, freshness = found.layout, found.freshness
    head = layout.metadata.head()
    reasons = _reasons(found, labels)
    state = _state(found, reasons)
    return LayoutSummary(
        table,
        layout.name,
        tuple(map(str, layout.spec.fields)),
        tuple(map(str, layout.spec.order)),
        layout.spec.batch_columns,
        state,
        "; ".join(_why(found, source, state, reasons)),
        len(freshness.fresh),
        len(reasons),
        head.rows if head else 0,
        head.count("total-data-files") if head else 0,
        stored_bytes(layout.metadata),
        stored_bytes(source),
        amplification,
        layout.table,
        layout.spec.comment,
    )


def _reasons(
    found: LayoutState, labels: Collection[str] | None
) -> Mapping[str, StaleReason | Literal["missing"]]:
    """Why batches are not fresh. Without knowing the table's batches, some may be missing."""
    freshness = found.freshness
    known: dict[str, StaleReason | Literal["missing"]] = dict(freshness.stale)
    if labels is None and not freshness.whole and not known:
        known[""] = "changed"
    return known | {
        label: "missing" for label in labels or () if label not in {*known, *freshness.fresh}
    }


def _state(
    found: LayoutState, reasons: Mapping[str, StaleReason | Literal["missing"]]
) -> StateName:
    if found.freshness.tainted:
        return "TAINTED"
    if not found.states.batches and not found.freshness.whole:
        return "not built"
    if "drift" in reasons.values():
        return "SCHEMA_DRIFT"
    return "stale" if reasons else "fresh"


def _why(
    found: LayoutState,
    source: TableMetadata,
    state: StateName,
    reasons: Mapping[str, StaleReason | Literal["missing"]],
) -> Iterable[str]:
    match state:
        case "TAINTED":
            ids = ", ".join(map(str, found.states.foreign[:_SHOWN]))
            yield f"others have written into it (snapshot {ids}): it is built anew"
        case "SCHEMA_DRIFT" if fit_of(found.layout, source) == "other":
            yield "the table's columns have changed: it is made anew"
        case "SCHEMA_DRIFT":
            yield "the table has gained columns: its next build adds them"
        case "not built":
            yield "it has no batch yet"
        case _:
            yield from _stale(reasons)
    if only_reorders(found.layout.spec, source):
        yield _REORDERS


def _stale(reasons: Mapping[str, StaleReason | Literal["missing"]]) -> Iterable[str]:
    for reason, words in (*_WHY.items(), ("missing", "the table has gained them")):
        labels = sorted(label for label, why in reasons.items() if why == reason)
        if labels and labels != [""]:
            more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
            yield f"{', '.join(labels[:_SHOWN])}{more}: {words}"
        elif labels:
            yield words


def declared_summary(
    spec: LayoutSpec, table: TableName, source: TableMetadata, where: str
) -> LayoutSummary:
    """A layout that is declared and does not exist yet."""
    return LayoutSummary(
        table,
        spec.label,
        tuple(map(str, spec.fields)),
        tuple(map(str, spec.order)),
        spec.batch_columns,
        "not built",
        f"{where} declares it: the next run of {table} makes it",
        source_bytes=stored_bytes(source),
        comment=spec.comment,
    )
