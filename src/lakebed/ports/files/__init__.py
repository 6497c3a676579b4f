"""Files below a lake's root."""
