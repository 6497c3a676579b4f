"""A way to a server on which answers get lost: the request arrives and is obeyed, its answer does not come back."""

import socket
import socketserver
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from tests.servers.processes import LOOPBACK


@contextmanager
def lossy_way(port: int, *, loses: Callable[[bytes], bool]) -> Iterator[int]:
    """A port that leads to `port`; when `loses` says so of what a client sent, the connection breaks instead of answering."""

    class Way(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((LOOPBACK, port)) as server, suppress(OSError):
                carry_back = Thread(target=_carry, args=(server, self.request), daemon=True)
                started = False
                while sent := self.request.recv(1 << 16):
                    if loses(sent):
                        self.request.shutdown(socket.SHUT_RDWR)
                        server.settimeout(2)
                        server.sendall(sent)
                        with suppress(OSError):
                            server.recv(1 << 16)  # obeyed, and answered to nobody
                        server.shutdown(socket.SHUT_RDWR)  # closing alone would wait for the other thread's recv
                        return
                    server.sendall(sent)
                    if not started:
                        carry_back.start()
                        started = True

    class Ways(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Ways((LOOPBACK, 0), Way) as ways:
        Thread(target=ways.serve_forever, daemon=True).start()
        try:
            yield ways.server_address[1]
        finally:
            ways.shutdown()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
