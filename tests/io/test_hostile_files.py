"""Malicious and unusual files and names that once broke a reader or writer."""

import errno
import gzip
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import hyperclus as hc
from hyperclus.engines.dask.source import list_files
from hyperclus.io import npz

GOOD = "vertex,edge,weight\na,e,1\nb,e,2\nb,f,1\nc,f,1\n"
NAMES = ("h.csv", "h.tsv.gz", "h.parquet", "h.json", "h.npz", "h.hgr", "h.mtx")


@pytest.fixture
def h(tmp_path):
    (tmp_path / "in.csv").write_text(GOOD)
    return hc.read(tmp_path / "in.csv")


def command(*arguments, **options):
    call = [sys.executable, "-m", "hyperclus", *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, timeout=120, **options)


def one_sentence(done, *parts):
    assert done.returncode == 2, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert all(part in lines[0] for part in parts), lines[0]


@pytest.mark.filterwarnings("ignore::hyperclus.errors.LossWarning")
@pytest.mark.parametrize("name", NAMES)
class TestWriting:
    def test_a_link_stays_and_its_target_is_written(self, tmp_path, h, name):
        target = tmp_path / f"target-{name}"
        target.write_text("old")
        target.chmod(0o600)
        (tmp_path / name).symlink_to(target)
        hc.write(h, tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert hc.read(target, isolated="keep").n_vertices == 3
        assert stat.S_IMODE(target.stat().st_mode) == 0o600

    def test_only_regular_files_are_replaced(self, tmp_path, h, name):
        os.mkfifo(tmp_path / name)
        with pytest.raises(hc.InputError, match="not a regular file"):
            hc.write(h, tmp_path / name)
        assert stat.S_ISFIFO((tmp_path / name).stat().st_mode)

    def test_long_names(self, tmp_path, h, name):
        long = tmp_path / ("x" * (250 - len(name)) + name)
        hc.write(h, long)
        assert hc.read(long, isolated="keep").n_vertices == 3
        with pytest.raises(hc.InputError, match="cannot be written: File name too long"):
            hc.write(h, tmp_path / ("x" * 255 + name))

    def test_a_full_disk(self, tmp_path, h, name, monkeypatch):
        def full(number):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        (tmp_path / name).write_text("old")
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(hc.InputError, match="cannot be written: No space left"):
            hc.write(h, tmp_path / name)
        assert (tmp_path / name).read_text() == "old"
        assert {file.name for file in tmp_path.iterdir()} == {"in.csv", name}


@pytest.mark.parametrize("name", NAMES)
class TestReading:
    def test_paths_that_are_not_files(self, tmp_path, name):
        (tmp_path / "file").write_text("x")
        (tmp_path / name).symlink_to(tmp_path / name)
        for place in (
            tmp_path / name,
            tmp_path / "file" / name,
            tmp_path / ("x" * 300 + name),
            tmp_path / f"no{name}",
        ):
            with pytest.raises(hc.InputError):
                hc.read(place)

    def test_pipes_are_refused_without_waiting(self, tmp_path, name):
        os.mkfifo(tmp_path / name)
        with pytest.raises(hc.InputError, match="not a regular file"):
            hc.read(tmp_path / name)


class TestParquetFolders:
    def write(self, folder, **columns):
        folder.mkdir(exist_ok=True)
        for name, table in columns.items():
            pq.write_table(table, folder / f"{name}.parquet")
        return folder

    @pytest.mark.parametrize("column", ["weight", "edge_weight"])
    @pytest.mark.parametrize("first", ["a", "b"])
    def test_a_column_that_only_some_files_have(self, tmp_path, column, first):
        plain = pa.table({"vertex": [1, 2], "edge": [1, 1]})
        other = "b" if first == "a" else "a"
        folder = self.write(
            tmp_path / "d", **{first: plain, other: plain.append_column(column, pa.array([5.0, 5.0]))}
        )
        with pytest.raises(hc.InputError, match=f"some files have a column '{column}' and others not"):
            hc.read(folder)

    def test_a_repeated_column_in_a_later_file(self, tmp_path):
        plain = pa.table({"vertex": [1, 2], "edge": [1, 1]})
        folder = self.write(tmp_path / "d", a=plain, b=plain.append_column("edge", pa.array([1, 2])))
        with pytest.raises(hc.InputError, match="needs one column 'edge'"):
            hc.read(folder)

    @pytest.mark.parametrize("name", ["b.PARQUET", "b.parq", "b.pq", "b.Parquet"])
    def test_all_endings_are_read(self, tmp_path, name):
        folder = self.write(tmp_path / "d", a=pa.table({"vertex": [1, 2], "edge": [1, 1]}))
        pq.write_table(pa.table({"vertex": [3, 4], "edge": [2, 2]}), folder / name)
        (folder / "_SUCCESS").write_text("")
        (folder / "notes.txt").write_text("about the data")
        assert hc.read(folder).n_vertices == 4
        assert hc.read(folder / name).n_vertices == 2
        assert [os.path.basename(file.path) for file in list_files(folder)] == ["a.parquet", name]

    @pytest.mark.parametrize("name", ["year=2020/b.parquet", "sub/deep/b.PQ", "part-00001", "b.parquet.bak"])
    def test_what_would_be_left_out_is_refused_by_name(self, tmp_path, name):
        folder = self.write(tmp_path / "d", a=pa.table({"vertex": [1, 2], "edge": [1, 1]}))
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"vertex": [3, 4], "edge": [2, 2]}), folder / name)
        for read in (hc.read, list_files):
            with pytest.raises(hc.InputError, match=f"{name}: "):
                read(folder)

    def test_hidden_files_and_the_work_folder_are_not_data(self, tmp_path):
        table = pa.table({"vertex": [1, 2], "edge": [1, 1]})
        folder = self.write(tmp_path / "d", a=table)
        for name in (".b.parquet", "_c.parquet", "_temporary/d.parquet", "hyperclus-work/x/e.parquet"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, folder / name)
        assert hc.read(folder).n_incidences == 2
        assert len(list_files(folder)) == 1

    def test_repeated_text_is_kept_once(self, tmp_path):
        """65,536 rows with one of two names of 30,000 letters: 2 GB if they were written out."""
        ids = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 32768), ["x" * 30_000, "y" * 30_000])
        table = pa.table({"vertex": pa.array(range(65536)), "edge": ids})
        for name, one in (
            ("coded", table),
            ("plain", table.cast(pa.schema([("vertex", pa.int64()), ("edge", pa.string())]))),
        ):
            pq.write_table(one, tmp_path / f"{name}.parquet", compression="zstd")
            code = (
                "import sys, hyperclus, pyarrow as pa; h = hyperclus.read(sys.argv[1]); "
                "print(h.n_edges, pa.default_memory_pool().max_memory())"
            )
            call = [sys.executable, "-c", code, tmp_path / f"{name}.parquet"]
            done = subprocess.run(call, capture_output=True, text=True, check=True)
            n_edges, peak = map(int, done.stdout.split())
            assert n_edges == 2
            assert peak < 100e6


@pytest.mark.parametrize("name", ["h.csv.gz", "h.json.gz", "h.hgr.gz", "h.mtx.gz"])
def test_bombs(tmp_path, name):
    start = {
        "h.csv.gz": b"vertex,edge\n",
        "h.json.gz": b'{"metadata": {"a": [',
        "h.hgr.gz": b"1 2\n",
        "h.mtx.gz": b"%%MatrixMarket matrix coordinate real general\n2 2 9000000\n",
    }
    rest = {"h.mtx.gz": b"1 1 1\n", "h.hgr.gz": b"1 2 "}
    (tmp_path / name).write_bytes(gzip.compress(start[name] + rest.get(name, b"[],1 ") * 8_000_000))
    with pytest.raises(hc.InputError, match="more than 200 times its size"):
        hc.read(tmp_path / name)


def test_a_weight_too_small_for_a_number(tmp_path):
    """1e-400 is no 0, and a member does not leave silently; 0 and 0.0e5 are zeros."""
    (tmp_path / "h.csv").write_text("vertex,edge,weight\na,x,1e-400\nb,x,1\na,y,1\nb,y,0.0e5\n")
    with pytest.raises(hc.InputError, match=r"h.csv, line 2: .*'1e-400'"):
        hc.read(tmp_path / "h.csv")
    (tmp_path / "h.csv").write_text("vertex,edge,weight\na,x,0\nb,x,1\na,y,1\nb,y,0.0e5\n")
    assert hc.read(tmp_path / "h.csv").n_incidences == 2


@pytest.mark.parametrize(
    ("weight", "is_zero"), [("1e-400", False), ("-1e-400", False), ("0.0e5", True), ("0", True)]
)
def test_a_weight_too_small_for_a_number_in_hif(tmp_path, weight, is_zero):
    text = f'{{"incidences": [{{"edge": 1, "node": 1, "weight": {weight}}}, {{"edge": 1, "node": 2}}]}}'
    (tmp_path / "h.json").write_text(text)
    if is_zero:
        assert hc.read(tmp_path / "h.json").n_incidences == 1
    else:
        with pytest.raises(hc.InputError, match=r"incidences\[0\].weight: the weight is too small"):
            hc.read(tmp_path / "h.json")


@pytest.mark.parametrize("weight", ["1e-999", "0.5E-400", "-2e-5000", "0." + 400 * "0" + "1"])
def test_a_weight_too_small_for_a_number_in_matrix_market(tmp_path, weight):
    path = tmp_path / "h.mtx"
    start = "%%MatrixMarket matrix coordinate real general\n2 2 3\n% 1e-999\n1 1 1\n2 2 1\n"
    path.write_text(f"{start}1 2 {weight}\n")
    with pytest.raises(hc.InputError, match=r"h.mtx, line 6: a number is too small for a float"):
        hc.read(path)
    for zero in ("0", "0e-999", "0.0", "-0", "1e-300"):
        path.write_text(f"{start}1 2 {zero}\n")
        assert hc.read(path).n_incidences == (3 if zero == "1e-300" else 2)


class TestShortage:
    """Too little memory, or no more threads: not the fault of a file."""

    @pytest.fixture(params=["h.csv", "h.parquet", "h.npz"])
    def path(self, tmp_path, h, request):
        hc.write(h, tmp_path / request.param)
        return tmp_path / request.param

    @staticmethod
    def fail(monkeypatch, error):
        def failing(*_, **__):
            raise error

        for module, name in ((pa_csv, "open_csv"), (pq, "ParquetFile"), (npz, "_hypergraph")):
            monkeypatch.setattr(module, name, failing)

    @pytest.mark.parametrize("error", [MemoryError(), pa.ArrowMemoryError("malloc of size 1 failed")])
    def test_memory(self, path, monkeypatch, error):
        self.fail(monkeypatch, error)
        with pytest.raises(MemoryError):
            hc.read(path)

    def test_threads(self, path, monkeypatch):
        self.fail(monkeypatch, pa.ArrowException("Failed to launch worker thread: Resource unavailable"))
        if path.suffix != ".npz":  # which starts none
            with pytest.raises(hc.HyperclusError, match="no more threads can be started") as found:
                hc.read(path)
            assert not isinstance(found.value, hc.InputError)

    def test_the_thread_that_reads_ahead(self, tmp_path, h, monkeypatch):
        def failing(*_):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(ThreadPoolExecutor, "submit", failing)
        with pytest.raises(hc.HyperclusError, match=r"in\.csv: no more threads can be started"):
            hc.read(tmp_path / "in.csv")


def test_a_process_ends_after_a_bad_file(tmp_path):
    """PyArrow's thread, reading ahead through Python, once kept processes from ending."""
    (tmp_path / "h.csv").write_text("vertex,edge,weight\na,x,-1\n")
    code = (
        "import sys, hyperclus as hc\ntry: hc.read(sys.argv[1])\nexcept hc.InputError as error: print(error)"
    )
    for _ in range(5):
        call = [sys.executable, "-c", code, tmp_path / "h.csv"]
        done = subprocess.run(call, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert "line 2" in done.stdout


class TestOtherFiles:
    """What people have and hyperclus does not read: one sentence says what it is."""

    @pytest.mark.parametrize("name", ["t.xlsx", "t.csv", "t"])
    @pytest.mark.parametrize("kind", ["new", "old"])
    def test_excel(self, tmp_path, name, kind):
        path = tmp_path / name
        if kind == "new":
            with zipfile.ZipFile(path, "w") as book:
                book.writestr("[Content_Types].xml", "<Types/>" + "\xe9" * 50)
                book.writestr("xl/workbook.xml", os.urandom(2000))
        else:
            path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500))
        for call in (lambda: hc.read(path), lambda: hc.read(path, format="rows")):
            new = "this is (an Excel file; use format='excel'$|not a sound Excel file)"
            with pytest.raises(hc.InputError, match=new if kind == "new" else r"an old Excel file \(.xls\)"):
                call()

    @pytest.mark.parametrize("text", ["[1, 2]", '{"data": 1}', '"text"'])
    def test_json_that_holds_no_hyperedges(self, tmp_path, text):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(hc.InputError, match=r"are a list of lists|a HIF file is a JSON object"):
            hc.read(tmp_path / "t.json")

    def test_text_in_a_windows_encoding(self, tmp_path):
        (tmp_path / "t.csv").write_bytes("größe;art\n1;x\n".encode("cp1252"))
        for options in ({}, {"format": "rows"}):
            with pytest.raises(hc.InputError, match=r"not UTF-8 text; .*such as encoding='cp1252'"):
                hc.read(tmp_path / "t.csv", **options)


class TestCommandLine:
    @pytest.mark.parametrize(
        "name", ["a\\[/b].csv", "x:bomb:.csv", "[red]x.csv", "a\nb\x1b[31mz.csv", "\u202ex.csv"]
    )
    def test_file_names_are_printed_literally(self, tmp_path, name):
        done = command("info", tmp_path / name)
        shown = name if name.isprintable() else repr(name)[1:-1]
        one_sentence(done, f"{shown}: there is no such file")
        assert "\x1b" not in done.stderr

    def test_the_input_is_never_overwritten(self, tmp_path, h):
        (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
        for out in ("in.csv", "link.csv"):
            one_sentence(command("convert", tmp_path / "in.csv", tmp_path / out), "choose another name")
        assert (tmp_path / "in.csv").read_text() == GOOD

    def test_a_closed_output_pipe(self, tmp_path, h):
        done = subprocess.run(
            f"{sys.executable} -m hyperclus info {tmp_path / 'in.csv'} | true",
            shell=True,
            capture_output=True,
            text=True,
        )
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
    def test_an_interrupted_run_leaves_no_partial_file(self, tmp_path, how):
        lines = "".join(f"v{i % 5000},e{i // 20},{i % 7 + 1}\n" for i in range(400_000))
        (tmp_path / "big.csv").write_text("vertex,edge,weight\n" + lines)
        (tmp_path / "out").mkdir()
        call = [
            sys.executable,
            "-m",
            "hyperclus",
            "convert",
            tmp_path / "big.csv",
            tmp_path / "out" / "big.json",
        ]
        running = subprocess.Popen(call, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not list((tmp_path / "out").iterdir()) and time.monotonic() < deadline:
            time.sleep(0.005)
        running.send_signal(how)
        error = running.communicate(timeout=60)[1]
        assert "Traceback" not in error
        left = [file.name for file in (tmp_path / "out").iterdir()]
        assert left in ([], ["big.json"])
        if running.returncode == 0:
            assert hc.read(tmp_path / "out" / "big.json").n_incidences == 400_000
        else:
            assert left == []
