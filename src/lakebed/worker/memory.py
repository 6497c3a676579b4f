"""How much memory there is, and how much a worker's processes have."""

import os
from pathlib import Path

_SHORT = 0.05  # of the machine's memory that must be free


def is_short() -> bool:
    """Whether the machine, or the container, has hardly any memory left."""
    return any(left < total * _SHORT for left, total in (_of_machine(), *_of_group()))


def _of_machine() -> tuple[int, int]:
    lines = Path("/proc/meminfo").read_text().splitlines()
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    left, total = (int(told[name].split()[0]) for name in ("MemAvailable", "MemTotal"))
    return left, total


def _of_group(folder: Path = Path("/sys/fs/cgroup")) -> list[tuple[int, int]]:
    """What the container may still take, if it has a limit. Its cached files can be dropped."""
    try:
        limit = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
        told = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return [(limit - used + int(told["inactive_file"]), limit)]
    except (OSError, ValueError, KeyError):  # no limit ("max"), or no container
        return []


def memory_of(pid: int) -> int:
    """Bytes that a process and everything it has started occupy."""
    own = _resident(pid)
    return own + sum(memory_of(child) for child in _children(pid))


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _children(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(one) for each in threads for one in (each / "children").read_text().split()]
    except OSError:
        return []
