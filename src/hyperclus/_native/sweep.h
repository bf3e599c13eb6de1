// The minima of a sweep.

// The places of the minima between which `count` levels rise and fall by a factor of at least `rise`; their number.
//
// The ends may be minima too. Among equal levels the first counts. There is room for as many places as levels.
EXPORT int64_t dips(const double* levels, int64_t count, double rise, int64_t* places) {
    int64_t found = 1, low = 0, high = 0;
    bool falling = true;  // looking for the end of a fall, at `low`; otherwise of a rise, at `high`
    places[0] = 0;
    for (int64_t place = 1; place < count; place++) {
        double level = levels[place];
        if (falling) {
            if (level < levels[low]) {
                low = places[found - 1] = place;
            } else if (level > rise * levels[low]) {
                high = place;
                falling = false;
            }
        } else if (level > levels[high]) {
            high = place;
        } else if (rise * level < levels[high]) {
            low = places[found++] = place;
            falling = true;
        }
    }
    return found;
}
