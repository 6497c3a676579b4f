"""plateau's suite of `gc`, with Lakebed's functions."""

from plateau.io.testing.gc import *  # noqa: F403
