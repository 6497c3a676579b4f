"""plateau's suite of `update`, with Lakebed's functions."""

from plateau.io.testing.update import *  # noqa: F403
