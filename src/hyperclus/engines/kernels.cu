// Sums over the members of each hyperedge and over the hyperedges of each vertex.
//
// A matrix lies in blocks of columns, so narrow that the part of the vector that a block gathers stays in the
// cache; its rows are then short, and one thread sums one row. Rows that are long as a whole lie apart, cut into
// pieces, and a group of threads sums a piece. Streams bypass the cache (ldcs, stcs).
//
// POWER: 0 sums without weights, 1 with the weights, 2 with their power alpha.

template <typename V> struct Two;
template <> struct Two<float> { typedef float2 type; };
template <> struct Two<double> { typedef double2 type; };

template <typename V, typename W, int POWER> __device__ __forceinline__ V weigh(W weight, V alpha, V value) {
  if (POWER == 0) return value;
  if (POWER == 1) return (V)weight * value;
  return pow((V)weight, alpha) * value;
}

// The row of each entry.
__global__ void expand_rows(long long rows, const long long* ptr, int* row_of) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (long long at = ptr[row]; at < ptr[row + 1]; ++at) row_of[at] = (int)row;
}

// How many entries of each short row fall into each block of columns; rows have ascending indices.
__global__ void count_blocks(long long rows, const long long* ptr, const int* idx, long long longest, int width,
                             int blocks, int* counts) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  long long last = ptr[row + 1] - ptr[row] > longest ? ptr[row] : ptr[row + 1];
  int block = 0, count = 0;
  for (long long at = ptr[row]; at < last; ++at) {
    int here = idx[at] / width;
    for (; block < here; ++block) { counts[block * rows + row] = count; count = 0; }
    ++count;
  }
  for (; block < blocks; ++block) { counts[block * rows + row] = count; count = 0; }
}

template <typename W> __global__ void fill_blocks(
    long long rows, const long long* ptr, const int* idx, const W* weights, long long longest, int width,
    const int* block_ptr, const long long* starts, int* block_idx, W* block_weights) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows || ptr[row + 1] - ptr[row] > longest) return;
  int block = -1;
  long long to = 0;
  for (long long at = ptr[row]; at < ptr[row + 1]; ++at, ++to) {
    int here = idx[at] / width;
    if (here != block) { block = here; to = starts[block] + block_ptr[block * (rows + 1) + row]; }
    block_idx[to] = idx[at];
    block_weights[to] = weights[at];
  }
}

// out = sum of x over the row.
template <typename V, typename W, int POWER, bool FIRST> __global__ void sums(
    long long rows, const int* __restrict__ ptr, const int* __restrict__ idx, const W* __restrict__ weights, V alpha,
    const V* __restrict__ x, V* __restrict__ out) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  V sum = 0;
  for (int at = ptr[row]; at < ptr[row + 1]; ++at) {
    V value = __ldg(x + __ldcs(idx + at));
    sum += POWER == 0 ? value : weigh<V, W, POWER>(__ldcs(weights + at), alpha, value);
  }
  __stcs(out + row, FIRST ? sum : __ldcs(out + row) + sum);
}

// Two sums in one pass: of x with the weights, and of y with a power of them.
template <typename V, typename W, int POWER, bool FIRST> __global__ void pairs(
    long long rows, const int* __restrict__ ptr, const int* __restrict__ idx, const W* __restrict__ weights, V alpha,
    const typename Two<V>::type* __restrict__ x, typename Two<V>::type* __restrict__ out) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  V left = 0, right = 0;
  for (int at = ptr[row]; at < ptr[row + 1]; ++at) {
    typename Two<V>::type value = __ldg(x + __ldcs(idx + at));
    W weight = __ldcs(weights + at);
    left += (V)weight * value.x;
    right += weigh<V, W, POWER>(weight, alpha, value.y);
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

// Of each piece of a long row the sum, or both sums, by one group of threads; always in the same order.
template <typename V, typename W, int POWER, bool PAIRED> __global__ void pieces(
    const long long* __restrict__ bounds, const int* __restrict__ idx, const W* __restrict__ weights, V alpha,
    const V* __restrict__ x, V* __restrict__ out) {
  __shared__ V left[128], right[128];
  V first = 0, second = 0;
  for (long long at = bounds[blockIdx.x] + threadIdx.x; at < bounds[blockIdx.x + 1]; at += blockDim.x) {
    long long from = idx[at];
    if (PAIRED) {
      first += (V)weights[at] * x[2 * from];
      second += weigh<V, W, POWER>(weights[at], alpha, x[2 * from + 1]);
    } else {
      first += weigh<V, W, POWER>(weights[at], alpha, x[from]);
    }
  }
  left[threadIdx.x] = first;
  right[threadIdx.x] = second;
  for (int half = 64; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      left[threadIdx.x] += left[threadIdx.x + half];
      right[threadIdx.x] += right[threadIdx.x + half];
    }
  }
  if (threadIdx.x) return;
  out[PAIRED ? 2 * blockIdx.x : blockIdx.x] = left[0];
  if (PAIRED) out[2 * blockIdx.x + 1] = right[0];
}

// out = the sums of the pieces of each long row, `width` numbers to a piece.
template <typename V> __global__ void join_pieces(
    long long rows, const long long* row_of, const long long* first_piece, int width, const V* parts, V* out) {
  long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= rows * width) return;
  long long row = at / width;
  int number = at % width;
  V sum = 0;
  for (long long piece = first_piece[row]; piece < first_piece[row + 1]; ++piece) sum += parts[piece * width + number];
  out[row_of[row] * width + number] = sum;
}

// For each row and block, the least over its entries of max(out_row out_col source weight, in_row in_col weight).
template <typename V, typename W, int POWER> __global__ void least_share(
    long long rows, const int* ptr, const int* idx, const W* weights, V alpha, const V* out_row, const V* out_col,
    const V* in_row, const V* in_col, V* least) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  V found = least[row];
  for (int at = ptr[row]; at < ptr[row + 1]; ++at) {
    int column = idx[at];
    V going = weigh<V, W, POWER>(weights[at], alpha, out_row[row] * out_col[column]);
    V coming = (V)weights[at] * in_row[row] * in_col[column];
    found = min(found, max(going, coming));
  }
  least[row] = found;
}
