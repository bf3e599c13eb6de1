// k-means on points with masses: k-means++ (Arthur and Vassilvitskii, 2007), then Lloyd's rounds.

// In four parts, so that it is vectorized.
INLINE double squared_distance(const double* one, const double* two, int64_t width) {
    double totals[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t column = 0;
    for (; column + 4 <= width; column += 4)
        for (int lane = 0; lane < 4; lane++) {
            double difference = one[column + lane] - two[column + lane];
            totals[lane] += difference * difference;
        }
    for (; column < width; column++) totals[0] += (one[column] - two[column]) * (one[column] - two[column]);
    return (totals[0] + totals[1]) + (totals[2] + totals[3]);
}

// The first place where the running sum exceeds a value, or the last one.
INLINE int64_t place_of(const double* running, int64_t count, double value) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (running[middle] > value) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Draw candidates by mass times squared distance, and keep the one that leaves the lowest cost, for each centre.
INLINE void first_centres(const double* points, const double* masses, int64_t n, int64_t width, int64_t k,
                          const double* uniforms, int64_t candidates, double* centres) {
    Scratch<double> running(n), nearest(n), left(n), best(n);
    for (int64_t row = 0; row < n; row++) nearest.data[row] = INF;
    for (int64_t centre = 0; centre < k; centre++) {
        double total = 0.0, lowest = INF;
        for (int64_t row = 0; row < n; row++) {
            total += centre ? masses[row] * nearest.data[row] : masses[row];
            running.data[row] = total;
        }
        for (int64_t turn = 0; turn < (centre ? candidates : 1); turn++) {
            int64_t drawn = place_of(running.data, n, uniforms[centre * candidates + turn] * total);
            const double* candidate = points + drawn * width;
            double cost = 0.0;
            for (int64_t row = 0; row < n; row++) {
                left.data[row] = min_of(nearest.data[row], squared_distance(points + row * width, candidate, width));
                cost += masses[row] * left.data[row];
            }
            if (turn == 0 || cost < lowest) {
                lowest = cost;
                memcpy(best.data, left.data, n * sizeof(double));
                memcpy(centres + centre * width, candidate, width * sizeof(double));
            }
        }
        memcpy(nearest.data, best.data, n * sizeof(double));
    }
}

// Label each point by its nearest centre, the first of equal ones; whether a label changed. `scores` is scratch.
INLINE bool label_points(const double* points, int64_t n, int64_t width, int64_t k, const double* centres,
                         double* transposed, double* scores, int64_t* labels, double* distances) {
    for (int64_t centre = 0; centre < k; centre++) {
        double square = 0.0;
        for (int64_t column = 0; column < width; column++) {
            double value = centres[centre * width + column];
            transposed[(column + 1) * k + centre] = -2.0 * value;
            square += value * value;
        }
        transposed[centre] = square;
    }
    bool changed = false;
    for (int64_t row = 0; row < n; row++) {
        const double* point = points + row * width;
        memcpy(scores, transposed, k * sizeof(double));
        for (int64_t column = 0; column < width; column++) {
            const double *factors = transposed + (column + 1) * k, value = point[column];
            for (int64_t centre = 0; centre < k; centre++) scores[centre] += value * factors[centre];
        }
        int64_t nearest = 0;
        for (int64_t centre = 1; centre < k; centre++)
            if (scores[centre] < scores[nearest]) nearest = centre;
        changed |= labels[row] != nearest;
        labels[row] = nearest;
        distances[row] = scores[nearest];
    }
    return changed;
}

// Move each centre to the mean of its points, weighted by their masses; a centre without mass stays.
INLINE void move_centres(const double* points, const double* masses, const int64_t* labels, int64_t n, int64_t width,
                         int64_t k, double* centres) {
    Scratch<double> sums(k * width, true), totals(k, true);
    for (int64_t row = 0; row < n; row++) {
        double *sum = sums.data + labels[row] * width, mass = masses[row];
        totals.data[labels[row]] += mass;
        for (int64_t column = 0; column < width; column++) sum[column] += mass * points[row * width + column];
    }
    for (int64_t centre = 0; centre < k; centre++)
        if (totals.data[centre] > 0.0)
            for (int64_t column = 0; column < width; column++)
                centres[centre * width + column] = sums.data[centre * width + column] / totals.data[centre];
}

// Find k centres of points (n, width), from uniform numbers (k, candidates); returns the cost without a constant.
EXPORT double k_means(const double* points, const double* masses, int64_t n, int64_t width, int64_t k,
                      const double* uniforms, int64_t candidates, int64_t rounds, double* centres) {
    Scratch<double> transposed((width + 1) * k), scores(k), distances(n);
    Scratch<int64_t> labels(n);
    first_centres(points, masses, n, width, k, uniforms, candidates, centres);
    for (int64_t row = 0; row < n; row++) labels.data[row] = -1;
    for (int64_t round = 0; round < rounds; round++) {
        if (!label_points(points, n, width, k, centres, transposed.data, scores.data, labels.data, distances.data))
            break;
        move_centres(points, masses, labels.data, n, width, k, centres);
    }
    label_points(points, n, width, k, centres, transposed.data, scores.data, labels.data, distances.data);
    double cost = 0.0;
    for (int64_t row = 0; row < n; row++) cost += masses[row] * distances.data[row];
    return cost;
}
