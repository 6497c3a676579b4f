"""Which pipelines a range can be given to, and over which column it runs. Pure."""

from collections.abc import Iterator, Mapping

from lakebed.batches.chunks import ChunkRange, Unit, kind_of
from lakebed.errors import UsageError
from lakebed.pipelines.definition.config import PipelineConfig
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.templates import RANGE
from lakebed.types import ColumnType

_TIMES = {"year", "month", "day", "hour"}
_GUARD = "{% if batch_start %}WHERE at >= {{ batch_start }} AND at < {{ batch_end }}{% endif %}"


def require_backfill(spec: PipelineSpec) -> None:
    """Raise if a range of this pipeline's table cannot be computed by itself."""
    if problem := next(_problems(spec), None):
        what, advice = problem
        raise UsageError(what, where=str(spec.table), safe="Nothing was written.", next=advice)


def _problems(spec: PipelineSpec) -> Iterator[tuple[str, str]]:
    strategy = spec.strategy
    if spec.kind == "source":
        yield (
            "a source has batches of its own, and is not backfilled by --start and --end.",
            "Name its batches: --batch year=2020 --force",
        )
    if spec.is_view:
        yield "a view has no rows to backfill.", "Backfill the tables that it reads."
    if strategy.history:
        yield (
            f"a pipeline with the strategy {strategy.strategy} cannot be backfilled:"
            f" {strategy.history}, so no range of it can be computed by itself.",
            "Leave --start and --end out, or choose another merge_strategy.",
        )
    if spec.zones:
        yield (
            f"it reads the landing zone {spec.zones[0].zone}, whose files are taken once: they are"
            " not divided into ranges.",
            "Use --full-refresh; or let another pipeline make a table of the zone, and read that.",
        )
    if not spec.names & RANGE:
        where = "context.batch_start and context.batch_end" if spec.kind == "python" else _GUARD
        yield (
            "it uses neither batch_start nor batch_end, so every chunk would have the same rows.",
            f"Let it return only rows of the range: {where}",
        )


def batch_column(config: PipelineConfig, known: Mapping[str, ColumnType], *, where: str) -> str:
    """The column over which ranges run. `known` are types of columns, as far as they are known."""
    if config.batch_column:
        return config.batch_column
    found = tuple(dict.fromkeys(_candidates(config, known)))
    if len(found) == 1:
        return found[0]
    listed = f"{', '.join(found)} could be meant" if found else "no setting names a column of times"
    example = next(iter((*found, *_times(known))), "at")
    raise UsageError(
        f"over which column the range runs is not known: {listed}.",
        where=where,
        safe="Nothing was written.",
        next=f"Set it in config.yaml: batch_column: {example}",
    )


def _candidates(config: PipelineConfig, known: Mapping[str, ColumnType]) -> Iterator[str]:
    timed = (
        field.column
        for field in config.partition_by
        if field.transform.rstrip("s") in _TIMES
        or field.transform == "truncate"
        or (field.transform == "identity" and field.column.casefold() in _times(known))
    )
    for name in (*timed, config.partition_column, config.watermark_column):
        type_ = known.get(name.casefold()) if name else None
        if name and (type_ is None or kind_of(type_)):
            yield name


def _times(known: Mapping[str, ColumnType]) -> tuple[str, ...]:
    """The columns that are known to hold dates or times."""
    kinds = {name: kind_of(type_) for name, type_ in known.items()}
    return tuple(name for name, kind in kinds.items() if kind not in (None, "integer"))


def default_size(config: PipelineConfig, column: str, whole: ChunkRange) -> Unit | int:
    """How large chunks are unless somebody says so: as the table is partitioned, else a month, or
    all integers of the range.
    """
    fields = [one for one in config.partition_by if one.column.casefold() == column.casefold()]
    if isinstance(whole.start, int) and isinstance(whole.end, int):
        widths = (one.width for one in fields if one.transform == "truncate" and one.width)
        return next(widths, whole.end - whole.start)
    return "year" if any(one.transform.rstrip("s") == "year" for one in fields) else "month"
