// The flows between clusters of a partition, from the members of each hyperedge; see `between` in engines/base.py.

static const int64_t FLOWS_AHEAD = 64;  // members whose values are fetched from memory before they are needed

// Fetch what is known of a vertex that is FLOWS_AHEAD incidences ahead.
INLINE void fetch_vertex(const INDEX* members, const double* rates, const int64_t* labels, int64_t place, int64_t end) {
    if (place + FLOWS_AHEAD >= end) return;
    __builtin_prefetch(labels + members[place + FLOWS_AHEAD]);
    __builtin_prefetch(rates + members[place + FLOWS_AHEAD]);
}

static const int64_t FEW = 16;  // clusters up to which all pairs cost less than a choice among them

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

// The same for few clusters, without branches.
INLINE void add_flows_of_few(const INDEX* indptr, const INDEX* members, const double* gamma,
                             const double* source_weights, const double* rates, const double* shares,
                             const int64_t* labels, bool constant, int64_t k, int64_t first, int64_t last,
                             double* between) {
    double got[FEW], sent[FEW];
    const int64_t end = indptr[last];
    for (int64_t edge = first; edge < last; edge++) {
        for (int64_t i = 0; i < k; i++) got[i] = sent[i] = 0.0;
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            fetch_vertex(members, rates, labels, place, end);
            int64_t vertex = members[place], cluster = labels[vertex];
            got[cluster] += gamma[place];
            sent[cluster] += constant ? rates[vertex] : rates[vertex] * source_weights[place];
        }
        for (int64_t i = 0; i < k; i++) {
            double flow = shares[edge] * sent[i];
            for (int64_t j = 0; j < k; j++) between[i * k + j] += flow * got[j];
        }
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
    if (k <= FEW)
        return add_flows_of_few(indptr, members, gamma, source_weights, rates, shares, labels, constant, k, first, last,
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

// The sums of gamma over the members of each hyperedge in each of the first `width` clusters, times its share, and
// those of rate * source_weights after them if `both`; a row of the table for each hyperedge.
EXPORT void KERNEL(sum_clusters)(const INDEX* indptr, const INDEX* members, const double* gamma,
                                 const double* source_weights, const double* rates, const double* shares,
                                 const int64_t* labels, bool constant, bool both, int64_t width, int64_t first,
                                 int64_t last, double* table) {
    const int64_t columns = both ? 2 * width : width;
    for (int64_t edge = first; edge < last; edge++) {
        double* row = table + edge * columns;
        memset(row, 0, columns * sizeof(double));
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            int64_t vertex = members[place], cluster = labels[vertex];
            if (cluster >= width) continue;
            row[cluster] += gamma[place];
            if (both) row[width + cluster] += constant ? rates[vertex] : rates[vertex] * source_weights[place];
        }
        for (int64_t column = 0; column < columns; column++) row[column] *= shares[edge];
    }
}

static const int64_t AHEAD = 12;  // rows of a table that memory is asked for before they are needed

// The flows from some vertices to each of these clusters, and back if `both`, from the table of `sum_clusters`.
EXPORT void KERNEL(gather_clusters)(const INDEX* indptr, const INDEX* edges, const double* gamma,
                                  const double* source_weights, const double* rates, const double* table,
                                  bool constant, bool both, int64_t width, int64_t start, int64_t first, int64_t last,
                                  double* out, double* back) {
    const int64_t columns = both ? 2 * width : width, end = indptr[last];
    for (int64_t vertex = first; vertex < last; vertex++) {
        double *going = out + (vertex - start) * width, *coming = both ? back + (vertex - start) * width : nullptr;
        memset(going, 0, width * sizeof(double));
        if (both) memset(coming, 0, width * sizeof(double));
        for (int64_t place = indptr[vertex]; place < int64_t(indptr[vertex + 1]); place++) {
            const double* row = table + int64_t(edges[place]) * columns;
            if (place + AHEAD < end) {
                const double* next = table + int64_t(edges[place + AHEAD]) * columns;
                for (int64_t column = 0; column < columns; column += 8) __builtin_prefetch(next + column);
            }
            const double picked = constant ? 1.0 : source_weights[place], got = gamma[place];
            for (int64_t column = 0; column < width; column++) going[column] += picked * row[column];
            if (both)
                for (int64_t column = 0; column < width; column++) coming[column] += got * row[width + column];
        }
        for (int64_t column = 0; column < width; column++) going[column] *= rates[vertex];
    }
}
