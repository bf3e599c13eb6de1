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

// Sums by the cluster of the column, for tables with a row for each row and `columns` columns, of which the first is
// the cluster `from`: in `gammas` of the weights, in `sources` of x with a power of them. A table that is null is left
// out. T is the type of the tables.

// Adds the entries of one block. `scale` of the row is a factor of the weights, and of the powers if they are alone.
template <typename V, typename W, typename T, int POWER> __global__ void cluster_sums(
    long long rows, const int* __restrict__ ptr, const int* __restrict__ idx, const W* __restrict__ weights, V alpha,
    const int* __restrict__ labels, const V* __restrict__ x, int from, int columns, T* __restrict__ gammas,
    T* __restrict__ sources, const V* __restrict__ scale) {
  long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) return;
  V factor = scale[row];
  for (int at = ptr[row]; at < ptr[row + 1]; ++at) {
    int column = __ldcs(idx + at);
    unsigned label = (unsigned)(__ldg(labels + column) - from);
    if (label >= (unsigned)columns) continue;
    W weight = __ldcs(weights + at);
    long long to = row * columns + label;
    if (gammas) gammas[to] += (T)(factor * (V)weight);
    if (sources) sources[to] += (T)((gammas ? (V)1 : factor) * weigh<V, W, POWER>(weight, alpha, __ldg(x + column)));
  }
}

// Of each piece of a long row, not scaled. Each thread of a group has one cluster; 32 entries are read at a time and
// passed around, so that each sum is in the order of the entries.
template <typename V, typename W, typename T, int POWER> __global__ void cluster_pieces(
    const long long* __restrict__ bounds, const int* __restrict__ idx, const W* __restrict__ weights, V alpha,
    const int* __restrict__ labels, const V* __restrict__ x, int from, int columns, T* __restrict__ gammas,
    T* __restrict__ sources) {
  int lane = threadIdx.x % 32, cluster = blockIdx.y * blockDim.x + threadIdx.x;
  V first = 0, second = 0;
  long long last = bounds[blockIdx.x + 1];
  for (long long start = bounds[blockIdx.x]; start < last; start += 32) {
    int label = -1;
    V weight = 0, power = 0;
    if (start + lane < last) {
      int column = idx[start + lane];
      label = labels[column] - from;
      weight = (V)weights[start + lane];
      if (sources) power = weigh<V, W, POWER>(weights[start + lane], alpha, x[column]);
    }
    for (int other = 0; other < 32; ++other) {
      bool mine = __shfl_sync(0xffffffff, label, other) == cluster;
      V one = __shfl_sync(0xffffffff, weight, other), two = __shfl_sync(0xffffffff, power, other);
      if (mine) { first += one; second += two; }
    }
  }
  if (cluster >= columns) return;
  if (gammas) gammas[blockIdx.x * (long long)columns + cluster] = (T)first;
  if (sources) sources[blockIdx.x * (long long)columns + cluster] = (T)second;
}

// out = for each short row, over all blocks, the weighted sums of `width` columns of the rows of a table, from `from` on.
// `lanes` threads share a row, and each has up to four columns.
template <typename V, typename W, typename T, int POWER> __global__ void gather(
    long long rows, int blocks, const int* __restrict__ ptr, const long long* __restrict__ starts,
    const int* __restrict__ idx, const W* __restrict__ weights, long long stride, V alpha, const T* __restrict__ table,
    int columns, int from, int width, int lanes, V* __restrict__ out) {
  long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  long long row = thread / lanes;
  int lane = thread % lanes;
  if (row >= rows) return;
  V sums[4] = {0, 0, 0, 0};
  for (int block = 0; block < blocks; ++block) {
    const int* begin = ptr + block * stride + row;
    for (long long at = starts[block] + begin[0]; at < starts[block] + begin[1]; ++at) {
      const T* source = table + (long long)idx[at] * columns + from;
      V factor = POWER == 0 ? (V)1 : weigh<V, W, POWER>(weights[at], alpha, (V)1);
#pragma unroll
      for (int turn = 0; turn < 4; ++turn) {
        int column = lane + turn * lanes;
        if (column < width) sums[turn] += factor * (V)__ldg(source + column);
      }
    }
  }
#pragma unroll
  for (int turn = 0; turn < 4; ++turn) {
    int column = lane + turn * lanes;
    if (column < width) __stcs(out + row * width + column, sums[turn]);
  }
}

// The same for the pieces of long rows: each of the four warps of a group takes every fourth entry.
template <typename V, typename W, typename T, int POWER> __global__ void gather_pieces(
    const long long* __restrict__ bounds, const int* __restrict__ idx, const W* __restrict__ weights, V alpha,
    const T* __restrict__ table, int columns, int from, int width, V* __restrict__ parts) {
  __shared__ V found[4][128];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  V sums[4] = {0, 0, 0, 0};
  for (long long at = bounds[blockIdx.x] + warp; at < bounds[blockIdx.x + 1]; at += 4) {
    const T* source = table + (long long)idx[at] * columns + from;
    V factor = POWER == 0 ? (V)1 : weigh<V, W, POWER>(weights[at], alpha, (V)1);
    for (int turn = 0; turn < 4; ++turn) {
      int column = lane + turn * 32;
      if (column < width) sums[turn] += factor * (V)__ldg(source + column);
    }
  }
  for (int turn = 0; turn < 4; ++turn) found[warp][lane + turn * 32] = sums[turn];
  __syncthreads();
  int column = threadIdx.x;
  if (column >= width) return;
  V total = found[0][column] + found[1][column] + found[2][column] + found[3][column];
  parts[blockIdx.x * (long long)width + column] = total;
}
