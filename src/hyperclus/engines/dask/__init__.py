"""The Dask engine: hypergraphs in files, on many workers.

`prepare` sorts Parquet files into partitions of hyperedges, and `blocks` these into a block for each worker.
`vectors` are lazy; `schedule` plans rounds that compute them and runs their stages, `workers` sends these to
Dask, and `session` is the client's side of it. `backend` has the two protocols of an engine.
"""
