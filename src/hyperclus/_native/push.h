// Local clustering: push mass from vertex to hyperedge to vertex, sweep, move single vertices.
//
// The walk restarts with probability a in each step: pr = a s + (1 - a) pr P. Pushing maintains
//
//     pr(s) = p + pr(r + q B),
//
// with the estimate p, and the residuals r at vertices and q at hyperedges; pr(.) is linear. A push at u moves a r(u)
// to p(u) and the rest to u's hyperedges; a push at e moves q(e) to its members. When r <= eps phi and q <= eps psi
// everywhere, 0 <= pr(s) - p <= 2 eps phi, because phi B A = phi (Andersen, Chung and Lang, 2006, for graphs).
//
// Vertices and hyperedges are the two sides of a bipartite graph, and a push is the same on both. Nodes are numbered
// 0, 1, ... in the order in which mass reaches them, and the rows of pushed nodes are copied, so that the loops stay in
// a small piece of memory, however large the hypergraph. Mass at hyperedges is stored as q / omega.

static const double MIN_IMPROVEMENT = 1e-9;  // relative decrease of the NCut that is more than rounding
static const int64_t PASSES = 10;  // of `descend_set` over the vertices that may move
static const double TINY = 1e-300;  // replaces a volume that rounding made 0
static const int64_t NOT_COPIED = -1;

// The vertices or the hyperedges; see `Side` in push_kernels.py.
struct Side {
    // the whole walk
    const INDEX *indptr, *indices;
    const double *weights, *scale, *back_weights, *whole_distribution;
    INDEX* number;
    // for each reached node
    int64_t* position;
    double *distribution, *estimate, *residual;
    int64_t *start, *stop, *queue;
    bool* queued;
    // for each copied entry
    INDEX* neighbor;
    double *forward, *backward;
    struct Counts {
        int64_t reached, stored, queued;
    }* counts;
};

// Copy the row of a node, next to the others that are used with it; its neighbors become reached.
INLINE void copy_row(const Side& source, const Side& target, int64_t node) {
    int64_t row = source.position[node], entry = source.counts->stored;
    double scale = source.scale[row];
    source.start[node] = entry;
    for (int64_t place = source.indptr[row]; place < int64_t(source.indptr[row + 1]); place++, entry++) {
        int64_t other = source.indices[place];
        if (target.number[other] == 0) {
            int64_t added = target.counts->reached++;
            target.number[other] = INDEX(added + 1);
            target.position[added] = other;
            target.distribution[added] = target.whole_distribution[other];
            target.estimate[added] = target.residual[added] = 0.0;
            target.start[added] = NOT_COPIED;
            target.queued[added] = false;
        }
        source.neighbor[entry] = target.number[other] - 1;
        source.forward[entry] = scale * source.weights[place];
        source.backward[entry] = target.scale[other] * source.back_weights[place];
    }
    source.stop[node] = source.counts->stored = entry;
}

// Number the seeds 0, 1, ..., and copy their rows, for a sweep.
EXPORT void KERNEL(reach_seeds)(const Side* vertices, const Side* edges, const int64_t* seeds, int64_t count) {
    vertices->counts->reached = count;
    for (int64_t node = 0; node < count; node++) {
        int64_t vertex = seeds[node];
        vertices->number[vertex] = INDEX(node + 1);
        vertices->position[node] = vertex;
        vertices->distribution[node] = vertices->whole_distribution[vertex];
        vertices->queued[node] = false;
        copy_row(*vertices, *edges, node);
    }
}

// Push all queued nodes: a share of the residual joins the estimate, the rest moves. Returns the entries visited.
INLINE int64_t push_queued(const Side& source, const Side& target, double restart, double accuracy) {
    int64_t visits = 0, waiting = target.counts->queued;
    for (int64_t turn = 0; turn < source.counts->queued; turn++) {
        int64_t node = source.queue[turn];
        if (source.start[node] == NOT_COPIED) copy_row(source, target, node);
        double amount = source.residual[node], moving = (1.0 - restart) * amount;
        source.queued[node] = false;
        source.residual[node] = 0.0;
        source.estimate[node] += restart * amount;
        int64_t first = source.start[node], last = source.stop[node];
        for (int64_t entry = first; entry < last; entry++) {
            int64_t other = source.neighbor[entry];
            double residual = target.residual[other] + moving * source.forward[entry];
            target.residual[other] = residual;
            if (!target.queued[other] && residual > accuracy * target.distribution[other]) {
                target.queued[other] = true;
                target.queue[waiting++] = other;
            }
        }
        visits += last - first;
    }
    target.counts->queued = waiting;
    source.counts->queued = 0;
    return visits;
}

// Push until no node is queued, or after `max_visits`; the number of incidences visited.
EXPORT int64_t KERNEL(push)(const Side* vertices, const Side* edges, double restart, double accuracy,
                            int64_t max_visits) {
    int64_t visits = 0;
    while (visits < max_visits && vertices->counts->queued + edges->counts->queued > 0) {
        visits += push_queued(*vertices, *edges, restart, accuracy);
        visits += push_queued(*edges, *vertices, 0.0, accuracy);
    }
    return visits;
}

// A set of vertices: for each hyperedge, the flow from the set, and the share of its flow that goes to the set.
struct VertexSet {
    double *sent, *got;
};

// The flow between a vertex and a set in both directions; `own` becomes the flow of the vertex to itself.
INLINE double flow_with(const VertexSet& set, const Side& vertices, int64_t node, double& own) {
    double mass = vertices.distribution[node], linked = 0.0;
    own = 0.0;
    for (int64_t entry = vertices.start[node]; entry < vertices.stop[node]; entry++) {
        int64_t edge = vertices.neighbor[entry];
        double sends = mass * vertices.forward[entry];
        linked += sends * set.got[edge] + set.sent[edge] * vertices.backward[entry];
        own += sends * vertices.backward[entry];
    }
    return linked;
}

// Let a vertex join the set (sign = 1) or leave it (sign = -1).
INLINE void join_or_leave(const VertexSet& set, const Side& vertices, int64_t node, double sign) {
    double mass = sign * vertices.distribution[node];
    for (int64_t entry = vertices.start[node]; entry < vertices.stop[node]; entry++) {
        int64_t edge = vertices.neighbor[entry];
        set.sent[edge] += mass * vertices.forward[entry];
        set.got[edge] += sign * vertices.backward[entry];
    }
}

// Fill in volume and internal flow of each prefix of an order, and add all to the sums.
EXPORT void KERNEL(sweep_over)(const Side* vertices, const int64_t* order, int64_t count, double* sent, double* got,
                               double* volumes, double* insides) {
    VertexSet set = {sent, got};
    double volume = 0.0, inside = 0.0;
    for (int64_t place = 0; place < count; place++) {
        double own, linked = flow_with(set, *vertices, order[place], own);
        join_or_leave(set, *vertices, order[place], 1.0);
        volumes[place] = volume += vertices->distribution[order[place]];
        insides[place] = inside += linked + own;
    }
}

// The NCut of a set and the rest.
INLINE double ncut_of(double volume, double inside) {
    return (volume - inside) / max_of(volume * (1.0 - volume), TINY);
}

// Let single vertices join or leave a set while that lowers its NCut; the number of passes.
//
// `inside` says which of the `count` vertices of the order are in the set, `size` how many; the first `fixed` stay
// there. `volume`, `flow`, `sent` and `got` are its volume, internal flow and sums.
EXPORT int64_t KERNEL(descend_set)(const Side* vertices, const int64_t* order, int64_t count, bool* inside,
                                   int64_t size, int64_t fixed, double max_volume, int64_t max_size, double* sent,
                                   double* got, double volume, double flow) {
    VertexSet set = {sent, got};
    for (int64_t pass = 1; pass <= PASSES; pass++) {
        bool moved = false;
        double lowest = ncut_of(volume, flow);
        for (int64_t place = 0; place < count; place++) {
            int64_t node = order[place];
            double own, linked = flow_with(set, *vertices, node, own), sign = inside[place] ? -1.0 : 1.0;
            double new_volume = volume + sign * vertices->distribution[node];
            double new_flow = flow + sign * linked + own;
            int64_t new_size = size + int64_t(sign);
            bool allowed = inside[place] ? place >= fixed && new_size > 0
                                         : new_volume <= max_volume && new_size <= max_size;
            double ncut = ncut_of(new_volume, new_flow);
            if (!allowed || !(ncut < lowest * (1.0 - MIN_IMPROVEMENT))) continue;
            join_or_leave(set, *vertices, node, sign);
            inside[place] = !inside[place];
            lowest = ncut, volume = new_volume, flow = new_flow, size = new_size;
            moved = true;
        }
        if (!moved) return pass;
    }
    return PASSES;
}
