// Loops over vectors, between the products of a walk. Pairs have rows of `width` values for both halves.

// Rows (x left, x right).
EXPORT void spread(const double* vectors, const double* left, const double* right, double* values, int64_t width,
                   int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++)
        for (int64_t column = 0; column < width; column++) {
            double value = vectors[row * width + column];
            values[2 * row * width + column] = value * left[row];
            values[(2 * row + 1) * width + column] = value * right[row];
        }
}

// Rows (x, y) become (y f, x f).
EXPORT void cross(double* values, const double* factors, int64_t width, int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++)
        for (int64_t column = 0; column < width; column++) {
            double *one = values + 2 * row * width + column, *two = one + width, value = *one;
            *one = *two * factors[row];
            *two = value * factors[row];
        }
}

// Rows (x, y) become x left + y right.
EXPORT void join(const double* values, const double* left, const double* right, double* out, int64_t width,
                 int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++)
        for (int64_t column = 0; column < width; column++) {
            const double* one = values + 2 * row * width + column;
            out[row * width + column] = one[0] * left[row] + one[width] * right[row];
        }
}
