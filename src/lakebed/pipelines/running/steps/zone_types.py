"""The types a run uses for the columns of its zones: which are remembered, how far its table
follows, and what it learned.
"""

from collections.abc import Iterator, Mapping

from lakebed.landing import NOTHING_REMEMBERED, CheckedFiles, MayWiden, RememberedTypes
from lakebed.names import ZoneName
from lakebed.pipelines.definition.python_inputs import reads_files_itself
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.compile import compile_query
from lakebed.pipelines.planning.pins import ZoneKey
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.ports import Column, ColumnTypeChange, TableMetadata, ZoneTypes
from lakebed.sql import NOTHING_PASSED, PassedColumns, passed_columns
from lakebed.tables import can_accept
from lakebed.types import INTEGER_BITS, ColumnType, join_types, parse_type, read_iceberg_type

_LONGEST_NAME = 255
# Nested types are left to what is remembered of the zone.
_TAKEN_FROM_TABLE = {
    "boolean", "int", "bigint", "float", "double", "decimal", "string", "date", "timestamp",
    "timestamp_ntz", "binary",
}  # fmt: skip


def recall(run: ActiveRun, key: ZoneKey) -> RememberedTypes:
    """What is known about the columns of a zone's files, for this run.

    A column has the type that published runs gave it. A column that the query passes through
    unchanged has the type it has in the table: each table decides for itself, and a table older
    than the remembered types starts with its own.

    A full refresh that may replace all columns (on_schema_change: sync) starts over. For code that
    reads the files itself nothing is remembered.
    """
    stored = run.services.ports.records.zone_types(key[0]).get(key[1] or "", {})
    run.progress.zone_types[key] = stored
    if run.spec.kind == "python" and reads_files_itself(run.spec.style, run.spec.source):
        return NOTHING_REMEMBERED
    passed, own = _passed(run, key), _own_columns(run)
    keys = frozenset(_keys(run.spec, passed))
    if _anew(run):
        follows = _follows(run.spec, first=run.is_first_run, whole=True)
        return RememberedTypes(may_widen=follows, keys=keys)
    known = {name: parse_type(text) for name, text in stored.items()}
    types = known | {_spelt(name, known): type_ for name, type_ in own.items() if passed.has(name)}
    follows = _follows(run.spec, first=run.is_first_run, whole=run.options.request.full_refresh)
    wanted = (
        None
        if run.is_first_run
        else lambda name, before, after: _wanted(run, key[0], name, before, after)
    )
    return RememberedTypes(types, follows, wanted, _also(run, passed, known), keys)


def without_rows(run: ActiveRun, key: ZoneKey) -> Mapping[str, ColumnType]:
    """The columns of a zone whose files show none: the remembered ones; if the query passes all
    columns through, only those that the table has.
    """
    remembered, table = recall(run, key), _names(run)
    wanted = {name.casefold() for name in run.progress.zone_types[key]}
    if table and _passed(run, key).all:
        wanted &= table
    return {name: type_ for name, type_ in remembered.types.items() if name.casefold() in wanted}


def learned(run: ActiveRun) -> tuple[ZoneTypes, ...]:
    """What the files of a run have shown that is not recorded yet."""
    found = ((key, landed.checked) for key, landed in run.progress.landed.items() if landed.checked)
    said = (
        ZoneTypes(key[0], key[1] or "", tuple(_learned(run, key, checked)))
        for key, checked in found
    )
    return tuple(types for types in said if types.columns)


def odd_spellings(checked: CheckedFiles, *, where: str) -> Iterator[str]:
    """What to say of texts that are read as before, although they may be no numbers."""
    for name, count in checked.odd.items():
        values = "value has" if count == 1 else "values have"
        is_number = checked.target[name].name in {*INTEGER_BITS, "decimal", "double", "float"}
        example = " (007, for instance)" if is_number else ""
        yield (
            f"{where}: {count} {values} an unusual spelling for {name}, which is"
            f" {checked.target[name]} since an earlier run{example}; if it is text, set"
            f" types: {{{name}: string}} and build the table anew"
        )


def _learned(run: ActiveRun, key: ZoneKey, checked: CheckedFiles) -> Iterator[ColumnTypeChange]:
    stored = {
        name.casefold(): (name, text) for name, text in run.progress.zone_types.get(key, {}).items()
    }
    for name, type_ in checked.learned.items():
        spelt, before = stored.get(name.casefold(), (name, ""))
        if before and not _anew(run):
            type_ = (
                join_types(parse_type(before), type_)
                if name.casefold() in checked.widened
                else parse_type(before)
            )
        if str(type_) != before and len(name) <= _LONGEST_NAME:
            yield ColumnTypeChange(spelt, before, str(type_))


def _anew(run: ActiveRun) -> bool:
    return run.options.request.full_refresh and run.spec.config.schema_policy == "sync"


def _passed(run: ActiveRun, key: ZoneKey) -> PassedColumns:
    if run.spec.kind != "sql":
        return NOTHING_PASSED
    return passed_columns(compile_query(run.context).text, run.context.view(*key))


def _keys(spec: PipelineSpec, passed: PassedColumns) -> Iterator[str]:
    """The casefolded names of the files' columns that become key and partition columns as they are.
    Of Python code it is not known what it does with a column: one of the same name counts.
    """
    config = spec.config
    partitions = (field.column for field in config.partition_by)
    for name in (*spec.strategy.keys, *partitions, *filter(None, (config.partition_column,))):
        if source := name.casefold() if spec.kind == "python" else passed.source(name):
            yield source


def _own_columns(run: ActiveRun) -> dict[str, ColumnType]:
    """The columns of the run's table, except those that its strategy adds."""
    metadata, added = (
        run.context.target.metadata,
        {name for name, _ in run.spec.strategy.own_columns},
    )
    return {column.name: type_ for column, type_ in _columns(metadata) if column.name not in added}


def _columns(metadata: TableMetadata | None) -> Iterator[tuple[Column, ColumnType]]:
    for column in metadata.columns if metadata else ():
        type_ = read_iceberg_type(column.type)
        if type_.name in _TAKEN_FROM_TABLE:
            yield column, type_


def _spelt(name: str, known: Mapping[str, ColumnType]) -> str:
    """A column by its name in the zone, if that is known."""
    return next((spelt for spelt in known if spelt.casefold() == name.casefold()), name)


def _names(run: ActiveRun) -> frozenset[str]:
    """The names of the table's columns, casefolded; none while there is no table."""
    metadata = run.context.target.metadata
    return (
        frozenset(column.name.casefold() for column in metadata.columns)
        if metadata
        else frozenset()
    )


def _also(run: ActiveRun, passed: PassedColumns, known: Mapping[str, ColumnType]) -> frozenset[str]:
    """The columns that JSON records get, even if only as NULL: those that the query names, and
    those without which the run would fail.
    """
    names = frozenset(name.casefold() for name in known)
    if run.spec.kind == "sql" and not passed.all:
        return names
    return names & _names(run) if run.spec.config.schema_policy == "fail" else frozenset()


def _follows(spec: PipelineSpec, *, first: bool, whole: bool) -> MayWiden | None:
    """How far a table's columns follow its zone; None if they do not.

    A table that is rebuilt has no rows that would limit the change.
    """
    policy = spec.config.schema_policy
    replaces = first or (policy == "sync" and (whole or spec.strategy.rebuilds_all))
    if policy == "fail":
        return None
    return lambda before, after: replaces or can_accept(str(before), str(after))


def _wanted(
    run: ActiveRun, zone: ZoneName, name: str, before: ColumnType, after: ColumnType
) -> str:
    """Another table that may take a file whose column needs a wider type: it can follow, or has
    another type already.
    """
    others = [
        spec
        for spec in run.context.specs.values()
        if zone in spec.zone_names and spec.table != run.table
    ]
    catalog = run.services.ports.catalog
    tables = (
        catalog.metadata(catalog.pointers([spec.table for spec in others]).values())
        if others
        else {}
    )
    for spec in (spec for spec in others if spec.table in tables):
        follows = _follows(spec, first=False, whole=False)
        has = {column.name.casefold(): type_ for column, type_ in _columns(tables[spec.table])}
        if (follows and follows(before, after)) or has.get(name.casefold(), before) != before:
            return str(spec.table)
    return ""
