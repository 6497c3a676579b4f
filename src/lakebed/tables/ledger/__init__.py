"""What becomes of landing files when snapshots expire and runs are undone."""
