"""Parquet files to partitions on disk: what `read_long` gives, whatever happens to workers and files."""

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
from hyperclus._runtime.jit import kernels
from hyperclus._runtime.progress import watching
from hyperclus.engines.dask import id_hash, keys, prepare, shuffle, source, workers
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.workers import WorkerPool
from hyperclus.errors import ClusterError, InputError
from hyperclus.io.tables.long import read_long
from support.dask_workers import kill_one, pool  # noqa: F401


def incidences(h):
    """All there is in a hypergraph, whatever the order."""
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
    """Incidences drawn at random, none of them twice."""
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
    """The rows in several files of several row groups."""
    folder.mkdir(exist_ok=True)
    size = -(-len(rows) // files)
    for number in range(files):
        part = rows.slice(number * size, size)
        pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=group)
    return folder


def small_pieces(monkeypatch, rows=500):
    monkeypatch.setattr(prepare, "LEAST_ROWS", rows)


def done(pool, data, tmp_path, **options):  # noqa: F811
    return prepare.prepare(data, tmp_path / "prepared", pool, **options)


def check_structure(found):
    """The arrays of the partitions are what `Prepared` says of them."""
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
def test_it_is_what_read_long_gives(pool, tmp_path, monkeypatch, kind, weighted):  # noqa: F811
    small_pieces(monkeypatch)
    data = written(tmp_path / "data", table(weighted=weighted, kind=kind))
    found = done(pool, data, tmp_path)
    check_structure(found)
    assert (found.weighted, found.edge_weighted) == (weighted, weighted)
    assert incidences(found.hypergraph()) == incidences(read_long(data))
    assert found.hypergraph().edge_ids.tolist() == read_long(data).edge_ids.tolist()  # as they came
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
    found = done(pool, written(tmp_path / "data", rows), tmp_path)
    expected = hc.Hypergraph.from_long({"vertex": vertices, "edge": edges})
    assert incidences(found.hypergraph()) == incidences(expected)


def test_booleans_are_ids_too(pool, tmp_path):  # noqa: F811
    rows = pa.table({"vertex": [True, False, True], "edge": [1, 1, 2]})
    found = done(pool, written(tmp_path / "data", rows, 1), tmp_path)
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
    found = done(pool, data, tmp_path, duplicates=policy)
    check_structure(found)
    assert incidences(found.hypergraph()) == incidences(read_long(data, duplicates=policy))
    assert found.weighted == (weighted or policy == "sum")


def test_weights_of_1_are_not_kept_even_if_they_may_be_summed(pool, tmp_path):  # noqa: F811
    found = done(pool, written(tmp_path / "data", table(weighted=False)), tmp_path, duplicates="sum")
    assert not found.weighted
    check_structure(found)


def test_one_huge_hyperedge(pool, tmp_path, monkeypatch):  # noqa: F811
    small_pieces(monkeypatch, 20_000)
    count = 200_000
    edges = np.append(np.zeros(count, dtype=int), [1, 1, 2, 2])
    rows = pa.table({"vertex": np.append(np.arange(count), [1, 2, 3, 4]), "edge": edges})
    data = written(tmp_path / "data", rows, 2, 30_000)
    found = done(pool, data, tmp_path)
    assert incidences(found.hypergraph()) == incidences(read_long(data))
    assert max(size.n_incidences for size in found.partitions) >= count


def test_a_partition_that_no_worker_can_hold_is_told(pool, tmp_path, monkeypatch):  # noqa: F811
    data = written(tmp_path / "data", table())
    monkeypatch.setattr(WorkerPool, "memory", 10_000)
    with pytest.raises(ClusterError, match=r"partition \d+ has .* rows .* start more workers"):
        done(pool, data, tmp_path, partitions=1)


def test_columns_sources_and_several_ways_to_name_them(pool, tmp_path):  # noqa: F811
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
        found = done(pool, given, tmp_path, **options)
        assert incidences(found.hypergraph()) == expected
        assert (found.vertex, found.edge) == ("who", "what")
    one = done(pool, files[0], tmp_path, **options)
    assert incidences(one.hypergraph()) == incidences(read_long(files[0], **options))
    plain = done(pool, data, tmp_path, vertex="who", edge="what", edge_weight=False, partitions=7)
    assert not plain.weighted
    assert not plain.edge_weighted
    assert len(plain.partitions) == 7


def test_large_row_groups_are_cut(pool, tmp_path, monkeypatch):  # noqa: F811
    small_pieces(monkeypatch, 700)
    for kind in (None, str):
        data = written(tmp_path / f"data-{kind}", table(kind=kind), 2, 3000)
        found = done(pool, data, tmp_path)
        assert incidences(found.hypergraph()) == incidences(read_long(data))


def test_pieces_have_every_row_once(tmp_path):
    footer = source.Footer(None, (None, None), (10, 3, 0, 25, 4, 4, 4), (100, 30, 0, 250, 40, 400, 40))
    file = source.SourceFile("a", "a", 0, 0)
    for rows, size in ((10, 1000), (7, 80), (100, 10_000), (1, 1)):
        pieces = list(source.pieces_of(file, footer, rows, size))
        assert [piece.first for piece in pieces] == np.cumsum([0] + [p.n_rows for p in pieces])[:-1].tolist()
        assert sum(piece.n_rows for piece in pieces) == 50
        assert max(piece.n_rows for piece in pieces) <= rows


def faulty(tmp_path, **columns):
    """Three files, the second with something wrong in row 3."""
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
        ({"weight": [1.0, 1.0, 1.0, -2.0]}, "part-1.parquet: row 3, column 'weight': the weight -2.0 is not"),
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
        ({"weight": [0.0] * 4}, "no member is in hyperedge 1; its weights are 0"),
        ({"vertex": [1, 2, 3, 7], "weight": [1.0, 1.0, 1.0, 0.0]}, "no hyperedge holds vertex 7"),
        ({"extra": [1, 1, 1, 1]}, None),
    ],
)
def test_faults_name_file_and_row(pool, tmp_path, columns, message):  # noqa: F811
    data = faulty(tmp_path, **columns)
    if message is None:
        assert done(pool, data, tmp_path).n_incidences == 12
        return
    with pytest.raises(InputError) as caught:
        done(pool, data, tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_duplicates_of_text_are_named(pool, tmp_path):  # noqa: F811
    rows = pa.table({"vertex": ["ann", "bob", "bob"], "edge": ["x", "y", "y"]})
    with pytest.raises(InputError, match="vertex 'bob' in hyperedge 'y' appears more than once"):
        done(pool, written(tmp_path / "data", rows), tmp_path)


@pytest.mark.parametrize(
    ("omega", "message"),
    [([1.0, 1.0, 2.0], "hyperedge 'y' has several weights"), ([1.0, 0.0, 0.0], "hyperedge 'y' is 0; leave")],
)
def test_weights_of_hyperedges_are_checked(pool, tmp_path, omega, message):  # noqa: F811
    rows = pa.table({"vertex": ["ann", "bob", "eve"], "edge": ["x", "y", "y"], "edge_weight": omega})
    with pytest.raises(InputError, match=message):
        done(pool, written(tmp_path / "data", rows), tmp_path)


def test_a_missing_column_and_columns_that_only_some_files_have(pool, tmp_path):  # noqa: F811
    data = faulty(tmp_path)
    with pytest.raises(
        InputError, match=r"part-0.parquet: the table has no column 'person'; its columns are"
    ):
        done(pool, data, tmp_path, vertex="person")
    pq.write_table(pa.table({"vertex": [1], "edge": [9]}), data / "part-7.parquet")
    with pytest.raises(InputError, match=r"part-7.parquet: some files have a column 'weight' and others not"):
        done(pool, data, tmp_path)


def test_damaged_empty_and_missing_files(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table(), 2)
    path = data / "part-1.parquet"
    content = bytearray(path.read_bytes())
    content[200:240] = b"x" * 40
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"part-1.parquet: the Parquet data are damaged"):
        done(pool, data, tmp_path)
    path.write_bytes(content[:1000])
    with pytest.raises(InputError, match=r"part-1.parquet: the Parquet data are damaged"):
        done(pool, data, tmp_path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"part-1.parquet: the file is empty"):
        done(pool, data, tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        done(pool, data / "part-5.parquet", tmp_path)
    with pytest.raises(InputError, match="there are no Parquet files"):
        done(pool, data / "*.pq", tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        done(pool, (data / "none.parquet").as_uri(), tmp_path)
    pq.write_table(table().slice(0, 0), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="the table has no rows"):
        done(pool, tmp_path / "none.parquet", tmp_path)


class Trouble(Exception):  # noqa: N818
    pass


def failing_partition(layout, number, *rest):
    """Fails in its last partition, once."""
    if number == layout.n_partitions - 1:
        raise Trouble
    return shuffle.partition(layout, number, *rest)


def test_an_interrupted_preparation_goes_on(pool, tmp_path, monkeypatch):  # noqa: F811
    small_pieces(monkeypatch)
    data = written(tmp_path / "data", table(kind=str))
    with monkeypatch.context() as patched:
        patched.setattr(prepare.shuffle, "partition", failing_partition)
        with pytest.raises(Trouble):
            done(pool, data, tmp_path, partitions=4)
    (key,) = (tmp_path / "prepared").iterdir()
    before = {path: path.stat() for path in (key / "work" / "pieces").iterdir()}
    ready = {path: path.stat() for path in (key / "partitions").glob("*/members.npy")}
    assert before
    assert ready
    seen = []

    def look(step):
        if step.note.startswith("vertices"):
            seen.extend(path.stat() == stat for path, stat in before.items())

    with watching(look):
        found = done(pool, data, tmp_path, partitions=4)
    assert seen
    assert all(seen)
    assert all(path.stat().st_mtime_ns == stat.st_mtime_ns for path, stat in ready.items())
    assert incidences(found.hypergraph()) == incidences(read_long(data))


def test_the_same_call_finds_what_is_there_and_another_list_of_files_does_not(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table())
    found = done(pool, data, tmp_path)
    manifest = (found.folder / "manifest.json").stat()
    assert done(pool, data, tmp_path) == found
    assert (found.folder / "manifest.json").stat() == manifest
    assert done(pool, data, tmp_path, duplicates="sum").key != found.key
    shutil.copy(data / "part-0.parquet", data / "part-9.parquet")
    assert done(pool, data, tmp_path, duplicates="max").n_incidences == found.n_incidences
    assert len(list((tmp_path / "prepared").iterdir())) == 3


@pytest.mark.parametrize("what", ["added", "removed", "changed"])
def test_a_file_that_comes_or_goes_half_way_is_named(pool, tmp_path, what):  # noqa: F811
    data = written(tmp_path / "data", table())

    def meddle(step):
        if step.note.startswith("numbers"):
            if what == "added":
                shutil.copy(data / "part-0.parquet", data / "part-9.parquet")
            elif what == "removed":
                (data / "part-2.parquet").unlink(missing_ok=True)
            else:
                os.utime(data / "part-2.parquet")

    name = "part-9" if what == "added" else "part-2"
    with (
        watching(meddle),
        pytest.raises(InputError, match=f"{name}.parquet: the file was {what} while the data"),
    ):
        done(pool, data, tmp_path)
    if what == "changed":  # the same command again
        assert incidences(done(pool, data, tmp_path).hypergraph()) == incidences(read_long(data))


def colliding(layout, *rest):
    """With seed 0 all hashes are among a few."""
    if layout.seed == 0:
        hashed = keys.hashed
        keys.hashed = lambda *given: keys.Pairs((pairs := hashed(*given)).keys % 5, pairs.ids)
        try:
            return scatter(layout, *rest)
        finally:
            keys.hashed = hashed
    return scatter(layout, *rest)


scatter = shuffle.scatter


@pytest.mark.parametrize("per_piece", [1, 3000])
def test_a_collision_of_hashes_leads_to_another_seed(pool, tmp_path, monkeypatch, per_piece):  # noqa: F811
    # with a row per piece the ids meet in partitions and buckets only
    small_pieces(monkeypatch, per_piece)
    rows = table(60 if per_piece == 1 else 3000, kind=str)
    data = written(tmp_path / "data", rows, 1)
    monkeypatch.setattr(prepare.shuffle, "scatter", colliding)
    found = done(pool, data, tmp_path)
    assert incidences(found.hypergraph()) == incidences(read_long(data))
    marks = list((tmp_path / "prepared").glob("*/collision"))
    assert len(marks) == 1
    assert not list(marks[0].parent.glob("p*"))
    assert done(pool, data, tmp_path) == found


def test_the_hash_is_the_same_compiled_and_tells_like_texts_apart():
    words = [f"v{number}" for number in range(100_000)] + ["", "\0", "\0\0", "a" * 8, "a" * 9]
    pairs = keys.hashed(pa.array(words), pa.string(), 3)
    assert len(np.unique(pairs.keys)) == len(words)
    few = pa.array(words[-500:]).cast(pa.large_binary())
    offsets, data = keys._buffers(few)
    with np.errstate(over="ignore"):
        plain = id_hash.hash_bytes(offsets, data, 3)
    assert plain.tolist() == kernels(id_hash, 1e9).hash_bytes(offsets, data, 3).tolist()
    assert plain.tolist() == pairs.keys[-500:].tolist()
    assert not set(keys.hashed(pa.array(words), pa.string(), 4).keys.tolist()) & set(pairs.keys.tolist())


def test_shares_are_even():
    for count in (3, 300, 70_000):
        shares = keys.share_of(np.arange(10 * count), count, 1)
        assert shares.max() < count
        assert np.bincount(shares, minlength=count).max() < 60


def test_progress_is_told(pool, tmp_path):  # noqa: F811
    steps = []
    with watching(steps.append):
        done(pool, written(tmp_path / "data", table()), tmp_path)
    assert {step.stage for step in steps} == {"preparation"}
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert steps[-1].done == 3000


def slow_scatter(*given):
    time.sleep(0.2)
    return scatter(*given)


@pytest.mark.parametrize("stage", ["pieces", "partitions", "vertices"])
def test_a_worker_that_is_killed_costs_its_share_only(pool, tmp_path, monkeypatch, stage):  # noqa: F811
    small_pieces(monkeypatch)
    data = written(tmp_path / "data", table(kind=str))
    monkeypatch.setattr(prepare.shuffle, "scatter", slow_scatter)
    killed = []

    def kill(step):
        if not killed and step.note.startswith(stage):
            killed.append(kill_one(pool))

    with watching(kill):
        found = done(pool, data, tmp_path)
    assert killed
    assert incidences(found.hypergraph()) == incidences(read_long(data))


def test_two_clients_at_once(pool, tmp_path, monkeypatch):  # noqa: F811
    small_pieces(monkeypatch)
    data = written(tmp_path / "data", table(kind=str))
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: done(WorkerPool(pool.client), data, tmp_path), range(2)))
    assert found[0] == found[1]
    assert incidences(found[0].hypergraph()) == incidences(read_long(data))


def test_a_file_that_is_spoilt_half_way_is_named_as_changed(pool, tmp_path, monkeypatch):  # noqa: F811
    small_pieces(monkeypatch)
    data = written(tmp_path / "data", table())

    def spoil(step):
        (data / "part-2.parquet").write_bytes(b"spoilt")

    monkeypatch.setattr(prepare.shuffle, "scatter", slow_scatter)
    with (
        watching(spoil),
        pytest.raises(InputError, match=r"part-2.parquet: the file was changed while the data"),
    ):
        done(pool, data, tmp_path)
    assert not list((tmp_path / "prepared").iterdir())


@pytest.mark.parametrize("given", [[], 7, [7], None])
def test_a_source_has_names(pool, tmp_path, given):  # noqa: F811
    with pytest.raises(InputError, match="the names of Parquet files are needed"):
        done(pool, given, tmp_path)


def test_places_that_cannot_be(pool, tmp_path):  # noqa: F811
    data = written(tmp_path / "data", table())
    with pytest.raises(InputError, match=r"part-0.parquet: the file is named more than once"):
        done(pool, [data, data / "part-0.parquet"], tmp_path)
    with pytest.raises(InputError, match="folder must be the name of a folder that all workers share"):
        prepare.prepare(data, "s3://bucket/x", pool)
    with pytest.raises(InputError, match="the folder cannot be written"):
        prepare.prepare(data, data / "part-0.parquet", pool)


def test_a_local_crew_and_the_client_there_is(tmp_path):
    with WorkerPool.gathered(None, 1, "500MB") as new:
        assert [worker[1:] for worker in new.workers] == [(500_000_000, 1)]
        found = done(new, written(tmp_path / "data", table()), tmp_path)
        assert found.n_incidences == 3000
        with new.client.as_current(), WorkerPool.gathered() as same:
            assert same.client is new.client
    with (
        pytest.raises(InputError, match="no workers with memory 'much'"),
        WorkerPool.gathered(None, 1, "much"),
    ):
        pass


def test_a_scheduler_that_is_not_there(monkeypatch):
    assert workers.CONNECT < 10
    monkeypatch.setattr(workers, "CONNECT", 1.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    for place in (address, "nonsense://x"):
        with (
            pytest.raises(InputError, match=f"no scheduler answers at '{place}'"),
            WorkerPool.gathered(place),
        ):
            pass


def sleeping(seconds):
    time.sleep(seconds)
    return os.getpid()


def dying():
    os._exit(1)


def test_the_tasks_of_a_crew(pool):  # noqa: F811
    found = dict(pool.each(sleeping, [(0,)] * 20))
    assert sorted(found) == list(range(20))
    assert list(pool.each(sleeping, [])) == []
    assert len(pool.workers) == 2
    assert pool.workers[0].n_threads == 1
    assert pool.memory == 10**9
    assert pool.dashboard is None or pool.dashboard.startswith("http")
    with pytest.raises(ClusterError, match=r"workers died 4 times in the same task.*1\.0 GB"):
        list(pool.each(dying, [()]))


def started(module, *arguments):
    command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_at_work(far, scheduler):
    for _ in far.each(time.sleep, [(0.1,)] * 1000):
        scheduler.kill()


def test_a_scheduler_without_workers_and_one_that_goes_away(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    processes = [started("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")]
    try:
        with WorkerPool.gathered(address) as far:
            with monkeypatch.context() as patched:
                patched.setattr(workers, "IDLE", 0.5)
                with pytest.raises(ClusterError, match="has had no workers for"):
                    list(far.each(time.sleep, [(0,)]))
            processes.append(
                started("dask_worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
            )
            with pytest.raises(ClusterError) as caught:
                kill_at_work(far, processes[0])
        assert str(caught.value).startswith(
            f"the scheduler at {address} is gone; start it again and give the"
        )
    finally:
        for process in processes:
            process.kill()
            process.wait()
