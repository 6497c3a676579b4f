"""Publishing, and the leases under which it is done."""
