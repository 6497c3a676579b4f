"""What computes and reads rows."""
