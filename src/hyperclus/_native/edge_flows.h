// Passes over the incidences by hyperedge, for what reports show. `powers` are gamma^alpha, or null if all are 1.

static const int64_t MEMBERS_AHEAD = 24;  // whose values are fetched from memory before they are needed

// Sums over the members of each hyperedge in each cluster: of gamma, and of gamma^alpha times a value of the vertex.
EXPORT void KERNEL(cluster_sums)(const INDEX* indptr, const INDEX* members, const double* gamma, const double* powers,
                                 bool weighted, const int64_t* labels, const double* values, int64_t k, int64_t first,
                                 int64_t last, double* of_gamma, double* of_values) {
    const int64_t end = indptr[last];
    for (int64_t edge = first; edge < last; edge++)
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            if (place + MEMBERS_AHEAD < end) {
                __builtin_prefetch(labels + members[place + MEMBERS_AHEAD]);
                __builtin_prefetch(values + members[place + MEMBERS_AHEAD]);
            }
            int64_t cell = edge * k + labels[members[place]];
            of_gamma[cell] += gamma[place];
            of_values[cell] += weighted ? powers[place] * values[members[place]] : values[members[place]];
        }
}

// The share of each cluster in each hyperedge, its members there, and how far single members are from chance.
//
// Rows of `shares` and `counts` begin with hyperedge `first`. `pairs` has rate and phi of each vertex. For vertex v in
// cluster S, `staying` adds omega gamma^alpha b_e(S). See `clustering/edge_flows.py` for the formulas.
EXPORT void KERNEL(edge_flows)(const INDEX* indptr, const INDEX* members, const double* gamma, const double* powers,
                               bool weighted, const int64_t* labels, const double* pairs, const double* omega,
                               const double* delta, const double* psi, int64_t k, int64_t first, int64_t last,
                               double* shares, double* counts, double* deviations, double* staying) {
    Scratch<double> onward(k);
    const int64_t end = indptr[last];
    for (int64_t edge = first; edge < last; edge++) {
        double *share = shares + (edge - first) * k, *count = counts + (edge - first) * k, deviation = 0.0;
        double flow = psi[edge] > 0.0 ? psi[edge] : 1.0;
        for (int64_t cluster = 0; cluster < k; cluster++) share[cluster] = count[cluster] = onward.data[cluster] = 0.0;
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            if (place + MEMBERS_AHEAD < end) {
                __builtin_prefetch(labels + members[place + MEMBERS_AHEAD]);
                __builtin_prefetch(pairs + 2 * int64_t(members[place + MEMBERS_AHEAD]));
                __builtin_prefetch(staying + members[place + MEMBERS_AHEAD], 1);
            }
            int64_t vertex = members[place], cluster = labels[vertex];
            double rate = pairs[2 * vertex], phi = pairs[2 * vertex + 1];
            double picked = weighted ? powers[place] * omega[edge] : omega[edge], next = gamma[place] / delta[edge];
            double weight = 0.5 * (picked * rate / flow + next);
            onward.data[cluster] += next;
            share[cluster] += weight;
            count[cluster] += 1.0;
            deviation += weight * (weight - 2.0 * phi);
        }
        deviations[edge - first] = deviation;
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            int64_t vertex = members[place];
            double picked = weighted ? powers[place] * omega[edge] : omega[edge];
            staying[vertex] += onward.data[labels[vertex]] * picked;
        }
    }
}

// Add gamma_e(v) / max gamma_e to the cell of the row of e and the column of v; -1 is no row or column.
EXPORT void KERNEL(cell_sums)(const INDEX* indptr, const INDEX* members, const double* gamma, const int32_t* row_of,
                              const int32_t* column_of, int64_t n_columns, int64_t first, int64_t last, double* sums) {
    for (int64_t edge = first; edge < last; edge++) {
        if (row_of[edge] < 0) continue;
        double largest = 0.0, *cells = sums + row_of[edge] * n_columns;
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++)
            largest = max_of(largest, gamma[place]);
        for (int64_t place = indptr[edge]; place < int64_t(indptr[edge + 1]); place++) {
            int32_t column = column_of[members[place]];
            if (column >= 0) cells[column] += gamma[place] / largest;
        }
    }
}

struct Ranked {
    INDEX key;  // the rank
    double gamma, power;
};

// What each vertex, by its rank in a sweep, adds to the flow inside the prefix when it joins; rates are by rank.
EXPORT void KERNEL(sweep_gains)(const INDEX* indptr, const INDEX* members, const double* gamma, const double* powers,
                                bool weighted, const INDEX* ranks, const double* rates, const double* omega,
                                const double* delta, int64_t first, int64_t last, double* gained) {
    int64_t longest = 0;
    for (int64_t edge = first; edge < last; edge++)
        if (int64_t(indptr[edge + 1] - indptr[edge]) > longest) longest = indptr[edge + 1] - indptr[edge];
    Scratch<Ranked> row(longest);
    const int64_t end = indptr[last];
    for (int64_t edge = first; edge < last; edge++) {
        int64_t start = indptr[edge], size = indptr[edge + 1] - start;
        for (int64_t place = start; place < start + size; place++)
            if (place + MEMBERS_AHEAD < end) __builtin_prefetch(ranks + members[place + MEMBERS_AHEAD]);
        for (int64_t place = 0; place < size; place++)
            row.data[place] = {ranks[members[start + place]], gamma[start + place],
                               weighted ? powers[start + place] : 1.0};
        for (int64_t place = 0; place < size; place++) {
            __builtin_prefetch(rates + row.data[place].key);
            __builtin_prefetch(gained + row.data[place].key, 1);
        }
        sort_by_key(row.data, size);
        double going = 0.0, coming = 0.0;  // of the vertices before
        for (int64_t place = 0; place < size; place++) {
            double b = row.data[place].gamma / delta[edge];
            double a = rates[row.data[place].key] * omega[edge] * row.data[place].power;
            gained[row.data[place].key] += a * coming + (going + a) * b;
            going += a;
            coming += b;
        }
    }
}

// Sums over the hyperedges of each vertex of a block, given its incidences in the order of hyperedges.
//
// A row of `of_edge` has omega, the size less 1, k shares b_e(S) and k flows a_e(S). A row of `found` gets the number of
// hyperedges, the sums of the size less 1 and of the square of what is picked, omega gamma^alpha, and k sums each of
// picked b_e(S) and gamma a_e(S). Vertices are numbered from `start`.
EXPORT void KERNEL(vertex_sums)(const INDEX* edges, const INDEX* vertices, const double* gamma, bool has_gamma,
                                const double* powers, bool weighted, int64_t count, int64_t start,
                                const double* of_edge, int64_t k, double* found) {
    for (int64_t place = 0; place < count; place++) {
        if (place + MEMBERS_AHEAD < count) {
            double* coming = found + (int64_t(vertices[place + MEMBERS_AHEAD]) - start) * (2 * k + 3);
            for (int64_t cell = 0; cell < 2 * k + 3; cell += 8) __builtin_prefetch(coming + cell, 1);
            __builtin_prefetch(coming + 2 * k + 2, 1);
        }
        const double* from = of_edge + int64_t(edges[place]) * (2 * k + 2);
        double* to = found + (int64_t(vertices[place]) - start) * (2 * k + 3);
        double picked = weighted ? powers[place] * from[0] : from[0], weight = has_gamma ? gamma[place] : 1.0;
        to[0] += 1.0;
        to[1] += from[1];
        to[2] += picked * picked;
        for (int64_t cluster = 0; cluster < k; cluster++) {
            to[3 + cluster] += picked * from[2 + cluster];
            to[3 + k + cluster] += weight * from[2 + k + cluster];
        }
    }
}
