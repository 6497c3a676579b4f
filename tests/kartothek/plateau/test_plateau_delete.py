"""plateau's suite of `delete`, with Lakebed's functions."""

from plateau.io.testing.delete import *  # noqa: F403
