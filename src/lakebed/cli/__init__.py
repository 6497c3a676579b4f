"""The command line: parses, calls, prints. Decides nothing."""

import os
import sys


def main() -> None:
    """Run the program: by a worker if there is one for the command, otherwise here; code of
    pipelines in a child, so that it cannot end the program with a false exit code.
    """
    from lakebed.engines.worker.handover import run_by_worker, run_in_child_if_code_runs

    try:
        code = run_by_worker(sys.argv[1:], os.environ)
        if code is None:
            code = run_in_child_if_code_runs(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    if code is not None:
        sys.exit(code)
    from lakebed.cli.main import main as run_here

    run_here()


__all__ = ["main"]
