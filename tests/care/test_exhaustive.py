"""No kind of step passes silently: care has an arm for each."""

import ast
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from lakebed import care
from lakebed.care.removal import records
from lakebed.care.run import _Care
from lakebed.care.steps import CareStep


def arms(file: str | None) -> set[str]:
    """The kinds of step that a module matches on."""
    assert file
    cases = [
        node
        for node in ast.walk(ast.parse(Path(file).read_text()))
        if isinstance(node, ast.match_case)
    ]
    patterns = [
        node
        for case in cases
        for node in ast.walk(case.pattern)
        if isinstance(node, ast.MatchClass)
    ]
    return {pattern.cls.id for pattern in patterns if isinstance(pattern.cls, ast.Name)}


def test_every_kind_of_step_has_an_arm() -> None:
    folder = Path(str(care.__file__)).parent
    assert {kind.__name__ for kind in get_args(CareStep)} <= arms(str(folder / "run.py")) | arms(
        records.__file__
    )


def test_a_step_without_an_arm_is_not_passed_over() -> None:
    nothing = cast("Any", None)
    with pytest.raises(AssertionError):
        _Care(nothing, nothing, nothing, care.CareListener()).perform(cast("Any", object()))
