"""Real servers for tests, on loopback ports of their own, stopped by their pid."""
