"""Gates: queries that return bad rows, written as SQL files or as tests of a column."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.names import spark_identifier
from lakebed.ports import Severity
from lakebed.templates import read_annotations

_SEVERITIES: dict[str, Severity] = {"error": "error", "warn": "warn", "warning": "warn"}
_NESTED = ("arguments", "config")
_CALL = re.compile(r"\s*(?:\{\{)?\s*(ref|source)\s*\((.*)\)\s*(?:\}\})?\s*")
_BARE_SEVERITY = re.compile(r"^\s*--\s*severity\s*:\s*(\w+)\s*$", re.MULTILINE | re.IGNORECASE)
_KEYS = ("severity", "description", "tags", "remediation")


@dataclass(frozen=True)
class Gate:
    """A query that returns bad rows; if there are none, the table may be published."""

    name: str
    source: str  # a template, like a pipeline's
    where: str
    severity: Severity = "error"
    description: str = ""
    tags: tuple[str, ...] = ()
    remediation: str = ""
    column: str = ""  # of a test of a column, whose query is in no file
    test: str = ""


def read_gate(name: str, source: str, *, where: str) -> Gate:
    """The gate in a file of `tests/quality`."""
    given = read_annotations(source, comment="--", where=where, anywhere=True)
    for key, annotation in given.items():
        if key not in _KEYS:
            raise BadPipeline(
                f"a gate has no setting {key!r}.",
                where=where,
                line=annotation.line,
                next=suggestion(near(key, _KEYS)),
            )
    _require_annotated(source, where)
    values = {key: annotation.value for key, annotation in given.items()}
    severity = values.get("severity", "error").casefold()
    if severity not in _SEVERITIES:
        line = given["severity"].line
        raise BadPipeline(
            f"severity is error or warn, not {severity!r}.",
            where=where,
            line=line,
            next=suggestion(near(severity, _SEVERITIES)),
        )
    return Gate(
        name,
        source,
        where,
        severity=_SEVERITIES[severity],
        description=values.get("description", ""),
        tags=tuple(
            tag.strip().casefold() for tag in values.get("tags", "").split(",") if tag.strip()
        ),
        remediation=values.get("remediation", ""),
    )


def _require_annotated(source: str, where: str) -> None:
    """Without its `@`, a severity is a comment, and the gate another one than was meant."""
    bare = _BARE_SEVERITY.search(source)
    if bare and bare[1].casefold() in _SEVERITIES:
        raise BadPipeline(
            "nothing reads this severity: an annotation begins with @.",
            where=where,
            line=source.count("\n", 0, bare.start(1)) + 1,
            next=f"Write: -- @severity: {bare[1]}",
        )


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SimpleTest(_Part):
    """A test without options but its severity."""

    severity: Severity = "error"

    @model_validator(mode="before")
    @classmethod
    def _as_dbt_nests_them(cls, given: Any) -> Any:
        """dbt writes options below `arguments`, and the severity below `config`."""
        if not isinstance(given, dict):
            return given
        nested = {key: given[key] for key in _NESTED if isinstance(given.get(key), dict)}
        flat = {key: value for key, value in given.items() if key not in nested}
        for options in nested.values():
            flat |= options
        return flat


class AcceptedValues(SimpleTest):
    """The values a column may have; NULL is tested by `not_null`."""

    values: tuple[str | int | float | bool, ...] = Field(min_length=1)

    @field_validator("values")
    @classmethod
    def _without_words_of_yaml(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        truths = [isinstance(value, bool) for value in values]
        if any(truths) and not all(truths):
            raise ValueError("YAML reads NO, yes, on and off as true or false: quote them")
        return values


def _named_table(given: Any) -> Any:
    """`ref('orders')`, as dbt writes it, is the table that ref() names."""
    call = _CALL.fullmatch(given) if isinstance(given, str) else None
    if call is None:
        return given
    names = re.findall(r"""['"]([^'"]+)['"]""", call[2])
    if call[1] != "ref" or len(names) != 1:
        raise ValueError(f"name the table as ref() does here: {'.'.join(names) or 'silver.orders'}")
    return names[0]


class Relationship(SimpleTest):
    """Every value of the column occurs in a column of another table."""

    to: Annotated[str, BeforeValidator(_named_table)] = Field(
        description="a table, as ref() names it"
    )
    field: str


class ColumnTests(_Part):
    """Tests of a column that need no SQL."""

    not_null: SimpleTest | None = None
    unique: SimpleTest | None = None
    accepted_values: AcceptedValues | None = None
    relationships: Relationship | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, given: Any) -> Any:
        """`tests: [not_null, {accepted_values: {values: [a, b]}}]`, as dbt writes it, is the same
        as a mapping. A name with nothing below it is a test without options.
        """
        merged: Any = given
        if isinstance(given, list):
            merged = {}
            for item in given:
                merged |= {item: {}} if isinstance(item, str) else dict(item)
        if not isinstance(merged, dict):
            return merged
        return {name: {} if value in (None, True) else value for name, value in merged.items()}


class ColumnSpec(_Part):
    """A column in a pipeline's config."""

    type: str | None = Field(default=None, validation_alias=AliasChoices("type", "data_type"))
    description: str = ""
    renamed_from: str | None = None
    # the name in the files of a source, where it is another
    read_from: str | None = Field(default=None, validation_alias=AliasChoices("from", "read_from"))
    tests: ColumnTests = Field(
        default=ColumnTests(), validation_alias=AliasChoices("tests", "data_tests")
    )

    @model_validator(mode="before")
    @classmethod
    def _either_name(cls, given: Any) -> Any:
        if isinstance(given, dict) and {"tests", "data_tests"} <= given.keys():
            raise ValueError("tests and data_tests are the same: write one of them")
        return given


def column_gates(columns: dict[str, ColumnSpec], *, where: str) -> tuple[Gate, ...]:
    """The gates of the columns' tests."""
    return tuple(
        gate for name, column in columns.items() for gate in _gates(name, column.tests, where)
    )


def _gates(column: str, tests: ColumnTests, where: str) -> list[Gate]:
    named = spark_identifier(column)
    questions = {
        "not_null": (tests.not_null, f"SELECT * FROM {{{{ this }}}} WHERE {named} IS NULL"),
        "unique": (
            tests.unique,
            (
                f"SELECT {named}, count(*) AS times FROM {{{{ this }}}} WHERE {named} IS NOT NULL "
                f"GROUP BY {named} HAVING count(*) > 1"
            ),
        ),
        "accepted_values": (tests.accepted_values, _not_accepted(named, tests.accepted_values)),
        "relationships": (tests.relationships, _unrelated(named, tests.relationships)),
    }
    return [
        Gate(
            f"{column}_{name}",
            query,
            where,
            severity=asked.severity,
            description=f"column {column}: {name}",
            column=column,
            test=name,
        )
        for name, (asked, query) in questions.items()
        if asked
    ]


def _not_accepted(column: str, test: AcceptedValues | None) -> str:
    listed = ", ".join(_literal(value) for value in test.values) if test else ""
    return f"SELECT * FROM {{{{ this }}}} WHERE {column} NOT IN ({listed})"


def _unrelated(column: str, test: Relationship | None) -> str:
    if test is None:
        return ""
    other = f"{{{{ ref({test.to!r}) }}}}"
    return (
        f"SELECT t.* FROM {{{{ this }}}} t LEFT ANTI JOIN {other} r ON t.{column} ="
        f" r.{spark_identifier(test.field)} WHERE t.{column} IS NOT NULL"
    )


def _literal(value: str | float | bool) -> str:
    if isinstance(value, str):
        # The text is part of a template: keep braces from Jinja.
        quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return "{% raw %}" + quoted + "{% endraw %}" if "{" in value else quoted
    return str(value)
