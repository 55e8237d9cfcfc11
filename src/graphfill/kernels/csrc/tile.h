/* Passes over the edges for one tile: n rows of W numbers of type REAL.
 *
 * Included once per (REAL, W, WEIGHTED) by kernels.c, so that the width is a constant:
 * the W running sums then stay in registers and the lane loops become vector code on
 * every compiler, without intrinsics.
 *
 * Each pass forms, for each row i with an unknown cell, the sums over its neighbours
 *
 *     sum[l] = sum_j a_ij z[j, l]        in the order of the row's entries,
 *
 * and ends with its own formula. Known cells (bit l of known[i] set) are never
 * written. Lanes do not interact, so a column's bits do not depend on the tile's width;
 * partial sums are kept per block of rows, so they do not depend on the threads.
 */

#define BYTES ((W + 7) / 8)

#if WEIGHTED
#define WEIGHT(k) weights[k] *
#else
#define WEIGHT(k)
#endif

/* sum += a_ik z[k]. Short lane loops are unrolled into scalars before gcc would make vectors of
 * them, so those widths are spelt as vectors where the compiler has them. */
#if defined(__GNUC__) && W > 1 && W <= 8
typedef REAL TILE(lanes) __attribute__((vector_size(W * sizeof(REAL)), may_alias, aligned(4)));
#define ENTRY(sum, k)                                                                    \
    *(TILE(lanes) *)(sum) += WEIGHT(k) * (const TILE(lanes) *)(z + (size_t)a->indices[k] * W)
#else
#define ENTRY(sum, k)                                                                    \
    do {                                                                                 \
        const REAL *restrict row = z + (size_t)a->indices[k] * W;                         \
        for (int l = 0; l < W; l++) (sum)[l] += WEIGHT(k) row[l];                         \
    } while (0)
#endif

/* The neighbour sums of row i, left in sum. Rows that will be needed soon are asked for
 * early: memory latency, not arithmetic, is what a step costs. */
#define NEIGHBOUR_SUM(sum, i)                                                            \
    do {                                                                                 \
        for (int64_t k = a->indptr[i]; k < a->indptr[(i) + 1]; k++) {                     \
            if (k + AHEAD < entries) {                                                   \
                const char *next = (const char *)(z + (size_t)a->indices[k + AHEAD] * W); \
                for (size_t b = 0; b < sizeof(REAL) * W; b += 64) PREFETCH(next + b);     \
            }                                                                            \
            ENTRY(sum, k);                                                               \
        }                                                                                \
    } while (0)

/* What every pass does with row i before its own formula: fetch the bits, handle a row
 * without unknown cells, sum over the neighbours, and expand the bits to lane masks. */
#define BEGIN_ROWS(if_all_known)                                                         \
    const REAL *restrict z = s->in, *restrict row_factor = s->row;                        \
    const REAL *restrict weights = a->weights, *restrict source = s->source;              \
    const int64_t entries = a->entries;                                                   \
    (void)weights;                                                                       \
    for (int64_t i = lo; i < hi; i++) {                                                   \
        const uint8_t *restrict bits = s->known + i * BYTES;                              \
        REAL *restrict out = (REAL *)s->out + i * W;                                      \
        if (TILE(all_known)(bits)) {                                                      \
            if_all_known;                                                                \
            continue;                                                                    \
        }                                                                                \
        REAL sum[W] = {0};                                                                \
        if (source)                                                                      \
            for (int l = 0; l < W; l++) sum[l] = source[i * W + l];                        \
        NEIGHBOUR_SUM(sum, i);                                                            \
        MASK unknown[W];                                                                  \
        TILE(unknown)(bits, unknown);                                                     \
        const REAL f = row_factor[i];

#define END_ROWS }

static inline int TILE(all_known)(const uint8_t *restrict bits)
{
#if W >= 8
    for (int b = 0; b < BYTES; b++)
        if (bits[b] != 0xff) return 0;
    return 1;
#else
    return bits[0] == (1 << W) - 1;
#endif
}

/* Lane masks of one row: all ones where the cell is unknown, zero where it is known. */
static inline void TILE(unknown)(const uint8_t *restrict bits, MASK *restrict unknown)
{
    for (int c = 0; c < W; c += 32) {
        uint32_t word = 0;
        memcpy(&word, bits + c / 8, BYTES - c / 8 < 4 ? BYTES - c / 8 : 4);
        for (int l = 0; l < 32 && c + l < W; l++)
            unknown[c + l] = -(MASK)((word & LANE_BIT[l]) == 0);
    }
}

/* out = f (source + sum) where unknown: one step of diffusion; f is 1 / diagonal. */
CLONES static void TILE(diffuse)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    BEGIN_ROWS((void)0)
    for (int l = 0; l < W; l++) out[l] = unknown[l] ? f * sum[l] : out[l];
    END_ROWS
}

/* The same step, and sums += (out - in)^2 / f. */
CLONES static void TILE(diffuse_measured)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    BEGIN_ROWS((void)0)
    double *restrict total = s->sums + (i / s->block_rows) * W;
    const double diagonal = f > 0 ? 1.0 / f : 0.0;
    for (int l = 0; l < W; l++) {
        const REAL new = unknown[l] ? f * sum[l] : out[l];
        const double change = unknown[l] ? (double)new - (double)z[i * W + l] : 0.0;
        total[l] += diagonal * change * change;
        out[l] = new;
    }
    END_ROWS
}

/* out = x sum where unknown: a step with a factor per cell. */
CLONES static void TILE(diffuse_cells)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    BEGIN_ROWS((void)0)
    const REAL *restrict factor = (const REAL *)s->x + i * W;
    (void)f;
    for (int l = 0; l < W; l++) out[l] = unknown[l] ? factor[l] * sum[l] : out[l];
    END_ROWS
}

/* out = source + sum - f in where unknown, 0 where known; sums += out^2 / f; f is the diagonal. */
CLONES static void TILE(residual)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    BEGIN_ROWS(memset(out, 0, sizeof(REAL) * W))
    double *restrict total = s->sums + (i / s->block_rows) * W;
    const double inverse = f > 0 ? 1.0 / f : 0.0;
    for (int l = 0; l < W; l++) {
        const REAL r = unknown[l] ? sum[l] - f * z[i * W + l] : 0;
        total[l] += inverse * ((double)r * (double)r);
        out[l] = r;
    }
    END_ROWS
}

/* out = f in - sum where unknown, 0 where known; sums += in . out; f is the diagonal. */
CLONES static void TILE(laplacian)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    BEGIN_ROWS(memset(out, 0, sizeof(REAL) * W))
    double *restrict total = s->sums + (i / s->block_rows) * W;
    for (int l = 0; l < W; l++) {
        const REAL p = z[i * W + l];
        const REAL q = unknown[l] ? f * p - sum[l] : 0;
        total[l] += (double)p * (double)q;
        out[l] = q;
    }
    END_ROWS
}

/* out = factor f sum - out where unknown, 0 where known, and x += coefficient out: one
 * term of a Chebyshev series; f is 1 / diagonal. */
CLONES static void TILE(chebyshev)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    const REAL coefficient = (REAL)s->coefficient, factor = (REAL)s->factor;
    BEGIN_ROWS((void)0)
    REAL *restrict x = (REAL *)s->x + i * W;
    for (int l = 0; l < W; l++) {
        const REAL t = unknown[l] ? factor * f * sum[l] - out[l] : 0;
        out[l] = t;
        x[l] += coefficient * t;
    }
    END_ROWS
}

#if !WEIGHTED /* passes over the rows alone; the weighted table points at the same code */
#define ROWS(name) TILE(name)

/* out -= alpha in; sums += out^2 / f: the residual after a step of conjugate gradients. */
CLONES static void TILE(step_residual)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    const REAL *restrict q = s->in, *restrict diagonal = s->row;
    (void)a;
    REAL alpha[W];
    for (int l = 0; l < W; l++) alpha[l] = (REAL)s->lanes[l];
    for (int64_t i = lo; i < hi; i++) {
        REAL *restrict r = (REAL *)s->out + i * W;
        double *restrict total = s->sums + (i / s->block_rows) * W;
        const double inverse = diagonal[i] > 0 ? 1.0 / diagonal[i] : 0.0;
        for (int l = 0; l < W; l++) {
            r[l] -= alpha[l] * q[i * W + l];
            total[l] += inverse * ((double)r[l] * (double)r[l]);
        }
    }
}

/* x += alpha out, then out = gamma in / f + beta out: the iterate and the next direction. */
CLONES static void TILE(step_direction)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    const REAL *restrict r = s->in, *restrict diagonal = s->row;
    (void)a;
    REAL alpha[W], beta[W], gamma[W];
    for (int l = 0; l < W; l++) {
        alpha[l] = (REAL)s->lanes[l];
        beta[l] = (REAL)s->lanes[W + l];
        gamma[l] = (REAL)s->lanes[2 * W + l];
    }
    for (int64_t i = lo; i < hi; i++) {
        REAL *restrict p = (REAL *)s->out + i * W, *restrict x = (REAL *)s->x + i * W;
        const REAL inverse = diagonal[i] > 0 ? 1 / diagonal[i] : 0;
        for (int l = 0; l < W; l++) {
            x[l] += alpha[l] * p[l];
            p[l] = gamma[l] * (inverse * r[i * W + l]) + beta[l] * p[l];
        }
    }
}

/* sums += f in over known cells (in = 1 where there is no array). */
CLONES static void TILE(known_sums)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    const REAL *restrict z = s->in, *restrict weight = s->row;
    (void)a;
    for (int64_t i = lo; i < hi; i++) {
        MASK unknown[W];
        TILE(unknown)(s->known + i * BYTES, unknown);
        double *restrict total = s->sums + (i / s->block_rows) * W;
        const double f = weight[i];
        for (int l = 0; l < W; l++) {
            const double value = z ? (double)z[i * W + l] : 1.0;
            total[l] += unknown[l] ? 0.0 : f * value;
        }
    }
}

/* sums += f in^2. */
CLONES static void TILE(squares)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    const REAL *restrict z = s->in, *restrict weight = s->row;
    (void)a;
    for (int64_t i = lo; i < hi; i++) {
        double *restrict total = s->sums + (i / s->block_rows) * W;
        const double f = weight[i];
        for (int l = 0; l < W; l++) {
            const double value = z[i * W + l];
            total[l] += f * (value * value);
        }
    }
}

/* out += shift where known. */
CLONES static void TILE(shift_known)(const adjacency *a, const pass *s, int64_t lo, int64_t hi)
{
    (void)a;
    for (int64_t i = lo; i < hi; i++) {
        MASK unknown[W];
        TILE(unknown)(s->known + i * BYTES, unknown);
        REAL *restrict out = (REAL *)s->out + i * W;
        for (int l = 0; l < W; l++) out[l] += unknown[l] ? 0 : (REAL)s->lanes[l];
    }
}
#else
#define ROWS(name) XCAT(name, REAL, W, 0)
#endif

static const tile_passes TILE(passes) = {
    TILE(diffuse),       TILE(diffuse_measured), TILE(residual),
    TILE(laplacian),     TILE(chebyshev),        ROWS(step_residual),
    ROWS(step_direction), ROWS(known_sums),      ROWS(squares),
    ROWS(shift_known),   TILE(diffuse_cells),
};

#undef ROWS
#undef BYTES
#undef WEIGHT
#undef ENTRY
#undef NEIGHBOUR_SUM
#undef BEGIN_ROWS
#undef END_ROWS
