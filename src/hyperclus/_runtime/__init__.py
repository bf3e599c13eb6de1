"""How code runs: checkpoints, progress, compiled kernels, threads, optional imports. Knows no hypergraph."""
