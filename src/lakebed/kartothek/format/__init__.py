"""The files of a Kartothek dataset: names, metadata, schemas and values of partitions."""
