"""Tab completion: names of tables, layouts, pipelines, zones and runs."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from lakebed.app import Lake

_BEFORE = re.compile(r"(\d*\+|@)?(.*)", re.DOTALL)  # operators before a selector's name


def completes(
    names: "Callable[[Lake], Iterable[Any]]",
) -> Callable[[typer.Context, str], list[str]]:
    """A completion function over the names in the current lake; empty without one."""

    def offered(context: typer.Context, incomplete: str) -> list[str]:
        from lakebed.app import open_lake

        try:
            with open_lake(_lake_path(context)) as lake:
                return completions(map(str, names(lake)), incomplete)
        except Exception:  # a traceback in the middle of the user's command line helps nobody
            return []

    return offered


def _lake_path(context: Any) -> str | None:
    while context is not None:
        if path := context.params.get("lake"):
            return str(path)
        context = context.parent
    return None


def completions(names: Iterable[str], incomplete: str) -> list[str]:
    """Names that start with the text; if there are none, unambiguous short names that do."""
    found = _BEFORE.fullmatch(incomplete)
    before, begun = (found[1] or "", found[2]) if found else ("", incomplete)
    known = sorted(set(names))
    ends = Counter(end for name in known for end in _ends(name))
    whole = [name for name in known if name.startswith(begun)]
    return [
        before + name
        for name in whole
        or sorted(end for end, count in ends.items() if count == 1 and end.startswith(begun))
    ]


def _ends(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[at:]) for at in range(1, len(parts))]


known_tables = completes(
    lambda lake: (table for table in lake.stores.catalog.pointers() if not table.hidden)
)
known_names = completes(
    lambda lake: lake.tables.readable()
)  # including views, and tables of other programs
dropped_tables = completes(lambda lake: (one.table for one in lake.tables.dropped()))
known_pipelines = completes(lambda lake: lake.pipelines.load().specs)
all_pipelines = completes(
    lambda lake: lake.pipelines.known()
)  # including unreadable drafts and deleted pipelines
known_runs = completes(lambda lake: (record.run_id for record in lake.runs.list(limit=1000)))
known_zones = completes(lambda lake: lake.zones.names())
known_layouts = completes(lambda lake: lake.layouts.names())
