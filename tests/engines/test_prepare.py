"""Preparation gives what `read_long` gives, whatever happens to workers and files."""

import datetime
import decimal
import os
import pickle
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyperclus as hc
from hyperclus._runtime.progress import watching
from hyperclus.engines.dask import id_keys, source
from hyperclus.engines.dask.prepare import Tuning, prepare
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.source import TableOptions
from hyperclus.engines.dask.workers import Timeouts, WorkerPool, memory_per_thread
from hyperclus.errors import ClusterError, InputError
from hyperclus.io.tables.long import read_long
from support.dask_workers import kill_one, pool  # noqa: F401


def incidences(h):
    """All incidences of a hypergraph with their weights, in any order."""
    edges = np.repeat(np.arange(h.n_edges), h.edge_sizes).tolist()
    members = h.gamma.indices.tolist()
    rows = {
        (h.vertex_ids[v], h.edge_ids[e]): (g, h.edge_weights[e])
        for v, e, g in zip(members, edges, h.gamma.data.tolist(), strict=True)
    }
    assert len(rows) == h.n_incidences
    assert len(set(h.vertex_ids.tolist())) == h.n_vertices
    assert len(set(h.edge_ids.tolist())) == h.n_edges
    return rows


def table(n_rows=3000, weighted=True, kind=None, seed=0):
    """Random incidences without duplicates."""
    rng = np.random.default_rng(seed)
    places = rng.choice(400 * 300, n_rows, replace=False)
    vertex, edge = (places % 400).tolist(), (places // 400).tolist()
    if kind is not None:
        vertex, edge = [kind(v) for v in vertex], [kind(e) for e in edge]
    columns = {"vertex": vertex, "edge": edge}
    if weighted:
        columns["weight"] = rng.uniform(0.5, 2, n_rows)
        columns["edge_weight"] = 1.0 + places // 400 % 7
    return pa.table(columns)


def written(folder, rows, files=3, group=200):
    """Write rows to several files with several row groups."""
    folder.mkdir(exist_ok=True)
    size = -(-len(rows) // files)
    for number in range(files):
        part = rows.slice(number * size, size)
        pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=group)
    return folder


def prepared(pool, data, tmp_path, piece_rows=1 << 20, partitions=None, **options):  # noqa: F811
    tuning = Tuning(partitions=partitions, min_piece_rows=piece_rows)
    return prepare(data, tmp_path / "prepared", pool, TableOptions(**options), tuning)


def check_structure(found):
    """Check the files against the docstring of `Prepared`."""
    ends = found.bucket_ends
    assert ends[0] == 0
    assert ends[-1] == found.n_vertices
    for number, size in enumerate(found.partitions):
        path = found.partition_path(number)
        indptr, members, vertices = (
            np.load(path / f"{name}.npy") for name in ("indptr", "members", "vertices")
        )
        assert (indptr.dtype, members.dtype, vertices.dtype) == (np.int64, np.int32, np.int64)
        assert (len(indptr) - 1, len(vertices), len(members)) == tuple(size)
        assert (np.diff(vertices) > 0).all()
        assert set(members.tolist()) == set(range(len(vertices)))
        names = {"indptr.npy", "members.npy", "order.npy", "vertices.npy", "edges.parquet"}
        names |= {"gamma.npy"} if found.weighted else set()
        names |= {"edge_weights.npy"} if found.edge_weighted else set()
        assert {file.name for file in path.iterdir()} == names
        for start, stop in pairwise(indptr):
            assert (np.diff(members[start:stop]) > 0).all()
    for number in range(len(ends) - 1):
        column = pq.read_table(found.bucket_path(number)).column(found.vertex)
        assert len(column) == ends[number + 1] - ends[number]
    assert {file.name for file in found.folder.iterdir()} == {"manifest.json", "partitions", "vertices"}


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", [None, str, lambda value: f"žluť-{value} 😀" * (1 + value % 3)])
def test_it_is_what_read_long_gives(pool, tmp_path, kind, weighted):  # noqa: F811
    data = written(tmp_path / "data", table(weighted=weighted, kind=kind))
    found = prepared(pool, data, tmp_path, piece_rows=500)
    check_structure(found)
    assert (found.weighted, found.edge_weighted) == (weighted, weighted)
    assert incidences(found.hypergraph()) == incidences(read_long(data))
    assert found.hypergraph().edge_ids.tolist() == read_long(data).edge_ids.tolist()  # in the original order
    assert pickle.loads(pickle.dumps(found)) == found
    assert Prepared.at(found.folder) == found
    vertex = pq.read_schema(found.bucket_path(0)).field("vertex")
    assert vertex.type == pq.read_schema(data / "part-0.parquet").field("vertex").type


DAY = datetime.date(2020, 2, 28)
KINDS = {
    "date": (lambda value: DAY + datetime.timedelta(value), pa.date32()),
    "time": (lambda value: datetime.datetime(2020, 1, 1) + datetime.timedelta(value), pa.timestamp("us")),
    "bytes": (lambda value: bytes([value % 256, value // 256]), pa.binary()),
    "fixed": (lambda value: bytes([value % 256, value // 256]), pa.binary(2)),
    "decimal": (lambda value: decimal.Decimal(value) / 4, pa.decimal128(9, 2)),
    "unsigned": (lambda value: 2**64 - 1 - value, pa.uint64()),
    "small": (lambda value: value - 200, pa.int16()),
    "large text": (str, pa.large_string()),
    "view": (str, pa.string_view()),
    "dictionary": (str, pa.dictionary(pa.int32(), pa.string())),
}


@pytest.mark.parametrize("name", KINDS)
def test_ids_of_other_types_keep_them(pool, tmp_path, name):  # noqa: F811
    make, kind = KINDS[name]
    rows = table(600, weighted=False)
    vertices = [make(value) for value in rows["vertex"].to_pylist()]
    edges = [make(value) for value in rows["edge"].to_pylist()]
    rows = pa.table({"vertex": pa.array(vertices, kind), "edge": pa.array(edges, kind)})
    found = prepared(pool, written(tmp_path / "data", rows), tmp_path)
    expected = hc.Hypergraph.from_long({"vertex": vertices, "edge": edges})
    assert incidences(found.hypergraph()) == incidences(expected)


def test_booleans_are_ids(pool, tmp_path):  # noqa: F811
    rows = pa.table({"vertex": [True, False, True], "edge": [1, 1, 2]})
    found = prepared(pool, written(tmp_path / "data", rows, 1), tmp_path)
    assert sorted(found.hypergraph().vertex_ids.tolist()) == [False, True]


@pytest.mark.parametrize("policy", ["sum", "max"])
@pytest.mark.parametrize("weighted", [True, False])
def test_duplicates_and_zeros_follow_the_policy(pool, tmp_path, policy, weighted):  # noqa: F811
    rows = table(weighted=weighted)
    twice = pa.concat_tables([rows, rows.slice(100, 500)])
    if weighted:
        weights = twice["weight"].to_numpy().copy()
        weights[::50] = 0
        twice = twice.set_column(2, "weight", [weights])
    data = written(tmp_path / "data", twice)
    found = prepared(pool, data, tmp_path, duplicates=policy)
    check_structure(found)
    assert incidences(found.hypergraph()) == incidences(read_long(data, duplicates=policy))
    assert found.weighted == (weighted or policy == "sum")


def test_weights_of_1_are_not_stored_even_if_duplicates_may_be_summed(pool, tmp_path):  # noqa: F811
    found = prepared(pool, written(tmp_path / "data", table(weighted=False)), tmp_path, duplicates="sum")
    assert not found.weighted
    check_structure(found)


def test_one_huge_hyperedge(pool, tmp_path):  # noqa: F811
    count = 200_000
    edges = np.append(np.zeros(count, dtype=int), [1, 1, 2, 2])
    rows = pa.table({"vertex": np.append(np.arange(count), [1, 2, 3, 4]), "edge": edges})
    data = written(tmp_path / "data", rows, 2, 30_000)
    found = prepared(pool, data, tmp_path, piece_rows=20_000)
    assert incidences(found.hypergraph()) == incidences(read_long(data))
    assert max(size.n_incidences for size in found.partitions) >= count


class SmallPool(WorkerPool):
    """Workers that claim to have little memory."""

    def workers(self):
        return [worker._replace(memory_limit=10_000) for worker in super().workers()]


def test_a_partition_larger_than_a_worker_is_an_error(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table())
    with pytest.raises(ClusterError, match=r"partition 0 has 3,000 rows .* start more workers"):
        prepared(SmallPool(pool.client), data, tmp_path, partitions=1)


def test_column_names_and_ways_to_name_the_files(pool, tmp_path):  # noqa: F811
    rows = table().rename_columns(["who", "what", "share", "price"])
    data = written(tmp_path / "data", rows)
    options = {"vertex": "who", "edge": "what", "weight": "share", "edge_weight": "price"}
    expected = incidences(read_long(data, **options))
    files = sorted(data.iterdir())
    for given in (
        data,
        str(data / "part-*.parquet"),
        files,
        data.as_uri(),
        data.as_uri() + "/part-*.parquet",
    ):
        found = prepared(pool, given, tmp_path, **options)
        assert incidences(found.hypergraph()) == expected
        assert (found.vertex, found.edge) == ("who", "what")
    one = prepared(pool, files[0], tmp_path, **options)
    assert incidences(one.hypergraph()) == incidences(read_long(files[0], **options))
    plain = prepared(pool, data, tmp_path, vertex="who", edge="what", edge_weight=False, partitions=7)
    assert not plain.weighted
    assert not plain.edge_weighted
    assert len(plain.partitions) == 7


def test_large_row_groups_are_split(pool, tmp_path):  # noqa: F811
    for kind in (None, str):
        data = written(tmp_path / f"data-{kind}", table(kind=kind), 2, 3000)
        found = prepared(pool, data, tmp_path, piece_rows=700)
        assert incidences(found.hypergraph()) == incidences(read_long(data))


def test_pieces_have_every_row_once(tmp_path):
    rows, sizes = (10, 3, 0, 25, 4, 4, 4), (100, 30, 0, 250, 40, 400, 40)
    footer = source.Footer(None, (None, None), rows, sizes)
    file = source.SourceFile("a", "a", 0, 0)
    for rows, size in ((10, 1000), (7, 80), (100, 10_000), (1, 1)):
        pieces = list(source.split(file, footer, rows, size))
        assert [piece.first for piece in pieces] == np.cumsum([0] + [p.n_rows for p in pieces])[:-1].tolist()
        assert sum(piece.n_rows for piece in pieces) == 50
        assert max(piece.n_rows for piece in pieces) <= rows


def faulty(tmp_path, **columns):
    """Three files; the second one has a fault in row 3."""
    folder = tmp_path / "data"
    folder.mkdir()
    good = {"vertex": [1, 2, 3, 4], "edge": [1, 1, 1, 1], "weight": [1.0] * 4}
    for number in range(3):
        here = {**good, "edge": [number] * 4, **(columns if number == 1 else {})}
        pq.write_table(pa.table(here), folder / f"part-{number}.parquet")
    return folder


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"weight": [1.0, 1.0, 1.0, None]}, "part-1.parquet: row 3, column 'weight': the weight is missing"),
        (
            {"weight": [1.0, 1.0, 1.0, -2.0]},
            "part-1.parquet: row 3, column 'weight': the weight -2.0 is negative",
        ),
        (
            {"weight": [1.0, 1.0, 1.0, np.nan]},
            "part-1.parquet: row 3, column 'weight': the weight nan is not",
        ),
        (
            {"weight": [1.0, 1.0, 1.0, np.inf]},
            "part-1.parquet: row 3, column 'weight': the weight inf is not",
        ),
        ({"weight": ["1", "1", "1", "x"]}, "part-1.parquet: row 0, column 'weight': weights must be numbers"),
        ({"vertex": [1, 2, 3, None]}, "part-1.parquet: row 3, column 'vertex': the value is missing"),
        ({"edge": [1, 2, 3, None]}, "part-1.parquet: row 3, column 'edge': the value is missing"),
        ({"vertex": ["1", "2", "3", "4"]}, "ids are int64 in some files and string in others"),
        ({"vertex": [1.0, 2.0, 3.0, 4.0]}, "an id must be an integer, text, a time or bytes, not 'double'"),
        ({"vertex": [1, 2, 3, 3]}, "vertex 3 in hyperedge 1 appears more than once"),
        ({"weight": [0.0] * 4}, "no vertex is in hyperedge 1; its weights are 0"),
        ({"vertex": [1, 2, 3, 7], "weight": [1.0, 1.0, 1.0, 0.0]}, "no hyperedge holds vertex 7"),
        ({"extra": [1, 1, 1, 1]}, None),
    ],
)
def test_faults_name_file_and_row(pool, tmp_path, columns, message):  # noqa: F811
    data = faulty(tmp_path, **columns)
    if message is None:
        assert prepared(pool, data, tmp_path).n_incidences == 12
        return
    with pytest.raises(InputError) as caught:
        prepared(pool, data, tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_duplicates_of_text_are_named(pool, tmp_path):  # noqa: F811
    rows = pa.table({"vertex": ["ann", "bob", "bob"], "edge": ["x", "y", "y"]})
    message = r"data: vertex 'bob' in hyperedge 'y' appears more than once \(1 duplicate incidences found\)"
    with pytest.raises(InputError, match=message):  # a partition cannot know how many there are in all
        prepared(pool, written(tmp_path / "data", rows), tmp_path)


@pytest.mark.parametrize(
    ("omega", "message"),
    [([1.0, 1.0, 2.0], "hyperedge 'y' has several weights"), ([1.0, 0.0, 0.0], "hyperedge 'y' is 0; leave")],
)
def test_weights_of_hyperedges_are_checked(pool, tmp_path, omega, message):  # noqa: F811
    rows = pa.table({"vertex": ["ann", "bob", "eve"], "edge": ["x", "y", "y"], "edge_weight": omega})
    with pytest.raises(InputError, match=message):
        prepared(pool, written(tmp_path / "data", rows), tmp_path)


def test_a_missing_column_and_columns_that_only_some_files_have(pool, tmp_path):  # noqa: F811
    data = faulty(tmp_path)
    with pytest.raises(
        InputError, match=r"part-0.parquet: the table has no column 'person'; its columns are"
    ):
        prepared(pool, data, tmp_path, vertex="person")
    pq.write_table(pa.table({"vertex": [1], "edge": [9]}), data / "part-7.parquet")
    with pytest.raises(
        InputError, match=r"part-7.parquet: some files have a column 'weight' and others do not"
    ):
        prepared(pool, data, tmp_path)


def test_damaged_empty_and_missing_files(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table(), 2)
    path = data / "part-1.parquet"
    content = bytearray(path.read_bytes())
    content[200:240] = b"x" * 40
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"part-1.parquet: the Parquet data are damaged"):
        prepared(pool, data, tmp_path)
    path.write_bytes(content[:1000])
    with pytest.raises(InputError, match=r"part-1.parquet: the Parquet data are damaged"):
        prepared(pool, data, tmp_path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"part-1.parquet: the file is empty"):
        prepared(pool, data, tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        prepared(pool, data / "part-5.parquet", tmp_path)
    with pytest.raises(InputError, match="there are no Parquet files"):
        prepared(pool, data / "*.pq", tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        prepared(pool, (data / "none.parquet").as_uri(), tmp_path)
    pq.write_table(table().slice(0, 0), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="the table has no rows"):
        prepared(pool, tmp_path / "none.parquet", tmp_path)


class StoppedError(Exception):
    """Raised by a listener to interrupt a run."""


def stop_at(note):
    """Interrupt the run at the first progress event with this note."""

    def listen(step):
        if step.note.startswith(note):
            raise StoppedError

    return listen


def written_at(path):
    """Identifies the content of a file; unlike its access time, this does not change when it is read."""
    return path.stat().st_ino, path.stat().st_mtime_ns


def test_an_interrupted_preparation_resumes(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table(kind=str))
    options = {"piece_rows": 500, "partitions": 4}
    with watching(stop_at("partitions 2 of 4")), pytest.raises(StoppedError):
        prepared(pool, data, tmp_path, **options)
    (key,) = (tmp_path / "prepared").iterdir()
    pieces = {path: written_at(path) for path in (key / "work" / "pieces").iterdir()}
    ready = {path: written_at(path) for path in (key / "partitions").glob("*/members.npy")}
    assert len(pieces) > 4
    assert len(ready) >= 2
    unchanged = []

    def look(step):
        if step.note.startswith("vertices"):
            unchanged.extend(written_at(path) == before for path, before in pieces.items())

    with watching(look):
        found = prepared(pool, data, tmp_path, **options)
    assert unchanged
    assert all(unchanged)
    assert all(written_at(path) == before for path, before in ready.items())
    assert incidences(found.hypergraph()) == incidences(read_long(data))


def test_the_same_call_finds_prepared_data_and_other_files_do_not(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table())
    found = prepared(pool, data, tmp_path)
    manifest = written_at(found.folder / "manifest.json")
    assert prepared(pool, data, tmp_path) == found
    assert written_at(found.folder / "manifest.json") == manifest
    assert prepared(pool, data, tmp_path, duplicates="sum").key != found.key
    shutil.copy(data / "part-0.parquet", data / "part-9.parquet")
    assert prepared(pool, data, tmp_path, duplicates="max").n_incidences == found.n_incidences
    assert len(list((tmp_path / "prepared").iterdir())) == 3


@pytest.mark.parametrize("what", ["added", "removed", "changed"])
def test_a_file_that_changes_during_the_preparation_is_named(pool, tmp_path, what):  # noqa: F811
    data = written(tmp_path / "data", table())

    def change(step):
        if step.note.startswith("numbers"):
            if what == "added":
                shutil.copy(data / "part-0.parquet", data / "part-9.parquet")
            elif what == "removed":
                (data / "part-2.parquet").unlink(missing_ok=True)
            else:
                os.utime(data / "part-2.parquet")

    name = "part-9" if what == "added" else "part-2"
    with (
        watching(change),
        pytest.raises(InputError, match=f"{name}.parquet: the file was {what} while the data"),
    ):
        prepared(pool, data, tmp_path)
    if what == "changed":  # the same command again
        assert incidences(prepared(pool, data, tmp_path).hypergraph()) == incidences(read_long(data))


def colliding_ids():
    """Two ids of 16 bytes with the same hash for seed 0: the second halves undo the difference."""
    first = [np.uint64(1), np.uint64(2)]
    with np.errstate(over="ignore"):
        start = np.uint64(id_keys.ODD) * id_keys.FIRST ^ np.uint64(16)
        states = [(start ^ word) * id_keys.FIRST for word in first]
        states = [(state ^ (state >> id_keys.HALF)) * id_keys.SECOND for state in states]
        states = [state ^ (state >> id_keys.HALF) for state in states]
    second = [np.uint64(7), np.uint64(7) ^ states[0] ^ states[1]]
    return [int(a).to_bytes(8, "big") + int(b).to_bytes(8, "big") for a, b in zip(first, second, strict=True)]


def test_some_ids_collide_for_one_seed_only():
    ids = pa.array(colliding_ids())
    for seed, distinct in ((0, 1), (1, 2), (2, 2)):
        assert len(np.unique(id_keys.hash_ids(ids, pa.binary(), seed).keys)) == distinct


@pytest.mark.parametrize("piece_rows", [1, 3000])  # with one row per piece, ids meet later
@pytest.mark.parametrize("column", ["vertex", "edge"])
def test_a_collision_of_hashes_leads_to_another_seed(pool, tmp_path, piece_rows, column):  # noqa: F811
    names = [f"{number:03}".encode() for number in range(400)]
    names[:2] = colliding_ids()
    numbers = np.arange(40)
    rows = {"vertex": numbers % 5, "edge": numbers // 5}
    rows[column] = [names[number] for number in rows[column]]
    data = written(tmp_path / "data", pa.table(rows), 1)
    found = prepared(pool, data, tmp_path, piece_rows)
    assert sorted(zip(*rows.values(), strict=True)) == sorted(incidences(found.hypergraph()))
    marks = list((tmp_path / "prepared").glob("*/collision"))
    assert len(marks) == 1
    assert list(marks[0].parent.iterdir()) == marks  # no task has written anything since
    assert prepared(pool, data, tmp_path, piece_rows) == found


def reference_hash(text, seed):
    """The hash of `id_keys.hash_ids`, byte by byte with Python's integers."""
    mask, golden = 2**64 - 1, id_keys.ODD
    state = (seed + golden) * int(id_keys.FIRST) & mask ^ len(text)
    for start in range(0, len(text), 8):
        state = (state ^ int.from_bytes(text[start : start + 8], "big")) * int(id_keys.FIRST) & mask
        state = (state ^ (state >> 32)) * int(id_keys.SECOND) & mask
        state ^= state >> 32
    state = (state ^ (state >> 32)) * golden & mask
    state ^= state >> 32
    return state - 2**64 if state >= 2**63 else state


def test_the_hash_follows_its_definition_and_separates_similar_texts():
    words = [f"v{number}" for number in range(100_000)] + ["", "\0", "\0\0", "a" * 8, "a" * 9, "b" * 1001]
    keys = id_keys.hash_ids(pa.array(words), pa.string(), 3).keys
    assert len(np.unique(keys)) == len(words)
    assert keys[-500:].tolist() == [reference_hash(word.encode(), 3) for word in words[-500:]]
    sliced = id_keys.hash_ids(pa.array(words).slice(7, 300), pa.string(), 3).keys
    assert sliced.tolist() == keys[7:307].tolist()
    assert not set(id_keys.hash_ids(pa.array(words), pa.string(), 4).keys.tolist()) & set(keys.tolist())


def test_shares_are_even():
    for count in (3, 300, 70_000):
        shares = id_keys.share_of(np.arange(10 * count), count, 1)
        assert shares.max() < count
        assert np.bincount(shares, minlength=count).max() < 60


def test_progress_is_reported(pool, tmp_path):  # noqa: F811
    steps = []
    with watching(steps.append):
        prepared(pool, written(tmp_path / "data", table()), tmp_path)
    assert {step.stage for step in steps} == {"preparation"}
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert steps[-1].done == 3000


@pytest.mark.parametrize("stage", ["pieces", "partitions", "vertices"])
def test_a_preparation_survives_a_killed_worker(pool, tmp_path, stage):  # noqa: F811
    data = written(tmp_path / "data", table(kind=str))
    killed = []

    def kill(step):
        if not killed and step.note.startswith(stage):
            killed.append(kill_one(pool))

    with watching(kill):
        found = prepared(pool, data, tmp_path, piece_rows=500)
    assert killed
    assert incidences(found.hypergraph()) == incidences(read_long(data))


def test_two_clients_at_once(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table(kind=str))
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: prepared(WorkerPool(pool.client), data, tmp_path, 500), range(2)))
    assert found[0] == found[1]
    assert incidences(found[0].hypergraph()) == incidences(read_long(data))


def test_a_file_that_is_overwritten_meanwhile_is_named(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table())

    def overwrite(step):
        (data / "part-2.parquet").write_bytes(b"overwritten")

    with (
        watching(overwrite),
        pytest.raises(InputError, match=r"part-2.parquet: the file was changed while the data"),
    ):
        prepared(pool, data, tmp_path, piece_rows=500)
    assert not list((tmp_path / "prepared").iterdir())


@pytest.mark.parametrize("given", [[], 7, [7], None])
def test_a_source_must_be_file_names(pool, tmp_path, given):  # noqa: F811
    with pytest.raises(InputError, match="source must be the name of a Parquet file"):
        prepared(pool, given, tmp_path)


def test_repeated_files_and_bad_folders(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table())
    with pytest.raises(InputError, match=r"part-0.parquet: the file is listed more than once"):
        prepared(pool, [data, data / "part-0.parquet"], tmp_path)
    with pytest.raises(InputError, match="folder must be the name of a folder that all workers share"):
        prepare(data, "s3://bucket/x", pool)
    with pytest.raises(InputError, match="the folder cannot be written"):
        prepare(data, data / "part-0.parquet", pool)


def test_local_workers_and_the_current_client(tmp_path):
    with WorkerPool.connect(None, 1, "500MB", Timeouts(connect=120.0)) as new:
        assert [worker[1:] for worker in new.workers()] == [(500_000_000, 1)]
        found = prepared(new, written(tmp_path / "data", table()), tmp_path)
        assert found.n_incidences == 3000
        with new.client.as_current(), WorkerPool.connect() as same:
            assert same.client is new.client
    with (
        pytest.raises(InputError, match="no workers with memory 'much'"),
        WorkerPool.connect(None, 1, "much"),
    ):
        pass


def test_a_scheduler_that_does_not_exist():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    for place in (address, "nonsense://x"):
        with (
            pytest.raises(InputError, match=f"no scheduler answers at '{place}'"),
            WorkerPool.connect(place, timeouts=Timeouts(connect=0.5)),
        ):
            pass


def sleeping(seconds):
    time.sleep(seconds)
    return os.getpid()


def dying():
    os._exit(1)


def test_the_tasks_of_a_pool(pool):  # noqa: F811
    found = dict(pool.each(sleeping, [(0,)] * 20))
    assert sorted(found) == list(range(20))
    assert list(pool.each(sleeping, [])) == []
    assert [worker.n_threads for worker in pool.workers()] == [1, 1]
    assert memory_per_thread(pool.workers()) == 10**9
    with pytest.raises(ClusterError, match=r"workers died 4 times in the same task.*1\.0 GB"):
        list(pool.each(dying, [()]))


def started(module, *arguments):
    command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_at_first_result(remote, scheduler):
    for _ in remote.each(time.sleep, [(0.1,)] * 1000):
        scheduler.kill()


def test_a_scheduler_without_workers_and_one_that_is_killed():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    processes = [started("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")]
    try:
        with WorkerPool.connect(address, timeouts=Timeouts(connect=60.0)) as remote:
            impatient = WorkerPool(remote.client, Timeouts(workers=0.5))
            with pytest.raises(ClusterError, match="has had no workers for"):
                list(impatient.each(time.sleep, [(0,)]))
            command = ["dask_worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
            processes.append(started(*command))
            with pytest.raises(ClusterError) as caught:
                kill_at_first_result(remote, processes[0])
        assert str(caught.value) == (
            f"the scheduler at {address} is gone; start it again and run the same command again; it resumes "
            "where it was"
        )
    finally:
        for process in processes:
            process.kill()
            process.wait()
