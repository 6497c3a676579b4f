"""What a run of a source would do: its batches, which are due, and what to beware of."""
