"""The cluster engine: hypergraphs that no machine holds whole, in partitions on the workers of Dask.

`pool` is all that knows Dask's API. `prepare` makes a partitioned, integer-coded copy of Parquet files, from
`source` through `shuffle`; `prepared` is what the rest of the engine reads.
"""
