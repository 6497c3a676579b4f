"""Which layouts would have paid for the queries of the log, and which do not."""
