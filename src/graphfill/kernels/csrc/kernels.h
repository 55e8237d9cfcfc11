/* What the passes share: the graph, the arrays of one pass, and the compiler's dialect. */
#ifndef GRAPHFILL_KERNELS_H
#define GRAPHFILL_KERNELS_H

#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#define restrict __restrict
#define PREFETCH(address) ((void)(address))
#else
#define PREFETCH(address) __builtin_prefetch(address)
#endif

/* One build serves every x86-64 machine: the loader picks the widest vectors it has. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(GRAPHFILL_ONE_TARGET)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#ifndef AHEAD
#define AHEAD 64 /* entries between asking for a row and using it */
#endif

typedef struct {
    const int64_t *indptr;  /* n + 1 */
    const int32_t *indices; /* entries */
    const void *weights;    /* entries, of the tile's type; NULL: all ones */
    int64_t entries;
} adjacency;

typedef struct {
    const void *row;      /* n: one factor per row, of the tile's type */
    const uint8_t *known; /* n x ceil(W / 8): bit l of a row is set where the cell is known */
    const void *in;       /* n x W */
    void *out;            /* n x W */
    const void *source;   /* n x W, or NULL */
    void *x;              /* n x W: Chebyshev's sum, or a factor per cell */
    double factor, coefficient;
    const double *lanes; /* one or three numbers per lane: alpha, beta, gamma */
    double *sums; /* blocks x W */
    int64_t block_rows;
} pass;

typedef void (*tile_pass)(const adjacency *, const pass *, int64_t, int64_t);

#define BITS4(b) 1u << (b), 1u << ((b) + 1), 1u << ((b) + 2), 1u << ((b) + 3)
static const uint32_t LANE_BIT[32] = {BITS4(0),  BITS4(4),  BITS4(8),  BITS4(12),
                                      BITS4(16), BITS4(20), BITS4(24), BITS4(28)};

enum { N_PASSES = 11 };
typedef tile_pass tile_passes[N_PASSES];

#endif
