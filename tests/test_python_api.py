"""docs/python.md: every noun and verb of the Python API, with an example that runs."""

from pathlib import Path

import pytest
from scripts.python_page import NOUNS, PAGE, examples, members, page

from tests.support.scale import in_turn


def test_the_page_on_python_is_what_the_code_says() -> None:
    assert PAGE.read_text() == page(), "run: make docs"


def test_every_noun_and_verb_has_an_example() -> None:
    shown = {name for example in examples() for name in example.names}
    missing, gone = sorted(members() - shown - set(NOUNS)), sorted(shown - members())
    assert not missing, f"add to examples/python_api.py: {', '.join(missing)}"
    assert not gone, f"remove from examples/python_api.py, or rename there: {', '.join(gone)}"


@pytest.mark.spark
@in_turn(1, of=2)
def test_the_examples_run_in_their_order(
    tmp_path: Path, spark_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    try:
        for example in examples():
            exec(compile(example.code, ", ".join(example.names), "exec"), known)
    finally:
        known["lake"].close()  # type: ignore[attr-defined]
