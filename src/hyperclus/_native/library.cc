// The kernels of hyperclus, as one library without dependencies. `_runtime/native.py` loads it.
#include "common.h"
#include "vectors.h"
#include "text.h"
#include "k_means.h"
#include "mergers.h"
#include "shuffle.h"
#include "sweep.h"
#include "union_find.h"

#define INDEX int32_t
#define KERNEL(name) name##_i32
namespace indices_32 {
#include "indexed.h"
}
#undef INDEX
#undef KERNEL
#define INDEX int64_t
#define KERNEL(name) name##_i64
namespace indices_64 {
#include "indexed.h"
}

#include "row_moves.h"
