"""Reading one batch of a source: the columns of its files, and those that are in their paths."""

from collections.abc import Iterator, Mapping, Sequence

from lakebed.batches.pattern import NULL_PART, SourcePattern
from lakebed.errors import BadBatch, near, suggestion
from lakebed.landing import RememberedTypes
from lakebed.landing.source_files import SourceSpec, open_source
from lakebed.names import spark_identifier
from lakebed.pipelines.definition.batch_source import key_type
from lakebed.pipelines.definition.config import PipelineConfig
from lakebed.pipelines.planning.pins import SourceBatch
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.ports import Field
from lakebed.settings import Root, normalized_location
from lakebed.tables import can_accept, string_literal
from lakebed.types import ColumnType, read_iceberg_type

PATH_COLUMN = "_lakebed_path"


def read_batch(run: ActiveRun, batch: SourceBatch) -> None:
    """The rows of a batch, as a frame not yet computed; none if its files are gone."""
    progress, source = run.progress, run.spec.batches
    if source is None or not batch.files:
        _take_no_row(run)
        return
    files, root = run.services.source_store(source.pattern.store)
    landed = open_source(
        run.compute.landing,
        files,
        batch.files,
        _zone_spec(run.spec.config),
        where=batch.label or source.pattern.text,
        address=root.at,
        remembered=_remembered(run),
        path_column=PATH_COLUMN,
    )
    if landed.frame is None:
        # [] says that there is no row; a file of no byte says nothing
        is_told = any(file.size for file in batch.files) and not sum(landed.rows_by_file.values())
        if not is_told or run.context.target.absent:
            raise _unfit(run, "no file of it has any column.", batch.files[0].path)
        _take_no_row(run)
        return
    there = [field for field in run.compute.fields(landed.frame) if field.name != PATH_COLUMN]
    chosen = tuple(batch_columns(there, source.pattern, run.spec.config, root=root))
    _require_keys(run, [name for name, _ in chosen], batch)
    _require_distinct(run, there, batch)
    expressions = [f"{text} AS {spark_identifier(name)}" for name, text in chosen]
    progress.frame = run.compute.select(landed.frame, expressions)
    progress.fields = run.compute.fields(progress.frame)


def _take_no_row(run: ActiveRun) -> None:
    run.progress.frame = run.compute.query(f"SELECT * FROM {run.table.spark} WHERE 1 = 0")
    run.progress.fields = run.compute.fields(run.progress.frame)


def batch_columns(
    there: Sequence[Field], pattern: SourcePattern, config: PipelineConfig, *, root: Root
) -> Iterator[tuple[str, str]]:
    """The columns of a batch's rows, with the expressions that give them: those of the files under
    the names they get, then those of the paths. Declared columns that no file has are NULL.
    """
    names = {column.read_from or name: name for name, column in config.columns.items()}
    renamed = {old.casefold(): new for old, new in names.items()}
    given: set[str] = set()
    in_path = {name.casefold() for name in pattern.names}
    for field in there:
        name = renamed.get(field.name.casefold(), field.name)
        if name.casefold() not in in_path:
            given.add(name.casefold())
            yield name, spark_identifier(field.name)
    for name in pattern.names:
        given.add(name.casefold())
        yield name, path_value(pattern, name, key_type(config, name), root=root)
    for name, column in config.columns.items():
        if name.casefold() not in given and column.type:
            yield name, f"CAST(NULL AS {column.type})"


def path_value(pattern: SourcePattern, name: str, type_: str, *, root: Root) -> str:
    """The value that a path holds, as Spark SQL: by the same expression that found the batch."""
    (captured,) = (one for one in pattern.captured if one.name == name)
    expression = string_literal(f"(?s)^{pattern.expression}$")
    found = f"regexp_extract({_below(root)}, {expression}, {captured.group})"
    if captured.hive:
        found = f"nullif({_decoded(found)}, {string_literal(NULL_PART)})"
    return found if type_ == "string" else f"CAST({found} AS {type_})"


def _below(root: Root) -> str:
    """The path below the root of the file that a row is in."""
    plain = f"regexp_replace({_decoded(PATH_COLUMN)}, '^(file:/+|s3[an]?://)', '')"
    start = normalized_location(root.url).removeprefix("s3://").lstrip("/")
    return f"substring({plain}, {len(start) + 2 if start else 1})"


def _decoded(text: str) -> str:
    """Undo %-escapes; unlike in forms, + is a plus."""
    return f"url_decode(replace({text}, '+', '%2B'))"


def _zone_spec(config: PipelineConfig) -> SourceSpec:
    """How the files are read: declared types are final."""
    types = {
        column.read_from or name: column.type
        for name, column in config.columns.items()
        if column.type
    }
    return SourceSpec(format=config.format, types=types, on_bad_file="fail")


def _remembered(run: ActiveRun) -> RememberedTypes:
    """Columns have the types of the table, which may widen as far as Iceberg allows."""
    metadata, config = run.context.target.metadata, run.spec.config
    back = {name: column.read_from for name, column in config.columns.items() if column.read_from}
    types: Mapping[str, ColumnType] = {
        back.get(column.name) or column.name: read_iceberg_type(column.type)
        for column in (metadata.columns if metadata else ())
    }
    plain = {name: type_ for name, type_ in types.items() if not type_.is_nested}
    follows = config.schema_policy != "fail"

    def may_widen(old: ColumnType, new: ColumnType) -> bool:
        return metadata is None or can_accept(str(old), str(new))

    return RememberedTypes(plain, may_widen if follows else None)


def _require_keys(run: ActiveRun, names: Sequence[str], batch: SourceBatch) -> None:
    there = {name.casefold() for name in names}
    for column in run.spec.config.arrangement.columns:
        if column.casefold() not in there:
            what = f"neither its files nor their paths have the column {column!r}"
            raise _unfit(run, f"{what}.", batch.files[0].path, suggestion(near(column, names)))


def _require_distinct(run: ActiveRun, there: Sequence[Field], batch: SourceBatch) -> None:
    given = {field.name.casefold(): field.name for field in there}
    for name, column in run.spec.config.columns.items():
        former = column.read_from or name
        both = {former.casefold(), name.casefold()}
        if len(both) == 2 and both <= given.keys():
            what = f"its files have a column {given[name.casefold()]!r}, and {former!r} becomes it"
            raise _unfit(run, f"{what}, too.", batch.files[0].path, "Choose another name for one.")


def _unfit(run: ActiveRun, what: str, path: str, next: str = "") -> BadBatch:
    return BadBatch(
        f"{what[:-1]}: {path}." if what.endswith(".") else what,
        where=run.spec.file,
        safe="Nothing of this batch was written.",
        next=next,
    )
