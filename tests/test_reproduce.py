"""The paper's tables: which measurements they need, how they resume, what they say."""

import json

import pytest

import hyperclus as hc
from hyperclus import datasets, paper
from hyperclus.paper import records as records_module
from hyperclus.paper import render
from hyperclus.paper.records import Store, Unit
from hyperclus.paper.tables import compare
from paper_data import raw_folder

NOT_REPRODUCIBLE = {
    "datasets": {("incidences", "rice")},
    "ncut": {
        ("CLIQUE++", "mushroom"),
        *(("actual class", name) for name in ("zoo", "wine-567", "letter", "digit")),
    },
    "f1": {
        ("CLIQUE++", "mushroom"),
        *((method, "covertype") for method in ("STAR++", "CLIQUE++", "HyperClus-G")),
    },
    "eigenvalue": set(),
    "ablation-ncut": {(m, "covertype") for m in ("STAR++", "CLIQUE++", "actual class", "HyperClus-G")},
    "ablation-f1": {
        ("CLIQUE++", "mushroom"),
        *((method, "covertype") for method in ("STAR++", "CLIQUE++", "HyperClus-G")),
    },
}


def load(name):
    return datasets.load(name, folder=raw_folder())


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    plan = paper.plan(slow=False)
    store = Store(tmp_path_factory.mktemp("records"))
    found = {unit: record for unit, record, _ in paper.run(plan, store, load)}
    sizes = {}
    for name in paper.DATASETS:
        data = load(name)
        h = data.hypergraph
        sizes[name] = {"vertices": h.n_vertices, "hyperedges": h.n_edges, "incidences": h.n_incidences}
        sizes[name]["classes"] = len(set(data.classes.tolist()))
    return {name: paper.build(name, found, sizes) for name in paper.TABLES}


@pytest.mark.parametrize("name", NOT_REPRODUCIBLE)
def test_every_figure_is_equal_or_has_a_reason(tables, name):
    odd = {}
    for row, cells in tables[name].rows.items():
        for dataset, cell in cells.items():
            if cell.verdict not in ("equal", "not run"):
                odd[row, dataset] = cell
    assert set(odd) == NOT_REPRODUCIBLE[name]
    assert all(cell.verdict == "not reproducible" and cell.reason for cell in odd.values())


def test_what_has_no_implementation_is_said_not_to_run(tables):
    for row in ("DiffEq", "node2vec", "hyperedge2vec"):
        for cell in tables["ncut"].rows[row].values():
            assert cell.verdict == "not run"
            assert cell.published
            assert cell.reason


def test_a_new_competitor_is_one_entry(tmp_path, monkeypatch):
    """Its rows are then planned, measured and judged, without a change elsewhere."""
    monkeypatch.setitem(paper.METHODS, "DiffEq", paper.Method("DiffEq", paper.METHODS["STAR++"].run))
    plan = paper.plan(["ncut", "time"], ["car"], ["DiffEq"])
    assert plan.units == (Unit("car", "DiffEq", "edvw"),)
    found = {unit: record for unit, record, _ in paper.run(plan, Store(tmp_path), load)}
    cell = paper.build("ncut", found, {}).rows["DiffEq"]["car"]
    assert cell.verdict == "better"
    assert cell.published == (0.9729,)


def test_every_table_renders(tables):
    everything = list(tables.values())
    parsed = json.loads(render.as_json(everything))
    assert set(parsed) == set(paper.TABLES)
    car = parsed["ncut"]["rows"]["HyperClus-G"]["car"]
    assert car["published"] == [0.832]
    assert car["verdict"] == "equal"
    assert abs(car["difference"]) < 1e-4
    markdown = render.as_markdown(everything)
    assert "| HyperClus-G | 0.6388 / 0.6388 = |" in markdown
    page = render.as_html(everything)
    assert page.count("<table>") == len(paper.TABLES)
    assert "http" not in page


def test_plan_has_what_the_tables_need():
    assert paper.plan(["eigenvalue"]).units == tuple(
        Unit(name, "HyperClus-G", "edvw") for name in ("mushroom", "rice", "car", "digit-24", "covertype")
    )
    fast, all_ = paper.plan(slow=False).units, paper.plan().units
    assert {unit.method for unit in set(all_) - set(fast)} == {"HyperClus-G as written"}
    assert all(unit.dataset not in ("zoo", "digit") for unit in all_ if unit.weights == "eivw")
    assert len(set(all_)) == len(all_)


@pytest.mark.parametrize("wrong", [{"tables": ["x"]}, {"datasets": ["x"]}, {"methods": ["x"]}])
def test_unknown_names(wrong):
    with pytest.raises(hc.InputError, match=r"there is no .* 'x'; choose from"):
        paper.plan(**wrong)


class TestResuming:
    PLAN = paper.plan(["ncut"], ["car", "zoo"])

    def test_what_is_finished_is_not_measured_again(self, tmp_path, monkeypatch):
        store = Store(tmp_path)
        first = list(paper.run(self.PLAN, store, load))
        assert not any(known for _, _, known in first)
        monkeypatch.setattr("hyperclus.paper.reproduce.measure", None)
        again = list(paper.run(self.PLAN, store, load))
        assert all(known for _, _, known in again)
        assert [record for _, record, _ in again] == [record for _, record, _ in first]

    def test_an_interruption_loses_only_the_cell_it_hit(self, tmp_path, monkeypatch):
        store, measured = Store(tmp_path), []

        def interrupted(data, unit):
            measured.append(unit)
            if len(measured) == 4:
                raise KeyboardInterrupt
            return records_module.measure(data, unit)

        monkeypatch.setattr("hyperclus.paper.reproduce.measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(paper.run(self.PLAN, store, load))
        known = [known for _, _, known in paper.run(self.PLAN, store, load)]
        assert known == [True] * 3 + [False] * (len(self.PLAN.units) - 3)

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"ncut": 1}', "\x00\xff"])
    def test_a_damaged_record_is_measured_again(self, tmp_path, content):
        store = Store(tmp_path)
        unit = self.PLAN.units[0]
        record = records_module.measure(load(unit.dataset), unit)
        store.write(unit, record)
        assert store.read(unit) == record
        (path,) = tmp_path.iterdir()
        path.write_text(content)
        assert store.read(unit) is None


def test_verdicts():
    where = ("ncut_edvw", "HyperClus-G", "car")
    assert compare(where, 0.5, (0.50009,), 1e-4, True).verdict == "equal"
    assert compare(where, 0.5, (0.49,), 1e-4, True).verdict == "better"
    assert compare(where, 0.5, (0.51,), 1e-4, True).verdict == "worse"
    assert compare(where, [0.5, 0.6], (0.5, 0.7), 1e-3, False).verdict == "better"
    assert compare(where, None, (0.5,), 1e-4, True).verdict == "measured"
    assert compare(where, 0.5, None, 1e-4, True).verdict == "not run"
    assert compare(("ncut_edvw", "CLIQUE++", "mushroom"), 0.5, (0.7,), 1e-4, True).reason


def test_the_dense_algorithm_finds_the_same_clusters():
    data = load("zoo")
    slow = paper.METHODS["HyperClus-G as written"].run(data, data.hypergraph, data.reweigh)
    fast = paper.METHODS["HyperClus-G"].run(data, data.hypergraph, data.reweigh)
    assert slow.ncut == pytest.approx(fast.ncut, abs=1e-9)
