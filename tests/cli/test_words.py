"""What the library says of arguments in Python, said of options; against its real sentences."""

import re
import warnings

import pytest

import hyperclus as hc
from hyperclus.cli.words import in_shell
from hyperclus.clustering.partition import outline
from hyperclus.engines import cuda
from hyperclus.errors import HyperclusError
from support.command_line import inside

ROWS = hc.Hypergraph.from_table({"a": ["x", "y", "x"], "b": ["u", "u", "v"]})
RING = hc.Hypergraph.from_edges([[i, (i + 1) % 450] for i in range(450)])
BLOBS = hc.Hypergraph.from_edges(
    [[f"{b}{(i + s) % 8}" for s in range(4)] for b in "abcdef" for i in range(8)]
    + [["a0", "b0"], ["b1", "c0"], ["c1", "d0"], ["d1", "e0"], ["e1", "f0"]]
)


def text(folder, content, name="t.csv"):
    (folder / name).write_text(content)
    return folder / name


def tiny(folder):
    edges = [list(range(60)), list(range(30)), list(range(20, 60)), [*range(50, 60)], ["p", "q"], ["q", 0]]
    return outline(hc.cluster(hc.Hypergraph.from_edges(edges), 2, min_share=0)).remarks[0]


def on_a_gpu(lacking, free=1e9):
    """On a machine where CuPy is there, and the GPU lacks something."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda, "missing", lambda: lacking)
        patch.setattr(cuda, "bytes_free", lambda: free)
        patch.setattr(cuda, "fits", lambda *_: False)
        hc.cluster(RING, 2, engine="cuda")


SENTENCES = [
    (lambda _: hc.Hypergraph.from_edges([["a", "a", "b"]]), "give --duplicates sum or --duplicates max to"),
    (lambda f: hc.read(text(f, "1 2\n1 1\n", "t.hgr")), "give --duplicates sum or --duplicates max"),
    (lambda f: hc.read(text(f, "a,b\n1,2\n")), "or with --from rows that a row is a vertex"),
    (lambda f: hc.read(text(f, "a,b\n1,2\n")), "say with --vertex, --edge and --weight which are meant"),
    (lambda f: hc.read(text(f, "aa,bb\n1,2\n"), vertex="v", edge="w"), "say with --vertex, --edge and"),
    (lambda f: hc.read(text(f, "words", "words")), "give --from, one of csv"),
    (lambda f: hc.write(ROWS, f / "t.json"), "give -w ids=text to write such ids as text"),
    (lambda f: hc.write(ROWS, f / "t"), "or give --to"),
    (lambda f: hc.write(ROWS, f / "t.npz.gz", format="npz"), "leave out .gz and give -w compressed=true"),
    (lambda _: hc.Hypergraph.from_table({"a": [1, 1]}), "or give -o constant=keep"),
    (
        lambda _: hc.Hypergraph.from_table({"a": [1, 1]}, constant="error"),
        "or give -o constant=drop or -o constant=keep",
    ),
    (lambda _: hc.Hypergraph.from_table({"a": [1, None]}), "or give -o missing=category or -o missing=drop"),
    (lambda f: hc.read(text(f, "a,b\n1,\n"), format="rows"), "say -o missing=category (a value of its own)"),
    (lambda f: hc.read(text(f, "a,b\n1,2\n"), format="rows", missing="x"), "-o missing must be"),
    (lambda f: hc.read(text(f, "a;b\n1;2\n"), format="rows", delimiter=","), "say --delimiter ';'"),
    (lambda f: hc.read(text(f, "a\tb\n"), format="rows", delimiter=","), r"say --delimiter '\t'"),
    (lambda f: hc.read(text(f, "a;b\n1;2\n"), format="csv", delimiter=","), "say --delimiter ';'"),
    (lambda f: hc.read(text(f, "a\n"), delimiter="xx"), "--delimiter must be one"),
    (
        lambda f: hc.read(text(f, "a,b\n1,2\n1,3\n"), format="rows", vertex="a"),
        "say -o repeated=number for a number behind those that come back, or leave --id out",
    ),
    (lambda f: hc.read(text(f, "a,b\n1,2\n"), format="rows", exclude=["a,b"]), "the option once for each"),
    (
        lambda f: hc.read(text(f, "a,b\nx,2\n"), format="rows", bins={"a": 2}),
        "correct it, or leave the column out of --bins",
    ),
    (
        lambda f: hc.read(text(f, "2 99999999999\n1 2\n2 3\n", "t.hgr")),
        "give -o isolated=drop to leave out those without any",
    ),
    (lambda _: hc.Hypergraph.from_edges([["a"]], vertex_ids=["a", "b"]), "give -o isolated=drop"),
    (lambda _: hc.cluster(RING, 2, bound="tight"), "(--bound eigenvalues)"),
    (lambda _: hc.cluster(RING, 2, min_share=0.9), "--min-share must be between"),
    (lambda _: hc.cluster(RING, 2, tolerance=-1), "--tolerance must be"),
    (lambda _: hc.cluster(RING, 2, precision="float32"), "--precision float32 is for --engine cuda; leave"),
    (lambda _: hc.cluster(RING, 2, engine="gpu"), "--engine must be 'auto'"),
    (
        lambda _: on_a_gpu("no driver"),
        "--engine cuda needs an NVIDIA GPU (no driver); use --engine cpu",
    ),
    (lambda _: on_a_gpu(None), "use --engine cpu, or --precision float32"),
    (lambda _: hc.local_cluster(BLOBS, ["a0", "a1"], max_size=1), "do not fit into --max-size 1;"),
    (lambda _: hc.suggest_k(BLOBS, 3).reason, "try a larger --max-k"),
    (tiny, "for larger ones ask for a --min-share"),
]


@pytest.mark.parametrize(("call", "wanted"), SENTENCES)
def test_options_as_they_are_typed(tmp_path, call, wanted):
    try:
        said = call(tmp_path)
    except HyperclusError as error:
        said = str(error)
    found = in_shell(said)
    assert wanted in found
    assert wanted not in said
    assert not re.search(r"(?<!-o )(?<!-w )\b[a-z_]+=['\"\w]", found), found
    assert "pass " not in found


def test_warnings_too(tmp_path):
    h = hc.Hypergraph.from_edges([["b"], ["a"]], vertex_ids=["a", "b"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hc.write(h, tmp_path / "t.csv")
    assert "write .npz or .json to keep all" in in_shell(str(caught[0].message))


@pytest.mark.parametrize(
    "message",
    [
        "data/missing=drop/t.csv: the file is empty",
        "the table has no column 'min_share'; its columns are 'max_k', \"ids='text'\"",
        "the walk has alpha and a bound; the delimiter parts columns",
        "leaves the range of double precision; the engine is 'cuda'",
    ],
)
def test_names_and_english_stay(message):
    assert in_shell(message) == message


def test_at_the_door(tmp_path):
    path = text(tmp_path, "vertex,edge\na,e\na,e\nb,e\n")
    assert "give --duplicates sum or" in inside("cluster", path, "-k", 2).stderr
    assert "ask for a --min-share" in inside("cluster", text(tmp_path, _unequal()), "-k", 3).stdout


def _unequal():
    members = [(i, e) for e in range(3) for i in range(200)] + [("p", "x"), ("q", "x"), ("q", 0)]
    members += [("r", "y"), ("s", "y"), ("r", 1)]
    return "vertex,edge\n" + "".join(f"{v},{e}\n" for v, e in members)
