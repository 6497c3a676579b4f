"""Mistakes that people make: each is refused or accepted rightly, with a message that says what to do.

The messages are in tables beside this file. After a change that is meant:
`python -m tests.mistakes.write`.
"""

from difflib import unified_diff
from pathlib import Path

import pytest

from tests.mistakes.data import DELIVERIES, table_of_looks
from tests.mistakes.generated import FILES, mistakes, table, told

HERE = Path(__file__).parent
# both are right: a mapping of renamed columns, and a description of the pipeline instead of a column
_RIGHT = ("rename:\n", "description: x\n")


def difference(name: str, said: str) -> str:
    """How the messages differ from those of a table."""
    expected = (HERE / name).read_text().splitlines()
    return "\n".join(
        unified_diff(expected, said.splitlines(), "expected", "said", lineterm="", n=0)
    )


def test_every_mistake_in_a_setting_is_told_as_the_table_says() -> None:
    said = table()
    assert len(said.splitlines()) > 1000
    assert difference("settings.txt", said) == ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_misspelt_or_misplaced_key_and_no_wrong_type_is_accepted(file: object) -> None:
    for one in mistakes():
        if one.file is file and one.kind in {"misspelt", "type", "place"}:
            said = told(one)
            assert said != "accepted" or any(right in one.text for right in _RIGHT), one
            if one.kind == "misspelt":
                assert "Did you mean " in said, (one, said)
                assert one.path[-1] in said, (one, said)


def test_every_mistake_in_a_file_that_shows_at_first_sight_is_told_as_the_table_says() -> None:
    assert len(DELIVERIES) == len({one.title for one in DELIVERIES}) >= 40
    assert difference("files.txt", table_of_looks()) == ""


def test_no_message_is_that_of_a_library() -> None:
    for line in table().splitlines():
        for words in ("Input should", "Value error", "Field required", "discriminator"):
            assert words not in line
