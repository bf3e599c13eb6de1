"""Fuzz the readers and `cluster`: `make fuzz MINUTES=30`, or `python tests/fuzz/run.py --minutes 30 csv hif`.

The time is shared by the targets. Each runs in a process of its own, with atheris (coverage decides which
inputs are kept) if it is installed, and otherwise by random changes of the corpus. A finding is an exception
other than a `HyperclusError`, more than 10 s of processor time or 1 GB of memory for one input, or the end of
the process; its input is saved in `found/`, and the exit code is 1.
"""

import argparse
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS, BYTES = 10, 1 << 30  # for one input
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]


class Finding(BaseException):
    """Too much time or memory; no handler of `Exception` catches it."""


def guarded(target, folder, data):
    """Run one input; a finding raises."""
    (folder / "input").write_bytes(data)  # for the parent, in case this process ends
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        target(folder, data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if (used := resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) > BYTES:
        raise Finding(f"{used / 1e9:.1f} GB of memory")


def mutated(rng, pool):
    """A copy of an input with a few changes: flipped, removed, repeated and foreign pieces."""
    data = bytearray(rng.choice(pool))
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        place = rng.randrange(len(data) + 1)
        stop = min(len(data), place + rng.choice((1, 2, 4, 16, 64)))
        how = rng.randrange(6)
        if how == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif how == 1:
            del data[place:stop]
        elif how == 2:
            data[place:place] = data[place:stop] * rng.choice((1, 2, 30))
        elif how == 3:
            other = rng.choice(pool)
            start = rng.randrange(len(other) + 1)
            data[place:stop] = other[start : start + rng.choice((1, 4, 32))]
        elif how == 4:
            data[place:stop] = rng.randbytes(stop - place)
        else:
            data[place:stop] = rng.choice(
                (b"-1", b"0", b"1e400", b"nan", b"\xff", b"\0", b'"', b"\n", b"", b"9" * 20)
            )
    return bytes(data[: 1 << 16])


def fuzz(name, folder, seconds, seed):
    """Fuzz one target in this process until the time is over or something is found."""
    signal.signal(signal.SIGPROF, _too_long)
    if find_spec("atheris") and name != "cluster":  # whose loops are compiled and give no coverage
        _with_atheris(name, folder, seconds, seed)
    from fuzz.targets import TARGETS, seeds

    rng, pool, target = random.Random(seed), seeds(name), TARGETS[name]
    end, n_runs = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        guarded(target, folder, pool[n_runs] if n_runs < len(pool) else mutated(rng, pool))
        n_runs += 1
    print(f"{name}: {n_runs:,} inputs, nothing found", flush=True)


def _too_long(*_):
    raise Finding(f"more than {SECONDS} s of processor time")


def _with_atheris(name, folder, seconds, seed):
    """Fuzz one target with atheris, which ends the process."""
    import atheris

    with atheris.instrument_imports(include=["hyperclus.io", "hyperclus.hypergraph", "hyperclus._runtime"]):
        from fuzz.targets import TARGETS, seeds
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(seeds(name)):
        (corpus / str(number)).write_bytes(data)
    options = [
        f"-max_total_time={seconds:.0f}",
        f"-seed={seed + 1}",
        f"-artifact_prefix={folder}/",
        "-verbosity=0",
    ]
    limits = ["-timeout=600", "-rss_limit_mb=8000", "-max_len=65536", "-print_final_stats=1"]
    atheris.Setup([name, *options, *limits, str(corpus)], lambda data: guarded(TARGETS[name], folder, data))
    atheris.Fuzz()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=5.0, help="of all targets together")
    arguments.add_argument("--seed", type=int, default=None, help="random by default")
    arguments.add_argument("--inside", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    arguments.add_argument("targets", nargs="*")
    given = arguments.parse_args()
    seed = random.randrange(1 << 30) if given.seed is None else given.seed
    if given.inside is not None:
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", category=UserWarning)
        fuzz(given.targets[0], given.inside, 60 * given.minutes, seed)
        return
    from fuzz.targets import TARGETS

    names = given.targets or list(TARGETS)
    found = [name for name in names if not _run(name, given.minutes / len(names), seed)]
    sys.exit(f"found something in: {', '.join(found)} (seed {seed})" if found else 0)


def _run(name, minutes, seed):
    """Fuzz a target in a process of its own; save the input if something is found."""
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
    call = [
        sys.executable,
        __file__,
        "--minutes",
        str(minutes),
        "--seed",
        str(seed),
        "--inside",
        str(folder),
        name,
    ]
    print(f"{name}: {minutes:.1f} minutes", flush=True)
    try:
        done = subprocess.run(call, timeout=60 * minutes + 900)
        sound = done.returncode == 0
    except subprocess.TimeoutExpired:
        sound = False
    if not sound and (folder / "input").exists():
        data = (folder / "input").read_bytes()
        (HERE / "found").mkdir(exist_ok=True)
        saved = HERE / "found" / f"{name}-{sha256(data).hexdigest()[:12]}"
        saved.write_bytes(data)
        print(f"{name}: found something; the input is in {saved}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    return sound


if __name__ == "__main__":
    try:
        main()
    except Finding:
        traceback.print_exc()
        sys.exit(1)
