"""Whether the options of a run go together, and with the pipelines that were selected. Pure."""

from collections.abc import Iterator, Sequence

from lakebed.errors import UsageError
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.backfills.allowed import require_backfill


def require_fitting_options(specs: Sequence[PipelineSpec], options: RunOptions) -> None:
    """Raise for options that do not go together, or not with one of these pipelines."""
    if options.is_backfill:
        _require_range(options)
        for spec in specs:
            require_backfill(spec)
        return
    sources = [spec for spec in specs if spec.kind == "source"]
    if options.together and sources:
        raise UsageError(
            "the batches of a source are published one by one, not together with other tables.",
            where=str(sources[0].table),
            next="Run it by itself first.",
        )
    of_sources = options.batches or options.force or options.repair_gaps
    if of_sources and len(sources) != len(specs):
        other = next(spec for spec in specs if spec.kind != "source")
        raise UsageError(
            "--batch and --repair-gaps are for pipelines that have a source, --force for those and"
            " for backfills.",
            where=str(other.table),
            next="Name such a pipeline, give --start and --end, or use --full-refresh.",
        )


def _require_range(options: RunOptions) -> None:
    if options.start is None or options.end is None:
        raise UsageError(
            "a backfill has both a start and an end.",
            next="Give --start 2024-01-01 --end 2025-01-01; the end is exclusive.",
        )
    for name in _clashing(options):
        raise UsageError(f"{name} does not go with --start and --end.", next="Leave it out.")


def _clashing(options: RunOptions) -> Iterator[str]:
    if options.full_refresh:
        yield "--full-refresh"
    if options.batches:
        yield "--batch"
    if options.repair_gaps:
        yield "--repair-gaps"
    if options.together:
        yield "--together"
