"""The program of a worker: `python -m lakebed.worker FOLDER DIGEST ABOUT`."""

import json
import socket
import sys
from pathlib import Path

from lakebed.engines.worker.places import WorkerPlace
from lakebed.worker.become import Command, become
from lakebed.worker.fork import detach
from lakebed.worker.keep import keep
from lakebed.worker.serve import Worker


def main() -> None:
    """Serve until idle. A forked child leaves `serve` with what it is for, and does it here, so
    that it ends as every Python process ends.
    """
    folder, digest, about = sys.argv[1:]
    listens = detach()
    worker = Worker(WorkerPlace(Path(folder), digest), json.loads(about))
    match worker.serve(listens):
        case Command() as command:
            become(command)
            from lakebed.cli.main import main as run_command

            run_command()
        case socket.socket() as to_worker:
            keep(to_worker)


if __name__ == "__main__":
    main()
