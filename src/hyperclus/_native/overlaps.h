// Overlaps of hyperedges: pairs of them that vertices have in common. See `clustering/overlaps.py`.

// List hyperedges, which come in this order, with each member in a range until it has `most` of them; by their ranks.
//
// `sizes` counts the vertices that list each.
EXPORT void KERNEL(list_smallest)(const INDEX* indptr, const INDEX* members, const INDEX* order, int64_t n_edges,
                                  int64_t most, int64_t first, int64_t last, INDEX* listed, int32_t* counts,
                                  int64_t* sizes) {
    for (int64_t rank = 0; rank < n_edges; rank++)
        for (int64_t place = indptr[order[rank]]; place < int64_t(indptr[order[rank] + 1]); place++) {
            int64_t vertex = members[place];
            if (vertex < first || vertex >= last || counts[vertex] >= most) continue;
            listed[vertex * most + counts[vertex]++] = INDEX(rank);
            sizes[rank]++;
        }
}

// Write each vertex into the lists of its hyperedges in a range; `places` is the next position of each.
EXPORT void KERNEL(fill_lists)(const INDEX* listed, const int32_t* counts, int64_t n, int64_t most, int64_t first,
                               int64_t last, int64_t* places, INDEX* vertices) {
    for (int64_t vertex = 0; vertex < n; vertex++)
        for (int64_t place = 0; place < counts[vertex]; place++) {
            int64_t rank = listed[vertex * most + place];
            if (rank >= first && rank < last) vertices[places[rank]++] = INDEX(vertex);
        }
}

static const double TINY_PRODUCT = 1e-100;  // the logarithm of a product of ratios is taken before it is smaller

struct Pair {
    INDEX with;  // the other hyperedge
    int32_t shared, others;  // vertices that list both, and vertices that list this one, less 1
};

static const int64_t LISTS_AHEAD = 16, PAIRS_AHEAD = 6;  // vertices whose memory is fetched before it is needed

// Add the lifts of all pairs whose smaller hyperedge is in a range to the sums of their vertices.
//
// `ends` and `vertices` are the vertices that list each hyperedge. Lists end with -1 if they have less than `most`. A
// logarithm is taken of a product of ratios, which is cheaper than one of each. What is needed of a hyperedge together
// is stored together, because most of the time goes into waiting for memory.
EXPORT void KERNEL(add_lifts)(const int64_t* ends, const INDEX* vertices, const INDEX* listed, int64_t n, int64_t most,
                              int64_t n_edges, double prior, int64_t first, int64_t last, double* sums) {
    Scratch<Pair> pairs(n_edges);
    for (int64_t rank = 0; rank < n_edges; rank++) pairs.data[rank] = {-1, 0, int32_t(ends[rank + 1] - ends[rank] - 1)};
    const int64_t end = ends[last];
    for (int64_t rank = first; rank < last; rank++) {
        double own = double(pairs.data[rank].others) / double(n);
        for (int64_t place = ends[rank]; place < ends[rank + 1]; place++) {
            if (place + LISTS_AHEAD < end) __builtin_prefetch(listed + int64_t(vertices[place + LISTS_AHEAD]) * most);
            if (place + PAIRS_AHEAD < end) {
                const INDEX* coming = listed + int64_t(vertices[place + PAIRS_AHEAD]) * most;
                for (int64_t later = 1; later < most && coming[later] >= 0; later++)
                    __builtin_prefetch(pairs.data + coming[later]);
            }
            const INDEX* list = listed + int64_t(vertices[place]) * most;
            for (int64_t later = most - 1; list[later] != rank; later--) {
                if (list[later] < 0) continue;
                Pair* pair = pairs.data + list[later];
                pair->shared = pair->with == INDEX(rank) ? pair->shared + 1 : 1;
                pair->with = INDEX(rank);
            }
        }
        for (int64_t place = ends[rank]; place < ends[rank + 1]; place++) {
            const INDEX* list = listed + int64_t(vertices[place]) * most;
            double product = 1.0, total = 0.0;
            for (int64_t later = most - 1; list[later] != rank; later--) {
                if (list[later] < 0) continue;
                Pair pair = pairs.data[list[later]];
                product *= (pair.shared - 1 + prior) / (own * pair.others + prior);
                if (product < TINY_PRODUCT || product > 1.0 / TINY_PRODUCT) {
                    total += log(product);
                    product = 1.0;
                }
            }
            sums[vertices[place]] += total + log(product);
        }
    }
}
