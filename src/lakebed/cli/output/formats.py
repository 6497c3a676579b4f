"""Numbers and times as people read them."""

from datetime import UTC, datetime


def format_count(number: int | None) -> str:
    """`12,345`; empty if unknown."""
    return "" if number is None else f"{number:,}"


def plural(number: int, noun: str) -> str:
    """`1 row`, `12 rows`."""
    return f"{format_count(number)} {noun}{'' if number == 1 else 's'}"


def format_time(time: datetime | None) -> str:
    """`2026-11-15 09:30:12`, in UTC."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if time else ""


def shorten(text: str, longest: int | None) -> str:
    """A text cut to `longest` characters; whole if that is None."""
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
