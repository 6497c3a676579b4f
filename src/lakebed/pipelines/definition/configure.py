"""A pipeline's settings: annotations override config.yaml, which overrides defaults.

Errors name the line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from lakebed.batches.finding import BatchSource
from lakebed.errors import BadPipeline, BadText, near, suggestion
from lakebed.landing import ZONE_FILE, ZoneSpec
from lakebed.pipelines.definition.batch_source import (
    BadSource,
    batch_source,
    partitioning,
    without_source,
)
from lakebed.pipelines.definition.config import PipelineConfig, build_strategy
from lakebed.pipelines.definition.source_config import LAYOUTS
from lakebed.quality import ColumnTests, Gate
from lakebed.settings import Document, Settings, first_error, reason, unknown_name
from lakebed.tables import STRATEGIES, Strategy, rename_conflict
from lakebed.templates import Annotation
from lakebed.types import is_storable, known_type, read_table_type, stored_type

_TESTS = (
    "Write tests: [not_null, unique] below a column of columns, or a query that returns bad rows"
    " into tests/quality/NAME.sql."
)
_TESTS_OF_COLUMNS = (("tests",), ("data_tests",))
_TYPES = "Give it one, such as bigint, string or decimal(12,2)."

_ELSEWHERE = {
    **dict.fromkeys(Settings.model_fields, "lakebed.yaml"),
    **dict.fromkeys(ZoneSpec.model_fields, f"the {ZONE_FILE} of a landing zone"),
}


@dataclass(frozen=True)
class Configured:
    """A pipeline's settings, the strategy that they choose, and what it reads without code."""

    config: PipelineConfig
    strategy: Strategy
    origin: "Origin"
    batches: BatchSource | None = None
    layouts_key: str = "layouts"  # under which layouts are declared


def configure(
    document: Document, annotations: Mapping[str, Annotation], *, source: str
) -> Configured:
    """Settings and strategy.

    Anything unknown, misspelt or missing raises, with its line. `source` is the annotated file.
    """
    given = {str(key).casefold(): value for key, value in document.tree.items()}
    given |= {key: annotation.value for key, annotation in annotations.items()}
    origin = Origin(document, annotations, source)
    _refuse_removed(given, origin)
    layouts_key = _layouts_key(given, origin)
    _refuse_tests_of_table(given, origin)
    try:
        config = PipelineConfig.model_validate(given)
    except ValidationError as error:
        raise origin.refuse_value(error) from None
    config, batches = _with_source(config, origin)
    _require_clear_renames(config, origin)
    _require_complete_contract(config, origin)
    _require_known_types(config, origin)
    if config.one_file_a_run and STRATEGIES[config.merge_strategy].rebuilds_all:
        strategy = config.merge_strategy
        what = f"one_file_a_run is set, but {strategy} would keep only the rows of the last file."
        raise origin.refuse("one_file_a_run", what, next="Remove it, or choose another strategy.")
    try:
        return Configured(config, build_strategy(config), origin, batches, layouts_key)
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][-1])
        what = f"the strategy {config.merge_strategy} needs {field}."
        raise origin.refuse(
            "merge_strategy", what, next=f"Set {field}, or choose another strategy."
        ) from None


def _layouts_key(given: Mapping[str, Any], origin: "Origin") -> str:
    """The name that a pipeline uses for its layouts; without any, the usual one."""
    names = [str(name) for name in LAYOUTS.choices if name in given]
    if len(names) > 1:
        what = f"{names[1]} is another name for {names[0]}, which is there too."
        raise origin.refuse(names[1], what, next=f"Move its layouts to {names[0]}.")
    return names[0] if names else Configured.layouts_key


def _refuse_removed(given: Mapping[str, Any], origin: "Origin") -> None:
    """Raise for `pattern`, also of a layout: designs before Iceberg had it."""
    layouts = (given.get(str(name)) for name in LAYOUTS.choices)
    parts = [one for listed in layouts if isinstance(listed, list) for one in listed]
    for part in (given, given.get("partitions"), *parts):
        if isinstance(part, dict) and "pattern" in part:
            raise origin.refuse(
                "pattern",
                "pattern was removed: the catalog knows a table's files, and its partitions come"
                " from partitions.keys.",
                next="Remove it. Which files are read is said by source.",
            )


def _refuse_tests_of_table(given: Mapping[str, Any], origin: "Origin") -> None:
    """Raise for tests beside `columns`, as dbt has them, with the lines to write instead."""
    for key in ("tests", "data_tests"):
        if key in given:
            listed = given[key] if isinstance(given[key], list) else [given[key]]
            raise origin.refuse(
                key,
                "a table has no tests: its columns have, and a gate tests rows as a whole.",
                next=next(filter(None, map(_written_here, listed)), _TESTS),
            )


def _written_here(test: Any) -> str:
    """The lines that are here what dbt writes as this test of a table; empty if it is unknown."""
    (name, options), *_ = test.items() if isinstance(test, dict) and test else [("", {})]
    kind = str(name).rpartition(".")[2]
    options = options if isinstance(options, dict) else {}
    nested = options.get("arguments")
    options = {**options, **(nested if isinstance(nested, dict) else {})}
    if kind == "unique_combination_of_columns":
        columns = ", ".join(map(str, options.get("combination_of_columns") or ("…",)))
        query = f"SELECT {columns} FROM {{{{ this }}}} GROUP BY {columns} HAVING count(*) > 1"
        return f"Write into tests/quality/unique_rows.sql:\n    {query}"
    if kind == "expression_is_true":
        query = f"SELECT * FROM {{{{ this }}}} WHERE NOT ({options.get('expression', '…')})"
        return f"Write into tests/quality/NAME.sql:\n    {query}"
    if kind in ColumnTests.model_fields and "column_name" in options:
        rest = {key: value for key, value in options.items() if key in ("values", "to", "field")}
        shown = yaml.safe_dump([{kind: rest} if rest else kind], default_flow_style=True).strip()
        column = options["column_name"]
        return f"Write:\n    columns:\n      {column}:\n        tests: {shown}"
    return ""


def _with_source(
    config: PipelineConfig, origin: "Origin"
) -> tuple[PipelineConfig, BatchSource | None]:
    """The settings of a source in the words of all pipelines, and the source."""
    try:
        if config.source is None:
            without_source(config)
            return config, None
        found = batch_source(config)
        columns = {
            name: column.model_copy(
                update={"type": stored_type(column.type)} if column.type else {}
            )
            for name, column in config.columns.items()
        }
        partition_by = partitioning(config)
        return config.model_copy(update={"columns": columns, "partition_by": partition_by}), found
    except BadSource as error:
        raise origin.refuse(error.key, error.what, next=error.next) from None
    except ValueError as error:
        raise origin.refuse("columns", f"columns: {error}.") from None


def _require_clear_renames(config: PipelineConfig, origin: "Origin") -> None:
    if what := rename_conflict(config.renames):
        former = next((name for name, column in config.columns.items() if column.renamed_from), "")
        key, path = ("rename", ()) if config.rename else ("columns", (former, "renamed_from"))
        raise origin.refuse(
            key, f"{what}.", inside=path, next="Give every column one new name, in one step."
        )


def _require_complete_contract(config: PipelineConfig, origin: "Origin") -> None:
    """Raise unless a contract gives every column a type."""
    if not config.contract:
        return
    if not config.columns:
        advice = "List every column with its type under columns."
        raise origin.refuse(
            "contract", "a contract needs columns, but none are listed.", next=advice
        )
    for name, column in config.columns.items():
        if column.type is None:
            what = f"the contract has no type for the column {name!r}."
            raise origin.refuse("columns", what, inside=(name, "type"), next=_TYPES)


def _require_known_types(config: PipelineConfig, origin: "Origin") -> None:
    """Raise for a type that no table has; a view may have others."""
    for name, column in config.columns.items() if config.materialized == "table" else ():
        if column.type and not is_storable(read_table_type(column.type)):
            what = f"the column {name!r}: {_type_fault(column.type)}."
            raise origin.refuse("columns", what, inside=(name, "type"), next=_TYPES)


def _type_fault(text: str) -> str:
    try:
        known_type(text)
    except ValueError as error:
        return str(error)
    return f"no table has the type {text!r}"


def _test_paths(gate: Gate) -> tuple[tuple[str, ...], ...]:
    return tuple(("columns", gate.column, key, gate.test) for key in ("tests", "data_tests"))


@dataclass(frozen=True)
class Origin:
    """Where a setting was given: in an annotation of the source, or in config.yaml."""

    document: Document
    annotations: Mapping[str, Annotation]
    source: str

    def refuse(
        self, key: str, what: str, *, inside: tuple[str, ...] = (), next: str = ""
    ) -> BadPipeline:
        if annotation := self.annotations.get(key):
            excerpt = f"@{key}: {annotation.value}"
            return BadPipeline(
                what, where=self.source, line=annotation.line, excerpt=excerpt, next=next
            )
        line, excerpt = self.document.find((key, *inside))
        return BadPipeline(
            what,
            where=self.document.where,
            line=line,
            excerpt=excerpt,
            next=next,
            path=(key, *inside),
        )

    def line_of_test(self, gate: Gate) -> int:
        """The line of the test of a column that a gate is made from."""
        found = (self.document.find(path)[0] for path in _test_paths(gate))
        return max((line for line in found if line), default=1)

    def refuse_test(self, gate: Gate, error: BadText) -> BadPipeline:
        """The error in the query of a test of a column, which the user has not written."""
        what = f"{gate.test} of the column {gate.column!r}: {error.fault}"
        path = max(_test_paths(gate), key=lambda path: self.document.find(path)[0] or 1)
        return self.refuse("columns", what, inside=path[1:], next=error.next)

    def refuse_value(self, error: ValidationError) -> BadText:
        first = first_error(error.errors())
        key = str(first["loc"][0]) if first["loc"] else ""
        if key not in self.annotations:
            if first["type"] == "extra_forbidden" and first["loc"][-2:-1] in _TESTS_OF_COLUMNS:
                return self._refuse_test_name(tuple(map(str, first["loc"])))
            return self.document.error_for(error, model=PipelineConfig, elsewhere=_ELSEWHERE)
        if first["type"] == "extra_forbidden":
            advice = unknown_name((key,), PipelineConfig, _ELSEWHERE)
            return self.refuse(key, f"a pipeline has no setting {key!r}.", next=advice)
        return self.refuse(key, f"{key}: {reason(first)}")

    def _refuse_test_name(self, path: tuple[str, ...]) -> BadPipeline:
        key, *inside, name = path
        close = suggestion(near(name, ColumnTests.model_fields))
        gate = "Any other test is a gate: a query that returns bad rows, in tests/quality/NAME.sql."
        what = f"there is no test {name!r}."
        return self.refuse(key, what, inside=(*inside, name), next=close or gate)


NOWHERE = Origin(Document("", where="", refusal=BadPipeline), {}, "")  # settings of no file
