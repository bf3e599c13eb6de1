// The flows between clusters of a partition, from the members of each hyperedge; see `between` in engines/base.py.

static const int64_t FLOWS_AHEAD = 64;  // members whose values are fetched from memory before they are needed

// Fetch what is known of a vertex that is FLOWS_AHEAD incidences ahead.
INLINE void fetch_vertex(const INDEX* members, const double* rates, const int64_t* labels, int64_t place, int64_t end) {
    if (place + FLOWS_AHEAD >= end) return;
    __builtin_prefetch(labels + members[place + FLOWS_AHEAD]);
    __builtin_prefetch(rates + members[place + FLOWS_AHEAD]);
}

// The same for two clusters, without branches: a member counts in both sums of each kind, in one of them by 0.
INLINE void add_flows_of_two(const INDEX* indptr, const INDEX* members, const double* gamma,
                             const double* source_weights, const double* rates, const double* shares,
                             const int64_t* labels, bool constant, int64_t first, int64_t last, double* between) {
    const int64_t end = indptr[last];
    for (int64_t edge = first; edge < last; edge++) {
        double got[2] = {0.0, 0.0}, sent[2] = {0.0, 0.0};
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            fetch_vertex(members, rates, labels, place, end);
            int64_t vertex = members[place];
            double second = double(labels[vertex]), one = 1.0 - second;
            double rate = constant ? rates[vertex] : rates[vertex] * source_weights[place];
            got[0] += one * gamma[place];
            got[1] += second * gamma[place];
            sent[0] += one * rate;
            sent[1] += second * rate;
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) between[2 * i + j] += shares[edge] * sent[i] * got[j];
    }
}

// Add the flows F_ij = share a(i) b(j) of some hyperedges, with a(i) the sum of rate * source_weights and b(j) that of
// gamma over the members in a cluster. All source weights are 1 if `constant`.
EXPORT void KERNEL(add_flows)(const INDEX* indptr, const INDEX* members, const double* gamma,
                              const double* source_weights, const double* rates, const double* shares,
                              const int64_t* labels, bool constant, int64_t k, int64_t first, int64_t last,
                              double* between) {
    if (k == 2)
        return add_flows_of_two(indptr, members, gamma, source_weights, rates, shares, labels, constant, first, last,
                                between);
    Scratch<double> sent(k, true), got(k, true);
    Scratch<int64_t> touched(k);
    const int64_t end = indptr[last];
    for (int64_t edge = first; edge < last; edge++) {
        int64_t count = 0;
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            fetch_vertex(members, rates, labels, place, end);
            int64_t vertex = members[place], cluster = labels[vertex];
            if (got.data[cluster] == 0.0) touched.data[count++] = cluster;
            got.data[cluster] += gamma[place];
            sent.data[cluster] += constant ? rates[vertex] : rates[vertex] * source_weights[place];
        }
        for (int64_t i = 0; i < count; i++) {
            double* from = between + touched.data[i] * k;
            double flow = shares[edge] * sent.data[touched.data[i]];
            for (int64_t j = 0; j < count; j++) from[touched.data[j]] += flow * got.data[touched.data[j]];
        }
        for (int64_t i = 0; i < count; i++) sent.data[touched.data[i]] = got.data[touched.data[i]] = 0.0;
    }
}
