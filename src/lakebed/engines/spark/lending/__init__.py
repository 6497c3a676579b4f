"""One JVM for several processes: the worker's side, which lends it, and the borrower's."""
