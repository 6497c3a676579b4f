"""plateau's suite of `index`, with Lakebed's functions."""

from plateau.io.testing.index import *  # noqa: F403
