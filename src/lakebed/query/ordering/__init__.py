"""Whether the answer of a query may depend on the order in which rows are stored."""
