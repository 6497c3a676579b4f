"""Loading a lake's pipelines: from their folders, or from their newest releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.pipelines.definition.graph import Graph, GraphNode, build_graph
from lakebed.pipelines.definition.load import decode_files, read_folders, read_pipeline
from lakebed.pipelines.definition.naming import require_known_layer, tables_of_folders
from lakebed.pipelines.definition.select import select
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.releases import load_released
from lakebed.pipelines.services import RunServices


@dataclass(frozen=True)
class LoadedPipelines:
    """All pipelines of a lake, and the graph of what they read."""

    specs: Mapping[TableName, PipelineSpec]
    graph: Graph
    contents: Mapping[TableName, Mapping[str, bytes]] = field(
        default_factory=dict
    )  # the files of drafts
    unavailable: Mapping[TableName, LakebedError] = field(
        default_factory=dict
    )  # why these cannot run from a release
    damaged: frozenset[TableName] = frozenset()  # of these, the ones whose release cannot be read
    unreleased: frozenset[TableName] = frozenset()  # of these, the ones that were never released

    def selected(
        self, selectors: Sequence[str], exclude: Sequence[str] = ()
    ) -> tuple[TableName, ...]:
        """The selected pipelines, in the order in which they run.

        A pipeline that was never released is left out where a selector selects others too, so that
        a new draft does not stop them. Raises if a selector selects only pipelines that cannot run,
        or one whose release is damaged.
        """
        words: list[tuple[str, ...]] = [
            (word,) for selector in selectors for word in selector.split()
        ]
        for word in words or [()]:
            meant = select(self.graph, word, exclude)
            if meant and not any(table in self.specs for table in meant):
                raise self.unavailable[meant[0]]
        tables = select(self.graph, selectors, exclude)
        for table in tables:
            if table in self.damaged:
                raise self.unavailable[table]
        return tuple(table for table in tables if table in self.specs)

    def left_out(
        self, selectors: Sequence[str], exclude: Sequence[str] = ()
    ) -> tuple[TableName, ...]:
        """The selected pipelines that were never released."""
        return tuple(
            table for table in select(self.graph, selectors, exclude) if table in self.unreleased
        )


def load_pipelines(services: RunServices, *, released: bool = False) -> LoadedPipelines:
    """All drafts as they are now, or all newest releases.

    A draft that cannot be read raises, with its line.
    """
    return _load_releases(services) if released else _load_drafts(services)


def _load_drafts(services: RunServices) -> LoadedPipelines:
    folders = read_folders(services.ports.files)
    for folder in folders:
        require_known_layer(folder, services.ports.settings)
    known = tables_of_folders(folders)
    read = [
        (read_pipeline(folder, decode_files(folder, contents), known=known), contents)
        for folder, contents in folders.items()
    ]
    specs = {spec.table: spec for spec, _ in read}
    last = services.ports.records.last_digests()
    graph = build_graph([_node(spec, last) for spec in specs.values()])
    return LoadedPipelines(specs, graph, {spec.table: contents for spec, contents in read})


def _load_releases(services: RunServices) -> LoadedPipelines:
    """All newest releases.

    Pipelines without one are in the graph, so that selecting them raises the reason.
    """
    found, last = (
        load_released(services.ports.files, services.ports.releases),
        services.ports.records.last_digests(),
    )
    unavailable = found.damaged | found.deleted | found.unreleased
    nodes = [_node(spec, last) for spec in found.specs.values()]
    nodes += [GraphNode(table, (), path=table.pipeline_folder) for table in unavailable]
    damaged, unreleased = frozenset(found.damaged), frozenset(found.unreleased)
    return LoadedPipelines(
        found.specs,
        build_graph(nodes),
        unavailable=unavailable,
        damaged=damaged,
        unreleased=unreleased,
    )


def require_released_inputs(
    tables: Sequence[TableName], loaded: LoadedPipelines, services: RunServices
) -> None:
    """Raise if a pipeline reads a table that does not exist, and that no release can make."""
    read = {
        table for one in tables for table in loaded.specs[one].inputs if table in loaded.unavailable
    }
    for table in sorted(read - services.ports.catalog.pointers(read).keys() if read else ()):
        raise loaded.unavailable[table]


def _node(spec: PipelineSpec, last_digests: Mapping[TableName, str]) -> GraphNode:
    return GraphNode(
        spec.table,
        spec.inputs,
        zones=spec.zone_names,
        tags=frozenset(spec.config.tags),
        path=spec.folder,
        modified=last_digests.get(spec.table) != spec.digest,
    )
