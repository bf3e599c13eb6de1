// The best moves of single vertices whose flows to all clusters are given, a row of k for each vertex.

template <class Links>
INLINE void set_links(indices_32::NCut*, Links& links, const double* out, const double* back, int64_t home) {
    for (int64_t cluster = 0; cluster < links.k; cluster++) links.out[cluster] = out[cluster] + back[cluster];
    links.out[home] += 2.0 * links.own;
}

template <class Links>
INLINE void set_links(indices_32::Information*, Links& links, const double* out, const double* back, int64_t) {
    memcpy(links.out, out, links.k * sizeof(double));
    memcpy(links.back, back, links.k * sizeof(double));
}

// How much the best move of each vertex lowers the cost, and the cluster that it joins; its own if there is none.
//
// `out` and `back` are the flows from each vertex to each cluster and back, without the one to itself, `own`.
template <class Objective>
INLINE void row_moves(const indices_32::State* state, const double* out, const double* back, const double* own,
                      const double* masses, int64_t count, double* found, int64_t* targets) {
    const int64_t k = state->k;
    indices_32::Links links(k);
    links.touch_all();
    Objective::prepare(*state, links);
    for (int64_t row = 0; row < count; row++) {
        int64_t home = state->labels[row];
        links.own = own[row];
        set_links(static_cast<Objective*>(nullptr), links, out + row * k, back + row * k, home);
        found[row] = Objective::best_target(*state, home, masses[row], links, 0.0, targets + row);
    }
}

EXPORT void ncut_row_moves(const indices_32::State* state, const double* out, const double* back, const double* own,
                           const double* masses, int64_t count, double* found, int64_t* targets) {
    row_moves<indices_32::NCut>(state, out, back, own, masses, count, found, targets);
}

EXPORT void information_row_moves(const indices_32::State* state, const double* out, const double* back,
                                  const double* own, const double* masses, int64_t count, double* found,
                                  int64_t* targets) {
    row_moves<indices_32::Information>(state, out, back, own, masses, count, found, targets);
}
