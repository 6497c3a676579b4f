"""Rendering in a separate process, which gets and returns JSON and is killed when it uses
too much.
"""

import json
import signal
import subprocess
import sys
from threading import Timer

import jinja2
import markupsafe

from lakebed.child_process import READY, program_of, send_job, start_child
from lakebed.errors import RunFailed
from lakebed.errors.source_text import SourceText
from lakebed.templates.render import Rendered

# The child limits its own processor time (`child.py`), which ends every attack within a second or
# so. This one is for a child
# that hangs, and leaves room for a machine so busy that starting Python takes seconds.
_PATIENCE = 30.0
_LONGEST_ANSWER = 16 * 1_048_576
_PROGRAM = program_of("lakebed.templates.child")
_SIMPLER = "Make the template simpler; computing belongs into the SQL."


def render_confined(file: SourceText, values: str) -> Rendered:
    """Render any template; an error gives the reason why it cannot be rendered."""
    answer, status = _ask(json.dumps({"source": file.text, "values": json.loads(values)}).encode())
    if not answer.startswith(READY):
        said = answer.decode(errors="replace").strip()[-500:] or f"nothing (exit status {status})"
        raise RunFailed(
            "the process that renders templates could not start.",
            where=sys.executable,
            next=f"It said: {said}",
        )
    return _understood(answer.removeprefix(READY).partition(b"\n")[0], status, file)


def _understood(answer: bytes, status: int, file: SourceText) -> Rendered:
    """Read the answer, which is trusted no more than the template."""
    try:
        reply = json.loads(answer)
    except ValueError:
        reply = None
    match reply:
        case {"text": str(text), "lines": [*lines]} if all(isinstance(line, int) for line in lines):
            return Rendered(text, tuple(lines))
        case {"what": str(what), "next": str(next), "line": int() | None as line}:
            raise file.error(what, line=line, next=next)
        case _:
            spent = "time" if -status in (signal.SIGPROF, signal.SIGKILL) else "memory"
            raise file.error(f"the template takes too much {spent}.", next=_SIMPLER)


def _ask(job: bytes) -> tuple[bytes, int]:
    """What the child wrote and how it ended. No more is read than an honest child would write."""
    with start_child(_PROGRAM, (jinja2, markupsafe), stderr=subprocess.STDOUT) as child:
        timer = Timer(_PATIENCE, child.kill)
        timer.start()
        try:
            send_job(child, job)
            answer = child.stdout.read(_LONGEST_ANSWER) if child.stdout else b""
        finally:
            timer.cancel()
            child.kill()
    return answer, child.returncode
