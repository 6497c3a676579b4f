"""The command line: parses, calls, prints. Decides nothing."""

from lakebed.cli.main import main

__all__ = ["main"]
