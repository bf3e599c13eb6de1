"""DHG through a stand-in with its documented interface: the library itself needs an old PyTorch."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from round_trips import hypergraphs, rounds, same

from hyperclus import Hypergraph, MissingLibraryError
from hyperclus.errors import LossWarning
from hyperclus.io.convert import from_dhg, to_dhg
from support.contracts import refused


class StandIn:
    """num_v, e and num_groups; members as sorted tuples, those given twice refused."""

    def __init__(self, num_v, e_list, e_weight):
        assert len({tuple(sorted(part)) for part in e_list}) == len(e_list) == len(e_weight)
        assert all(type(v) is int and v < num_v for part in e_list for v in part)
        assert all(part for part in e_list)
        self.num_v, self.num_groups = num_v, 1
        self.e = [tuple(sorted(part)) for part in e_list], list(e_weight)


@pytest.fixture(scope="module", autouse=True)
def _stand_in():
    with pytest.MonkeyPatch.context() as patch:
        module = ModuleType("dhg")
        module.Hypergraph = StandIn
        patch.setitem(sys.modules, "dhg", module)
        yield


@given(hypergraphs())
@rounds
def test_members_and_omega_survive_and_the_rest_is_named(h):
    full = h.edge_sizes > 0
    members = [tuple(h.gamma[[e]].indices.tolist()) for e in range(h.n_edges) if full[e]]
    losses = {
        "gamma": (h.gamma.data != 1).any(),
        "vertex ids": h.vertex_ids.tolist() != list(range(h.n_vertices)),
        "edge ids": h.edge_ids.tolist() != list(range(h.n_edges)),
        "hyperedges without members": not full.all(),
        "hyperedges with the members of another": len(set(members)) < len(members),
    }
    if any(losses.values()):
        with pytest.warns(LossWarning) as record:
            other = to_dhg(h)
        text = str(record[0].message)
        assert text.startswith("DHG has no place for ")
        assert {words: words in text for words in losses} == losses
    else:
        other = to_dhg(h)
    back = from_dhg(other, isolated="keep")
    assert back.n_vertices == h.n_vertices
    assert [tuple(back.gamma[[e]].indices.tolist()) for e in range(back.n_edges)] == list(
        dict.fromkeys(members)
    )
    if not losses["hyperedges with the members of another"]:
        assert back.edge_weights.tolist() == h.edge_weights[full].tolist()


def test_lossless_where_dhg_can_hold_it():
    h = Hypergraph.from_edges([[0, 1], [1, 2]], edge_weights=[0.1, 3])
    same(from_dhg(to_dhg(h)), h)


def test_refusals(monkeypatch):
    refused(lambda: from_dhg(SimpleNamespace(num_v=2, e=([(0, 1)], [1.0]))), "undirected dhg.Hypergraph")
    refused(lambda: from_dhg(StandIn(3, [[0, 1]], [1.0])), "no hyperedge holds vertex 2")
    monkeypatch.setitem(sys.modules, "dhg", None)
    with pytest.raises(MissingLibraryError, match="to_dhg needs DHG: pip install dhg"):
        to_dhg(Hypergraph.from_edges([[0, 1]]))
