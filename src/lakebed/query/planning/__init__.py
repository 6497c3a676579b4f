"""From a query to the files it reads: tables resolved, pinned and pruned."""
