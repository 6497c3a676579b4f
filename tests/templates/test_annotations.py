"""Settings in comments."""

import pytest

from lakebed.errors import BadPipeline
from lakebed.templates import Annotation, read_annotations


def sql(text: str, *, anywhere: bool = False) -> dict[str, str]:
    found = read_annotations(text, comment="--", where="pipeline.sql", anywhere=anywhere)
    return {key: annotation.value for key, annotation in found.items()}


def test_annotations_are_read_with_their_lines() -> None:
    text = (
        "-- Orders, cleaned.\n\n-- @Merge_Strategy:  incremental \n--@unique_key: a, b\nSELECT 1\n"
    )
    assert read_annotations(text, comment="--", where="pipeline.sql") == {
        "merge_strategy": Annotation("merge_strategy", "incremental", 3),
        "unique_key": Annotation("unique_key", "a, b", 4),
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("SELECT 1 -- @a: 1\n", {}),
        ("-- @a: 1\nSELECT 1\n-- @b: 2\n", {"a": "1"}),
        ("\n \n  -- @a: 1\r\n-- @b: 2\r\nSELECT 1", {"a": "1", "b": "2"}),
        ("/* a licence\n of two lines */\n-- @a: 1\n", {"a": "1"}),
        ("{# a note #}\n-- @a: 1\n{% if x %}\n-- @b: 2\n{% endif %}", {"a": "1"}),
        ("\ufeff-- @a: 1", {"a": "1"}),
        ("-- @cron: 0 5 * * *: daily", {"cron": "0 5 * * *: daily"}),
        ("-- @empty:\n", {"empty": ""}),
        ("-- mail me@example.org: no annotation\n-- @a: 1", {"a": "1"}),
        ("/* -- @a: 1 */ -- @b: 2", {"b": "2"}),
        ("# @a: 1", {}),
    ],
)
def test_the_leading_comment_block_holds_the_annotations(text: str, found: dict[str, str]) -> None:
    assert sql(text) == found


def test_python_files_have_them_behind_a_hash() -> None:
    text = (
        '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# @unique_key: id\n"""Docs."""\n# @late:'
        " 1\n-- @a: 1"
    )
    assert read_annotations(text, comment="#", where="pipeline.py") == {
        "unique_key": Annotation("unique_key", "id", 3)
    }


def test_a_gates_annotations_may_stand_anywhere() -> None:
    text = (
        "SELECT *\n-- @severity: warn\nFROM t -- @not: this\n  -- @description: no negative"
        " totals\n"
    )
    assert sql(text, anywhere=True) == {"severity": "warn", "description": "no negative totals"}


def test_a_key_given_twice_is_refused_with_both_lines() -> None:
    with pytest.raises(BadPipeline, match="first on line 1") as caught:
        sql("-- @severity: warn\n-- @SEVERITY: error\n")
    assert (caught.value.line, caught.value.excerpt) == (2, "-- @SEVERITY: error")


def test_a_forgotten_colon_is_refused_and_not_taken_for_a_comment() -> None:
    with pytest.raises(BadPipeline, match="no value") as caught:
        sql("SELECT 1;\n-- @merge_strategy incremental\n", anywhere=True)
    assert caught.value.line == 2
    assert "-- @merge_strategy: value" in caught.value.next
