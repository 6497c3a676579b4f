"""plateau's suite of `write`, with Lakebed's functions."""

from plateau.io.testing.write import *  # noqa: F403
