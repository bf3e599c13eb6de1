"""From eigenpairs to a partition: initial partitions, searches, cuts, number of clusters, local clusters."""
