"""Which pipelines read a landing zone: a file is archived only once all of them have
consumed it.
"""

from collections.abc import Iterable

from lakebed.errors import LakebedError, UsageError
from lakebed.landing import ZoneReader
from lakebed.names import ZoneName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.loading import load_pipelines
from lakebed.pipelines.planning.pin_inputs import Specs
from lakebed.pipelines.releases.load import differing_counterparts
from lakebed.pipelines.services import RunServices


def zone_readers(services: RunServices) -> tuple[ZoneReader, ...]:
    """All tables of the lake that read zones, by their drafts or by their newest releases."""
    return readers_among(drafts_and_releases(load_pipelines(services).specs, services))


def readers_among(
    specs: Iterable[PipelineSpec], zone: ZoneName | None = None
) -> tuple[ZoneReader, ...]:
    """The readers of one zone, or of any, as these pipelines declare them."""
    found = (ZoneReader(spec.table, ref.zone, ref.pattern) for spec in specs for ref in spec.zones)
    return tuple(dict.fromkeys(reader for reader in found if zone in (None, reader.zone)))


def drafts_and_releases(specs: Specs, services: RunServices) -> tuple[PipelineSpec, ...]:
    """These pipelines, and of those that differ from them: the releases if these are drafts, else
    the drafts.
    """
    try:
        return (
            *specs.values(),
            *differing_counterparts(specs, services.ports.files, services.ports.releases),
        )
    except LakebedError as error:
        what = (
            f"which pipelines read the zones is not known while {error.where} cannot be read:"
            f" {error.what}"
        )
        raise UsageError(what) from None
