"""A way to a server on which things go wrong: answers get lost, connections break or fall
silent.
"""

import socket
import socketserver
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Literal

from tests.servers.processes import LOOPBACK

Fate = Literal["carry", "delay", "cut", "lose", "silence", "deaf", "busy"]
DELAY = 0.5
_BUSY = b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@contextmanager
def lossy_way(port: int, *, loses: Callable[[bytes], bool]) -> Iterator[int]:
    """A port that leads to `port`; when `loses` says so of what a client sent, the connection
    breaks instead of answering.
    """
    with faulty_way(port, fate=lambda sent: "lose" if loses(sent) else "carry") as ours:
        yield ours


@contextmanager
def faulty_way(port: int, *, fate: Callable[[bytes], Fate]) -> Iterator[int]:
    """A port that leads to `port`; what a client sends meets its `fate`.

    carry: it arrives, and is answered. delay: likewise, later. cut: the connection breaks, and
    nothing arrives. lose: it arrives, and the connection breaks instead of answering. silence: it
    arrives, and nothing ever comes back, not even the news that the connection is gone. deaf:
    likewise, and it does not arrive either. busy: an HTTP server's 503.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError), socket.create_connection((LOOPBACK, port)) as server:
                _Way(self.request, server).lead(fate)

    class Ways(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Ways((LOOPBACK, 0), Handler) as ways:
        Thread(target=ways.serve_forever, daemon=True).start()
        try:
            yield ways.server_address[1]
        finally:
            ways.shutdown()


@dataclass
class _Way:
    """One connection through us."""

    client: socket.socket
    server: socket.socket
    silent: Event = field(default_factory=Event)
    answered: Event = field(default_factory=Event)  # to nobody

    def lead(self, fate: Callable[[bytes], Fate]) -> None:
        back = Thread(target=self._carry_back, daemon=True)
        back.start()
        what: Fate = "carry"
        while what not in ("cut", "lose", "busy") and (sent := self.client.recv(1 << 16)):
            what = "deaf" if self.silent.is_set() else fate(sent)
            if what in ("lose", "silence", "deaf"):
                self.silent.set()
            if what == "delay":
                time.sleep(DELAY)
            if what == "busy":
                self.client.sendall(_BUSY)
            if what not in ("cut", "deaf", "busy"):
                self.server.sendall(sent)
        if what == "lose":
            self.client.shutdown(socket.SHUT_RDWR)
            self.answered.wait(2)
        elif self.silent.is_set():
            back.join()  # the server is not told that its client is gone
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(
                    socket.SHUT_RDWR
                )  # closing alone would wait for the other thread's recv

    def _carry_back(self) -> None:
        with suppress(OSError):
            while data := self.server.recv(1 << 16):
                if self.silent.is_set():
                    self.answered.set()
                else:
                    self.client.sendall(data)
        if not self.silent.is_set():
            with suppress(OSError):
                self.client.shutdown(socket.SHUT_RDWR)
