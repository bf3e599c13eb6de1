// Sums along incidences that are sorted into blocks: the products of a large walk.
//
// Three arrays hold the hyperedge, the vertex and the gamma of each incidence. Sums go `to` one side, `of` values on
// the other. One of the two sides ascends, the other stays within a block that fits the cache, so neither waits for
// memory. `bounds` are the ends of `count` ranges of incidences; a kernel visits each `step`-th of them, or all.

// Add the incidences of some hyperedges to the counts of the spans of their vertices, which have 2^span of them.
EXPORT void KERNEL(count_spans)(const INDEX* indptr, const INDEX* members, int64_t first, int64_t last,
                                int64_t span, int64_t* counts) {
    for (int64_t place = indptr[first]; place < int64_t(indptr[last]); place++) counts[members[place] >> span]++;
}

// Copy the incidences of some hyperedges to their blocks; `places` is the next position of each.
EXPORT void KERNEL(fill_blocks)(const INDEX* indptr, const INDEX* members, const double* gamma,
                                const int64_t* block_of, int64_t first, int64_t last, int64_t span,
                                int64_t* places, INDEX* edges, INDEX* vertices, double* weights, bool weighted) {
    for (int64_t edge = first; edge < last; edge++)
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            int64_t to = places[block_of[members[place] >> span]]++;
            edges[to] = INDEX(edge);
            vertices[to] = members[place];
            if (weighted) weights[to] = gamma[place];
        }
}

template <bool weighted, bool in_runs>
INLINE void add_sums(const INDEX* to, const INDEX* of, const double* gamma, const double* values, double* out,
                     int64_t first, int64_t last) {
    if (!in_runs) {
        for (int64_t place = first; place < last; place++)
            out[to[place]] += weighted ? gamma[place] * values[of[place]] : values[of[place]];
        return;
    }
    double total = 0.0;
    INDEX current = to[first];
    for (int64_t place = first; place < last; place++) {
        if (to[place] != current) {
            out[current] += total;
            total = 0.0;
            current = to[place];
        }
        total += weighted ? gamma[place] * values[of[place]] : values[of[place]];
    }
    out[current] += total;
}

// out(to) += gamma values(of); all gamma are 1 unless `weighted`.
//
// With `in_runs`, consecutive incidences with the same target are summed first.
EXPORT void KERNEL(sums)(const INDEX* to, const INDEX* of, const double* gamma, const double* values, double* out,
                         bool weighted, bool in_runs, const int64_t* bounds, int64_t start, int64_t stop,
                         int64_t step) {
    for (int64_t range = start; range < stop; range += step) {
        int64_t first = bounds[range], last = bounds[range + 1];
        if (first >= last) continue;
        if (weighted && in_runs) add_sums<true, true>(to, of, gamma, values, out, first, last);
        else if (weighted) add_sums<true, false>(to, of, gamma, values, out, first, last);
        else if (in_runs) add_sums<false, true>(to, of, gamma, values, out, first, last);
        else add_sums<false, false>(to, of, gamma, values, out, first, last);
    }
}

// Rows of `width` values: out(to) += (gamma left(of), right(of)), where a side has a row of both halves, left first.
//
// If `width` is 1, these are the pairs of a single symmetrized product.
template <int fixed>
INLINE void add_pairs(const INDEX* to, const INDEX* of, const double* gamma, const double* values, double* out,
                      int64_t first, int64_t last, int64_t given) {
    const int64_t width = fixed ? fixed : given;
    for (int64_t place = first; place < last; place++) {
        double* target = out + 2 * width * int64_t(to[place]);
        const double* source = values + 2 * width * int64_t(of[place]);
        double weight = gamma[place];
        for (int64_t column = 0; column < width; column++) target[column] += weight * source[column];
        for (int64_t column = width; column < 2 * width; column++) target[column] += source[column];
    }
}

// The same for a width of 1, where consecutive incidences with the same target are summed first.
INLINE void add_pair_runs(const INDEX* to, const INDEX* of, const double* gamma, const double* values, double* out,
                          int64_t first, int64_t last) {
    double left = 0.0, right = 0.0;
    int64_t current = 2 * int64_t(to[first]);
    for (int64_t place = first; place < last; place++) {
        int64_t source = 2 * int64_t(of[place]), target = 2 * int64_t(to[place]);
        if (target != current) {
            out[current] += left;
            out[current + 1] += right;
            left = right = 0.0;
            current = target;
        }
        left += gamma[place] * values[source];
        right += values[source + 1];
    }
    out[current] += left;
    out[current + 1] += right;
}

EXPORT void KERNEL(pairs)(const INDEX* to, const INDEX* of, const double* gamma, const double* values, double* out,
                          int64_t width, bool in_runs, const int64_t* bounds, int64_t start, int64_t stop,
                          int64_t step) {
    for (int64_t range = start; range < stop; range += step) {
        int64_t first = bounds[range], last = bounds[range + 1];
        if (first >= last) continue;
        if (width == 1 && in_runs) add_pair_runs(to, of, gamma, values, out, first, last);
        else if (width == 1) add_pairs<1>(to, of, gamma, values, out, first, last, width);
        else if (width == 4) add_pairs<4>(to, of, gamma, values, out, first, last, width);
        else if (width == 8) add_pairs<8>(to, of, gamma, values, out, first, last, width);
        else add_pairs<0>(to, of, gamma, values, out, first, last, width);
    }
}

// out(to) += gamma values(of) for rows of `width` values; all gamma are 1 unless `weighted`.
template <int fixed>
INLINE void add_rows(const INDEX* to, const INDEX* of, const double* gamma, const double* values, double* out,
                     bool weighted, int64_t first, int64_t last, int64_t given) {
    const int64_t width = fixed ? fixed : given;
    for (int64_t place = first; place < last; place++) {
        double* target = out + width * int64_t(to[place]);
        const double* source = values + width * int64_t(of[place]);
        double weight = weighted ? gamma[place] : 1.0;
        for (int64_t column = 0; column < width; column++) target[column] += weight * source[column];
    }
}

EXPORT void KERNEL(rows)(const INDEX* to, const INDEX* of, const double* gamma, const double* values, double* out,
                         bool weighted, int64_t width, const int64_t* bounds, int64_t start, int64_t stop,
                         int64_t step) {
    for (int64_t range = start; range < stop; range += step) {
        int64_t first = bounds[range], last = bounds[range + 1];
        if (width == 4) add_rows<4>(to, of, gamma, values, out, weighted, first, last, width);
        else if (width == 8) add_rows<8>(to, of, gamma, values, out, weighted, first, last, width);
        else add_rows<0>(to, of, gamma, values, out, weighted, first, last, width);
    }
}

// The least of max(out(e) out(v) gamma^alpha, in(e) in(v) gamma); alpha is 1 if `two_sided`, else 0.
EXPORT double KERNEL(least_share)(const INDEX* edges, const INDEX* vertices, const double* gamma,
                                  const double* out_edge, const double* out_vertex, const double* in_edge,
                                  const double* in_vertex, bool weighted, bool two_sided,
                                  const int64_t* bounds, int64_t start, int64_t stop, int64_t step) {
    double least = INF;
    for (int64_t range = start; range < stop; range += step)
        for (int64_t place = bounds[range]; place < bounds[range + 1]; place++) {
            int64_t edge = edges[place], vertex = vertices[place];
            double weight = weighted ? gamma[place] : 1.0;
            double going = out_edge[edge] * out_vertex[vertex];
            if (two_sided) going *= weight;
            least = min_of(least, max_of(going, in_edge[edge] * in_vertex[vertex] * weight));
        }
    return least;
}

// Sums that each row of a sparse matrix gathers: out(row) = scale(row) sum of weights(place) values(indices(place)),
// for rows of `width` values. All weights are 1 unless `weighted`.
template <bool weighted, class Weight>
INLINE void gather_sums(const INDEX* indptr, const INDEX* indices, const Weight* weights, const double* values,
                        double* out, int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) {
        double total = 0.0;
        for (int64_t place = indptr[row]; place < int64_t(indptr[row + 1]); place++)
            total += weighted ? double(weights[place]) * values[indices[place]] : values[indices[place]];
        out[row] = total;
    }
}

template <class Weight>
INLINE void gather_rows(const INDEX* indptr, const INDEX* indices, const Weight* weights, const double* values,
                        double* out, bool weighted, int64_t width, int64_t first, int64_t last) {
    if (width == 1 && weighted) return gather_sums<true>(indptr, indices, weights, values, out, first, last);
    if (width == 1) return gather_sums<false>(indptr, indices, weights, values, out, first, last);
    for (int64_t row = first; row < last; row++) {
        double* target = out + row * width;
        for (int64_t column = 0; column < width; column++) target[column] = 0.0;
        for (int64_t place = indptr[row]; place < int64_t(indptr[row + 1]); place++) {
            const double* source = values + int64_t(indices[place]) * width;
            double weight = weighted ? double(weights[place]) : 1.0;
            for (int64_t column = 0; column < width; column++) target[column] += weight * source[column];
        }
    }
}

// (sum of gamma x, sum of source_weights y) over a row; the source weights are 1 if `constant`.
template <class Weight>
INLINE void gather_pair(const INDEX* indptr, const INDEX* indices, const Weight* gamma, const Weight* source_weights,
                        const double* values, bool constant, int64_t row, double* left, double* right) {
    double one = 0.0, other = 0.0;
    for (int64_t place = indptr[row]; place < int64_t(indptr[row + 1]); place++) {
        const double* pair = values + 2 * int64_t(indices[place]);
        one += double(gamma[place]) * pair[0];
        other += constant ? pair[1] : double(source_weights[place]) * pair[1];
    }
    *left = one;
    *right = other;
}

// Each for weights in double and in single precision. Crossed pairs by hyperedge are scaled for the way back, and joined
// ones by vertex are left sum of gamma x + right sum of source_weights y.
#define GATHERS(NAMED, WEIGHT)                                                                                         \
    EXPORT void KERNEL(gather##NAMED)(const INDEX* indptr, const INDEX* indices, const WEIGHT* weights,                \
                                      const double* values, double* out, bool weighted, int64_t width, int64_t first, \
                                      int64_t last) {                                                                  \
        gather_rows(indptr, indices, weights, values, out, weighted, width, first, last);                              \
    }                                                                                                                  \
    EXPORT void KERNEL(gather_crossed##NAMED)(const INDEX* indptr, const INDEX* indices, const WEIGHT* gamma,          \
                                              const WEIGHT* source_weights, const double* values,                      \
                                              const double* scale, double* out, bool constant, int64_t first,          \
                                              int64_t last) {                                                          \
        for (int64_t row = first; row < last; row++) {                                                                 \
            double left, right;                                                                                        \
            gather_pair(indptr, indices, gamma, source_weights, values, constant, row, &left, &right);                 \
            out[2 * row] = right * scale[row];                                                                         \
            out[2 * row + 1] = left * scale[row];                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    EXPORT void KERNEL(gather_joined##NAMED)(const INDEX* indptr, const INDEX* indices, const WEIGHT* gamma,           \
                                             const WEIGHT* source_weights, const double* values, const double* left,   \
                                             const double* right, double* out, bool constant, int64_t first,           \
                                             int64_t last) {                                                           \
        for (int64_t row = first; row < last; row++) {                                                                 \
            double coming, going;                                                                                      \
            gather_pair(indptr, indices, gamma, source_weights, values, constant, row, &coming, &going);               \
            out[row] = coming * left[row] + going * right[row];                                                        \
        }                                                                                                              \
    }

GATHERS(, double)
GATHERS(_single, float)
#undef GATHERS

// `least_share` over the rows of hyperedges, with source weights.
EXPORT double KERNEL(least_share_of_rows)(const INDEX* indptr, const INDEX* members, const double* gamma,
                                          const double* source_weights, const double* out_edge,
                                          const double* out_vertex, const double* in_edge, const double* in_vertex,
                                          bool constant, int64_t first, int64_t last) {
    double least = INF;
    for (int64_t edge = first; edge < last; edge++)
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            int64_t vertex = members[place];
            double going = out_edge[edge] * out_vertex[vertex];
            if (!constant) going *= source_weights[place];
            least = min_of(least, max_of(going, in_edge[edge] * in_vertex[vertex] * gamma[place]));
        }
    return least;
}
