"""Care and checks of a lake as JSON-ready values."""
