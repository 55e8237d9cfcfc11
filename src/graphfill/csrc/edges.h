/* From a list of edges to a symmetric CSR with sorted rows, without sorting.
 *
 * Dropping each edge (a, b), a <= b, into the bucket of b and then reading the buckets in
 * order while dropping b into the row of a leaves every row sorted, with duplicates side
 * by side. Reading those rows in order and dropping a into b's row and b into a's gives the
 * symmetric matrix, sorted again. Each function handles the rows lo <= row < hi, so that
 * threads share the rows and every row sees its edges in the same order.
 */

#define END(array, wide, e) ((wide) ? ((const int64_t *)(array))[e] : ((const int32_t *)(array))[e])

static void edge_range(const void *source, const void *target, int wide, int64_t lo, int64_t hi,
                       int64_t *least, int64_t *most)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t e = lo; e < hi; e++) {
        const int64_t u = END(source, wide, e), v = END(target, wide, e);
        low = u < low ? u : low;
        low = v < low ? v : low;
        high = u > high ? u : high;
        high = v > high ? v : high;
    }
    *least = low;
    *most = high;
}

/* smaller[a]++ and larger[b]++ for each edge, where these lie in [lo, hi). */
static void edge_count(const void *source, const void *target, int wide, int64_t edges, int loops,
                       int64_t *restrict smaller, int64_t *restrict larger, int64_t lo, int64_t hi)
{
    for (int64_t e = 0; e < edges; e++) {
        const int64_t u = END(source, wide, e), v = END(target, wide, e);
        const int64_t a = u < v ? u : v, b = u < v ? v : u;
        if (a == b && !loops) continue;
        if (a >= lo && a < hi) smaller[a]++;
        if (b >= lo && b < hi) larger[b]++;
    }
}

/* bucket[next[b]++] = a for each edge with b in [lo, hi). */
static void edge_bucket(const void *source, const void *target, int wide, int64_t edges, int loops,
                        const double *restrict weights, int64_t *restrict next,
                        int32_t *restrict bucket, double *restrict bucket_weights, int64_t lo,
                        int64_t hi)
{
    for (int64_t e = 0; e < edges; e++) {
        const int64_t u = END(source, wide, e), v = END(target, wide, e);
        const int64_t a = u < v ? u : v, b = u < v ? v : u;
        if (b < lo || b >= hi || (a == b && !loops)) continue;
        const int64_t k = next[b]++;
        bucket[k] = (int32_t)a;
        if (weights) bucket_weights[k] = weights[e];
    }
}

enum { MERGE_MEAN, MERGE_SUM, MERGE_MAX, MERGE_MIN };

/* Rows a in [lo, hi) of the upper triangle: upper[start[a] ... start[a] + length[a]), sorted,
 * duplicates merged. times counts the listings of an entry (mean only). */
static void edge_merge(const int64_t *restrict bucket_start, const int32_t *restrict bucket,
                       const double *restrict bucket_weights, int64_t n, int merge,
                       const int64_t *restrict start, int64_t *restrict length,
                       int32_t *restrict upper, double *restrict upper_weights,
                       int32_t *restrict times, int64_t lo, int64_t hi)
{
    for (int64_t b = 0; b < n; b++)
        for (int64_t k = bucket_start[b]; k < bucket_start[b + 1]; k++) {
            const int64_t a = bucket[k];
            if (a < lo || a >= hi) continue;
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
