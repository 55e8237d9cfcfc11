/* What Python calls to fill a tile, and to go between matrix and tile: arguments checked, then
 * tile.h and pack.h. */

typedef struct {
    int itemsize, width;
    const tile_pass *plain, *weighted;
} tile_kind;

#define KIND(real, w) {sizeof(real), w, passes_##real##_##w##_0, passes_##real##_##w##_1}
static const tile_kind KINDS[] = {
    KIND(float, 1),  KIND(float, 2),  KIND(float, 4),  KIND(float, 8),  KIND(float, 16),
    KIND(float, 32), KIND(double, 1), KIND(double, 2), KIND(double, 4), KIND(double, 8),
    KIND(double, 16), KIND(double, 32),
};
enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

static const char *PASS_NAMES[N_PASSES] = {
    "diffuse",       "diffuse_measured", "residual",   "laplacian",   "chebyshev",
    "step_residual", "step_direction",   "known_sums", "squares", "shift_known",
    "diffuse_cells",
};

static PyObject *py_tile_pass(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *indptr, *indices, *weights, *row, *known, *in, *out, *source, *x, *lanes, *sums;
    int which;
    double factor, coefficient;
    long long block_rows, width, lo, hi;
    if (!PyArg_ParseTuple(args, "iOOOOOOOOOddOOLLLL", &which, &indptr, &indices, &weights, &row,
                          &known, &in, &out, &source, &x, &factor, &coefficient, &lanes, &sums,
                          &block_rows, &width, &lo, &hi))
        return NULL;
    const int64_t itemsize = itemsize_of(row);
    if (itemsize < 0) return NULL;
    const tile_kind *kind = NULL;
    for (int k = 0; k < N_KINDS; k++)
        if (KINDS[k].itemsize == itemsize && KINDS[k].width == width) kind = &KINDS[k];

    buffers b = {.count = 0, .failed = 0};
    CHECK(b, kind && which >= 0 && which < N_PASSES, "no such pass for this type and width");
    CHECK(b, 0 <= lo && lo <= hi && block_rows > 0 && lo % block_rows == 0, "bad range of rows");
    adjacency a;
    a.indptr = need(&b, indptr, 0, 8, hi + 1, "indptr");
    a.indices = need(&b, indices, 0, 4, 0, "indices");
    a.entries = b.failed ? 0 : items_of(&b, 1);
    a.weights = take(&b, weights, 0, itemsize, a.entries, "weights");
    CHECK(b, !b.failed && a.indptr[hi] <= a.entries, "indptr reaches past indices");
    pass s = {.factor = factor, .coefficient = coefficient, .block_rows = block_rows};
    s.row = need(&b, row, 0, itemsize, hi, "row");
    s.known = need(&b, known, 0, 1, hi * ((width + 7) / 8), "known");
    s.in = take(&b, in, 0, itemsize, hi ? width : 0, "in");
    s.out = take(&b, out, 1, itemsize, hi * width, "out");
    s.source = take(&b, source, 0, itemsize, hi * width, "source");
    s.x = take(&b, x, 1, itemsize, hi * width, "x");
    s.lanes = take(&b, lanes, 0, 8, width, "lanes");
    s.sums = take(&b, sums, 1, 8, (hi + block_rows - 1) / block_rows * width, "sums");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        (a.weights ? kind->weighted : kind->plain)[which](&a, &s, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

/* ---- between matrix and tile ---- */

static PyObject *py_survey(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *missing_in_row, *known_in_column, *infinite;
    long long F, lo, hi;
    if (!PyArg_ParseTuple(args, "OLOOOLL", &X, &F, &missing_in_row, &known_in_column, &infinite,
                          &lo, &hi))
        return NULL;
    const int64_t itemsize = itemsize_of(X);
    if (itemsize < 0) return NULL;
    buffers b = {.count = 0, .failed = 0};
    const void *matrix = need(&b, X, 0, itemsize, hi * F, "X");
    int32_t *row = need(&b, missing_in_row, 1, 4, hi, "missing_in_row");
    int64_t *column = need(&b, known_in_column, 1, 8, F, "known_in_column");
    int64_t *bad = need(&b, infinite, 1, 8, 1, "infinite");
    CHECK(b, (itemsize == 4 || itemsize == 8) && 0 <= lo && lo <= hi, "bad type or range of rows");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        if (itemsize == 4)
            survey_float(matrix, F, lo, hi, row, column, bad);
        else
            survey_double(matrix, F, lo, hi, row, column, bad);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyObject *py_pack(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *start, *order, *factor, *z, *known;
    long long F, first, columns, width, lo, hi;
    if (!PyArg_ParseTuple(args, "OOLLLOOOOLLL", &X, &start, &F, &first, &columns, &order, &factor,
                          &z, &known, &width, &lo, &hi))
        return NULL;
    const int64_t itemsize = itemsize_of(z);
    if (itemsize < 0) return NULL;
    buffers b = {.count = 0, .failed = 0};
    CHECK(b, 0 <= first && columns <= width && first + columns <= F && 0 <= lo && lo <= hi,
          "bad columns or rows");
    const void *matrix = need(&b, X, 0, itemsize, 0, "X");
    const void *begin = take(&b, start, 0, itemsize, 0, "start");
    const int32_t *rows = take(&b, order, 0, 4, hi, "order");
    const void *f = need(&b, factor, 0, itemsize, hi, "factor");
    void *tile = need(&b, z, 1, itemsize, hi * width, "z");
    uint8_t *bits = need(&b, known, 1, 1, hi * ((width + 7) / 8), "known");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        if (itemsize == 4)
            pack_float(matrix, begin, F, first, columns, rows, f, tile, bits, width, lo, hi);
        else
            pack_double(matrix, begin, F, first, columns, rows, f, tile, bits, width, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyObject *py_unpack(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *order, *factor, *z, *known, *shift, *fill, *component, *reached;
    long long F, first, columns, width, lo, hi;
    if (!PyArg_ParseTuple(args, "OLLLOOOOOOOOLLL", &X, &F, &first, &columns, &order, &factor, &z,
                          &known, &shift, &fill, &component, &reached, &width, &lo, &hi))
        return NULL;
    const int64_t itemsize = itemsize_of(z);
    if (itemsize < 0) return NULL;
    buffers b = {.count = 0, .failed = 0};
    CHECK(b, 0 <= first && columns <= width && first + columns <= F && 0 <= lo && lo <= hi,
          "bad columns or rows");
    void *matrix = need(&b, X, 1, itemsize, 0, "X");
    const int32_t *rows = take(&b, order, 0, 4, hi, "order");
    const void *f = need(&b, factor, 0, itemsize, hi, "factor");
    const void *tile = need(&b, z, 0, itemsize, hi * width, "z");
    const uint8_t *bits = need(&b, known, 0, 1, hi * ((width + 7) / 8), "known");
    const double *add = need(&b, shift, 0, 8, width, "shift");
    const double *other = need(&b, fill, 0, 8, width, "fill");
    const int32_t *label = take(&b, component, 0, 4, hi, "component");
    const uint8_t *reach = take(&b, reached, 0, 1, 0, "reached");
    CHECK(b, !reach == !label, "component and reached go together");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        if (itemsize == 4)
            unpack_float(matrix, F, first, columns, rows, f, tile, bits, add, other, label, reach,
                         width, lo, hi);
        else
            unpack_double(matrix, F, first, columns, rows, f, tile, bits, add, other, label, reach,
                          width, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}
