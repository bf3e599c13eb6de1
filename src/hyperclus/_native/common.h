// What all kernels share. Nothing here needs the C++ runtime, so the driver of a C compiler can link the library.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Machine code for processors with AVX2, beside that for any. Both give the same bits: the order of operations is
// fixed, and products are never fused with sums.
#if defined(__x86_64__) && defined(__linux__) && !defined(HYPERCLUS_PLAIN)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif
#if defined(_WIN32)
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT extern "C" CLONES  // everything else is static or inline
#endif
#define INLINE static inline __attribute__((always_inline))
#define INLINE_MEMBER inline __attribute__((always_inline))

static const double INF = __builtin_inf();

INLINE double max_of(double a, double b) { return a > b ? a : b; }
INLINE double min_of(double a, double b) { return a < b ? a : b; }

// x ln x; 0 where rounding left a negative number.
INLINE double xlogx(double value) { return value > 1e-300 ? value * log(value) : 0.0; }

static const double VOLUME_PENALTY = 2.0;  // cost of a cluster without volume; its term of the NCut is at most 1
static const double NOISE = 1e-12;  // a volume below this may be rounding error

// What is added to the cost for a cluster below the smallest volume, of which at most `mass` is missing.
INLINE double penalty(double mass, double missing, double min_volume) {
    return VOLUME_PENALTY * min_of(mass, missing) / min_volume;
}

// Memory that is freed at the end of a scope. Kernels allocate little, so a failure ends the process as in Python.
template <class T>
struct Scratch {
    T* data;
    explicit Scratch(int64_t count, bool zero = false) {
        size_t size = count > 0 ? count : 1;
        data = static_cast<T*>(zero ? calloc(size, sizeof(T)) : malloc(size * sizeof(T)));
        if (data == nullptr) abort();
    }
    ~Scratch() { free(data); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
};
