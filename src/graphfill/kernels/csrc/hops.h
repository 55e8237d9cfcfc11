/* Distances of all columns at once: a set of columns is a row of bits, 64 to a word. */

/* One hop of a breadth-first search in the rows [lo, hi): reached[i] = from[i] or any from[j] of a
 * neighbour j; hops[i, c] = hop where column c is new to row i. Rows have `words` words and F
 * columns; bits past the last column are set. Returns how many cells are new. */
CLONES static int64_t hop(const int64_t *restrict indptr, const int32_t *restrict indices,
                          const uint64_t *restrict from, uint64_t *restrict reached,
                          uint16_t *restrict hops, int64_t words, int64_t F, uint16_t number,
                          int64_t lo, int64_t hi)
{
    int64_t found = 0;
    for (int64_t i = lo; i < hi; i++) {
        const uint64_t *restrict old = from + i * words;
        uint64_t *restrict new = reached + i * words;
        uint64_t all = ~(uint64_t)0;
        for (int64_t w = 0; w < words; w++) {
            new[w] = old[w];
            all &= old[w];
        }
        if (all == ~(uint64_t)0) continue;
        for (int64_t k = indptr[i]; k < indptr[i + 1]; k++) {
            const uint64_t *restrict other = from + (size_t)indices[k] * words;
            for (int64_t w = 0; w < words; w++) new[w] |= other[w];
        }
        for (int64_t w = 0; w < words; w++) {
            uint64_t fresh = new[w] & ~old[w];
            for (int64_t c = w * 64; fresh; c++, fresh >>= 1)
                if (fresh & 1) {
                    hops[i * F + c] = number;
                    found++;
                }
        }
    }
    return found;
}
