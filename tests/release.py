"""Checks of what `make wheels` built: `python tests/release.py dist` looks into the files.

With --try, the wheel for this machine is installed in a fresh environment and clusters. With --extras it is
also installed with each extra alone, which takes the network and many minutes: what the extra is for must
work, and must name the extra where it is missing.
"""

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import venv
import zipfile
from pathlib import Path

START = """
import subprocess, sys
import hyperclus as hc
h = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c"], ["c", "d"], ["d", "e"], ["d", "e", "f"]])
part = hc.cluster(h, k=2)
assert round(part.ncut, 4) == 0.1667
def command(*words, **options):
    return subprocess.Popen([sys.executable, "-m", "hyperclus", *words], text=True, **options)
open("t.csv", "w").write("vertex,edge\\na,x\\nb,x\\nb,y\\nc,y\\n")
"""
FEATURES = {  # what an extra is for
    "attributes": "import numpy as np\n"
    "X = np.random.default_rng(0).random((20_001, 3))\n"
    "hc.cluster(None, 2, attributes=X, chance=False, effort='fast')",
    "cli": "sys.exit(command('cluster', '--help').wait())",
    "dask": """
        try:
            import pyarrow as pa, pyarrow.parquet as pq
        except ImportError:
            open("t.parquet", "w").close()
        else:
            pq.write_table(pa.table({"vertex": [1, 1, 2, 3, 3, 4], "edge": [1, 2, 1, 3, 4, 4]}), "t.parquet")
        if __name__ == "__main__":
            hc.cluster_files("t.parquet", k=2)""",
    "datasets": "from hyperclus.datasets import download; download._pooch()",
    "demo": "sys.exit(command('demo').wait())",
    "embeddings": "hc.research.baselines.hyperedge2vec(h, 2, epochs=2)",
    "excel": """
        try:
            import openpyxl
        except ImportError:
            open("t.xlsx", "wb").write(b"PK\\3\\4")
        else:
            book = openpyxl.Workbook()
            [book.active.append(row) for row in (["vertex", "edge"], ["a", "x"], ["b", "x"])]
            book.save("t.xlsx")
        assert hc.read("t.xlsx").n_vertices == 2""",
    "explore": """
        server = command("explore", "t.csv", "--no-browser", stdout=subprocess.PIPE)
        address = server.stdout.readline().strip()
        server.terminate()  # and with it the process that holds the data
        server.wait()
        sys.exit(not address.startswith('http://127.0.0.1:'))""",
    "files": "assert hc.read('t.csv').n_vertices == 3",
    "hypergraphx": "hc.io.to_hypergraphx(h)",
    "hypernetx": "hc.io.to_hypernetx(h)",
    "networkx": "hc.io.to_networkx(h)",
    "pandas": "part.to_frame()",
    "plots": "import os; os.environ['MPLBACKEND'] = 'agg'; part.plot_spectrum()",
    "report": "part.to_html('t.html')",
    "scikit-network": "hc.io.to_sknetwork(h)",
    "sklearn": "import hyperclus.sklearn as s; s.HypergraphClustering(n_clusters=2).fit(h.gamma.T.tocsr())",
    "verify": "part.certificate('t.cert'); assert hc.verify('t.cert', h)",
    "xgi": "hc.io.to_xgi(h)",
}
ASKED_FIRST = {"demo": "cli", "explore": "cli"}  # a command needs the command line first
NEEDED = """
__init__.py py.typed datasets/sources.json datasets/files/zoo.data.gz datasets/files/cora.npz
engines/kernels.cu report/html/page.css report/html/start.js research/paper/published.json _native/kernels.lib
""".split()
LICENSES = ("LICENSE", "NOTICE", "LICENSES/MIT.txt", "LICENSES/Apache-2.0.txt")
BINARIES = {  # how the library begins: magic numbers of ELF, Mach-O and PE
    "linux": b"\x7fELF",
    "macosx": b"\xcf\xfa\xed\xfe",
    "win": b"MZ",
}


def problems_of_wheel(path: Path) -> list[str]:
    """What is missing in a wheel, or should not be there."""
    platform = path.stem.split("-")[-1]
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        info = next(name.split("/")[0] for name in names if ".dist-info/" in name)
        metadata = wheel.read(f"{info}/METADATA").decode()
        library = (
            wheel.read("hyperclus/_native/kernels.lib") if "hyperclus/_native/kernels.lib" in names else b""
        )
    found = [f"{name} is missing" for name in NEEDED if f"hyperclus/{name}" not in names]
    found += [f"{name} is missing" for name in LICENSES if f"{info}/licenses/{name}" not in names]
    found += [f"{name} is not needed" for name in names if not name.startswith(("hyperclus/", info))]
    found += [f"{name} is not needed" for name in names if name.endswith((".h", ".cc", ".pyc"))]
    system = next(system for system in ("linux", "macosx", "win") if system in platform)
    if not library.startswith(BINARIES[system]):
        found.append(f"kernels.lib is not for {platform}")
    return found + problems_of_text(metadata)


def problems_of_text(metadata: str) -> list[str]:
    """Links and pictures that lead nowhere in what an index shows."""
    text = metadata.partition("\n\n")[2]
    dead = re.findall(r"\]\((?!https?://|#)[^)]*\)|(?:src|srcset|href)=\"(?!https?://)[^\"]*", text)
    return [f"dead link {link}" for link in dead] + ["no description"] * (len(text) < 1000)


def problems_of_sdist(path: Path) -> list[str]:
    """What is missing in a source distribution."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = [
        "hatch_build.py",
        "README.md",
        "pyproject.toml",
        "src/hyperclus/_native/library.cc",
        "tests/release.py",
    ]
    return [f"{name} is missing" for name in (*needed, *LICENSES) if name not in names] + [
        f"{name} is not needed" for name in names if name.endswith((".lib", ".pyc"))
    ]


def problems_of_recipe(path: Path) -> list[str]:
    """What rattler-build says against the recipe for conda."""
    from rattler_build import RattlerBuildError, Stage0Recipe, VariantConfig

    tools = "python: ['3.12']\ncxx_compiler: ['gxx']\nc_stdlib: ['sysroot']\n"
    try:
        rendered = Stage0Recipe.from_file(path).render(VariantConfig.from_yaml(tools))
    except RattlerBuildError as error:
        return [f"{path.name}: {error}"]
    return [] if len(rendered) == 1 else [f"{path.name}: {len(rendered)} packages instead of 1"]


def run(python: Path, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code, which begins with what all have in common, in a folder of its own."""
    work = folder / "work"  # beside the environments, whose names are those of libraries
    work.mkdir(exist_ok=True)
    (work / "code.py").write_text(START + textwrap.dedent(code), encoding="utf-8")
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [python, "code.py"], cwd=work, env=alone, capture_output=True, text=True, timeout=600
    )


def environment(folder: Path, requirement: str) -> Path:
    """Install a requirement in a fresh environment, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", requirement], check=True)
    return python


def problems_of_extras(wheel: Path, extras: list[str]) -> list[str]:
    """Try the wheel without extras and with each of them alone."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = environment(folder / "plain", str(wheel))
        if done := run(plain, "", folder).stderr:
            found.append(done)
        for extra in extras:
            done = run(plain, FEATURES[extra], folder)
            sentence = f"pip install 'hyperclus[{ASKED_FIRST.get(extra, extra)}]'"
            if done.returncode == 0 or sentence not in done.stderr:
                found.append(f"{extra}: without it, the sentence is not {sentence}: {done.stderr[-300:]}")
            done = run(environment(folder / extra, f"{wheel}[{extra}]"), FEATURES[extra], folder)
            if done.returncode:
                found.append(f"{extra}: does not work alone: {done.stderr[-2000:]}")
            print(f"{extra}: tried", flush=True)
    return found


def for_this_machine(wheels: list[Path]) -> Path:
    """The wheel that can be installed here."""
    system = {"linux": "manylinux", "darwin": "macosx", "win32": "win"}[sys.platform]
    machine = {"AMD64": "amd64"}.get(os.environ.get("PROCESSOR_ARCHITECTURE", ""), "")
    machine = machine or os.uname().machine
    return next(
        wheel
        for wheel in wheels
        if re.search(rf"-{system}_.*{machine}\.whl$|-{system}_{machine}", wheel.name)
    )


def main() -> None:
    """Check the files of a folder, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--try", action="store_true", dest="one", help="install and run the wheel")
    parser.add_argument("--recipe", type=Path, help="also check this recipe for conda")
    parser.add_argument("--extras", nargs="*", help="try these extras, or all")
    chosen = parser.parse_args()
    wheels, sources = sorted(chosen.folder.glob("*.whl")), sorted(chosen.folder.glob("*.tar.gz"))
    found = [f"{path.name}: {problem}" for path in wheels for problem in problems_of_wheel(path)]
    found += [f"{path.name}: {problem}" for path in sources for problem in problems_of_sdist(path)]
    if chosen.recipe:
        found += problems_of_recipe(chosen.recipe)
    if not wheels:
        found.append(f"there is no wheel in {chosen.folder}; make wheels")
    elif chosen.one or chosen.extras is not None:
        extras = sorted(FEATURES) if chosen.extras == [] else chosen.extras or []
        found += problems_of_extras(for_this_machine(wheels).resolve(), extras)
    print(
        *found or [f"{len(wheels)} wheels and {len(sources)} source distributions: as they should be"],
        sep="\n",
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
