"""From the settings of a pipeline without code to what it reads and how that is divided. Pure."""

import json
from hashlib import sha256

from lakebed.batches.finding import BatchSource
from lakebed.batches.keys import SHAPES, BatchKey, type_problem
from lakebed.batches.pattern import SourcePattern, parse_pattern
from lakebed.batches.refused_paths import is_own
from lakebed.errors import near, suggestion
from lakebed.landing.source_files import SourceSpec
from lakebed.pipelines.definition.config import PipelineConfig
from lakebed.tables import PartitionField
from lakebed.types import Primitive, parse_type, stored_type


class BadSource(ValueError):
    """What is wrong with a setting, and with which."""

    def __init__(self, key: str, what: str, next: str = "") -> None:
        super().__init__(what)
        self.key, self.what, self.next = key, what, next


_NOT_WITH_SOURCE = (
    "merge_strategy", "unique_key", "watermark_column", "lookback", "partition_column",
    "batch_column", "scd_valid_from", "scd_valid_to", "scd_close_absent",
    "archive_landing_zones", "one_file_a_run", "on_empty",
)  # fmt: skip
OWN_FOLDER = "{} is where Lakebed keeps its own files: those of tables and of landing zones."
OTHER_FOLDER = "Keep source files in another folder: nothing there is ever moved or removed."
_ONLY_WITH_SOURCE = ("format", "header", "batch_partition_columns", "incremental_keys")


def without_source(config: PipelineConfig) -> None:
    """Raise `BadSource` for settings that mean something only with a source, or for a table."""
    if config.alternate_partitions and config.materialized == "view":
        what = "a view has no rows of its own, hence no layouts."
        raise BadSource("alternate_partitions", what, "Declare them for the tables that it reads.")
    for name in _ONLY_WITH_SOURCE:
        if name in config.model_fields_set:
            raise BadSource(name, f"{name} goes with source, and there is none.")


def batch_source(config: PipelineConfig) -> BatchSource:
    """What such a pipeline reads; `BadSource` says which setting is wrong."""
    _require_fitting(config)
    keys = tuple(BatchKey(name, parse_type(key_type(config, name))) for name in batch_keys(config))
    for key in keys:
        if problem := type_problem(key.type):
            raise BadSource("batch_partition_columns", f"{key.name}: {problem}.")
    loose = _pattern(config.source or "", {})
    for key in keys:
        if key.name not in loose.names:
            raise _unknown_key(key.name, loose)
    shapes = {
        key.name: SHAPES[key.type.name]
        for key in keys
        if isinstance(key.type, Primitive) and key.type.name in SHAPES
    }
    return BatchSource(_pattern(config.source or "", shapes), keys, loose if shapes else None)


def _pattern(text: str, shapes: dict[str, str]) -> SourcePattern:
    try:
        pattern = parse_pattern(text, values=shapes)
    except ValueError as error:
        raise BadSource("source", f"{error}.") from None
    if not pattern.store and is_own(f"{pattern.folder}/"):
        raise BadSource("source", OWN_FOLDER.format(pattern.folder), OTHER_FOLDER)
    return pattern


def _require_fitting(config: PipelineConfig) -> None:
    for name in _NOT_WITH_SOURCE:
        if name in config.model_fields_set:
            what = f"{name} does not go with source: every batch is replaced as a whole."
            raise BadSource(name, what, "Remove it.")
    if config.on_schema_change == "sync":
        what = "sync would drop columns that one batch does not have, and others do."
        raise BadSource("on_schema_change", what, "Set append, the default, or fail.")
    if config.materialized != "table":
        raise BadSource("materialized", "files cannot be read by a view.", "Remove it.")
    if config.partitions.keys and "partition_by" in config.model_fields_set:
        what = "partition_by is the short form of partitions.keys; both are given."
        raise BadSource("partition_by", what, "Remove one of them.")
    keys = batch_keys(config)
    for name in config.incremental_keys:
        if name not in keys:
            what = f"incremental_keys names {name!r}, which is not among the batch columns."
            advice = "A batch is done as a whole, so these are among batch_partition_columns."
            raise BadSource("incremental_keys", what, advice)
    left_out = [name for name in keys if name not in config.incremental_keys]
    if config.incremental_keys and left_out:
        what = (
            f"incremental_keys leaves out {left_out[0]!r}: a batch that is done is known by all of"
            " its batch columns, or further ones with the same values of the others would be"
            " missed."
        )
        advice = f"Remove it, or write incremental_keys: [{', '.join(keys)}]."
        raise BadSource("incremental_keys", what, advice)


def _unknown_key(name: str, pattern: SourcePattern) -> BadSource:
    close = suggestion(near(name, pattern.names))
    return BadSource(
        "batch_partition_columns",
        f"batches are found without reading files, but the paths of source do not hold {name!r}.",
        close or f"Add {{{name}}} or {name}=* to source, or choose among what it has.",
    )


def batch_keys(config: PipelineConfig) -> tuple[str, ...]:
    """The columns that tell batches apart; none: all files are one batch."""
    return config.batch_partition_columns or config.incremental_keys


def key_type(config: PipelineConfig, name: str) -> str:
    """The type of a column that comes from the path; text unless something says otherwise."""
    told = {key.name: key.type for key in config.partitions.keys if key.type}
    column = config.columns.get(name)
    return stored_type(told.get(name) or (column.type if column else None) or "string")


def source_spec(config: PipelineConfig) -> SourceSpec:
    """How the files are read: declared types are final."""
    types = {
        column.read_from or name: column.type
        for name, column in config.columns.items()
        if column.type
    }
    spec = SourceSpec(format=config.format, types=types, on_bad_file="fail")
    if config.header is None:
        return spec
    return spec.model_copy(update={"header": config.header})


def partitioning(config: PipelineConfig) -> tuple[PartitionField, ...]:
    """The partition fields: those that were given and, last, the batch keys that are not among
    them. Without these a batch could not be replaced by itself.
    """
    given = config.partition_by or tuple(
        PartitionField(column=key.name) for key in config.partitions.keys
    )
    alone = {field.column for field in given if field.transform == "identity"}
    added = (PartitionField(column=name) for name in batch_keys(config) if name not in alone)
    return (*given, *added)


def config_digest(config: PipelineConfig) -> str:
    """The digest of the settings that decide which rows a batch has."""
    told = {
        "source": config.source,
        "format": config.format,
        "keys": {name: key_type(config, name) for name in batch_keys(config)},
        "partitions": {
            key.name: key.type
            for key in config.partitions.keys
            if key.type and not _has_type(config, key.name, key.type)
        },
        "columns": {
            name: [column.type, column.read_from] for name, column in config.columns.items()
        },
        "contract": config.contract,
    }
    if config.header is not None:
        told["header"] = config.header
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


def _has_type(config: PipelineConfig, name: str, type_: str) -> bool:
    """Whether `columns` gives a column this type, so that it has it in any partitioning."""
    column = config.columns.get(name)
    return bool(column and column.type and stored_type(column.type) == stored_type(type_))
