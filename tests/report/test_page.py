"""What the HTML file of a report contains."""

import html
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.clustering.chance import Chance
from hyperclus.errors import InputError, MissingLibraryError
from hyperclus.report.format import four_digits, percent
from hyperclus.report.html.page import write
from support.report_pages import HOSTILE, hostile_partition, page_data, parsed, visible, written
from support.strategies import random_hypergraph


def test_the_answer_is_a_sentence(planted, report):
    part, _ = planted
    page = report.read_text(encoding="utf-8")
    text = visible(page).replace("\u00a0", " ")
    assert "60 vertices fall into 3 groups." in text
    assert f"leaves its cluster in {percent(float(part.cut.boundaries.sum()))} of its steps" in text
    assert f"NCut below {four_digits(part.lower_bound)}" in text
    for words in (
        "Meetings",
        "meetings.csv",
        "hyperclus cluster x",
        "red team",
        "NMI",
        "Method and settings",
    ):
        assert words in text


JARGON = (
    "ncut",
    "vertex",
    "vertices",
    "hyperedge",
    "eigen",
    "conductance",
    "volume",
    "random walk",
    "lanczos",
)


def test_the_first_screen_has_no_jargon(table, tmp_path):
    _, page = written(table, tmp_path)
    first = visible(page[page.index("<main") : page.index('id="splits"')]).lower()
    assert "400 rows fall into 2 groups" in first
    assert [word for word in JARGON if word in first] == []


def test_what_sets_a_group_apart_is_compared_with_the_others(table, tmp_path):
    """By counting: the share of a group that has a value, and the share of the rest."""
    _, page = written(table, tmp_path)
    row = visible(re.search(r'(?s)<tr class="c0" data-choose="0".*?</tr>', page)[0]).replace("\u00a0", " ")
    said = re.findall(r"(\d+) %(?: have)? (column \d) = (True|False) \(others (\d+) %\)", row)
    assert len(said) == 3
    h, inside = table.walk.hypergraph, table.labels == 0
    ids = h.edge_ids.tolist()
    for share, column, value, others in said:
        has = h.gamma[[ids.index((column, value == "True"))], :].toarray()[0] > 0
        assert int(share) == round(100 * has[inside].mean())
        assert int(others) == round(100 * has[~inside].mean())


def test_the_file_has_no_external_resources(report):
    text = report.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert html.unescape(policy).startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for _, attributes in parsed(text).tags:
        assert not {"src", "srcset", "action", "style"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert len(text) < 1_700_000


def test_hostile_names_are_escaped(tmp_path):
    part, classes = hostile_partition()
    _, text = written(
        part, tmp_path, title=HOSTILE[0], source=HOSTILE[4], classes=classes, command="\n".join(HOSTILE)
    )
    assert len(text) < 1_700_000
    tags = [tag for tag, _ in parsed(text).tags]
    assert tags.count("script") == 7
    assert tags.count("style") == 1
    assert not {"img", "iframe", "object", "link", "b onload"} & set(tags)
    names = page_data(text)["charts"]["embedding"]["data"]["names"]
    assert "<script>window.hacked = 1</script>" in names
    assert "__proto__" in names
    assert max(map(len, names)) <= 64
    outside = re.sub(r"(?s)<script.*?</script>", "", text)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\u2028\u2029\ufeff]", outside)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("one cluster", "30 vertices are one group"),
        ("one vertex", "1 vertex is one group"),
        ("separate", "The clusters are separate"),
        ("isolated", "In no hyperedge and no cluster"),
        ("paper", "hc.hyperclus_g(h, k=3"),
        ("random labels", "hc.evaluate(h, labels"),
        ("tight", "semidefinite"),
        ("all alone", "5 vertices fall into 5 groups"),
        ("no bound", "no lower bound above 0 is known"),
        ("other method", "hc.research.baselines.star"),
    ],
)
def test_every_kind_of_partition_has_a_report(case, said, tmp_path):
    h = random_hypergraph(30, 20, 4, seed=1)
    apart = hc.Hypergraph.from_edges(
        [["a", "b"], ["c", "d"], ["e"]], vertex_ids=list("abcdef"), isolated="keep"
    )
    part = {
        "one cluster": lambda: hc.cluster(h, k=1),
        "one vertex": lambda: hc.cluster(hc.Hypergraph.from_edges([["a"]]), k=1),
        "separate": lambda: hc.cluster(apart, k=2),
        "isolated": lambda: hc.cluster(apart, k=3),
        "paper": lambda: hc.hyperclus_g(h, k=3),
        "random labels": lambda: hc.evaluate(h, np.random.default_rng(0).integers(0, 4, 30)),
        "tight": lambda: hc.cluster(h, k=2, bound="tight"),
        "all alone": lambda: hc.cluster(apart, k=5),
        "no bound": lambda: hc.evaluate(apart, [0, 1, 0, 1, 0, 1]),
        "other method": lambda: hc.research.baselines.star(h, 2),
    }[case]()
    _, text = written(part, tmp_path)
    assert said in visible(text)
    data = page_data(text)
    assert data["levels"][data["main"]]["k"] == part.k


def test_weights_of_any_size_have_a_report(tmp_path):
    """Warnings are errors, and the block of data takes no infinity."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        edges = [
            {
                int(v): float(10 ** rng.uniform(-140, 140))
                for v in rng.choice(10, rng.integers(1, 9), replace=False)
            }
            for _ in range(7)
        ]
        try:
            h = hc.Hypergraph.from_edges(edges, vertex_ids=range(10), isolated="keep")
            part = hc.evaluate(h.with_edge_weights(10 ** rng.uniform(-70, 70, 7)), rng.integers(0, 3, 10))
        except hc.HyperclusError:  # too much for double precision
            continue
        _, text = written(part, tmp_path)
        data = page_data(text)
        assert data["levels"][data["main"]]["k"] == part.k


def test_the_stages_of_clustering_have_times(planted, tmp_path):
    text = visible(written(planted[0], tmp_path)[1])
    assert re.search(r"Clustering took [\d.]+ m?s", text)
    for stage in planted[0].timings:
        assert re.search(rf"{stage} [\d.]+ m?s", text)


def test_the_glossary_explains_the_terms(report):
    text = report.read_text(encoding="utf-8")
    terms = re.findall(r"<dt>([^<]*)</dt>", text[text.index('class="glossary"') :])
    for word in ("Vertex", "Hyperedge", "Incidence", "Gamma", "Omega", "Eigenvector", "embedding", "NCut"):
        assert any(word in term for term in terms), word


def test_errors_are_one_sentence(planted, tmp_path):
    part, _ = planted
    with pytest.raises(InputError, match="the folder does not exist"):
        write(part, tmp_path / "no" / "out.html")
    with pytest.raises(InputError, match="60 vertices need a class each, 2 were given"):
        write(part, tmp_path / "out.html", classes=["a", "b"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("library", ["jinja2", "vl_convert"])
def test_a_missing_library_is_one_sentence(planted, library, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError, match=r"the report needs .*: pip install 'hyperclus\[report\]'$"):
        write(planted[0], tmp_path / "out.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [None, b"r.html", "x\0.html", 7])
def test_a_path_must_be_a_file_name(planted, path):
    with pytest.raises(InputError, match="expected the name of a file"):
        planted[0].to_html(path)


def test_names_of_clusters_and_nouns_are_escaped(tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]).with_nouns(vertex=evil, edge=evil)
    part = hc.evaluate(h, [evil, evil, "other", "other"])
    _, text = written(part, tmp_path, classes=["x", "x", "y", "y"])
    assert "img" not in {tag for tag, _ in parsed(text).tags}
    assert "&lt;img src=x" in text


@pytest.mark.parametrize(
    ("verdict", "style", "words"),
    [
        ("more than chance", "clear", "Clear."),
        ("little more than chance", "doubtful", "Doubtful."),
        ("no more than chance", "chance", "No more than chance."),
        (None, "unknown", "Not checked."),
    ],
)
def test_the_verdict_on_chance_comes_first(tmp_path, verdict, style, words):
    part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]))
    chance = Chance(verdict, "NCut", 0.4, (0.8, 1.2), reason="a reason")
    _, page = written(replace(part, chance=chance), tmp_path)
    assert f'<p class="verdict {style}" id="verdict"><b>{words}</b>' in page
    assert page.index('id="verdict"') < page.index('id="clusters"')
    assert {
        "more than chance": "2 times as distinct as the best in 2 shuffled copies",
        "little more than chance": "almost as distinct as these turn up in 2 shuffled copies",
        "no more than chance": "<h1>4 vertices: no groups beyond chance</h1>",
        None: "a reason.",
    }[verdict] in page


def test_a_page_without_comparison(tmp_path):
    part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]]), chance=False)
    assert "because that was switched off" in written(part, tmp_path)[1]


def test_a_high_information_is_compared_as_well(tmp_path):
    part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]))
    chance = Chance("more than chance", "information", 0.9, (0.2, 0.3))
    assert "3 times as distinct as the best" in written(replace(part, chance=chance), tmp_path)[1]
    nothing = Chance("more than chance", "information", 0.9, (0.0, 0.0))
    assert "far more distinct than the best" in written(replace(part, chance=nothing), tmp_path)[1]


def test_a_warning_stays_at_other_numbers_of_groups(tmp_path):
    part = hc.cluster(random_hypergraph(40, 30, 4, seed=1), 3)
    chance = Chance("no more than chance", "information", 0.3, (0.2, 0.4))
    _, page = written(replace(part, chance=chance), tmp_path)
    headlines = re.findall(r"<h1>(.*?)</h1>", page)
    assert len(headlines) == 11
    assert set(headlines) == {"40 vertices: no groups beyond chance"}
    assert page.count('<p class="verdict chance"') == 11
