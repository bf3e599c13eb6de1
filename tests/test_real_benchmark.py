"""The benchmark of real data (`make real`) on a small planted folder, with hyperclus alone."""

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from real_data import bottleneck, methods, page  # noqa: E402

K, SIZE = 3, 12


def planted_rows():
    """Incidences of three groups with 30 hyperedges each: five members of the group, and one of another."""
    rng = np.random.default_rng(0)
    for edge in range(30 * K):
        group = edge % K
        members = rng.choice(SIZE, 5, replace=False) + group * SIZE
        stranger = (group + 1) % K * SIZE + rng.integers(SIZE)
        yield from ((f"v{vertex}", f"e{edge}", 1) for vertex in [*members, stranger])


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "sets" / "planted"
    home.mkdir(parents=True)
    with gzip.open(home / "incidences.csv.gz", "wt", newline="") as file:
        csv.writer(file).writerows([("vertex", "edge", "weight"), *planted_rows()])
    labels = [(f"v{vertex}", f"class {vertex // SIZE}") for vertex in range(K * SIZE)]
    with open(home / "labels.csv", "w", newline="") as file:
        csv.writer(file).writerows([("vertex", "label"), *labels, ("in no hyperedge", "class 0")])
    return home.parent


def run(folder, *words):
    home = folder.parent
    command = [sys.executable, str(BENCHMARKS / "real.py"), str(folder), "--methods", "hyperclus default"]
    places = ["--cache", str(home / "cache"), "--page", str(home / "REAL.md"), "--seeds", "2"]
    return subprocess.run([*command, *places, *words], capture_output=True, text=True, check=True).stdout


def test_the_page_has_all_figures_and_the_same_command_resumes(folder):
    assert "planted, hyperclus default ... NMI 1.000" in run(folder)
    written = (folder.parent / "REAL.md").read_text()
    assert "| planted | 3 | **1.000 ± 0.000** |" in written
    assert f"| planted | 3 | {SIZE} |" in written
    assert (folder.parent / "images" / "real.png").stat().st_size > 0
    assert "NMI" not in run(folder)
    assert "NMI 1.000" in run(folder, "--fresh")


def cell(method, nmis, clusters=2, **others):
    seeds = [
        {"nmi": nmi, "ari": nmi, "accuracy": nmi, "smallest": 7, "clusters": clusters, "cpu": 1}
        for nmi in nmis
    ]
    given = {"set": "a", "method": method, "k": 2, "status": "done", "date": "2026-11-16", "peak_bytes": 1e6}
    return {**given, "seeds": seeds, **others}


def test_the_sentences_follow_from_the_figures():
    cells = [
        cell("hyperclus default", [0.5, 0.7]),
        cell("Leiden", [0.9], clusters=50),
        cell("LSA + k-means", [0.65, 0.65]),
        cell("HyperNetX kumar", [], status="time", seconds=100),
    ]
    text = page.markdown(page.Tables(cells), "a machine")
    assert "mean NMI of 0.600" in text
    assert "loses by more than 0.01 on a (by 0.050, LSA + k-means)" in text
    assert "smallest cluster has 7 vertices (a)" in text
    row = "| a | 2 | 0.600 ± 0.141 | **0.650 ± 0.000** | 0.900 (50 clusters) | > 100 s |"
    assert row in text


def test_the_resolution_is_bisected_until_there_are_k_clusters():
    labels = methods.nearest_to_k(lambda resolution: np.arange(100) % int(1 + 3 * resolution), 40)
    assert len(np.unique(labels)) == 40


def test_the_bottleneck_finds_planted_groups():
    vertices, edges, weights = zip(*planted_rows(), strict=True)
    places = [int(name[1:]) for name in vertices], [int(name[1:]) for name in edges]
    found = bottleneck.labels(sparse.csr_array((np.array(weights, dtype=float), places)), K, seed=0)
    groups = found.reshape(K, SIZE)
    assert (groups == groups[:, -1:]).all()
    assert len(set(groups[:, -1])) == K


def test_information_is_that_of_the_joint_distribution():
    joint = np.random.default_rng(0).random((5, 3))
    joint /= joint.sum()
    by_loops = sum(
        joint[y, t] * np.log(joint[y, t] / joint[y].sum() / joint[:, t].sum())
        for y in range(5)
        for t in range(3)
    )
    assert bottleneck.information(joint) == pytest.approx(by_loops)
