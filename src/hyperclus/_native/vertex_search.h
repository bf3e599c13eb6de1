// Loops of the vertex search, for any objective: a struct with `prepare`, `link`, `best_target`, `move`, `plain_cost`.

// The cost, with penalties; infinite if a cluster is empty, too large, or only rounding errors.
template <class Objective>
INLINE double cost_of(const State& state, double min_volume) {
    double total = Objective::plain_cost(state);
    for (int64_t cluster = 0; cluster < state.k; cluster++) {
        double volume = state.volumes[cluster];
        if (state.sizes[cluster] == 0 || volume < NOISE || volume > state.most[cluster]) return INF;
        if (volume < min_volume) total += penalty(1.0, min_volume - volume, min_volume);
    }
    return total;
}

template <class Objective>
INLINE void find_moves(const Flow& flow, const State& state, const int64_t* vertices, int64_t count,
                       double min_volume, double* found, int64_t* targets) {
    Links links(state.k);
    Objective::prepare(state, links);
    for (int64_t place = 0; place < count; place++) {
        int64_t vertex = vertices == nullptr ? place : vertices[place], target;
        Objective::link(flow, state, vertex, links);
        double mass = flow.stationary[vertex];
        found[place] = Objective::best_target(state, state.labels[vertex], mass, links, min_volume, &target);
        if (targets != nullptr) targets[place] = target;
    }
}

template <class Objective>
INLINE int64_t descend_over(const Flow& flow, const State& state, const int64_t* vertices, int64_t count,
                            double min_volume, double min_gain, int64_t max_passes) {
    Links links(state.k);
    Objective::prepare(state, links);
    int64_t passes = 0, target;
    for (bool moving = true; moving && passes < max_passes; passes++) {
        moving = false;
        for (int64_t place = 0; place < count; place++) {
            int64_t vertex = vertices[place];
            Objective::link(flow, state, vertex, links);
            double mass = flow.stationary[vertex];
            double gain = Objective::best_target(state, state.labels[vertex], mass, links, min_volume, &target);
            if (gain > min_gain) {
                Objective::move(flow, state, vertex, target, links);
                moving = true;
            }
        }
    }
    return passes;
}

template <class Objective, class Codes>
INLINE void assign_all(const Flow& flow, const State& state, Links& links, const Codes* vertices, int64_t count,
                       const int64_t* targets) {
    for (int64_t place = 0; place < count; place++)
        if (state.labels[vertices[place]] != targets[place]) {
            Objective::link(flow, state, vertices[place], links);
            Objective::move(flow, state, vertices[place], targets[place], links);
        }
}

// The label at a rank among those of some members, as if they were sorted; `sizes` is scratch, zero before and after.
INLINE int64_t label_at(const int64_t* labels, int64_t count, int64_t rank, int64_t* sizes, int64_t k) {
    for (int64_t place = 0; place < count; place++) sizes[labels[place]]++;
    int64_t found = -1;
    for (int64_t cluster = 0, before = 0; cluster < k; cluster++) {
        before += sizes[cluster];
        if (found < 0 && rank < before) found = cluster;
        sizes[cluster] = 0;
    }
    return found;
}

template <class Objective>
INLINE void try_forcing(const Flow& flow, const State& state, const int64_t* edges, const int64_t* targets,
                        const double* uniforms, int64_t attempts, double min_volume, int64_t* sources,
                        double* costs) {
    const int64_t k = state.k, n_flows = Objective::n_flows(k);
    Links links(k);
    Objective::prepare(state, links);
    Scratch<double> volumes(k), flows(n_flows);
    Scratch<int64_t> sizes(k, true);
    memcpy(volumes.data, state.volumes, k * sizeof(double));
    memcpy(flows.data, state.flows, n_flows * sizeof(double));
    for (int64_t attempt = 0; attempt < attempts; attempt++) {
        int64_t first = flow.edge_indptr[edges[attempt]], size = flow.edge_indptr[edges[attempt] + 1] - first;
        const INDEX* members = flow.members + first;
        Scratch<int64_t> before(size), after(size);
        for (int64_t place = 0; place < size; place++) before.data[place] = state.labels[members[place]];
        int64_t source = -1;
        if (size > 0 && uniforms[attempt] >= 0.0) {
            int64_t rank = int64_t(uniforms[attempt] * double(size));
            source = label_at(before.data, size, rank < size ? rank : size - 1, sizes.data, k);
        }
        for (int64_t place = 0; place < size; place++) {
            bool moves = (source < 0 || source == before.data[place]) && !state.still[members[place]];
            after.data[place] = moves ? targets[attempt] : before.data[place];
        }
        assign_all<Objective>(flow, state, links, members, size, after.data);
        sources[attempt] = source;
        costs[attempt] = cost_of<Objective>(state, min_volume);
        assign_all<Objective>(flow, state, links, members, size, before.data);
        memcpy(state.volumes, volumes.data, k * sizeof(double));
        memcpy(state.flows, flows.data, n_flows * sizeof(double));
        Objective::prepare(state, links);
    }
}

template <class Objective>
INLINE void sweep_costs(const Flow& flow, const State& state, const int64_t* vertices, int64_t count, double* costs) {
    Links links(state.k);
    Objective::prepare(state, links);
    for (int64_t place = 0; place < count; place++) {
        Objective::link(flow, state, vertices[place], links);
        Objective::move(flow, state, vertices[place], 1, links);
        costs[place] = cost_of<Objective>(state, 0.0);
    }
}

#define OBJECTIVE_KERNELS(OBJECTIVE, NAMED)                                                                            \
    EXPORT void KERNEL(NAMED##_gains)(const Flow* flow, const State* state, const int64_t* vertices, int64_t count,    \
                                      double min_volume, double* found) {                                              \
        find_moves<OBJECTIVE>(*flow, *state, vertices, count, min_volume, found, nullptr);                             \
    }                                                                                                                  \
    EXPORT void KERNEL(NAMED##_best_moves)(const Flow* flow, const State* state, double* found, int64_t* targets) {    \
        find_moves<OBJECTIVE>(*flow, *state, nullptr, flow->n_vertices, 0.0, found, targets);                          \
    }                                                                                                                  \
    EXPORT int64_t KERNEL(NAMED##_descend)(const Flow* flow, const State* state, const int64_t* vertices,              \
                                           int64_t count, double min_volume, double min_gain, int64_t max_passes) {    \
        return descend_over<OBJECTIVE>(*flow, *state, vertices, count, min_volume, min_gain, max_passes);              \
    }                                                                                                                  \
    EXPORT void KERNEL(NAMED##_assign)(const Flow* flow, const State* state, const int64_t* vertices, int64_t count,   \
                                       const int64_t* targets) {                                                       \
        Links links(state->k);                                                                                         \
        OBJECTIVE::prepare(*state, links);                                                                             \
        assign_all<OBJECTIVE>(*flow, *state, links, vertices, count, targets);                                         \
    }                                                                                                                  \
    EXPORT void KERNEL(NAMED##_forced_costs)(const Flow* flow, const State* state, const int64_t* edges,               \
                                             const int64_t* targets, const double* uniforms, int64_t attempts,         \
                                             double min_volume, int64_t* sources, double* costs) {                     \
        try_forcing<OBJECTIVE>(*flow, *state, edges, targets, uniforms, attempts, min_volume, sources, costs);         \
    }                                                                                                                  \
    EXPORT void KERNEL(NAMED##_sweep)(const Flow* flow, const State* state, const int64_t* vertices, int64_t count,    \
                                      double* costs) {                                                                 \
        sweep_costs<OBJECTIVE>(*flow, *state, vertices, count, costs);                                                 \
    }

OBJECTIVE_KERNELS(NCut, ncut)
OBJECTIVE_KERNELS(Information, information)
