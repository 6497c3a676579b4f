"""Sizes as people read them, in the same units everywhere."""


def format_size(number: int | None) -> str:
    """`1.4 MiB`; empty if unknown."""
    if number is None:
        return ""
    size, units = float(number), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.0f} {units[0]}" if units[0] == "B" else f"{size:.1f} {units[0]}"
