"""Agreement with known groups on real hypergraphs: `python benchmarks/real.py FOLDER --seeds 5`.

FOLDER has a folder per data set with incidences.csv.gz (vertex, edge, weight) and labels.csv (vertex, label).
The number of clusters is given, the labels are not; vertices in no hyperedge do not count. Two objectives are
compared, on gamma as it is in the file (`--unit-weights`: gamma = 1).
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np

import hyperclus as hc


def main() -> None:
    """Print a line per data set and objective: mean and standard deviation over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*", help="names of data sets; by default all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--effort", default="default")
    parser.add_argument("--unit-weights", action="store_true")
    given = parser.parse_args()
    print(
        "set                              k  objective    NMI           smallest  information     NCut  CPU s"
    )
    means: dict[str, list[float]] = {"ncut": [], "information": []}
    for path in sorted(given.folder.glob("*/incidences.csv.gz")):
        if given.sets and path.parent.name not in given.sets:
            continue
        h = hc.read(path)
        h = hc.unit_weights(h) if given.unit_weights else h
        with open(path.with_name("labels.csv"), encoding="utf-8", newline="") as file:
            classes = {row["vertex"]: row["label"] for row in csv.DictReader(file)}
        known = [classes[vertex] for vertex in h.vertex_ids.tolist()]
        k = len(set(known))
        for objective, found in means.items():
            settings = {"objective": objective, "effort": given.effort}
            started = time.process_time()
            parts = [hc.cluster(h, k, seed=seed, **settings) for seed in range(given.seeds)]
            seconds = (time.process_time() - started) / given.seeds
            nmi = np.array([part.agreement(known).nmi for part in parts])
            found.append(float(nmi.mean()))
            least = min(int(part.sizes.min()) for part in parts)
            line = f"{path.parent.name:<32}{k:>3}  {objective:<12} {nmi.mean():.3f} ± {nmi.std():.3f}"
            line = f"{line} {least:>9,}"
            best = max(part.information for part in parts), min(part.ncut for part in parts)
            print(f"{line}  {best[0]:>11.4f} {best[1]:>8.3f} {seconds:>6.1f}", flush=True)
    for objective, found in means.items():
        print(f"mean NMI over {len(found)} sets, {objective}: {np.mean(found):.3f}")


if __name__ == "__main__":
    main()
