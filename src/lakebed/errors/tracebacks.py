"""The Python traceback in Spark's message about a function that failed on one of its workers."""

import re
from dataclasses import dataclass

_HEAD = "Traceback (most recent call last):"
_END = re.compile(r"\n\s+at [\w.$]+[(/]|\n\s*(?:JVM stacktrace|Driver stacktrace|Caused by:)")
_PYSPARK_ABOVE = re.compile(
    rf"(?<={re.escape(_HEAD)}\n)"
    r'(?:  File "[^"\n]*(?:-packages|python|pyspark\.zip)/pyspark/[^\n]*\n(?:    [^\n]*\n)*)+(?= '
    r' File ")'
)
_PIPELINE = re.compile(
    r'^  File "<([^"\n]+/pipeline\.py)>", line (\d+)', re.MULTILINE
)  # as `run_code` names them
_LONGEST_LINE, _LONGEST = 300, 3000


@dataclass(frozen=True)
class WorkerTraceback:
    """The exception of a function, and the line of the pipeline that raised it, if known."""

    raised: str
    text: str
    file: str = ""
    line: int | None = None

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def what(self) -> str:
        return f"a Python function failed on Spark's workers: {self.raised}\n{self.text}\n"


def worker_traceback(said: str) -> WorkerTraceback | None:
    """The traceback in a message, without pyspark's frames above the user's, cut if it is long."""
    _, head, rest = said.partition(_HEAD)
    if not head:
        return None
    whole = _PYSPARK_ABOVE.sub("", head + _END.split(rest, maxsplit=1)[0].rstrip())
    lines = [
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
        for line in whole.splitlines()
    ]
    frames = _PIPELINE.findall(whole)
    file, line = frames[-1] if frames else ("", None)
    return WorkerTraceback(_raised(lines), _last(lines), file, int(line) if line else None)


def _raised(lines: list[str]) -> str:
    """The exception: the first line after the innermost frame that is not part of it."""
    innermost = max(
        (number for number, line in enumerate(lines) if line.startswith('  File "')), default=0
    )
    return next((line for line in lines[innermost + 1 :] if line[:1].strip()), lines[-1])


def _last(lines: list[str]) -> str:
    text = "\n".join(lines)
    return text if len(text) <= _LONGEST else "…\n" + text[-_LONGEST:].partition("\n")[2]
