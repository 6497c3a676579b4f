"""The names a template may use; `functions.py` defines them."""

STRATEGY_TESTS = {
    "is_scd2": "scd2",
    "is_snapshot": "snapshot",
    "is_append_only": "append_only",
    "is_delete_insert": "delete_insert",
    "is_full_refresh": "full_refresh",
    "is_soft_delete": "soft_delete",
}
READS = frozenset({"ref", "landing_zone"})
QUESTIONS = frozenset({"is_incremental", *STRATEGY_TESTS})
FUNCTIONS = READS | QUESTIONS | {"var"}
RANGE = frozenset({"batch_start", "batch_end"})  # what a backfill gives
VALUES = frozenset({"this", "watermark", "watermark_value", "run_started_at"}) | RANGE
OURS = FUNCTIONS | VALUES | {"config"}
JINJAS = frozenset(
    {"loop", "range", "dict", "namespace", "cycler", "joiner", "caller", "varargs", "kwargs"}
)
ALLOWED = OURS | JINJAS
