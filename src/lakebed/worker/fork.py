"""Forking: a worker that is nobody's child, and children that end with their parent."""

import ctypes
import os
import signal
from collections.abc import Callable

_PARENT_DEATH_SIGNAL = 1  # of prctl


def detach() -> Callable[[], None]:
    """Go on in a child, whose parent ends when the returned function is called: then whoever
    started us knows that we listen. If the child dies before, its parent ends with 1.
    """
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        os._exit(0 if os.read(reading, 1) else 1)
    os.close(reading)

    def listens() -> None:
        os.write(writing, b"1")
        os.close(writing)

    return listens


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
