"""What a run will do: inputs pinned, SQL compiled and checked, steps decided."""
