// The information of the walk; the cost is negative. state.flows are six planes of k x k numbers: F, F ln F, ln F and its
// transpose, 1 / F and its transpose.
//
// A move of v from cluster i to j changes rows and columns i and j of F, by the flows from v to each cluster, into v
// from each, and `own`, from v to itself, which is not in the links.

static const double NO_FLOW = 1e-18;  // below it, a flow between a vertex and a cluster is rounding error
static const double LEAST = 1e-8;  // flow whose logarithm stands for those of smaller ones in first-order gains
static const double NO_INVERSE = 1e300;  // of a flow below LEAST, so that no change of it counts as small
static const int64_t SHORTLIST = 3;  // targets whose gain is computed exactly
static const double SMALL_CHANGE = 1.0 / 64;  // relative, up to which a series gives the change of x ln x
static const int64_t SPREAD = 3;  // a pass over all clusters takes as long as one over this share of them, one by one
static const int64_t CANDIDATES = 16;  // clusters that get first-order gains: those with the largest likely ones

// The series of ((1 + t) ln(1 + t) - t) / t for small t, as close as logarithms are.
INLINE double series(double t) {
    return t * (0.5 - t * (1.0 / 6 - t * (1.0 / 12 - t * (1.0 / 20 - t * (1.0 / 30 - t * (1.0 / 42))))));
}

// (x + d) ln(x + d) - x ln x, given ln x, which is exact unless x is below LEAST.
//
// With t = d / x this is d ln x + x (1 + t) ln(1 + t).
INLINE double change(double value, double difference, double logarithm) {
    if (value <= LEAST) return xlogx(value + difference) - xlogx(value);
    if (fabs(difference) < SMALL_CHANGE * value)
        return difference * (logarithm + 1.0 + series(difference / value));
    return xlogx(value + difference) - value * logarithm;
}

// The sum of the changes of a row of flows by `sign` times some differences, given logarithms and inverses of the flows,
// where all are small; `largest` becomes at least the largest relative one. In four parts, so that it is vectorized.
INLINE double small_changes(const double* differences, double sign, const double* logs, const double* inverses,
                            int64_t k, double* largest) {
    double totals[4] = {0.0, 0.0, 0.0, 0.0}, most[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t place = 0;
    for (; place + 4 <= k; place += 4)
        for (int lane = 0; lane < 4; lane++) {
            double difference = sign * differences[place + lane], t = difference * inverses[place + lane];
            totals[lane] += difference * (logs[place + lane] + 1.0 + series(t));
            most[lane] = max_of(most[lane], fabs(t));
        }
    for (; place < k; place++) {
        double difference = sign * differences[place], t = difference * inverses[place];
        totals[0] += difference * (logs[place] + 1.0 + series(t));
        most[0] = max_of(most[0], fabs(t));
    }
    *largest = max_of(*largest, max_of(max_of(most[0], most[1]), max_of(most[2], most[3])));
    return (totals[0] + totals[1]) + (totals[2] + totals[3]);
}

struct Information {
    // Logarithms of the volumes, which moves update.
    static void prepare(const State& state, Links& links) {
        for (int64_t cluster = 0; cluster < state.k; cluster++) refresh_volume(state, links, cluster);
    }

    static INLINE_MEMBER void refresh_volume(const State& state, Links& links, int64_t cluster) {
        links.log_volumes[cluster] = log(max_of(state.volumes[cluster], NOISE));
    }

    // Compute the flows from a vertex to each cluster, and back, without that to itself.
    static INLINE_MEMBER void link(const Flow& flow, const State& state, int64_t vertex, Links& links) {
        links.begin();
        bool all = false;
        double own = 0.0, *out = links.out, *back = links.back;
        const double rate = flow.rate[vertex];
        const bool both = !flow.reversible;
        const int64_t k = state.k;
        for (int64_t place = flow.indptr[vertex]; place < int64_t(flow.indptr[vertex + 1]); place++) {
            int64_t edge = flow.edges[place];
            Row row = row_of(state, edge);
            double inward = flow.scale[edge] * flow.gamma[place];
            double outward = flow.scale[edge] * (rate * flow.source_weights[place]);
            own += outward * flow.gamma[place];
            if (is_full(state, row)) {
                all = true;
                for (int64_t cluster = 0; cluster < k; cluster++) out[cluster] += outward * row.gamma[cluster];
                if (both)
                    for (int64_t cluster = 0; cluster < k; cluster++) back[cluster] += inward * row.picked[cluster];
            } else
                for (int64_t entry = 0; entry < *row.used; entry++) {
                    int32_t cluster = row.clusters[entry];
                    links.touch(cluster);
                    out[cluster] += outward * row.gamma[entry];
                    if (both) back[cluster] += inward * row.picked[entry];
                }
        }
        if (all || k <= CANDIDATES) links.touch_all();
        if (!both)
            for (int64_t place = 0; place < links.n_touched; place++)
                back[links.touched[place]] = out[links.touched[place]];
        int64_t home = state.labels[vertex];
        out[home] -= own;
        back[home] -= own;
        links.own = own;
    }

    // How much the information rises by the flows between a cluster, which the vertex joins or leaves by the sign, and
    // all clusters but two, of which one is this one.
    static INLINE_MEMBER double others(const State& state, int64_t cluster, int64_t except, double sign,
                                       const Links& links) {
        const int64_t k = state.k, size = k * k, row = cluster * k;
        const double *between = state.flows, *logs = between + 2 * size, *transposed = logs + size;
        const double *inverse = transposed + size, *inverse_transposed = inverse + size;
        const double *out = links.out, *back = links.back;
        double gain = 0.0;
        if (links.n_touched == k) {
            double largest = 0.0;
            gain += small_changes(out, sign, logs + row, inverse + row, k, &largest);
            gain += small_changes(back, sign, transposed + row, inverse_transposed + row, k, &largest);
            if (largest < SMALL_CHANGE) {
                for (int64_t turn = 0, other = cluster; turn < 1 + (cluster != except); turn++, other = except) {
                    double going = sign * out[other], coming = sign * back[other];
                    gain -= going * (logs[row + other] + 1.0 + series(going * inverse[row + other]));
                    double t = coming * inverse_transposed[row + other];
                    gain -= coming * (transposed[row + other] + 1.0 + series(t));
                }
                return gain;
            }
            gain = 0.0;
        }
        for (int64_t place = 0; place < links.n_touched; place++) {
            int64_t other = links.touched[place];
            if (other == cluster || other == except) continue;
            if (out[other] > NO_FLOW) gain += change(between[row + other], sign * out[other], logs[row + other]);
            if (back[other] > NO_FLOW)
                gain += change(between[other * k + cluster], sign * back[other], transposed[row + other]);
        }
        return gain;
    }

    // How much the information rises when a vertex that has left home joins the target.
    static INLINE_MEMBER double joining(const State& state, int64_t home, int64_t target, double mass,
                                        const Links& links) {
        const int64_t k = state.k, at = target * k + target, going = home * k + target, coming = target * k + home;
        const double *between = state.flows, *logs = between + 2 * k * k, *out = links.out, *back = links.back;
        double gain = change(between[at], out[target] + back[target] + links.own, logs[at]);
        gain += change(between[going], back[home] - out[target], logs[going]);
        gain -= change(between[going], -out[target], logs[going]);
        gain += change(between[coming], out[home] - back[target], logs[coming]);
        gain -= change(between[coming], -back[target], logs[coming]);
        gain -= 2.0 * change(state.volumes[target], mass, links.log_volumes[target]);
        return gain + others(state, target, home, 1.0, links);
    }

    // How much the information rises when a vertex leaves home.
    static INLINE_MEMBER double leaving(const State& state, int64_t home, double mass, const Links& links) {
        const int64_t k = state.k, at = home * k + home;
        const double *between = state.flows, *logs = between + 2 * k * k;
        double gain = change(between[at], -(links.out[home] + links.back[home] + links.own), logs[at]);
        gain -= 2.0 * change(state.volumes[home], -mass, links.log_volumes[home]);
        return gain + others(state, home, home, -1.0, links);
    }

    // Choose the clusters that may be targets: all that the vertex has a flow to, or of many those with the largest
    // share of the first-order gain that comes from the flow inside the cluster. Returns their number.
    static INLINE_MEMBER int64_t choose(const State& state, Links& links) {
        const int64_t k = state.k, count = links.n_touched;
        const double* logs = state.flows + 2 * k * k;
        int32_t* chosen = links.chosen;
        if (count <= 4 * CANDIDATES) {
            memcpy(chosen, links.touched, count * sizeof(int32_t));
            return count;
        }
        double likely[CANDIDATES];
        int64_t kept = 0;
        for (int64_t place = 0; place < count; place++) {
            int32_t cluster = links.touched[place];
            double flow = links.out[cluster] + links.back[cluster];
            double gain = flow * (logs[cluster * k + cluster] - 2.0 * links.log_volumes[cluster]);
            if (kept == CANDIDATES && !(gain > likely[kept - 1])) continue;
            int64_t rank = kept < CANDIDATES ? kept++ : kept - 1;
            for (; rank > 0 && likely[rank - 1] < gain; rank--) {
                likely[rank] = likely[rank - 1];
                chosen[rank] = chosen[rank - 1];
            }
            likely[rank] = gain;
            chosen[rank] = cluster;
        }
        return kept;
    }

    // Compute the first-order gain of joining each of the chosen clusters, up to a constant; -inf if it gets too large.
    static INLINE_MEMBER void score(const State& state, double mass, Links& links, int64_t count,
                                    double min_volume) {
        const int64_t k = state.k, size = k * k;
        const double *logs = state.flows + 2 * size, *transposed = logs + size, *volumes = state.volumes;
        const double *out = links.out, *back = links.back;
        const int32_t* chosen = links.chosen;
        double* scores = links.scores;
        for (int64_t place = 0; place < count; place++) {
            int64_t cluster = chosen[place];
            double score = links.own * logs[cluster * k + cluster] - 2.0 * mass * links.log_volumes[cluster];
            if (volumes[cluster] < min_volume) score += penalty(mass, min_volume - volumes[cluster], min_volume);
            scores[cluster] = volumes[cluster] + mass > state.most[cluster] ? -INF : score;
        }
        for (int64_t place = 0; place < links.n_touched; place++) {
            int64_t other = links.touched[place];
            if (out[other] + back[other] <= NO_FLOW) continue;
            const double *to = transposed + other * k, *from = logs + other * k;
            double going = out[other], coming = back[other];
            if (SPREAD * count >= k)  // those of clusters that are not chosen are not read
                for (int64_t cluster = 0; cluster < k; cluster++)
                    scores[cluster] += going * to[cluster] + coming * from[cluster];
            else
                for (int64_t entry = 0; entry < count; entry++)
                    scores[chosen[entry]] += going * to[chosen[entry]] + coming * from[chosen[entry]];
        }
    }

    // As for the NCut. The gain is exact; of more than SHORTLIST targets it is computed for those with the largest
    // first-order gains.
    static INLINE_MEMBER double best_target(const State& state, int64_t home, double mass, Links& links,
                                            double min_volume, int64_t* target) {
        const double* volumes = state.volumes;
        double *scores = links.scores, best = -INF;
        *target = home;
        if (state.sizes[home] < 2 || volumes[home] - mass < max_of(min_volume, NOISE)) return -1.0;
        const int64_t count = choose(state, links);
        score(state, mass, links, count, min_volume);
        scores[home] = -INF;
        for (int64_t turn = 0; turn < SHORTLIST; turn++) {
            int64_t cluster = home;
            for (int64_t place = 0; place < count; place++)
                if (scores[links.chosen[place]] > scores[cluster]) cluster = links.chosen[place];
            if (cluster == home) break;
            scores[cluster] = -INF;
            double gain = joining(state, home, cluster, mass, links);
            if (volumes[cluster] < min_volume) gain += penalty(mass, min_volume - volumes[cluster], min_volume);
            if (gain > best) {
                best = gain;
                *target = cluster;
            }
        }
        return best + leaving(state, home, mass, links);
    }

    // Recompute the logarithms of the flows from and to a cluster.
    static INLINE_MEMBER void refresh(const State& state, int64_t one, int64_t two) {
        const int64_t k = state.k, size = k * k;
        double value = state.flows[one * k + two];
        double logarithm = log(max_of(value, LEAST));
        state.flows[size + one * k + two] = value > LEAST ? value * logarithm : xlogx(value);
        state.flows[2 * size + one * k + two] = state.flows[3 * size + two * k + one] = logarithm;
        double inverse = value > LEAST ? 1.0 / value : NO_INVERSE;
        state.flows[4 * size + one * k + two] = state.flows[5 * size + two * k + one] = inverse;
    }

    // Move one vertex and update the flows, then the rest.
    static INLINE_MEMBER void move(const Flow& flow, const State& state, int64_t vertex, int64_t target,
                                   Links& links) {
        const int64_t k = state.k, home = state.labels[vertex];
        double *between = state.flows, *out = links.out, *back = links.back, own = links.own;
        for (int64_t place = 0; place < links.n_touched; place++) {
            int64_t other = links.touched[place];
            if (other != home) {
                between[home * k + other] -= out[other];
                between[other * k + home] -= back[other];
            }
            if (other != target) {
                between[target * k + other] += out[other];
                between[other * k + target] += back[other];
            }
        }
        between[home * k + home] -= out[home] + back[home] + own;
        between[target * k + target] += out[target] + back[target] + own;
        for (int64_t place = 0; place < links.n_touched; place++) {
            int64_t other = links.touched[place];
            refresh(state, home, other);
            refresh(state, other, home);
            refresh(state, target, other);
            refresh(state, other, target);
        }
        refresh(state, target, target);
        relabel(flow, state, vertex, target);
        refresh_volume(state, links, home);
        refresh_volume(state, links, target);
    }

    // The negative information.
    static double plain_cost(const State& state) {
        const int64_t k = state.k;
        const double* products = state.flows + k * k;
        double total = 0.0;
        for (int64_t cluster = 0; cluster < k; cluster++) total += 2.0 * xlogx(state.volumes[cluster]);
        for (int64_t place = 0; place < k * k; place++) total -= products[place];
        return total;
    }

    static int64_t n_flows(int64_t k) { return 6 * k * k; }
};
