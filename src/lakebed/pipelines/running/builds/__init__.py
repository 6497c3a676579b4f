"""Several runs: in the order of the graph, each published by itself or all together."""
