/* What training a graph network on a large graph spends its time on, besides dense products:
 * products of the graph with wide blocks, and the passes over the blocks between two layers. */

enum { LANES = 64 }; /* columns whose running sums stay in registers */

/* out[i, c:c+width] = sum_k a_ik in[k, c:c+width] for the rows lo <= i < hi; width <= LANES. */
#define PRODUCT_ROWS(width)                                                              \
    for (int64_t i = lo; i < hi; i++) {                                                   \
        float sum[LANES] = {0};                                                           \
        for (int64_t k = a->indptr[i]; k < a->indptr[i + 1]; k++) {                        \
            if (k + AHEAD < a->entries) {                                                 \
                const char *next = (const char *)(z + (size_t)a->indices[k + AHEAD] * columns); \
                for (size_t b = 0; b < sizeof(float) * (width); b += 64) PREFETCH(next + b); \
            }                                                                            \
            const float *restrict row = z + (size_t)a->indices[k] * columns;              \
            for (int l = 0; l < (width); l++) sum[l] += weights[k] * row[l];               \
        }                                                                                \
        memcpy(out + i * columns + c, sum, sizeof(float) * (width));                      \
    }

/* out = A in for blocks of `columns` columns, LANES of them at a time: a whole row of a wide
 * block is more than the cache keeps of every neighbour. */
CLONES static void product(const adjacency *a, const float *restrict in, int64_t columns,
                           float *restrict out, int64_t lo, int64_t hi)
{
    const float *restrict weights = a->weights;
    for (int64_t c = 0; c < columns; c += LANES) {
        const float *restrict z = in + c;
        const int rest = (int)(columns - c);
        if (rest >= LANES) {
            PRODUCT_ROWS(LANES)
        } else {
            PRODUCT_ROWS(rest)
        }
    }
}

/* out = scale max(in, 0) where the number drawn is not below the threshold, 0 elsewhere; and
 * highest = max(out, previous) over the first `own` entries, unless both are NULL. */
#define RECTIFY(i)                                                                       \
    out[i] = drawn[i] >= below && !(in[i] <= 0) ? in[i] * scale : 0

CLONES static void rectify(const float *restrict in, const uint16_t *restrict drawn, int below,
                           float scale, const float *restrict previous, float *restrict out,
                           float *restrict highest, int64_t own, int64_t lo, int64_t hi)
{
    const int64_t end = !highest || own < lo ? lo : own < hi ? own : hi;
    for (int64_t i = lo; i < end; i++) {
        RECTIFY(i);
        highest[i] = previous[i] >= out[i] ? previous[i] : out[i];
    }
    for (int64_t i = end; i < hi; i++) RECTIFY(i);
}

/* The gradient of the above with respect to in and previous, from those with respect to out and
 * highest: an entry of highest passes its own to previous if that was not the smaller one. What is
 * NULL counts as zeros, or is not wanted. */
CLONES static void rectify_gradient(const float *restrict to_out, const float *restrict to_highest,
                                    const float *restrict previous, const float *restrict out,
                                    float scale, float *restrict to_in,
                                    float *restrict to_previous, int64_t own, int64_t lo,
                                    int64_t hi)
{
    const int64_t end = !to_highest || own < lo ? lo : own < hi ? own : hi;
    for (int64_t i = lo; i < end; i++) {
        const int passed = previous && previous[i] >= out[i];
        const float mine = (to_out ? to_out[i] : 0) + (passed ? 0 : to_highest[i]);
        to_in[i] = out[i] > 0 ? mine * scale : 0;
        if (to_previous) to_previous[i] = passed ? to_highest[i] : 0;
    }
    for (int64_t i = end; i < hi; i++) {
        to_in[i] = to_out && out[i] > 0 ? to_out[i] * scale : 0;
        if (to_previous) to_previous[i] = 0;
    }
}
