/* Inverses of many small positive definite matrices Omega + d Theta, a part of both for each row.
 *
 * The lower triangle is swept: at a pivot k with v the column of k and c = 1 / v_k,
 *     A_ij -= c v_i v_j,  A_ik = c v_i,  A_kk = -c,
 * which after all pivots leaves -A^-1. The sums of a row are those of that row alone.
 */

/* Rounding may leave a pivot at 0 or below where channels repeat each other. */
#define LEAST_PIVOT 1e-13

typedef struct {
    int64_t m, p;               /* cells of a row; rows of omega and theta */
    const int32_t *cells;       /* [rows, m]; p: no cell, a row and column of the identity */
    const double *degree;       /* [rows] */
    const double *omega, *theta; /* [p, p] */
} blocks;

CLONES static void invert(double *restrict a, double *restrict v, int64_t m, const double *diagonal)
{
    for (int64_t k = 0; k < m; k++) {
        for (int64_t j = 0; j <= k; j++) v[j] = a[k * m + j];
        for (int64_t i = k + 1; i < m; i++) v[i] = a[i * m + k];
        const double least = LEAST_PIVOT * diagonal[k], pivot = v[k] > least ? v[k] : least;
        for (int64_t i = 0; i < m; i++) {
            const double c = v[i] / pivot;
            double *restrict row = a + i * m;
            for (int64_t j = 0; j <= i; j++) row[j] -= c * v[j];
        }
        for (int64_t j = 0; j < k; j++) a[k * m + j] = v[j] / pivot;
        for (int64_t i = k + 1; i < m; i++) a[i * m + k] = v[i] / pivot;
        a[k * m + k] = -1.0 / pivot;
    }
}

/* The part of Omega + d Theta that a row is about, and its diagonal. */
static void take_block(const blocks *b, int64_t row, double *a, double *diagonal)
{
    const int32_t *cells = b->cells + row * b->m;
    for (int64_t i = 0; i < b->m; i++) {
        const int64_t start = cells[i] * b->p;
        for (int64_t j = 0; j <= i; j++) {
            const int there = cells[i] < b->p && cells[j] < b->p;
            a[i * b->m + j] = there ? b->omega[start + cells[j]] +
                                          b->degree[row] * b->theta[start + cells[j]]
                                    : (double)(i == j);
        }
        diagonal[i] = a[i * b->m + i];
    }
}

static void invert_rows(const blocks *b, double *room, float *single, double *exact, int64_t lo,
                        int64_t hi)
{
    const int64_t m = b->m;
    double *a = room, *v = a + m * m, *diagonal = v + m;
    for (int64_t row = lo; row < hi; row++) {
        take_block(b, row, a, diagonal);
        invert(a, v, m, diagonal);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j <= i; j++) {
                const int64_t at = row * m * m + i * m + j, mirrored = row * m * m + j * m + i;
                if (single) single[at] = single[mirrored] = (float)-a[i * m + j];
                else exact[at] = exact[mirrored] = -a[i * m + j];
            }
    }
}
