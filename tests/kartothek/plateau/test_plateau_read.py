"""plateau's suite of `read`, with Lakebed's functions."""

from plateau.io.testing.read import *  # noqa: F403
