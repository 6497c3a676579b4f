"""The names a template may use; `functions.py` defines them."""

from collections.abc import Iterable

READS = frozenset({"ref", "landing_zone"})
RANGE = frozenset({"batch_start", "batch_end"})  # what a backfill gives
VALUES = frozenset({"this", "watermark", "watermark_value", "run_started_at"}) | RANGE
JINJAS = frozenset(
    {"loop", "range", "dict", "namespace", "cycler", "joiner", "caller", "varargs", "kwargs"}
)


class Words:
    """All names; those of the questions about the strategy are known to whoever has strategies."""

    def __init__(self, questions: Iterable[str]) -> None:
        self.questions = frozenset({"is_incremental", *questions})
        self.functions = READS | self.questions | {"var"}
        self.ours = self.functions | VALUES | {"config"}
        self.allowed = self.ours | JINJAS
