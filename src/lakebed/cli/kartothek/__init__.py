"""Commands about Kartothek datasets."""
