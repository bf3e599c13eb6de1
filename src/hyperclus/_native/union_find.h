// Components by union-find. Parents have smaller numbers.

INLINE int64_t root_of(int64_t* parent, int64_t vertex) {
    while (parent[vertex] != vertex) {
        parent[vertex] = parent[parent[vertex]];
        vertex = parent[vertex];
    }
    return vertex;
}

// Join the members of each hyperedge; `first` is a member seen of each hyperedge, or -1.
EXPORT void unite(const int32_t* edges, const int32_t* members, int64_t count, const int64_t* vertices, int64_t* first,
                  int64_t* parent) {
    for (int64_t place = 0; place < count; place++) {
        int64_t vertex = vertices[members[place]], edge = edges[place];
        if (first[edge] < 0) {
            first[edge] = vertex;
            continue;
        }
        int64_t one = root_of(parent, vertex), other = root_of(parent, first[edge]);
        parent[one > other ? one : other] = one > other ? other : one;
    }
}

// Let each vertex point to the root of its tree.
EXPORT void point_to_roots(int64_t* parent, int64_t count) {
    for (int64_t vertex = 0; vertex < count; vertex++) parent[vertex] = parent[parent[vertex]];
}
