"""Handing a whole command to a running worker, before anything else is loaded.

The worker's child gets this process's terminal, folder, environment and arguments. This process
waits for it, passes signals on, and ends with its exit code.
"""

import os
import socket
import sys
from collections.abc import Mapping, Sequence

from lakebed.engines.worker.places import WorkerPlace, private_folder, runtime_folder
from lakebed.errors import WorkerUnavailable

_COMMANDS = {"run", "build", "retry", "preview", "test", "care"}
_BY_NOUN = {
    "table": {"execute", "write", "diff", "migrate", "adopt"},
    "kartothek": {"import", "export"},
}
_RUN_CODE = {"run", "build", "retry", "preview"}  # of pipelines
_SETTINGS_FILE = "lakebed.yaml"


def run_by_worker(arguments: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """The exit code of a command that a worker has run; None if it is to be run here."""
    if not needs_spark(arguments):
        return None
    try:
        connection = connected(arguments, environment)
        if connection is None:
            return None
        with connection:
            return _hand_over(connection, environment)
    except (OSError, WorkerUnavailable):
        return None  # the command says what is wrong when it borrows Spark


def run_in_child_if_code_runs(arguments: Sequence[str]) -> int | None:
    """The exit code of a command that runs code of pipelines, in a child of this process; None if
    it is to be run here, or this is the child.
    """
    from lakebed.engines.worker.connect import SUPPORTED

    words = _words(arguments)
    if not SUPPORTED or not words or words[0] not in _RUN_CODE:
        return None
    from lakebed.engines.worker.attend import run_in_child

    return run_in_child()


def needs_spark(arguments: Sequence[str]) -> bool:
    """Whether a command line is one of those that compute with Spark."""
    if "--no-worker" in arguments or "--help" in arguments or "-h" in arguments:
        return False
    words = _words(arguments)
    if words and (verbs := _BY_NOUN.get(words[0])):
        return len(words) > 1 and words[1] in verbs
    if words[:1] == ["query"]:
        return "--engine=spark" in arguments or _value(arguments, "--engine") == "spark"
    return bool(words) and words[0] in _COMMANDS


def _words(arguments: Sequence[str]) -> list[str]:
    """The first words that are not options of the program itself."""
    words, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == "--lake":
            skip = True
        elif not argument.startswith("-"):
            words.append(argument)
    return words


def _value(arguments: Sequence[str], option: str) -> str | None:
    for position, argument in enumerate(arguments):
        if argument == option and position + 1 < len(arguments):
            return arguments[position + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return None


def connected(arguments: Sequence[str], environment: Mapping[str, str]) -> socket.socket | None:
    """A connection to the worker for a command line; None if none runs, or none is wanted."""
    if environment.get("LAKEBED_WORKER", "").lower() == "off":
        return None
    if not os.path.lexists(runtime_folder(environment)):
        return None
    root = _root(_value(arguments, "--lake") or environment.get("LAKEBED_LAKE"))
    if root is None:
        return None
    from lakebed.engines.worker.connect import SUPPORTED, connect
    from lakebed.engines.worker.digest import worker_digest

    if not SUPPORTED:
        return None
    with open(f"{root}/{_SETTINGS_FILE}", "rb") as file:  # noqa: PTH123
        digest = worker_digest(f"file://{root}", file.read(), environment)
    place = WorkerPlace(private_folder(environment), digest)
    return connect(place) if _is_wanted(place, environment) else None


def _is_wanted(place: WorkerPlace, environment: Mapping[str, str]) -> bool:
    """As the lake's settings say, which the worker has noted; unset: in a terminal."""
    enabled = place.described().get("enabled")
    if enabled is None:
        return os.isatty(2) and not environment.get("CI")
    return bool(enabled)


def _root(path: str | None) -> str | None:
    """The folder of the lake; a lake in a bucket is opened by the command itself."""
    if path and "://" in path:
        return None
    folder = os.path.realpath(os.path.expanduser(path or "."))  # noqa: PTH111
    while not os.path.isfile(f"{folder}/{_SETTINGS_FILE}"):  # noqa: PTH113
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return None
        folder = above
    return folder


def _hand_over(connection: socket.socket, environment: Mapping[str, str]) -> int | None:
    from lakebed.engines.worker.attend import attend
    from lakebed.engines.worker.connect import accepted
    from lakebed.engines.worker.messages import MOST_FILES, send
    from lakebed.engines.worker.open_files import inherited_files

    files = inherited_files()
    if len(files) > MOST_FILES:
        return None
    umask = os.umask(0)
    os.umask(umask)
    told = {
        "kind": "command",
        "arguments": sys.argv,
        "environment": dict(environment),
        "folder": os.getcwd(),  # noqa: PTH109
        "umask": umask,
        "path": sys.path,
        "files": files,
    }
    send(connection, told, files)
    return attend(connection) if accepted(connection) else None
