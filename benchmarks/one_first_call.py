"""The first two calls in a new process: `python one_first_call.py LIBRARY PROBLEM` prints them as JSON.

Nothing is imported before the clock starts but what it needs itself. The problem is an npz file with the
parts of a CSR matrix, a row per vertex; reading it is not counted.
"""

import sys
import time
from pathlib import Path

K = 3


def hyperclus() -> object:
    """Import `cluster`, as `import hyperclus` alone loads next to nothing; its call takes a sparse matrix."""
    import scipy.sparse  # noqa: F401 - the input is one of its matrices, for both libraries

    from hyperclus import cluster

    return lambda incidences: cluster(incidences, K).labels


def scikit_network() -> object:
    """Import scikit-network, and scikit-learn for its k-means."""
    from scipy.sparse import csr_matrix
    from sklearn.cluster import KMeans
    from sknetwork.embedding import Spectral

    def call(incidences: object) -> object:
        rows = Spectral(K).fit(csr_matrix(incidences), force_bipartite=True).embedding_row_
        return KMeans(K, random_state=0).fit_predict(rows)

    return call


def peak_megabytes() -> float:
    """Peak resident memory since this program began, on Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def timed(call: object, *given: object) -> tuple[object, dict[str, float]]:
    """The value of a call, and its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = call(*given)
    return value, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def main() -> None:
    """Import, call twice, and print the seconds of each and the peak memory after the first call."""
    call, importing = timed({"hyperclus": hyperclus, "scikit-network": scikit_network}[sys.argv[1]])
    import json

    import numpy as np
    from scipy.sparse import csr_array

    with np.load(sys.argv[2]) as arrays:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        incidences = csr_array(parts, shape=tuple(arrays["shape"].tolist()))
    _, first = timed(call, incidences)
    peak = peak_megabytes()
    _, second = timed(call, incidences)
    print(json.dumps({"import": importing, "first": first, "second": second, "peak": peak}))


if __name__ == "__main__":
    main()
