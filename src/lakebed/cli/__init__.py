"""The command line: parses, calls, prints. Decides nothing."""

import os
import sys


def main() -> None:
    """Run the program: by a worker if there is one for the command, otherwise here."""
    from lakebed.engines.worker.handover import run_by_worker

    try:
        code = run_by_worker(sys.argv[1:], os.environ)
    except KeyboardInterrupt:
        code = 130
    if code is not None:
        sys.exit(code)
    from lakebed.cli.main import main as run_here

    run_here()


__all__ = ["main"]
