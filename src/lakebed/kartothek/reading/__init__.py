"""Reading datasets: the state, the partitions a query needs, and their rows."""
