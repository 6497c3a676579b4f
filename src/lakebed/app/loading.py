"""A lake's pipelines as they are loaded: from their folders, or from their newest releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.pipelines import Graph, GraphNode, PipelineSpec, RunServices, build_graph, read_pipeline, select
from lakebed.pipelines.definition.load import decode_files, read_folders
from lakebed.pipelines.definition.naming import require_known_layer, tables_of_folders
from lakebed.pipelines.releases import load_released


@dataclass(frozen=True)
class LoadedPipelines:
    """All pipelines of a lake, and how they hang together."""

    specs: Mapping[TableName, PipelineSpec]
    graph: Graph
    contents: Mapping[TableName, Mapping[str, bytes]] = field(default_factory=dict)  # of drafts
    refused: Mapping[TableName, LakebedError] = field(default_factory=dict)  # why these cannot run from a release
    damaged: frozenset[TableName] = frozenset()  # those of them whose release cannot be read
    unreleased: frozenset[TableName] = frozenset()  # and those that were never released

    def selected(self, selectors: Sequence[str], exclude: Sequence[str] = ()) -> tuple[TableName, ...]:
        """The pipelines that are meant, in the order in which they run.

        Refused is a selector that means only such as cannot run. Where it means others too, these run and it is left out what
        was never released: a new draft does not stop them. A release that cannot be read is always refused.
        """
        words: list[tuple[str, ...]] = [(word,) for selector in selectors for word in selector.split()]
        for word in words or [()]:
            meant = select(self.graph, word, exclude)
            if meant and not any(table in self.specs for table in meant):
                raise self.refused[meant[0]]
        tables = select(self.graph, selectors, exclude)
        for table in tables:
            if table in self.damaged:
                raise self.refused[table]
        return tuple(table for table in tables if table in self.specs)

    def left_out(self, selectors: Sequence[str], exclude: Sequence[str] = ()) -> tuple[TableName, ...]:
        """What is meant too, and was never released."""
        return tuple(table for table in select(self.graph, selectors, exclude) if table in self.unreleased)


def load_drafts(tools: RunServices) -> LoadedPipelines:
    """All pipelines as they lie in their folders."""
    folders = read_folders(tools.placement.files)
    for folder in folders:
        require_known_layer(folder, tools.placement.settings)
    known = tables_of_folders(folders)
    read = [
        (read_pipeline(folder, decode_files(folder, contents), known=known), contents) for folder, contents in folders.items()
    ]
    specs = {spec.table: spec for spec, _ in read}
    last = tools.records.last_digests()
    graph = build_graph([_node(spec, last) for spec in specs.values()])
    return LoadedPipelines(specs, graph, {spec.table: contents for spec, contents in read})


def load_all_released(tools: RunServices) -> LoadedPipelines:
    """All pipelines as of their newest releases; others can be named, and are refused with the reason."""
    found, last = load_released(tools.placement.files, tools.releases), tools.records.last_digests()
    refused = found.damaged | found.deleted | found.unreleased
    nodes = [_node(spec, last) for spec in found.specs.values()]
    nodes += [GraphNode(table, (), path=table.pipeline_folder) for table in refused]
    damaged, unreleased = frozenset(found.damaged), frozenset(found.unreleased)
    return LoadedPipelines(found.specs, build_graph(nodes), refused=refused, damaged=damaged, unreleased=unreleased)


def require_released_inputs(tables: Sequence[TableName], loaded: LoadedPipelines, tools: RunServices) -> None:
    """Refuse pipelines that read a table which is not there, and whose pipeline cannot make it because it has no release."""
    read = {table for one in tables for table in loaded.specs[one].inputs if table in loaded.refused}
    for table in sorted(read - tools.placement.catalog.pointers(read).keys() if read else ()):
        raise loaded.refused[table]


def _node(spec: PipelineSpec, releases: Mapping[TableName, str]) -> GraphNode:
    return GraphNode(
        spec.table,
        spec.inputs,
        zones=spec.zone_names,
        tags=frozenset(spec.config.tags),
        path=spec.folder,
        modified=releases.get(spec.table) != spec.digest,
    )
