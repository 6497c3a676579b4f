"""Whether the options of a run go with the pipelines that were selected. Pure."""

from collections.abc import Sequence

from lakebed.errors import UsageError
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.backfills.allowed import require_backfill
from lakebed.requests import RunRequest


def require_fitting_options(specs: Sequence[PipelineSpec], request: RunRequest) -> None:
    """Raise for options that do not go with one of these pipelines."""
    if request.is_backfill:
        for spec in specs:
            require_backfill(spec)
        return
    sources = [spec for spec in specs if spec.kind == "source"]
    if request.together and sources:
        raise UsageError(
            "the batches of a source are published one by one, not together with other tables.",
            where=str(sources[0].table),
            next="Run it by itself first.",
        )
    of_sources = request.batches or request.force or request.repair_gaps
    if of_sources and len(sources) != len(specs):
        other = next(spec for spec in specs if spec.kind != "source")
        raise UsageError(
            "--batch and --repair-gaps are for pipelines that have a source, --force for those and"
            " for backfills.",
            where=str(other.table),
            next="Name such a pipeline, give --start and --end, or use --full-refresh.",
        )
