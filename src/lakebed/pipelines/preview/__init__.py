"""What a pipeline would do or return, without running it."""
