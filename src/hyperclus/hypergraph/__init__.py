"""The hypergraph: an immutable value, how it is built from data, and its summary."""
