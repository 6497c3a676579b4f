"""Several runs: one after the other along the graph, or published together."""
