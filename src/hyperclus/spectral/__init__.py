"""From a hypergraph to eigenpairs and bounds: walk, stationary distribution, Laplacian, eigen-solvers."""
