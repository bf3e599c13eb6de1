// The NCut: state.flows are the flows inside the clusters. `out` of the links has both directions together.

struct NCut {
    static INLINE_MEMBER void prepare(const State&, Links&) {}

    // Compute the flow between a vertex and each cluster, and that to itself.
    static INLINE_MEMBER void link(const Flow& flow, const State& state, int64_t vertex, Links& links) {
        const int64_t first = flow.indptr[vertex], last = flow.indptr[vertex + 1], k = state.k;
        const double rate = flow.rate[vertex];
        double own = 0.0;
        if (k == 2) {  // their sum is 2 phi(v)
            double half = 0.0;
            for (int64_t place = first; place < last; place++) {
                int64_t edge = flow.edges[place];
                Row row = row_of(state, edge);
                double inward = flow.scale[edge] * flow.gamma[place];
                double outward = flow.scale[edge] * (rate * flow.source_weights[place]);
                own += outward * flow.gamma[place];
                half += outward * row.gamma[0] + inward * row.picked[0];
            }
            links.out[0] = half;
            links.out[1] = 2.0 * flow.stationary[vertex] - half;
            links.own = own;
            return;
        }
        links.begin();
        bool all = false;
        double* out = links.out;
        for (int64_t place = first; place < last; place++) {
            int64_t edge = flow.edges[place];
            Row row = row_of(state, edge);
            double inward = flow.scale[edge] * flow.gamma[place];
            double outward = flow.scale[edge] * (rate * flow.source_weights[place]);
            own += outward * flow.gamma[place];
            if (is_full(state, row)) {
                all = true;
                for (int64_t cluster = 0; cluster < k; cluster++)
                    out[cluster] += outward * row.gamma[cluster] + inward * row.picked[cluster];
            } else
                for (int64_t entry = 0; entry < *row.used; entry++) {
                    links.touch(row.clusters[entry]);
                    out[row.clusters[entry]] += outward * row.gamma[entry] + inward * row.picked[entry];
                }
        }
        if (all) links.touch_all();
        links.own = own;
    }

    // The largest decrease of the cost when a vertex of this mass leaves home, and the cluster that it joins.
    //
    // The cost is the NCut plus a penalty for each cluster below `min_volume`. A cluster is not left with less than
    // that, nor empty, nor with a volume of rounding errors only. None gets more than state.most; the decrease is -inf
    // if no move is possible for that reason.
    static INLINE_MEMBER double best_target(const State& state, int64_t home, double mass, Links& links,
                                            double min_volume, int64_t* target) {
        const double *volumes = state.volumes, *flows = state.flows, *linked = links.out;
        double rest = volumes[home] - mass, best = -INF, own = links.own;
        *target = home;
        if (state.sizes[home] < 2 || rest < max_of(min_volume, NOISE)) return -1.0;
        for (int64_t cluster = 0; cluster < state.k; cluster++)
            if (cluster != home && volumes[cluster] + mass <= state.most[cluster]) {
                double joined = (flows[cluster] + linked[cluster] + own) / (volumes[cluster] + mass);
                double gain = joined - flows[cluster] / volumes[cluster];
                if (volumes[cluster] < min_volume) gain += penalty(mass, min_volume - volumes[cluster], min_volume);
                if (gain > best) {
                    best = gain;
                    *target = cluster;
                }
            }
        return best + (flows[home] - linked[home] + own) / rest - flows[home] / volumes[home];
    }

    // Move one vertex and update the flows, then the rest.
    static INLINE_MEMBER void move(const Flow& flow, const State& state, int64_t vertex, int64_t target,
                                   Links& links) {
        int64_t home = state.labels[vertex];
        state.flows[home] -= links.out[home] - links.own;
        state.flows[target] += links.out[target] + links.own;
        relabel(flow, state, vertex, target);
    }

    // The NCut; empty clusters do not count.
    static double plain_cost(const State& state) {
        double total = 0.0;
        for (int64_t cluster = 0; cluster < state.k; cluster++)
            if (state.volumes[cluster] > 0.0) total += 1.0 - state.flows[cluster] / state.volumes[cluster];
        return total;
    }

    static int64_t n_flows(int64_t k) { return k; }
};
