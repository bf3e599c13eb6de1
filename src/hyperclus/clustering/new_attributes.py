"""Labels of new vertices that have attributes: they join the neighbourhoods of similar known ones."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import read_only
from hyperclus.clustering.model import Model, Prediction
from hyperclus.clustering.new_vertices import new_vertices
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.ids import ids_or_range, object_array
from hyperclus.hypergraph.messages import count
from hyperclus.hypergraph.neighbors import SIMILAR_TO, Rows, nearest_known
from hyperclus.io.attributes import Attributes
from hyperclus.typing import DuplicatePolicy, Ids, Incidence


class Clustered(NamedTuple):
    """The model of clusters, and the vertices that were clustered, with their attributes."""

    model: Model
    vertex_ids: Ids
    attributes: Attributes | None


def predict_by_attributes(
    known: Clustered, more: Any, attributes: Any, vertex: Any, duplicates: DuplicatePolicy
) -> Prediction:
    """Label new vertices by their attributes, and by their hyperedges if `more` is not None.

    A new vertex joins the neighbourhoods of the known vertices that are nearest to it, with its similarity as
    gamma; a share beta of its steps goes over these.
    """
    model, joins = known.model, joined_neighborhoods(known, attributes)
    n = joins.shape[0]
    ids, unknown, absent = ids_or_range(None, n, "vertex"), np.zeros(n, dtype=np.int64), object_array([])
    if more is not None:
        given = new_vertices(model, more, vertex=vertex, duplicates=duplicates)
        if given.weights.shape[0] != n:
            raise InputError(
                f"{count(n, 'row')} of attributes for {given.weights.shape[0]} new vertices: "
                "give a row for each"
            )
        ids, unknown, absent = given.vertex_ids, given.unknown, given.unknown_edges
        joins = sp.csr_array(joins + given.weights)
    labels, membership, confidence = map(read_only, model.joined(joins))
    found = labels, membership, confidence, read_only(unknown), read_only(absent)
    return Prediction(ids, *found, model.names, model.nouns)


def joined_neighborhoods(clustered: Clustered, attributes: Any) -> Incidence:
    """Weights of the new vertices in the neighbourhoods, (n_new, n_edges)."""
    known, edges = clustered.attributes, clustered.model.edge_ids.tolist()
    if known is None:
        raise InputError("these clusters were found without ", Argument("attributes"), "; leave them out")
    of_vertex = {edge[1]: place for place, edge in enumerate(edges) if _is_neighborhood(edge)}
    if not of_vertex:
        raise InputError("the clusters do not depend on the attributes, because beta is 0; leave them out")
    new = known.encoded(attributes)
    rows = Rows(new.values, new.present, known.metric)
    near = nearest_known(rows, Rows(known.values, known.present, known.metric))
    places = np.array([of_vertex.get(vertex, -1) for vertex in clustered.vertex_ids.tolist()])
    columns = places[near.indices]
    entries = np.repeat(np.arange(near.shape[0]), np.diff(near.indptr))
    kept = columns >= 0
    coordinates = near.data[kept], (entries[kept], columns[kept])
    return sp.csr_array(sp.coo_array(coordinates, shape=(near.shape[0], len(edges))))


def _is_neighborhood(edge: Any) -> bool:
    return isinstance(edge, tuple) and len(edge) == 2 and edge[0] == SIMILAR_TO
