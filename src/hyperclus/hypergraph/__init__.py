"""From data to one valid value: the hypergraph, its incidence matrix, ids, weights and summary."""
