"""Children that end with their parent, and signals to them."""

import ctypes
import os
import signal
from contextlib import suppress

_PARENT_DEATH_SIGNAL = 1  # of prctl


def fork_child() -> int:
    """The child's process id; 0 in the child, which leads a session of its own, has the usual
    signal handlers, and is killed when its parent ends, however that ends.
    """
    parent = os.getpid()
    if pid := os.fork():
        return pid
    os.setsid()
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it has just ended
        os._exit(1)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return 0


def send_signal(pid: int, number: int) -> None:
    """Signal a child and what it has started, as a terminal does; SIGTERM is for itself alone.

    The child is not reaped yet, so the number is its own.
    """
    with suppress(OSError):
        if number == signal.SIGTERM:
            os.kill(pid, number)
        else:
            os.killpg(pid, number)
