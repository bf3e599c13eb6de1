// Sums over the members of each hyperedge and over the hyperedges of each vertex.
//
// A matrix is cut into blocks of columns, so narrow that the part of the vector that a block gathers stays in
// the cache; its rows are then short, and one thread sums one row. Streams bypass the cache (ldcs, stcs).

template <typename V> struct Two;
template <> struct Two<float> { typedef float2 type; };
template <> struct Two<double> { typedef double2 type; };

// How many entries of each row fall into each block of columns; rows have ascending indices.
__global__ void count_blocks(long long rows, const long long* ptr, const int* idx, int width, int blocks, int* counts) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int block = 0, count = 0;
  for (long long at = ptr[row]; at < ptr[row + 1]; ++at) {
    int here = idx[at] / width;
    for (; block < here; ++block) { counts[block * rows + row] = count; count = 0; }
    ++count;
  }
  for (; block < blocks; ++block) { counts[block * rows + row] = count; count = 0; }
}

template <typename W> __global__ void fill_blocks(
    long long rows, const long long* ptr, const int* idx, const W* weights, int width, const int* block_ptr,
    const long long* starts, int* block_idx, W* block_weights) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int block = -1;
  long long to = 0;
  for (long long at = ptr[row]; at < ptr[row + 1]; ++at, ++to) {
    int here = idx[at] / width;
    if (here != block) { block = here; to = starts[block] + block_ptr[block * (rows + 1) + row]; }
    block_idx[to] = idx[at];
    block_weights[to] = weights[at];
  }
}

// out = sum of x over the row, with its weights (WEIGHTED) or without.
template <typename V, typename W, bool WEIGHTED, bool FIRST> __global__ void sums(
    long long rows, const int* __restrict__ ptr, const int* __restrict__ idx, const W* __restrict__ weights,
    const V* __restrict__ x, V* __restrict__ out) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  V sum = 0;
  for (int at = ptr[row]; at < ptr[row + 1]; ++at) {
    V value = __ldg(x + __ldcs(idx + at));
    sum += WEIGHTED ? (V)__ldcs(weights + at) * value : value;
  }
  __stcs(out + row, FIRST ? sum : __ldcs(out + row) + sum);
}

// Two sums in one pass: of x with weights where LEFT, and of y with weights where RIGHT.
template <typename V, typename W, bool LEFT, bool RIGHT, bool FIRST> __global__ void pairs(
    long long rows, const int* __restrict__ ptr, const int* __restrict__ idx, const W* __restrict__ weights,
    const typename Two<V>::type* __restrict__ x, typename Two<V>::type* __restrict__ out) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  V left = 0, right = 0;
  for (int at = ptr[row]; at < ptr[row + 1]; ++at) {
    typename Two<V>::type value = __ldg(x + __ldcs(idx + at));
    V weight = __ldcs(weights + at);
    left += LEFT ? weight * value.x : value.x;
    right += RIGHT ? weight * value.y : value.y;
  }
  typename Two<V>::type total;
  total.x = left;
  total.y = right;
  if (!FIRST) {
    typename Two<V>::type before = __ldcs(out + row);
    total.x += before.x;
    total.y += before.y;
  }
  __stcs(out + row, total);
}
