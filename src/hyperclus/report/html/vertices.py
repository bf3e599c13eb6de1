"""The vertices that the reader can look up by name."""

import math
from typing import Any

from hyperclus.report.format import short_id
from hyperclus.report.html.contents import Contents


def vertices(contents: Contents) -> dict[str, Any]:
    """Names, clusters, classes and how much each stays, in thousandths; -1 where nothing is known."""
    part, view = contents.part, contents.views.lookup
    found: dict[str, Any] = {
        "names": [short_id(value) for value in part.vertex_ids[view.vertices].tolist()],
        "clusters": part.labels[view.vertices].tolist(),
        "stays": [
            -1 if math.isnan(share) else round(1000 * share) for share in view.stay_probability.tolist()
        ],
    }
    if contents.classes is not None:
        found["of"] = contents.classes.codes[view.vertices].tolist()
        found["classes"] = [short_id(value) for value in contents.classes.names.tolist()]
    return found
