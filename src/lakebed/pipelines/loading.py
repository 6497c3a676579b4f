"""Loading a lake's pipelines: from their folders, or from their newest releases."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakebed.errors import LakebedError, PipelineCycle, UsageError, raise_all
from lakebed.names import TableName
from lakebed.pipelines.definition.graph import (
    Edge,
    Graph,
    GraphNode,
    UntangledGraph,
    untangle,
)
from lakebed.pipelines.definition.load import (
    content_digest,
    decode_files,
    list_pipelines,
    misplaced_files,
    read_pipeline,
)
from lakebed.pipelines.definition.naming import require_known_layer, tables_of_folders
from lakebed.pipelines.definition.select import asks_for_contents, select
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.pin_inputs import Specs
from lakebed.pipelines.releases import load_released
from lakebed.pipelines.services import RunServices

Contents = Mapping[str, bytes]


@dataclass(frozen=True)
class LoadedPipelines:
    """All pipelines of a lake, and the graph of what they read."""

    specs: Mapping[TableName, PipelineSpec]
    graph: Graph
    contents: Mapping[TableName, Contents] = field(default_factory=dict)  # the files of drafts
    unavailable: Mapping[TableName, LakebedError] = field(
        default_factory=dict
    )  # why these cannot run
    damaged: frozenset[TableName] = frozenset()  # of these, the ones that cannot be read
    unreleased: frozenset[TableName] = frozenset()  # of these, the ones that were never released
    faults: tuple[LakebedError, ...] = ()  # of folders that can be no pipeline
    # what is read only by a gate that would close a cycle, and why that takes --together
    later: Mapping[Edge, LakebedError] = field(default_factory=dict)

    def selected(
        self, selectors: Sequence[str], exclude: Sequence[str] = ()
    ) -> tuple[TableName, ...]:
        """The selected pipelines, in the order in which they run.

        A pipeline that was never released is left out where a selector selects others too, so that
        a new draft does not stop them. Raises if a selector selects only pipelines that cannot run,
        or some that cannot be read; all of these, if what is selected depends on what they say.
        """
        raise_all(self.faults_among(selectors, exclude))
        return self.readable(selectors, exclude)

    def readable(
        self, selectors: Sequence[str], exclude: Sequence[str] = ()
    ) -> tuple[TableName, ...]:
        """Those of the selected pipelines that can be read."""
        words: list[tuple[str, ...]] = [
            (word,) for selector in selectors for word in selector.split()
        ]
        for word in words or [()]:
            meant = select(self.graph, word, exclude)
            if meant and not any(table in self.specs or table in self.damaged for table in meant):
                raise self.unavailable[meant[0]]
        tables = select(self.graph, selectors, exclude)
        return tuple(table for table in tables if table in self.specs)

    def faults_among(
        self, selectors: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> tuple[LakebedError, ...]:
        """What keeps the selected pipelines from being read."""
        if selectors and not asks_for_contents((*selectors, *exclude)):
            tables = select(self.graph, selectors, exclude)
            return tuple(self.unavailable[table] for table in tables if table in self.damaged)
        by_name = () if asks_for_contents(exclude) else exclude
        left = select(self.graph, (), by_name)
        return (
            *self.faults,
            *(self.unavailable[table] for table in left if table in self.damaged),
        )

    def judging_later(self) -> "LoadedPipelines":
        """The same for a build that publishes all together: gates that close a cycle are judged
        once the tables they read have been written, too.
        """
        read: dict[TableName, set[TableName]] = {}
        for table, other in self.later:
            read.setdefault(table, set()).add(other)
        split = {table: self.specs[table].judging_later(others) for table, others in read.items()}
        return replace(self, specs={**self.specs, **split})

    def cycles_of(self, tables: Collection[TableName]) -> list[LakebedError]:
        """Why some of these cannot run unless all are published together."""
        return [error for (table, _), error in self.later.items() if table in tables]

    def left_out(
        self, selectors: Sequence[str], exclude: Sequence[str] = ()
    ) -> tuple[TableName, ...]:
        """The selected pipelines that were never released."""
        return tuple(
            table for table in select(self.graph, selectors, exclude) if table in self.unreleased
        )


def load_pipelines(services: RunServices, *, released: bool = False) -> LoadedPipelines:
    """All drafts as they are now, or all newest releases.

    Those that cannot be read are not among the specs; selecting them raises the reason.
    """
    return _load_releases(services) if released else _load_drafts(services)


def _load_drafts(services: RunServices) -> LoadedPipelines:
    files = services.ports.files
    listing = list_pipelines(files)
    folders = listing.read(files)
    known = tables_of_folders(folders)
    specs: dict[TableName, PipelineSpec] = {}
    faults: dict[str, LakebedError] = {}
    for folder, contents in folders.items():
        try:
            require_known_layer(folder, services.ports.settings)
            spec = read_pipeline(folder, decode_files(folder, contents), known=known)
            specs[spec.table] = spec
        except UsageError as error:
            faults[folder] = error
    last = services.ports.records.last_digests()
    unreadable = {
        table: error for folder, error in faults.items() for table in tables_of_folders([folder])
    }
    nodes = [_node(spec, last) for spec in specs.values()]
    nodes += [_unread_node(table, folders[table.pipeline_folder], last) for table in unreadable]
    untangled = untangle(nodes)
    cycles = untangled.impossible
    nameless = [error for error in faults.values() if error not in unreadable.values()]
    return LoadedPipelines(
        specs,
        untangled.graph,
        {table: folders[spec.folder] for table, spec in specs.items()},
        {**unreadable, **cycles},
        damaged=frozenset((*unreadable, *cycles)),
        faults=(*nameless, *misplaced_files(files, listing)),
        later=_later(untangled, specs),
    )


def _later(untangled: UntangledGraph, specs: Specs) -> dict[Edge, LakebedError]:
    """The edges that only gates have, with errors that show the gate."""
    found: dict[Edge, LakebedError] = {}
    for (table, read), cycle in untangled.by_gates.items():
        ref = next(ref for ref in specs[table].gate_refs if ref.table == read)
        found[table, read] = PipelineCycle(
            cycle.tables,
            where=ref.where,
            line=ref.line,
            also=f", in which {table} reads {read} only in its gate {ref.gate}",
            next=(
                "Publish them together, so that the gate is judged on what both have written:"
                " lakebed run --together."
            ),
        )
    return found


def _unread_node(
    table: TableName, contents: Contents, last_digests: Mapping[TableName, str]
) -> GraphNode:
    modified = last_digests.get(table) != content_digest(contents)
    return GraphNode(table, path=table.pipeline_folder, modified=modified)


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
    untangled = untangle(nodes)
    raise_all(untangled.impossible.values())
    return LoadedPipelines(
        found.specs,
        untangled.graph,
        unavailable=unavailable,
        damaged=damaged,
        unreleased=unreleased,
        later=_later(untangled, found.specs),
    )


def require_available_inputs(
    tables: Sequence[TableName], loaded: LoadedPipelines, services: RunServices
) -> None:
    """Raise if a pipeline reads a table that does not exist, directly or through others that do
    not, and no pipeline can make it.
    """
    if not loaded.unavailable:
        return
    read = _upstream(tables, loaded, built=frozenset())
    built = services.ports.catalog.pointers(read).keys() if read else frozenset()
    needed = _upstream(tables, loaded, built=built)
    raise_all(loaded.unavailable[table] for table in sorted(needed) if table in loaded.unavailable)


def _upstream(
    tables: Sequence[TableName], loaded: LoadedPipelines, *, built: Collection[TableName]
) -> set[TableName]:
    """What pipelines read, directly and through others, as far as it is not built."""
    found, waiting = set[TableName](), list(tables)
    while waiting:
        spec = loaded.specs.get(waiting.pop())
        new = {table for table in (spec.inputs if spec else ()) if table not in {*found, *built}}
        found |= new
        waiting += new
    return found


def _node(spec: PipelineSpec, last_digests: Mapping[TableName, str]) -> GraphNode:
    return GraphNode(
        spec.table,
        spec.inputs,
        gate_inputs=spec.gate_inputs,
        zones=spec.zone_names,
        tags=frozenset(spec.config.tags),
        path=spec.folder,
        modified=last_digests.get(spec.table) != spec.digest,
    )
