// Sort rows of a sparse matrix by their indices.

template <class Entry>
static int compare_keys(const void* one, const void* other) {
    INDEX a = static_cast<const Entry*>(one)->key, b = static_cast<const Entry*>(other)->key;
    return a < b ? -1 : a > b;
}

// Sort entries by their `key`: few of them, as most rows have, by insertion.
template <class Entry>
INLINE void sort_by_key(Entry* row, int64_t size) {
    if (size > 40) return qsort(row, size, sizeof(Entry), compare_keys<Entry>);
    for (int64_t end = 1; end < size; end++) {
        Entry moving = row[end];
        int64_t place = end;
        for (; place > 0 && row[place - 1].key > moving.key; place--) row[place] = row[place - 1];
        row[place] = moving;
    }
}

// Sort rows by their indices; the number of rows with an index twice.
EXPORT int64_t KERNEL(sort_rows)(const INDEX* indptr, INDEX* indices, double* data, int64_t first, int64_t last) {
    struct Entry {
        INDEX key;
        double value;
    };
    int64_t longest = 0, repeated = 0;
    for (int64_t row = first; row < last; row++)
        if (int64_t(indptr[row + 1] - indptr[row]) > longest) longest = indptr[row + 1] - indptr[row];
    Scratch<Entry> entries(longest);
    for (int64_t row = first; row < last; row++) {
        int64_t start = indptr[row], size = indptr[row + 1] - start;
        bool sorted = true, distinct = true;
        for (int64_t place = start + 1; place < start + size; place++) sorted &= indices[place - 1] < indices[place];
        if (sorted) continue;
        for (int64_t place = 0; place < size; place++)
            entries.data[place] = {indices[start + place], data[start + place]};
        sort_by_key(entries.data, size);
        for (int64_t place = 0; place < size; place++) {
            indices[start + place] = entries.data[place].key;
            data[start + place] = entries.data[place].value;
            distinct &= place == 0 || entries.data[place - 1].key != entries.data[place].key;
        }
        repeated += !distinct;
    }
    return repeated;
}

static const int64_t COUNTS_AHEAD = 32;  // counts that are fetched from memory before they are needed

// Count how often each index is there.
EXPORT void KERNEL(count_indices)(const INDEX* indices, int64_t first, int64_t last, int64_t* counts) {
    for (int64_t place = first; place < last; place++) {
        if (place + COUNTS_AHEAD < last) __builtin_prefetch(counts + indices[place + COUNTS_AHEAD], 1);
        counts[indices[place]]++;
    }
}
