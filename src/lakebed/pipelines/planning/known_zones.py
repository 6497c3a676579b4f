"""Refusing landing zones that nobody knows: a misspelt one would look like a zone without files for ever."""

from collections.abc import Iterable
from functools import lru_cache

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.pipelines.definition.spec import ZoneRef
from lakebed.pipelines.services import RunServices


def require_known_zones(refs: Iterable[ZoneRef], services: RunServices) -> None:
    """A zone is known if it has a folder, be it an empty one, or if some table has taken files of it."""
    folders = lru_cache(services.placement.files.folders)  # once a namespace
    for ref in refs:
        known = folders(f"{ref.zone.namespace}/landing")
        if ref.zone.name not in known and not services.records.consumed(ref.zone):
            raise BadPipeline(f"there is no landing zone {ref.text!r}.", where=ref.where, line=ref.line, next=_advice(ref, known))


def _advice(ref: ZoneRef, known: Iterable[str]) -> str:
    close = suggestion(near(ref.zone.name, known))
    return f"{close} A new zone begins with its first file: lakebed zone put {ref.zone} FILE; an empty folder will do.".lstrip()
