/* Connected components, and an order of the nodes that keeps neighbours near. */

/* label[i] = number of i's component, counted in order of their first node; queue has n
 * places and ends as the nodes in breadth-first order. Returns the number of components. */
static int64_t components(const int64_t *restrict indptr, const int32_t *restrict indices,
                          int64_t n, int32_t *restrict label, int32_t *restrict queue)
{
    int64_t found = 0, head = 0, tail = 0;
    for (int64_t i = 0; i < n; i++) label[i] = -1;
    for (int64_t seed = 0; seed < n; seed++) {
        if (label[seed] >= 0) continue;
        label[seed] = (int32_t)found;
        queue[tail++] = (int32_t)seed;
        while (head < tail) {
            const int64_t i = queue[head++];
            for (int64_t k = indptr[i]; k < indptr[i + 1]; k++) {
                const int32_t j = indices[k];
                if (label[j] >= 0) continue;
                label[j] = (int32_t)found;
                queue[tail++] = j;
            }
        }
        found++;
    }
    return found;
}

/* One sweep of label propagation over the nodes [lo, hi): each takes the label most common
 * among (at most `most` of) its neighbours, the lowest among equals. Labels of nodes outside
 * [lo, hi) are read from before the sweep, so the parts can run in any order or at once.
 * votes has n zeros and is left so. Returns how many labels changed. */
static int64_t cluster(const int64_t *restrict indptr, const int32_t *restrict indices,
                       const int32_t *restrict before, int32_t *restrict label,
                       int32_t *restrict votes, int64_t most, int64_t lo, int64_t hi)
{
    int64_t changed = 0;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t degree = indptr[i + 1] - indptr[i];
        const int64_t stride = degree > most ? degree / most : 1;
        int32_t best = label[i], best_votes = 0;
        for (int64_t k = indptr[i]; k < indptr[i + 1]; k += stride) {
            const int32_t j = indices[k];
            const int32_t l = j >= lo && j < hi ? label[j] : before[j];
            const int32_t v = ++votes[l];
            if (v > best_votes || (v == best_votes && l < best)) {
                best_votes = v;
                best = l;
            }
        }
        for (int64_t k = indptr[i]; k < indptr[i + 1]; k += stride) {
            const int32_t j = indices[k];
            votes[j >= lo && j < hi ? label[j] : before[j]] = 0;
        }
        if (best != label[i]) {
            label[i] = best;
            changed++;
        }
    }
    return changed;
}

/* Row r of the result is row order[r] of the matrix, entries in the same order as there,
 * renamed by rank (a negative rank drops the entry). indices == NULL only counts:
 * new_indptr[r + 1] = length of row r. Otherwise new_indptr is complete. */
static void select_rows(const int64_t *restrict indptr, const int32_t *restrict indices,
                        const double *restrict weights, const int32_t *restrict order,
                        const int32_t *restrict rank, int64_t *restrict new_indptr,
                        int32_t *restrict new_indices, double *restrict new_weights, int64_t lo,
                        int64_t hi)
{
    for (int64_t r = lo; r < hi; r++) {
        const int64_t i = order[r];
        int64_t at = new_indices ? new_indptr[r] : 0;
        for (int64_t k = indptr[i]; k < indptr[i + 1]; k++) {
            const int32_t j = rank[indices[k]];
            if (j < 0) continue;
            if (new_indices) {
                new_indices[at] = j;
                if (weights) new_weights[at] = weights[k];
            }
            at++;
        }
        if (!new_indices) new_indptr[r + 1] = at;
    }
}
