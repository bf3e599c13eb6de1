"""Check that two checkouts give the same labels and the same NCut, bit by bit, on the paper's nine data sets.

Covers every effort of the search, every rounding and strategy of HyperClus-G, `refine`, and the methods of
the paper's tables (the embeddings and DiffEq on the small sets, since they take minutes on the others):

    python benchmarks/same_answers.py record old.json --checkout ../old
    python benchmarks/same_answers.py record new.json
    python benchmarks/same_answers.py compare old.json new.json

`record` resumes: answers that are in the file already are not computed again.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SMALL = ("car", "zoo", "digit-24")  # run the slow methods of the paper here


def answers(folder: Path | None) -> Iterator[tuple[str, Callable[[], object]]]:
    """Name each answer, and give the call that computes its partition."""
    import hyperclus as hc

    try:
        from hyperclus.research import datasets
        from hyperclus.research.paper.methods import METHODS
    except ImportError:  # before the rooms
        from hyperclus.paper.methods import METHODS

        from hyperclus import datasets
    hyperclus_g = getattr(hc, "hyperclus_g", partial(hc.cluster, method="hyperclus-g"))
    slow = {"DiffEq", "node2vec", "hyperedge2vec", "HyperClus-G as written"}
    for name in datasets.names():
        data = datasets.load(name, folder=folder)
        h, reweigh = data.hypergraph, data.reweigh
        for effort in ("fast", "default", "thorough"):
            yield f"{name}: effort {effort}", partial(hc.cluster, h, data.k, effort=effort)
        yield f"{name}: alpha 1", partial(hc.cluster, h, data.k, alpha=1.0)
        yield f"{name}: min_share", partial(hc.cluster, h, data.k, min_share=0.5 / data.k)
        yield f"{name}: refine", partial(hc.refine, h, data.classes)
        for rounding in ("sign", "sweep"):
            for strategy in ("best", "largest"):
                how = {"rounding": rounding, "strategy": strategy, "reweigh": reweigh}
                yield f"{name}: HyperClus-G {rounding} {strategy}", partial(hyperclus_g, h, data.k, **how)
        for title, method in METHODS.items():
            if title not in slow or name in SMALL:
                yield f"{name}: {title}", partial(method.run, data, h, reweigh, 0)


def record(file: Path, folder: Path | None, only: str) -> None:
    """Compute every answer that the file has not got."""
    found = json.loads(file.read_text()) if file.exists() else {}
    for name, call in answers(folder):
        if name in found or only not in name:
            continue
        start = time.perf_counter()
        part = call()
        digest = hashlib.sha256(part.labels.astype("int64").tobytes()).hexdigest()
        found[name] = {
            "labels": digest,
            "ncut": float(part.ncut).hex(),
            "bound": float(part.lower_bound).hex(),
        }
        file.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{name}: NCut {part.ncut:.6f} in {time.perf_counter() - start:.1f} s", flush=True)


def compare(first: Path, second: Path) -> int:
    """Print what differs; return the number of answers that do."""
    one, other = json.loads(first.read_text()), json.loads(second.read_text())
    shared = [name for name in one if name in other]
    differ = [name for name in shared if one[name] != other[name]]
    for name in differ:
        fields = ", ".join(field for field in one[name] if one[name][field] != other[name][field])
        print(f"{name}: {fields} differ")
    print(
        f"{len(shared) - len(differ)} of {len(shared)} answers are identical;"
        f" {len(one)} and {len(other)} recorded"
    )
    return len(differ)


def main() -> None:
    """Read the arguments; `record` runs in a process that imports the given checkout."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record")
    recorder.add_argument("file", type=Path)
    recorder.add_argument("--checkout", type=Path, default=ROOT, help="repository to import hyperclus from")
    recorder.add_argument(
        "--data", type=Path, help="folder of UCI's files, for checkouts whose package has no data"
    )
    recorder.add_argument("--only", default="", help="answers whose name contains this text")
    comparer = commands.add_parser("compare")
    comparer.add_argument("first", type=Path)
    comparer.add_argument("second", type=Path)
    given = parser.parse_args()
    if given.command == "compare":
        sys.exit(compare(given.first, given.second) > 0)
    source = str((given.checkout / "src").resolve())
    if os.environ.get("PYTHONPATH") == source:
        record(given.file, given.data, given.only)
        return
    done = subprocess.run([sys.executable, *sys.argv], env={**os.environ, "PYTHONPATH": source}, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
