"""One file per method: `labels(problem)` gives the cluster of each vertex, from arrays in memory."""
