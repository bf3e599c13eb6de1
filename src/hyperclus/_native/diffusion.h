// DiffEq: steps of the diffusion for a block of columns, and the sweep of one column.
//
// With y = x / d, a hyperedge e whose members have the maximum M (attained on the set Amax) and the minimum mu (on
// Amin) moves mass from the top to the bottom:
//
//     Lap(x)(v) = sum_e omega(e) (M - mu) ([v in Amax] / |Amax| - [v in Amin] / |Amin|).
//
// The minimum is handled as the maximum of -y. The number of columns is a constant, so that the compiler unrolls the
// loops over them. The branches of a condition are values that were computed before it, or the loops are not vectorized.

static const int COLUMNS = 32;  // the same as in diffusion.py
static const double TIE = 1e-8;  // closer values of y are tied: a relative difference, in the public program absolute
static const double ROUNDED = 1e-12;  // smaller differences of conductances may be rounding errors

// The hypergraph; see `Network` in diffusion.py.
struct Network {
    const INDEX *edge_indptr, *members, *indptr, *edges;
    const double *weights, *degrees;
    int64_t n_vertices, n_edges;
};

// Of one hyperedge and every column: the maximum, how many members attain it, and the place where the first does.
struct Extreme {
    double best[COLUMNS], count[COLUMNS], start[COLUMNS];

    INLINE_MEMBER void clear() {
        for (int column = 0; column < COLUMNS; column++) {
            best[column] = -INF;
            count[column] = start[column] = 0.0;
        }
    }
    INLINE_MEMBER void raise(const double* values, double sign) {
        for (int column = 0; column < COLUMNS; column++) {
            double value = sign * values[column];
            best[column] = value > best[column] ? value : best[column];
        }
    }
    INLINE_MEMBER void tally(const double* values, double sign) {
        for (int column = 0; column < COLUMNS; column++)
            count[column] += attains<false>(sign * values[column], 0.0, column) ? 1.0 : 0.0;
    }
    // Include one member as the public program does: a value more than TIE above the maximum so far starts a new set;
    // one less than TIE below it joins the set and leaves the maximum unchanged.
    INLINE_MEMBER void include(const double* values, double place, double sign) {
        double highest[COLUMNS];  // written back at the end, or the compiler branches where nothing begins
        for (int column = 0; column < COLUMNS; column++) {
            double value = sign * values[column], before = best[column], began = start[column];
            double joined = count[column] + (value > before - TIE ? 1.0 : 0.0);
            bool begins = value > before + TIE;
            highest[column] = begins ? value : before;
            count[column] = begins ? 1.0 : joined;
            start[column] = begins ? place : began;
        }
        memcpy(best, highest, sizeof best);
    }
    template <bool sequential>
    INLINE_MEMBER bool attains(double value, double place, int column) const {
        if (!sequential) return value >= best[column] - TIE * fabs(best[column]);
        double after = place - start[column];
        return (after == 0.0) | ((after > 0.0) & (value > best[column] - TIE));
    }
};

// Add the mass that members of a hyperedge give and get to Lap(x).
template <bool sequential>
INLINE void move_mass(double weight, const INDEX* inside, int64_t size, const double* scores, Extreme& top,
                      Extreme& bottom, double* change) {
    for (int column = 0; column < COLUMNS; column++) {
        double moved = weight * (top.best[column] + bottom.best[column]);
        top.count[column] = moved / top.count[column];
        bottom.count[column] = moved / bottom.count[column];
    }
    for (int64_t index = 0; index < size; index++) {
        const double* values = scores + COLUMNS * int64_t(inside[index]);
        double *target = change + COLUMNS * int64_t(inside[index]), place = double(index);
        for (int column = 0; column < COLUMNS; column++) {
            double value = values[column], gives = top.count[column], gets = bottom.count[column];
            gives = top.template attains<sequential>(value, place, column) ? gives : 0.0;
            gets = bottom.template attains<sequential>(-value, place, column) ? gets : 0.0;
            target[column] = target[column] + gives - gets;
        }
    }
}

// Compute Lap(x) from y.
template <bool sequential>
INLINE void laplacian(const Network& network, const double* scores, double* change) {
    Extreme top, bottom;
    for (int64_t edge = 0; edge < network.n_edges; edge++) {
        const INDEX* inside = network.members + network.edge_indptr[edge];
        int64_t size = network.edge_indptr[edge + 1] - network.edge_indptr[edge];
        top.clear();
        bottom.clear();
        for (int64_t index = 0; index < size; index++) {
            const double* values = scores + COLUMNS * int64_t(inside[index]);
            if (sequential) {
                top.include(values, double(index), 1.0);
                bottom.include(values, double(index), -1.0);
            } else {
                top.raise(values, 1.0);
                bottom.raise(values, -1.0);
            }
        }
        if (!sequential)
            for (int64_t index = 0; index < size; index++) {
                top.tally(scores + COLUMNS * int64_t(inside[index]), 1.0);
                bottom.tally(scores + COLUMNS * int64_t(inside[index]), -1.0);
            }
        move_mass<sequential>(network.weights[edge], inside, size, scores, top, bottom, change);
    }
}

// Replace x by x - ((1 - alpha) Lap(x) + alpha (x - s)), some times; entries below `least` become 0.
//
// `scores` and `change` are memory for as many values as the block. `sequential` breaks ties as the public program.
EXPORT void KERNEL(diffuse)(const Network* network, const double* source, const double* alphas, int64_t steps,
                            double least, bool sequential, double* scores, double* change, double* block) {
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t vertex = 0; vertex < network->n_vertices; vertex++)
            for (int64_t place = COLUMNS * vertex; place < COLUMNS * (vertex + 1); place++) {
                scores[place] = block[place] / network->degrees[vertex];
                change[place] = 0.0;
            }
        if (sequential) laplacian<true>(*network, scores, change);
        else laplacian<false>(*network, scores, change);
        for (int64_t first = 0; first < COLUMNS * network->n_vertices; first += COLUMNS)
            for (int column = 0; column < COLUMNS; column++) {
                double value = block[first + column], alpha = alphas[column];
                double moved = (1.0 - alpha) * change[first + column] + alpha * (value - source[first + column]);
                block[first + column] = value - moved < least ? 0.0 : value - moved;
            }
    }
}

// The length of the prefix of an order of lowest conductance, among those with volume at most `most`.
//
// cut(S) is the sum of omega over the hyperedges with members inside and outside S; the conductance, which goes to
// `lowest`, is cut(S) / min(vol S, total - vol S). The first of equal ones; 0 and infinity if every prefix is too large.
EXPORT int64_t KERNEL(best_prefix)(const Network* network, const int64_t* order, int64_t count, double most,
                                   double total, double* lowest) {
    Scratch<int64_t> counts(network->n_edges, true);
    double cut = 0.0, volume = 0.0;
    int64_t length = 0;
    *lowest = INF;
    for (int64_t index = 0; index < count; index++) {
        int64_t vertex = order[index];
        volume += network->degrees[vertex];
        if (volume > most) break;
        for (int64_t place = network->indptr[vertex]; place < int64_t(network->indptr[vertex + 1]); place++) {
            int64_t edge = network->edges[place];
            if (counts.data[edge]++ == 0) cut += network->weights[edge];
            if (counts.data[edge] == int64_t(network->edge_indptr[edge + 1] - network->edge_indptr[edge]))
                cut -= network->weights[edge];
        }
        double found = cut / min_of(volume, total - volume);
        if (found < *lowest - ROUNDED) {
            *lowest = found;
            length = index + 1;
        }
    }
    return length;
}
