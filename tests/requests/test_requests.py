"""Requests: what is checked when they are made, and what later versions read of stored ones."""

import json
from datetime import date
from inspect import signature
from typing import Any, get_type_hints

import pytest
from pydantic import ValidationError

import lakebed
from lakebed import Lake
from lakebed.errors import UnknownName, UsageError
from lakebed.pipelines import Pipelines
from lakebed.requests import (
    CompileKeywords,
    GateKeywords,
    PlanKeywords,
    QueryKeywords,
    QueryRequest,
    Request,
    RetryKeywords,
    RunKeywords,
    RunRequest,
    SelectKeywords,
    SqlKeywords,
)

YEAR: dict[str, Any] = {"start": "2024-01-01", "end": "2025-01-01"}


def test_every_option_is_a_keyword() -> None:
    assert get_type_hints(RunKeywords).keys() == RunRequest.model_fields.keys()
    assert {"sql"} | get_type_hints(QueryKeywords).keys() == QueryRequest.model_fields.keys()


RUNS = [Lake.run, Lake.plan, Pipelines.compile, Pipelines.preview, Pipelines.test]
VERBS = [
    *(
        (verb, RunRequest)
        for verb in (*RUNS, Pipelines.retry, Pipelines.lineage, Pipelines.column_lineage)
    ),
    *((verb, QueryRequest) for verb in (Lake.query, Lake.explain)),
]


@pytest.mark.parametrize(("verb", "request_"), VERBS, ids=lambda one: one.__name__)
def test_no_verb_declares_an_option_again(verb: Any, request_: type[Request]) -> None:
    own = signature(verb).parameters.keys() - {"sql"}
    assert not own & request_.model_fields.keys()


@pytest.mark.parametrize(
    "keywords", [SelectKeywords, GateKeywords, SqlKeywords, CompileKeywords, PlanKeywords]
)
def test_fewer_keywords_are_some_of_all(keywords: Any) -> None:
    assert get_type_hints(keywords).items() <= get_type_hints(RunKeywords).items()


def test_what_a_retry_may_change_are_options() -> None:
    assert get_type_hints(RetryKeywords).keys() <= RunRequest.model_fields.keys()


def test_requests_are_public() -> None:
    assert lakebed.RunRequest is RunRequest
    assert lakebed.QueryRequest is QueryRequest


def test_values_are_read_as_callers_write_them() -> None:
    request = RunRequest("a", "b+", exclude=["c"], start=date(2024, 1, 1), end=7, wait=5)
    assert (request.select, request.exclude) == (("a", "b+"), ("c",))
    assert (request.start, request.end, request.wait) == ("2024-01-01", "7", 5.0)
    assert RunRequest(vars=None).vars == {}
    assert QueryRequest("SELECT 1", at=7).at == "7"


def test_a_request_never_changes() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        RunRequest().threads = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threads": 0}, "threads: Input should be greater than or equal to 1"),
        ({"exclude": "silver.a"}, "exclude: Input should be a valid tuple"),
        ({"wait": "long"}, "wait: Input should be a valid number"),
        ({"start": "2024-01-01"}, "a backfill has both a start and an end"),
        ({"chunk": "month"}, "a backfill has both a start and an end"),
        (YEAR | {"full_refresh": True}, "--full-refresh does not go with --start and --end"),
        (YEAR | {"batches": ["year=2020"]}, "--batch does not go with --start and --end"),
        (YEAR | {"repair_gaps": True}, "--repair-gaps does not go with --start and --end"),
        (YEAR | {"together": True}, "--together does not go with --start and --end"),
    ],
)
def test_options_that_are_wrong_or_do_not_go_together_are_refused(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        RunRequest(**options)
    with pytest.raises(UsageError, match=said):
        RunRequest.model_validate_json(json.dumps(options))


def test_an_unknown_option_is_refused_with_similar_ones() -> None:
    with pytest.raises(UnknownName, match=r"no option 'full_refesh'.*Did you mean full_refresh\?"):
        RunRequest(full_refesh=True)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="engine: Input should be 'duckdb' or 'spark'"):
        QueryRequest("SELECT 1", engine="sparc")  # type: ignore[arg-type]


def test_a_ready_request_is_taken_as_it_is_and_alone() -> None:
    run, query = RunRequest("a", threads=2), QueryRequest("SELECT 1", limit=3)
    assert RunRequest.of(run) is run
    assert RunRequest.of("a", threads=2) == run
    assert QueryRequest.of(query) is query
    with pytest.raises(UsageError, match="a RunRequest is given alone"):
        RunRequest.of(run, "b")
    with pytest.raises(UsageError, match="a RunRequest is given alone"):
        RunRequest.of(run, threads=3)
    with pytest.raises(UsageError, match="a QueryRequest is given alone"):
        QueryRequest.of(query, limit=4)


def test_what_an_older_or_a_newer_version_has_stored_is_read() -> None:
    stored = json.loads(json.dumps({"select": ["a"], "vars": {"n": 1}, "gone_since": True}))
    assert RunRequest.stored(stored) == RunRequest("a", vars={"n": 1})


def test_a_request_survives_being_stored() -> None:
    request = RunRequest("a", exclude=["b"], vars={"n": [1]}, fail_fast=True, threads=4, **YEAR)
    assert RunRequest.stored(json.loads(json.dumps(dict(request)))) == request
    assert RunRequest.model_validate_json(request.model_dump_json()) == request
