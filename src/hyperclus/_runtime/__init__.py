"""How code runs: checkpoints, progress, compiled kernels, threads, files, locks. Knows no hypergraph."""
