// Shuffled members of hyperedges, without repetitions; see configuration_model.py.

// A small random generator (xorshift64*, Vigna 2016).
struct Random {
    uint64_t state;
    INLINE_MEMBER uint64_t below(uint64_t bound) {
        state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
        return ((state * 0x2545F4914F6CDD1DULL) >> 32) * bound >> 32;
    }
};

// Whether a vertex is among the members of a hyperedge.
INLINE bool is_member(const int64_t* members, int64_t first, int64_t last, int64_t vertex) {
    for (int64_t place = first; place < last; place++)
        if (members[place] == vertex) return true;
    return false;
}

// Swap repeated members of hyperedges with random others, where that makes no new repetition, in up to `rounds` rounds
// or until at most `few` are left; `edges` is the hyperedge of each place, and there are fewer than 2^32 places.
EXPORT void swap_repeated(const int64_t* indptr, const int64_t* edges, int64_t* members, int64_t n_edges, int64_t n,
                          int64_t rounds, int64_t few, int64_t seed) {
    Scratch<int64_t> seen(n);
    Random random{uint64_t(seed) | 1};
    for (int64_t round = 0; round < rounds; round++) {
        int64_t repeated = 0;
        for (int64_t vertex = 0; vertex < n; vertex++) seen.data[vertex] = -1;
        for (int64_t edge = 0; edge < n_edges; edge++)
            for (int64_t place = indptr[edge]; place < indptr[edge + 1]; place++) {
                int64_t vertex = members[place];
                if (seen.data[vertex] != edge) {
                    seen.data[vertex] = edge;
                    continue;
                }
                repeated++;
                int64_t other = int64_t(random.below(uint64_t(indptr[n_edges]))), there = edges[other];
                int64_t stranger = members[other];
                if (is_member(members, indptr[edge], indptr[edge + 1], stranger)) continue;
                if (is_member(members, indptr[there], indptr[there + 1], vertex)) continue;
                members[place] = stranger;
                members[other] = vertex;
            }
        if (repeated <= few) return;
    }
}
