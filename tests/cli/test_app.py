"""Messages of the library on the command line: arguments are named as options."""

import os
import subprocess
import sys
import warnings

import pytest

import hyperclus as hc
from hyperclus.cli.app import Messages, shell_message
from hyperclus.engines import cuda
from hyperclus.errors import Argument, HyperclusError, InputError, LossWarning
from support.command_line import inside

ROWS = hc.Hypergraph.from_table({"a": ["x", "y", "x"], "b": ["u", "u", "v"]})
RING = hc.Hypergraph.from_edges([[i, (i + 1) % 450] for i in range(450)])
LARGE = hc.Hypergraph.from_edges([[i, i + 1] for i in range(0, 200_002, 2)])
BLOBS = hc.Hypergraph.from_edges(
    [[f"{b}{(i + s) % 8}" for s in range(4)] for b in "abcdef" for i in range(8)]
    + [["a0", "b0"], ["b1", "c0"], ["c1", "d0"], ["d1", "e0"], ["e1", "f0"]]
)


def text(folder, content, name="t.csv"):
    (folder / name).write_text(content)
    return folder / name


def on_a_gpu(lacking, free=1e9):
    """On a machine where CuPy is there, and the GPU lacks something."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda, "missing", lambda: lacking)
        patch.setattr(cuda, "bytes_free", lambda: free)
        patch.setattr(cuda, "bytes_needed", lambda *_: 2 * free)
        hc.cluster(RING, 2, engine="cuda")


NAMES = (
    "alpha",
    "bins",
    "bound",
    "constant",
    "delimiter",
    "duplicates",
    "engine",
    "format",
    "isolated",
    "missing",
)
SENTENCES = [
    (lambda _: hc.Hypergraph.from_edges([["a", "a", "b"]]), "use --duplicates sum or --duplicates max to"),
    (lambda f: hc.read(text(f, "1 2\n1 1\n", "t.hgr")), "use --duplicates sum or --duplicates max"),
    (lambda f: hc.read(text(f, "a,b\n1,2\n")), "or use --from rows if each row is a vertex"),
    (lambda f: hc.read(text(f, "a,b\n1,2\n")), "name the columns with --vertex, --edge and --weight"),
    (lambda f: hc.read(text(f, "aa,bb\n1,2\n"), vertex="v", edge="w"), "with --vertex, --edge and --weight"),
    (lambda f: hc.read(text(f, "words", "words")), "use --from, one of csv"),
    (lambda f: hc.write(ROWS, f / "t.json"), "use -w ids=text to write such ids as text"),
    (lambda f: hc.write(ROWS, f / "t"), "or use --to"),
    (lambda f: hc.write(ROWS, f / "t.npz.gz", format="npz"), "leave out .gz and use -w compressed=true"),
    (lambda _: hc.Hypergraph.from_table({"a": [1, 1]}), "or use -o constant=keep"),
    (
        lambda _: hc.Hypergraph.from_table({"a": [1, 1]}, constant="error"),
        "or use -o constant=drop or -o constant=keep",
    ),
    (lambda _: hc.Hypergraph.from_table({"a": [1, None]}), "or use --missing category or --missing drop"),
    (lambda f: hc.read(text(f, "a,b\n1,\n"), format="rows"), "use --missing category (missing is a value"),
    (lambda f: hc.read(text(f, "a,b\n1,2\n"), format="rows", missing="x"), "--missing must be"),
    (lambda f: hc.read(text(f, "a;b\n1;2\n"), format="rows", delimiter=","), "use --delimiter ';'"),
    (lambda f: hc.read(text(f, "a\tb\n"), format="rows", delimiter=","), r"use --delimiter '\t'"),
    (lambda f: hc.read(text(f, "a;b\n1;2\n"), format="csv", delimiter=","), "use --delimiter ';'"),
    (lambda f: hc.read(text(f, "a\n"), delimiter="xx"), "--delimiter must be one"),
    (
        lambda f: hc.read(text(f, "a,b\n1,2\n1,3\n"), format="rows", vertex="a"),
        "use -o repeated=number to add a number to repeated ids",
    ),
    (
        lambda f: hc.read(text(f, "a,b\nx,2\n"), format="rows", bins={"a": 2}),
        "correct it, or leave the column out of --bins",
    ),
    (
        lambda f: hc.read(text(f, "2 99999999999\n1 2\n2 3\n", "t.hgr")),
        "use -o isolated=drop to remove those without any",
    ),
    (
        lambda _: hc.Hypergraph.from_edges([["a"]], vertex_ids=["a", "b"], isolated="error"),
        "use -o isolated=drop",
    ),
    (lambda _: hc.cluster(LARGE, 2, bound="tight"), "use --bound eigenvalues"),
    (lambda _: hc.cluster(RING, 2, min_share=0.9), "--min-share must be between"),
    (lambda _: hc.cluster(RING, 2, tolerance=-1), "--tolerance must be"),
    (lambda _: hc.cluster(RING, 2, alpha=-1), "--alpha must be"),
    (lambda _: hc.cluster(RING, 2, precision="float32"), "--precision float32 needs --engine cuda; leave"),
    (lambda _: hc.cluster(RING, 2, engine="gpu"), "--engine must be 'auto'"),
    (
        lambda _: on_a_gpu("no driver"),
        "--engine cuda needs an NVIDIA GPU (no driver); use --engine cpu",
    ),
    (lambda _: on_a_gpu(None), "use --engine cpu, or --precision float32"),
    (lambda _: hc.local_cluster(BLOBS, ["a0", "a1"], max_size=1), "do not fit into --max-size 1;"),
    (lambda _: hc.suggest_k(BLOBS, 1), "--max-k must be"),
]


@pytest.mark.parametrize(("call", "wanted"), SENTENCES)
def test_errors_name_options_instead_of_arguments(tmp_path, call, wanted):
    with pytest.raises(HyperclusError) as caught:
        call(tmp_path)
    assert wanted in shell_message(caught.value)
    assert wanted not in str(caught.value)
    for part in caught.value.args:
        assert isinstance(part, Argument) or not any(f"{name}='" in part for name in NAMES), part


def test_text_of_a_message_is_never_rewritten():
    message = "data/missing=drop/t.csv: no column 'min_share'; its columns are 'max_k', \"ids='text'\""
    for text in (message, "my max_k.csv: the file is empty", "tolerance must be earned.csv: no such file"):
        assert shell_message(InputError(text)) == text
    assert shell_message(InputError("the ", Argument("ties"), " of a sweep")) == "the ties of a sweep"


def test_messages_on_stderr(tmp_path):
    path = text(tmp_path, "vertex,edge\na,e\na,e\nb,e\n")
    assert "use --duplicates sum or" in inside("cluster", path, "-k", 2).stderr
    (tmp_path / "c").mkdir()
    table = text(tmp_path / "c", "a,b\n1,x\n2,\n")
    assert "or use --missing category" in inside("info", table).stdout


def test_warnings_are_printed_when_the_command_fails(capsys):
    def warn_and_fail():
        with Messages().from_library():
            for _ in range(2):
                warnings.warn("a weight is lost", LossWarning, stacklevel=1)
            raise InputError("and then this")

    with pytest.raises(InputError):
        warn_and_fail()
    assert capsys.readouterr().err == "hyperclus: a weight is lost\n"


def test_importing_the_commands_does_not_change_how_other_programs_print_help():
    code = "from typer import rich_utils as r; before = r.COLOR_SYSTEM; import hyperclus.cli; "
    code += "print(r.COLOR_SYSTEM == before)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True
    )
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(28, "No space left on device"), "the output cannot be written: No space left on device"),
        (OSError(13, "Permission denied", "a.csv"), "a.csv: Permission denied"),
        (OSError("cannot load library 'libllvmlite.so'"), "cannot load library 'libllvmlite.so'"),
    ],
)
def test_errors_of_the_system_are_not_all_blamed_on_the_output(monkeypatch, error, line):
    def failing(*_, **__):
        raise error

    monkeypatch.setattr("hyperclus.cli.app.app", failing)
    done = inside("info", "a.csv")
    assert (done.returncode, done.stderr) == (1, f"hyperclus: {line}\n")
