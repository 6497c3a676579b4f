"""The rows of some files of a source: their columns, and those that are in their paths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lakebed.batches.pattern import NULL_PART, SourcePattern
from lakebed.errors import BadBatch
from lakebed.landing import RememberedTypes, SampleFolder, sample_folder
from lakebed.landing.source_files import open_source
from lakebed.names import spark_identifier
from lakebed.pipelines.definition.batch_source import key_type, source_spec
from lakebed.pipelines.definition.config import PipelineConfig
from lakebed.pipelines.planning.pins import SourceBatch
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.zone_types import odd_spellings
from lakebed.ports import Field, FileInfo, Frame
from lakebed.settings import Root, normalized_location
from lakebed.tables import can_accept, string_literal
from lakebed.types import ColumnType, read_iceberg_type

PATH_COLUMN = "_lakebed_path"
NO_COLUMN = "no file of it has any column."
NOTHING_KNOWN: Mapping[str, ColumnType] = {}


def open_files(
    run: ActiveRun,
    batch: SourceBatch,
    chosen: Sequence[FileInfo],
    *,
    known: Mapping[str, ColumnType] = NOTHING_KNOWN,
) -> Frame | None:
    """The rows of some files of a batch, as a frame not yet computed, with the columns they get in
    the table; None if no file has any column. `known` are types that other files of it show.
    """
    source, progress = run.spec.batches, run.progress
    if source is None:
        return None
    files, root = run.services.source_store(source.pattern.store)
    own = run.services.ports
    progress.read = landed = open_source(
        run.compute.landing,
        files,
        chosen,
        source_spec(run.spec.config),
        where=batch.label or source.pattern.text,
        address=root.at,
        remembered=_remembered(run, known),
        path_column=PATH_COLUMN,
        checked=progress.files_checked,
        samples=SampleFolder(own.files, sample_folder(run.run_id), own.root.at),
    )
    if landed.checked:
        told = odd_spellings(landed.checked, where=batch.label or source.pattern.text)
        warnings = (*progress.record.warnings, *told)
        progress.record = replace(progress.record, warnings=warnings)
    if landed.frame is None:
        if sum(landed.rows_by_file.values()):
            raise unfit(run, NO_COLUMN, chosen[0].path)
        return None
    there = [field for field in run.compute.fields(landed.frame) if field.name != PATH_COLUMN]
    columns = batch_columns(there, source.pattern, run.spec.config, root=root)
    _require_distinct(run, there, chosen[0].path)
    expressions = [f"{text} AS {spark_identifier(name)}" for name, text in columns]
    return run.compute.select(landed.frame, expressions)


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


def _remembered(run: ActiveRun, known: Mapping[str, ColumnType]) -> RememberedTypes:
    """Columns have the types of the table, which may widen as far as Iceberg allows, or those that
    are known.
    """
    metadata, config = run.context.target.metadata, run.spec.config
    back = {name: column.read_from for name, column in config.columns.items() if column.read_from}
    types: Mapping[str, ColumnType] = {
        back.get(column.name) or column.name: read_iceberg_type(column.type)
        for column in (metadata.columns if metadata else ())
    }
    plain = {name: type_ for name, type_ in types.items() if not type_.is_nested}
    plain |= known
    follows = config.schema_policy != "fail"
    keys = {back.get(field.column) or field.column for field in config.partition_by}

    def may_widen(old: ColumnType, new: ColumnType) -> bool:
        return metadata is None or can_accept(str(old), str(new))

    return RememberedTypes(
        plain,
        may_widen if follows else None,
        keys=frozenset(name.casefold() for name in keys),
    )


def _require_distinct(run: ActiveRun, there: Sequence[Field], path: str) -> None:
    given = {field.name.casefold(): field.name for field in there}
    for name, column in run.spec.config.columns.items():
        former = column.read_from or name
        both = {former.casefold(), name.casefold()}
        if len(both) == 2 and both <= given.keys():
            what = f"its files have a column {given[name.casefold()]!r}, and {former!r} becomes it"
            raise unfit(run, f"{what}, too.", path, "Choose another name for one.")


def unfit(run: ActiveRun, what: str, path: str, next: str = "") -> BadBatch:
    """What is wrong with a batch; the path stands for all of its files."""
    return BadBatch(
        f"{what[:-1]}: {path}." if what.endswith(".") else what,
        where=run.spec.file,
        safe="Nothing of this batch was written.",
        next=next,
    )
