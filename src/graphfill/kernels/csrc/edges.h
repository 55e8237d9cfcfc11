/* From a list of edges to a symmetric CSR with sorted rows, without sorting.
 *
 * Dropping each edge (a, b), a <= b, into the bucket of b and then reading the buckets in
 * order while dropping b into the row of a leaves every row sorted, with duplicates side
 * by side. Reading those rows in order and dropping a into b's row and b into a's gives the
 * symmetric matrix, sorted again.
 *
 * Threads first share the edges: bucket (p, b) takes the edges whose a lies in part p of the
 * rows, and within it each thread has a place of its own, so that the edges keep their order.
 * Then they share the parts. Places are 32 bits wide, to keep more of them in the cache: at
 * most 2^32 - 1 edges.
 */

#define EDGES_AHEAD 16 /* half the entries between asking for a place and using it */
#define END(array, wide, e) ((wide) ? ((const int64_t *)(array))[e] : ((const int32_t *)(array))[e])

/* Which part of the rows a lies in: part p holds bounds[p] <= a < bounds[p + 1]. */
static inline int64_t part_of(int64_t a, const int64_t *bounds, int64_t parts)
{
    int64_t part = 0;
    for (int64_t p = 1; p < parts; p++) part += a >= bounds[p];
    return part;
}

/* count[part(a), b]++ for the edges lo <= e < hi. */
static void edge_count(const void *source, const void *target, int wide, int loops,
                       const int64_t *restrict bounds, int64_t parts, int64_t n,
                       uint32_t *restrict count, int64_t lo, int64_t hi)
{
    for (int64_t e = lo; e < hi; e++) {
        const int64_t u = END(source, wide, e), v = END(target, wide, e);
        const int64_t a = u < v ? u : v, b = u < v ? v : u;
        if (a == b && !loops) continue;
        count[part_of(a, bounds, parts) * n + b]++;
    }
}

/* Which bucket edge e goes to. */
static inline int64_t bucket_of(const void *source, const void *target, int wide,
                                const int64_t *bounds, int64_t parts, int64_t n, int64_t e)
{
    const int64_t u = END(source, wide, e), v = END(target, wide, e);
    return part_of(u < v ? u : v, bounds, parts) * n + (u < v ? v : u);
}

/* bucket[next[part(a), b]++] = a for the edges lo <= e < hi. */
static void edge_bucket(const void *source, const void *target, int wide, int loops,
                        const double *restrict weights, const int64_t *restrict bounds,
                        int64_t parts, int64_t n, uint32_t *restrict next,
                        int32_t *restrict bucket, double *restrict bucket_weights, int64_t lo,
                        int64_t hi)
{
    for (int64_t e = lo; e < hi; e++) {
        /* Ask early for the place, and then for what lies there. */
        if (e + 2 * EDGES_AHEAD < hi) {
            const int64_t far = bucket_of(source, target, wide, bounds, parts, n, e + 2 * EDGES_AHEAD);
            const int64_t near = bucket_of(source, target, wide, bounds, parts, n, e + EDGES_AHEAD);
            PREFETCH(next + far);
            PREFETCH(bucket + next[near]);
        }
        const int64_t u = END(source, wide, e), v = END(target, wide, e);
        const int64_t a = u < v ? u : v, b = u < v ? v : u;
        if (a == b && !loops) continue;
        const uint32_t k = next[part_of(a, bounds, parts) * n + b]++;
        bucket[k] = (int32_t)a;
        if (weights) bucket_weights[k] = weights[e];
    }
}

enum { MERGE_MEAN, MERGE_SUM, MERGE_MAX, MERGE_MIN };

/* Rows a in [lo, hi), one part, of the upper triangle: upper[start[a] ... start[a] + length[a]),
 * sorted, duplicates merged. bucket_start has the n + 1 bounds of the part's buckets, and the
 * rows take the same room. times counts the listings of an entry (for the mean). */
static void edge_merge(const int64_t *restrict bucket_start, const int32_t *restrict bucket,
                       const double *restrict bucket_weights, int64_t n, int merge,
                       int64_t *restrict start, int64_t *restrict length,
                       int32_t *restrict upper, double *restrict upper_weights,
                       int32_t *restrict times, int64_t lo, int64_t hi)
{
    for (int64_t a = lo; a < hi; a++) length[a] = 0;
    for (int64_t k = bucket_start[0]; k < bucket_start[n]; k++) length[bucket[k]]++;
    for (int64_t a = lo, at = bucket_start[0]; a < hi; a++) {
        start[a] = at;
        at += length[a];
        length[a] = 0;
    }
    for (int64_t b = 0; b < n; b++)
        for (int64_t k = bucket_start[b]; k < bucket_start[b + 1]; k++) {
            if (k + 2 * EDGES_AHEAD < bucket_start[n]) {
                const int64_t far = bucket[k + 2 * EDGES_AHEAD], near = bucket[k + EDGES_AHEAD];
                PREFETCH(start + far);
                PREFETCH(length + far);
                PREFETCH(upper + start[near] + length[near]);
            }
            const int64_t a = bucket[k];
            const int64_t last = start[a] + length[a] - 1;
            const int repeated = length[a] > 0 && upper[last] == b;
            if (!repeated) {
                upper[last + 1] = (int32_t)b;
                length[a]++;
            }
            if (!bucket_weights) continue;
            const double w = bucket_weights[k];
            if (!repeated) {
                upper_weights[last + 1] = w;
                times[last + 1] = 1;
            } else if (merge == MERGE_MAX) {
                if (w > upper_weights[last]) upper_weights[last] = w;
            } else if (merge == MERGE_MIN) {
                if (w < upper_weights[last]) upper_weights[last] = w;
            } else {
                upper_weights[last] += w;
                times[last]++;
            }
        }
    if (bucket_weights && merge == MERGE_MEAN)
        for (int64_t a = lo; a < hi; a++)
            for (int64_t k = start[a]; k < start[a] + length[a]; k++) upper_weights[k] /= times[k];
}

/* degree[v]++ for each entry of v's row in the symmetric matrix, v in [lo, hi). */
static void edge_degrees(const int64_t *restrict start, const int64_t *restrict length,
                         const int32_t *restrict upper, int64_t n, int64_t *restrict degree,
                         int64_t lo, int64_t hi)
{
    for (int64_t a = 0; a < n; a++)
        for (int64_t k = start[a]; k < start[a] + length[a]; k++) {
            const int64_t b = upper[k];
            if (a >= lo && a < hi) degree[a]++;
            if (b != a && b >= lo && b < hi) degree[b]++;
        }
}

/* Rows [lo, hi) of the symmetric matrix; next[v] is where v's next entry goes. */
static void edge_mirror(const int64_t *restrict start, const int64_t *restrict length,
                        const int32_t *restrict upper, const double *restrict upper_weights,
                        int64_t n, int64_t *restrict next, int32_t *restrict indices,
                        double *restrict weights, int64_t lo, int64_t hi)
{
    for (int64_t a = 0; a < n; a++)
        for (int64_t k = start[a]; k < start[a] + length[a]; k++) {
            const int64_t b = upper[k];
            if (a >= lo && a < hi) {
                if (weights) weights[next[a]] = upper_weights[k];
                indices[next[a]++] = (int32_t)b;
            }
            if (b != a && b >= lo && b < hi) {
                if (weights) weights[next[b]] = upper_weights[k];
                indices[next[b]++] = (int32_t)a;
            }
        }
}
