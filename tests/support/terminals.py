"""Commands in a terminal of their own: a real pty, with Ctrl-C and all."""

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from pathlib import Path

LAKEBED = str(Path(sys.executable).with_name("lakebed"))
PATIENCE = 120.0
_MOVES = re.compile(r"(\r\n|\x1b\[2K|\x1b\[1A)")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """One command on a terminal of 100 columns; what it wrote is read all the time."""

    def __init__(
        self, *command: str, environment: Mapping[str, str], folder: Path, piped: bool = False
    ) -> None:
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=subprocess.PIPE if piped else theirs,
            stderr=theirs,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self._said, self._ended = bytearray(), False
        self._grown = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._ours, 4096)
            except OSError:
                part = b""
            with self._grown:
                self._said += part
                self._ended = not part
                self._grown.notify_all()
            if not part:
                return

    @property
    def raw(self) -> str:
        """All that was written, with colours."""
        return self._said.decode(errors="replace")

    @property
    def text(self) -> str:
        """All that was written, without colours and movements of the cursor."""
        return _CONTROL.sub("", self.raw).replace("\r", "")

    @property
    def shown(self) -> list[str]:
        """The lines as a reader sees them: what was erased is gone."""
        lines = [""]
        for part in _MOVES.split(self.raw):
            match part:
                case "\r\n":
                    lines.append("")
                case "\x1b[2K":
                    lines[-1] = ""
                case "\x1b[1A":
                    lines.pop()
                case _:
                    lines[-1] += _CONTROL.sub("", part).replace("\r", "")
        return [line for line in lines if line]

    def wait_for(self, text: str) -> None:
        """Return when this was written."""
        with self._grown:
            assert self._grown.wait_for(lambda: text in self.text or self._ended, PATIENCE)
            assert text in self.text, self.text

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def press_until_end(self, key: str) -> int:
        """Press a key again and again; a terminal forgets one that comes too soon."""
        while True:
            self.type(key)
            try:
                return self.process.wait(0.5)
            except subprocess.TimeoutExpired:
                continue

    def end(self) -> int:
        """The exit code, once the command has ended."""
        code = self.process.wait(PATIENCE)
        if self.process.stdout:
            self.process.stdout.close()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)
