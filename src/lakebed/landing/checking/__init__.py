"""Whether landing files may enter a table: columns inferred, rows counted, faults named."""
