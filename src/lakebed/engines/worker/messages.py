"""Messages between a worker and its clients: JSON with a length before it, and open files."""

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

MOST_FILES = 200
_LARGEST = 64 * 1024 * 1024
_HEAD = struct.Struct("!I")
_CREDENTIALS = struct.Struct("3i")


def send(to: socket.socket, message: dict[str, Any], files: Sequence[int] = ()) -> None:
    """Send a message, with open files if there are any."""
    text = json.dumps(message).encode()
    packed = _HEAD.pack(len(text)) + text
    sent = socket.send_fds(to, [packed], list(files)) if files else 0
    if rest := packed[sent:]:  # to send nothing fails, too, if the other side has answered and gone
        to.sendall(rest)


def receive(source: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and the files that came with it; None when the other side has gone, or
    talks nonsense.
    """
    try:
        head, files, _, _ = socket.recv_fds(source, _HEAD.size, MOST_FILES)
        head += _exactly(source, _HEAD.size - len(head)) if head else b""
        if not head:
            return None
        (length,) = _HEAD.unpack(head)
        if length > _LARGEST:
            return None
        message = json.loads(_exactly(source, length))
    except (ConnectionError, EOFError, TimeoutError, ValueError):
        return None
    return (message, files) if isinstance(message, dict) else None


def _exactly(source: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = source.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def peer(connection: socket.socket) -> tuple[int, int]:
    """Process id and user id at the other end, as the system knows them."""
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(told)
    return pid, uid


def is_own(connection: socket.socket) -> bool:
    """Whether the other end is a process of the same user."""
    return peer(connection)[1] == os.geteuid()
