"""What pipelines would do or return, without running them."""
