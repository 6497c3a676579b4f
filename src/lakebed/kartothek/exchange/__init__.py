"""Tables as datasets and datasets as tables."""
