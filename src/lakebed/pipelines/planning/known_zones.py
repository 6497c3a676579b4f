"""Checks that landing zones exist: a misspelt one would look like a zone that never has files."""

from collections.abc import Iterable
from functools import lru_cache

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.pipelines.definition.spec import ZoneRef
from lakebed.pipelines.services import RunServices


def require_known_zones(refs: Iterable[ZoneRef], services: RunServices) -> None:
    """Raise for a zone that has no folder, not even an empty one, and from which no table has taken
    files.
    """
    folders = lru_cache(services.ports.files.folders)  # once a namespace
    for ref in refs:
        known = folders(f"{ref.zone.namespace}/landing")
        if ref.zone.name not in known and not services.ports.records.consumed(ref.zone):
            raise BadPipeline(
                f"there is no landing zone {ref.text!r}.",
                where=ref.where,
                line=ref.line,
                next=_advice(ref, known),
            )


def _advice(ref: ZoneRef, known: Iterable[str]) -> str:
    close = suggestion(near(ref.zone.name, known))
    return (
        f"{close} A new zone begins with its first file: lakebed zone put {ref.zone} FILE; an empty"
        " folder will do.".lstrip()
    )
