/* Between the user's matrix (n x F, rows in the user's order) and a tile (n x width, rows
 * in the solver's order). Included once per REAL by kernels.c. */

/* Cells missing in each row and known in each column of X[lo:hi]; the first infinite cell
 * goes to *infinite (row * F + column), untouched when there is none. */
static void NAME(survey)(const REAL *restrict X, int64_t F, int64_t lo, int64_t hi,
                         int32_t *restrict missing_in_row, int64_t *restrict known_in_column,
                         int64_t *infinite)
{
    for (int64_t i = lo; i < hi; i++) {
        const REAL *restrict row = X + i * F;
        int32_t missing = 0;
        int bad = 0;
        for (int64_t c = 0; c < F; c++) {
            const int is_nan = row[c] != row[c];
            missing += is_nan;
            known_in_column[c] += !is_nan;
            bad |= !is_nan & (row[c] - row[c] != 0);
        }
        missing_in_row[i] = missing;
        for (int64_t c = 0; bad && c < F; c++)
            if (row[c] == row[c] && row[c] - row[c] != 0) {
                *infinite = i * F + c;
                return;
            }
    }
}

/* z = factor X where known, factor start (or 0) where missing; known gets its bits. Lanes
 * past the last column count as known and hold 0. */
static void NAME(pack)(const REAL *restrict X, const REAL *restrict start, int64_t F,
                       int64_t first, int64_t columns, const int32_t *restrict order,
                       const REAL *restrict factor, REAL *restrict z, uint8_t *restrict known,
                       int64_t width, int64_t lo, int64_t hi)
{
    const int64_t bytes = (width + 7) / 8;
    for (int64_t r = lo; r < hi; r++) {
        const int64_t i = order ? order[r] : r;
        const REAL *restrict row = X + i * F + first;
        REAL *restrict out = z + r * width;
        uint8_t *restrict bits = known + r * bytes;
        const REAL f = factor[r];
        for (int64_t b = 0; b < bytes; b++) bits[b] = 0;
        for (int64_t l = 0; l < width; l++) {
            const int is_known = l >= columns || row[l] == row[l];
            REAL value = 0;
            if (l < columns) value = is_known ? row[l] : start ? start[i * F + first + l] : 0;
            out[l] = f * value;
            bits[l / 8] |= (uint8_t)(is_known << (l % 8));
        }
    }
}

/* X = factor (z + shift) at missing cells whose component knows the column, fill at the
 * other missing cells; known cells are not written. */
static void NAME(unpack)(REAL *restrict X, int64_t F, int64_t first, int64_t columns,
                         const int32_t *restrict order, const REAL *restrict factor,
                         const REAL *restrict z, const uint8_t *restrict known,
                         const double *restrict shift, const double *restrict fill,
                         const int32_t *restrict component, const uint8_t *restrict reached,
                         int64_t width, int64_t lo, int64_t hi)
{
    const int64_t bytes = (width + 7) / 8;
    for (int64_t r = lo; r < hi; r++) {
        const int64_t i = order ? order[r] : r;
        REAL *restrict row = X + i * F + first;
        const uint8_t *restrict bits = known + r * bytes;
        const uint8_t *restrict reach = reached ? reached + component[r] * bytes : NULL;
        const REAL f = factor[r];
        for (int64_t l = 0; l < columns; l++) {
            if ((bits[l / 8] >> (l % 8)) & 1) continue;
            const int is_reached = !reach || ((reach[l / 8] >> (l % 8)) & 1);
            row[l] = is_reached ? f * (z[r * width + l] + (REAL)shift[l]) : (REAL)fill[l];
        }
    }
}
