"""Reading and rewriting Avro files."""
