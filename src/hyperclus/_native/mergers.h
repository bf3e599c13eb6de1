// Mergers of clusters that lose the least information, given the flows F between them.

// x ln x + y ln y - (x + y) ln(x + y), which is 0 if one of them is 0.
static inline double pair_loss(double x, double y, double x_term, double y_term) {
    return x <= 0.0 || y <= 0.0 ? 0.0 : x_term + y_term - xlogx(x + y);
}

// F, its entries times their logarithms, and the sums of its rows; `alive` says which clusters there are still.
struct Merging {
    int64_t count;
    double *flows, *terms, *volumes, *costs;
    const bool* alive;

    // The information lost when two clusters are merged.
    double loss(int64_t one, int64_t two) const {
        const double *rows[2] = {flows + one * count, flows + two * count};
        const double *logs[2] = {terms + one * count, terms + two * count};
        double total = 0.0;
        for (int64_t other = 0; other < count; other++) {
            if (!alive[other] || other == one || other == two) continue;
            int64_t column = other * count;
            total += pair_loss(rows[0][other], rows[1][other], logs[0][other], logs[1][other]);
            total += pair_loss(flows[column + one], flows[column + two], terms[column + one], terms[column + two]);
        }
        double inside = rows[0][one] + rows[0][two] + rows[1][one] + rows[1][two];
        total += logs[0][one] + logs[0][two] + logs[1][one] + logs[1][two] - xlogx(inside);
        double x = volumes[one], y = volumes[two];
        return total - 2.0 * (xlogx(x) + xlogx(y) - xlogx(x + y));
    }

    void set(int64_t one, int64_t two) { costs[one * count + two] = costs[two * count + one] = loss(one, two); }

    void set_all() {
        for (int64_t one = 0; one < count; one++)
            for (int64_t two = 0; two < one; two++) set(one, two);
    }

    // Change the costs of all other mergers by what the flows to one cluster contribute, by the sign.
    void contribute(int64_t cluster, double sign) {
        for (int64_t one = 0; one < count; one++) {
            if (!alive[one] || one == cluster) continue;
            for (int64_t two = 0; two < one; two++) {
                if (!alive[two] || two == cluster) continue;
                int64_t row = cluster * count;
                double change = pair_loss(flows[one * count + cluster], flows[two * count + cluster],
                                          terms[one * count + cluster], terms[two * count + cluster]);
                change += pair_loss(flows[row + one], flows[row + two], terms[row + one], terms[row + two]);
                costs[one * count + two] += sign * change;
                costs[two * count + one] = costs[one * count + two];
            }
        }
    }
};

// The information lost by the merger of each pair of clusters.
EXPORT void merger_costs(const double* between, int64_t count, double* costs) {
    Scratch<double> flows(count * count), terms(count * count), volumes(count, true);
    Scratch<bool> alive(count);
    for (int64_t one = 0; one < count; one++) {
        alive.data[one] = true;
        costs[one * count + one] = 0.0;
        for (int64_t two = 0; two < count; two++) {
            double flow = between[one * count + two];
            flows.data[one * count + two] = flow;
            terms.data[one * count + two] = xlogx(flow);
            volumes.data[one] += flow;
        }
    }
    Merging{count, flows.data, terms.data, volumes.data, costs, alive.data}.set_all();
}

// Merge the pair that loses least, and so on, until k clusters are left; `into` is the cluster that each becomes part of,
// by its old number, and `between` is changed.
EXPORT void merge_to(double* between, int64_t count, int64_t k, int64_t* into) {
    Scratch<double> terms(count * count), volumes(count, true), costs(count * count);
    Scratch<bool> alive(count);
    merger_costs(between, count, costs.data);
    for (int64_t one = 0; one < count; one++) {
        alive.data[one] = true;
        into[one] = one;
        for (int64_t two = 0; two < count; two++) {
            terms.data[one * count + two] = xlogx(between[one * count + two]);
            volumes.data[one] += between[one * count + two];
        }
    }
    Merging merging{count, between, terms.data, volumes.data, costs.data, alive.data};
    for (int64_t left = count; left > k; left--) {
        int64_t one = -1, two = -1;
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = i + 1; alive.data[i] && j < count; j++)
                if (alive.data[j] && (one < 0 || costs.data[i * count + j] < costs.data[one * count + two]))
                    one = i, two = j;
        merging.contribute(one, -1.0);
        alive.data[one] = false;
        merging.contribute(two, -1.0);
        alive.data[two] = false;
        for (int64_t other = 0; other < count; other++) between[one * count + other] += between[two * count + other];
        for (int64_t other = 0; other < count; other++) between[other * count + one] += between[other * count + two];
        for (int64_t other = 0; other < count; other++) {
            terms.data[one * count + other] = xlogx(between[one * count + other]);
            terms.data[other * count + one] = xlogx(between[other * count + one]);
        }
        volumes.data[one] += volumes.data[two];
        alive.data[one] = true;
        merging.contribute(one, 1.0);
        for (int64_t other = 0; other < count; other++) {
            if (into[other] == two) into[other] = one;
            if (alive.data[other] && other != one) merging.set(one, other);
        }
    }
}
