"""One table read later: selected now, pinned to a snapshot, read by any frame library."""
