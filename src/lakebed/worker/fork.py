"""Forking: a worker that is nobody's child."""

import os
from collections.abc import Callable


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
