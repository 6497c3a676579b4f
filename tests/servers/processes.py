"""Starting a server, waiting until it answers, stopping it by its pid."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom

LOOPBACK = "127.0.0.1"
# Below the range Linux takes for outgoing connections, so that a client cannot have taken the port
# meanwhile.
_PORTS = range(10_000, 22_000)


class ServerMissing(Exception):
    """The machine has no such server; the message says how to install it."""


class ServerFailed(Exception):
    """The server did not start; the message ends with the tail of its log."""


def program_of_this_python(name: str, install: str) -> str:
    """A program that a wheel put beside this Python."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise ServerMissing(f"tests need the program {name!r}. Install it with: {install}")
    return found


def free_ports(count: int, *, and_above: int = 0) -> list[int]:
    """Ports nobody listens on; with `and_above` the port that much higher is free too."""
    draw = SystemRandom()
    chosen: set[int] = set()
    while len(chosen) < count:
        port = draw.choice(_PORTS)
        if _is_free(port) and (not and_above or _is_free(port + and_above)):
            chosen.add(port)
    return sorted(chosen)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


@contextmanager
def running(
    command: Sequence[str],
    *,
    log: Path,
    ready: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
    user: str | None = None,
    stop_signal: signal.Signals = signal.SIGTERM,
    seconds: float = 60,
) -> Iterator[int]:
    """Run a server as long as the block lasts; yields its pid once it is ready."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*_bound_to_us(user), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # Ctrl+C is for pytest, which then stops the server in order
        )
    try:
        _wait_until(ready, process, log, seconds)
        yield process.pid
    finally:
        stop(process, stop_signal)


def as_user(user: str | None) -> list[str]:
    """What to put before a command so that it runs as `user`."""
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []


def _bound_to_us(user: str | None) -> list[str]:
    """Also dies with us, should we be killed before we can stop it."""
    if shutil.which("setpriv") is None:
        return []
    return [*(as_user(user) or ["setpriv"]), "--pdeathsig=KILL"]


def _wait_until(
    ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path, seconds: float
) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if process.poll() is not None:
            raise ServerFailed(f"{process.args!r} ended with {process.returncode}.\n{_tail(log)}")
        if time.monotonic() > deadline:
            raise ServerFailed(
                f"{process.args!r} was not ready after {seconds:.0f} s.\n{_tail(log)}"
            )
        time.sleep(0.05)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-30:])


def stop(
    process: subprocess.Popen[bytes],
    stop_signal: signal.Signals = signal.SIGTERM,
    *,
    seconds: float = 15,
) -> None:
    """Ask it to stop, wait, and kill it if it does not."""
    if process.poll() is not None:
        return
    process.send_signal(stop_signal)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def answers(port: int) -> bool:
    """Whether somebody accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((LOOPBACK, port)) == 0
