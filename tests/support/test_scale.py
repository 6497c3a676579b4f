"""A rotated matrix is drawn evenly, and alike by every worker."""

import os
import subprocess
import sys

from tests.support.scale import ALL_CASES, rotated


def test_one_case_of_every_stretch_is_drawn() -> None:
    drawn = rotated(range(100), 4)
    assert (
        [case // 25 for case in drawn] == [0, 1, 2, 3]
        if not ALL_CASES
        else drawn == list(range(100))
    )


def test_fewer_cases_than_wanted_are_all_drawn() -> None:
    assert rotated([1, 2], 4) == [1, 2]


def test_a_worker_draws_what_the_first_process_drew() -> None:
    code = "from tests.support.scale import SEED; print(SEED)"
    ran = subprocess.run(
        [sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == os.environ["LAKEBED_TEST_SEED"]
