"""A look at a source: its batches as they are listed, as the table has them, and which are due."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from lakebed.batches.advice import MANY_FILES, files_at_once
from lakebed.batches.changes import BatchDecision, DueBatch, decide_batches
from lakebed.batches.finding import BatchSource, FoundBatches, found_batches
from lakebed.batches.gaps import Gap
from lakebed.batches.keys import condition, label, read_label, read_value, unspelt
from lakebed.batches.refused_paths import BadBatchKey, is_own
from lakebed.batches.sidecars import known_batches
from lakebed.batches.state import BatchStates
from lakebed.derived.gaps import table_gaps
from lakebed.errors import BadFiles, UnknownName, UsageError
from lakebed.names import TableName
from lakebed.pipelines.definition.batch_source import OTHER_FOLDER, OWN_FOLDER, config_digest
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.pins import SourceBatch
from lakebed.pipelines.services import RunServices
from lakebed.ports import Pointer, TableMetadata
from lakebed.tables import ReplaceBatch


@dataclass(frozen=True)
class SourceLook:
    """A source and its table at one moment."""

    source: BatchSource
    found: FoundBatches
    states: BatchStates
    decision: BatchDecision
    metadata: TableMetadata | None
    at_once: int = MANY_FILES  # files that Spark is given at once
    gaps: tuple[Gap, ...] = ()

    def pinned(self, spec: PipelineSpec, due: DueBatch) -> tuple[ReplaceBatch, SourceBatch]:
        """How a batch is written, and what it is made from."""
        keys = self.source.keys
        where = condition(keys, due.found.values if due.found else read_label(due.label, keys))
        files = self.found.files_of(due.found) if due.found else ()
        digest, config = due.found.digest if due.found else "", config_digest(spec.config)
        batch = SourceBatch(due.label, where, files, digest, config, self.at_once)
        return ReplaceBatch(where=where), batch


@contextmanager
def look_at_source(
    spec: PipelineSpec, services: RunServices, options: RunOptions
) -> Iterator[SourceLook]:
    """List the source, and decide. `BadFiles` if nothing matches: a folder that is not there must
    not empty a table.
    """
    source, files = spec.batches, services.ports.files
    if source is None:
        raise UsageError("it has no source.", where=str(spec.table))
    pointer, metadata = _table(spec.table, services)
    lake = services.lake_within(source.pattern.store)
    _require_others_files(source, lake)
    store, _ = services.source_store(source.pattern.store)
    with found_batches(store, source, lake=lake) as found:
        if not found.batches:
            raise bad_key(found.bad[0], source) if found.bad else _nothing(source)
        states = known_batches(files, metadata, ref=options.ref) if metadata else BatchStates({})
        _require_same_keys(source, states, spec)
        gaps = _gaps(pointer, metadata, states, services, ref=options.ref)
        missing = [gap.label for gap in gaps if not gap.is_meant]
        decision = decide_batches(
            found.batches,
            states,
            config=config_digest(spec.config),
            only=_chosen(options.request.batches, source, [b.label for b in found.batches], states),
            force=options.request.force or options.request.full_refresh,
            gaps=missing if options.request.repair_gaps else (),
        )
        at_once = files_at_once(services.ports.settings.spark.memory_bytes)
        yield SourceLook(source, found, states, decision, metadata, at_once, gaps)


def _table(table: TableName, services: RunServices) -> tuple[Pointer | None, TableMetadata | None]:
    catalog = services.ports.catalog
    pointer = catalog.pointers([table]).get(table)
    return pointer, catalog.metadata([pointer]).get(table) if pointer else None


def _gaps(
    pointer: Pointer | None,
    metadata: TableMetadata | None,
    states: BatchStates,
    services: RunServices,
    *,
    ref: str,
) -> tuple[Gap, ...]:
    if pointer is None or metadata is None:
        return ()
    head = metadata.head(ref)
    at = head.id if head else None
    return table_gaps(services.ports, pointer, metadata, states, at=at)


def _require_others_files(source: BatchSource, lake: str | None) -> None:
    if lake is not None and is_own(f"{source.pattern.folder}/", lake=lake):
        what = OWN_FOLDER.format(source.pattern.folder)
        raise UsageError(what, where=source.pattern.text, next=OTHER_FOLDER)


def _nothing(source: BatchSource) -> BadFiles:
    return BadFiles(
        "no file matches the source.",
        where=source.pattern.text,
        safe="The table is unchanged.",
        next=f"Look into {source.pattern.folder}, or correct source in config.yaml.",
    )


def bad_key(found: BadBatchKey, source: BatchSource) -> BadFiles:
    """Files whose path has a value that is not of its key's type."""
    more = f" ({found.files:,} files)" if found.files > 1 else ""
    return BadFiles(
        f"{found.why}{more}.",
        where=source.pattern.text,
        safe="They are in no batch; other batches are not affected.",
        next="Rename or remove what is wrong, or give the key another type.",
    )


def _require_same_keys(source: BatchSource, states: BatchStates, spec: PipelineSpec) -> None:
    """Raise if the table was made by other batch keys: its batches could not be told apart."""
    own = [key.name for key in source.keys]
    for known in states.batches:
        former = [part.partition("=")[0] for part in known.split("/") if part]
        if former != own:
            raise UsageError(
                f"the table was made in batches of {', '.join(former) or 'all files'}, not of"
                f" {', '.join(own) or 'all files'}.",
                where=spec.file,
                next=f"Set them back, or drop the table (it can be restored) and run again:"
                f" lakebed table drop {spec.table}",
            )


def _chosen(
    wanted: Sequence[str], source: BatchSource, found: Sequence[str], states: BatchStates
) -> frozenset[str]:
    """The labels that `year=2020` and such mean; some of several keys choose all that have them."""
    known = dict.fromkeys((*found, *states.batches))
    chosen: set[str] = set()
    for text in wanted:
        parts = set(_parts(text, source))
        matching = {label for label in known if parts <= set(label.split("/"))}
        if not matching:
            raise UnknownName("batch", text, known)
        chosen |= matching
    return frozenset(chosen)


def _parts(text: str, source: BatchSource) -> Iterator[str]:
    """The parts of a label, spelt as labels are."""
    keys = {key.name: key for key in source.keys}
    for part in text.split("/"):
        name, sign, value = part.partition("=")
        if not sign or name not in keys:
            example = "/".join(f"{key}=…" for key in keys) or "nothing: it is one batch"
            raise UsageError(
                f"{text!r} is not a batch.", where=source.pattern.text, next=f"Write {example}"
            )
        try:
            yield label([keys[name]], (read_value(unspelt(value), keys[name].type),))
        except ValueError as error:
            raise UsageError(f"{error}.", where=source.pattern.text) from None
