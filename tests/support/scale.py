"""How much of the large tests runs: a part in `make test`, all of it in `make test-long`."""

import os
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import pytest

Case = TypeVar("Case")

SCALE = int(os.environ.get("LAKEBED_TEST_SCALE", "1"))

# Every case of what otherwise takes turns, at the size of `make test`.
ALL_CASES = SCALE > 1 or os.environ.get("LAKEBED_TEST_CASES") == "all"

# The first process that imports this draws the seed; test workers inherit it, so that all of them
# collect the same tests.
SEED = int(os.environ.setdefault("LAKEBED_TEST_SEED", str(random.SystemRandom().randrange(10_000))))


def rotated(cases: Sequence[Case], count: int) -> list[Case]:
    """`count` of the cases, drawn evenly from beginning to end; all of them if ALL_CASES."""
    if ALL_CASES or count >= len(cases):
        return list(cases)
    draw = random.Random(SEED)
    bounds = [len(cases) * number // count for number in range(count + 1)]
    return [cases[draw.randrange(first, end)] for first, end in pairwise(bounds)]


def in_turn(turn: int, *, of: int) -> pytest.MarkDecorator:
    """A long test that runs once in so many runs of `make test`, and always if ALL_CASES."""
    waits = not ALL_CASES and SEED % of != turn
    return pytest.mark.skipif(waits, reason=f"runs once in {of} runs, by LAKEBED_TEST_SEED")


def fuzz_seed(number: int) -> int:
    """The seed of a fuzz loop: the same in every `make test`, so that it fails because of a change
    and of nothing else, and another in each run at a larger scale.
    """
    return number if SCALE == 1 else 1000 * SEED + number
