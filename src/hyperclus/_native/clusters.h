// The walk and the clusters as the kernels of the vertex search read them; see `Flow` and `State` in vertex_kernels.py.
//
// For each hyperedge and cluster there are two sums over the members of the hyperedge in the cluster: of gamma, and of
// rate * source_weights. A hyperedge with many members has a full row of k sums each. One with few has a list: its
// clusters, with the number of members in each, so that memory and time do not grow with k.

struct Flow {
    const INDEX *indptr, *edges;
    const double *gamma, *source_weights;
    const INDEX *edge_indptr, *members;
    const double *edge_gamma, *edge_source_weights, *stationary, *rate, *scale;
    int64_t reversible, n_vertices, n_edges;
};

struct State {
    int64_t *labels, *sizes;
    double *volumes, *flows, *sums;
    int64_t* starts;  // of the sums of each hyperedge, in pairs
    int32_t *clusters, *counts, *used;  // of lists: the clusters, their members, and how many clusters there are
    const double* most;
    const bool* still;
    int64_t k;
};

// The sums of a hyperedge: a full row, or a list.
struct Row {
    double *gamma, *picked;
    int32_t *clusters, *counts, *used;
    int64_t capacity;
};

INLINE Row row_of(const State& state, int64_t edge) {
    int64_t start = state.starts[edge], capacity = state.starts[edge + 1] - start;
    double* sums = state.sums + 2 * start;
    return {sums, sums + capacity, state.clusters + start, state.counts + start, state.used + edge, capacity};
}

INLINE bool is_full(const State& state, const Row& row) { return row.capacity == state.k; }

// Add a member to the sums of a cluster.
INLINE void add_member(const State& state, int64_t edge, int64_t cluster, double gamma, double picked) {
    Row row = row_of(state, edge);
    int64_t place = cluster;
    if (!is_full(state, row)) {
        for (place = 0; place < *row.used && row.clusters[place] != cluster; place++) {}
        if (place == *row.used) {
            row.clusters[place] = int32_t(cluster);
            row.counts[place] = 0;
            row.gamma[place] = row.picked[place] = 0.0;
            ++*row.used;
        }
        row.counts[place]++;
    }
    row.gamma[place] += gamma;
    row.picked[place] += picked;
}

// Take a member from the sums of a cluster; the last one of a list takes its cluster with it.
INLINE void remove_member(const State& state, int64_t edge, int64_t cluster, double gamma, double picked) {
    Row row = row_of(state, edge);
    int64_t place = cluster;
    if (!is_full(state, row)) {
        for (place = 0; row.clusters[place] != cluster; place++) {}
        if (--row.counts[place] == 0) {
            int64_t last = --*row.used;
            row.clusters[place] = row.clusters[last];
            row.counts[place] = row.counts[last];
            row.gamma[place] = row.gamma[last];
            row.picked[place] = row.picked[last];
            return;
        }
    }
    row.gamma[place] -= gamma;
    row.picked[place] -= picked;
}

// Compute the sums, which are zero before, from the labels.
EXPORT void KERNEL(tally)(const Flow* flow, const State* state) {
    for (int64_t edge = 0; edge < flow->n_edges; edge++)
        for (int64_t place = flow->edge_indptr[edge]; place < int64_t(flow->edge_indptr[edge + 1]); place++) {
            int64_t vertex = flow->members[place];
            double picked = flow->rate[vertex] * flow->edge_source_weights[place];
            add_member(*state, edge, state->labels[vertex], flow->edge_gamma[place], picked);
        }
}

// F_ij, the flow from cluster i to cluster j, which is zero before.
EXPORT void KERNEL(flows_between)(const Flow* flow, const State* state, double* between) {
    const int64_t k = state->k;
    for (int64_t edge = 0; edge < flow->n_edges; edge++) {
        Row row = row_of(*state, edge);
        bool full = is_full(*state, row);
        int64_t count = full ? k : *row.used;
        for (int64_t i = 0; i < count; i++) {
            double sent = flow->scale[edge] * row.picked[i];
            if (sent == 0.0) continue;
            if (full) {
                double* from = between + i * k;
                for (int64_t j = 0; j < k; j++) from[j] += sent * row.gamma[j];
            } else {
                double* from = between + row.clusters[i] * k;
                for (int64_t j = 0; j < count; j++) from[row.clusters[j]] += sent * row.gamma[j];
            }
        }
    }
}

// Move one vertex and update everything but the flows.
INLINE void relabel(const Flow& flow, const State& state, int64_t vertex, int64_t target) {
    int64_t home = state.labels[vertex];
    double mass = flow.stationary[vertex];
    state.labels[vertex] = target;
    state.sizes[home]--;
    state.sizes[target]++;
    state.volumes[home] -= mass;
    state.volumes[target] += mass;
    for (int64_t place = flow.indptr[vertex]; place < int64_t(flow.indptr[vertex + 1]); place++) {
        int64_t edge = flow.edges[place];
        double picked = flow.rate[vertex] * flow.source_weights[place];
        remove_member(state, edge, home, flow.gamma[place], picked);
        add_member(state, edge, target, flow.gamma[place], picked);
    }
}

// Clusters that a vertex shares a hyperedge with, and flows to them; zero for all others.
struct Links {
    int64_t k;
    double *out, *back, *scores, *log_volumes;
    int32_t *touched, *chosen;
    bool* marked;
    int64_t n_touched;  // all clusters, in order, if this is k
    double own;  // flow of the vertex to itself

    explicit Links(int64_t k) : k(k), n_touched(k) {
        out = static_cast<double*>(calloc(4 * k + 1, sizeof(double)));
        touched = static_cast<int32_t*>(malloc((2 * k + 1) * sizeof(int32_t)));
        marked = static_cast<bool*>(calloc(k + 1, sizeof(bool)));
        if (!out || !touched || !marked) abort();
        back = out + k, scores = back + k, log_volumes = scores + k, chosen = touched + k;
    }
    ~Links() { free(out), free(touched), free(marked); }
    Links(const Links&) = delete;
    Links& operator=(const Links&) = delete;

    void begin() {
        if (n_touched == k) {
            memset(out, 0, 2 * k * sizeof(double));
            memset(marked, 0, k * sizeof(bool));
        } else
            for (int64_t place = 0; place < n_touched; place++) {
                int32_t cluster = touched[place];
                out[cluster] = back[cluster] = 0.0;
                marked[cluster] = false;
            }
        n_touched = 0;
    }
    INLINE_MEMBER void touch(int32_t cluster) {
        if (!marked[cluster]) {
            marked[cluster] = true;
            touched[n_touched++] = cluster;
        }
    }
    void touch_all() {
        for (int64_t cluster = 0; cluster < k; cluster++) touched[cluster] = int32_t(cluster);
        n_touched = k;
    }
};
