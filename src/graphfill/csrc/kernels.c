/* The compiled loops of graphfill, as one Python module over plain buffers.
 *
 * Nothing here knows NumPy: arguments are contiguous buffers whose lengths are checked
 * against each other, and every loop runs without the interpreter lock on the rows
 * lo <= row < hi, so that Python threads can share one pass. kernels.py is the only
 * caller and documents each function; entries of the graph are trusted to be in range,
 * which Graph has checked.
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels.h"

#define PASTE(a, b, c, d) a##_##b##_##c##_##d
#define XCAT(a, b, c, d) PASTE(a, b, c, d)
#define TILE(name) XCAT(name, REAL, W, WEIGHTED)
#define PASTE2(a, b) a##_##b
#define XCAT2(a, b) PASTE2(a, b)
#define NAME(name) XCAT2(name, REAL)

#define REAL float
#define MASK int32_t
#include "pack.h"
#define W 1
#include "widths.h"
#define W 2
#include "widths.h"
#define W 4
#include "widths.h"
#define W 8
#include "widths.h"
#define W 16
#include "widths.h"
#define W 32
#include "widths.h"
#undef REAL
#undef MASK

#define REAL double
#define MASK int64_t
#include "pack.h"
#define W 1
#include "widths.h"
#define W 2
#include "widths.h"
#define W 4
#include "widths.h"
#define W 8
#include "widths.h"
#define W 16
#include "widths.h"
#define W 32
#include "widths.h"
#undef REAL
#undef MASK

#include "edges.h"
#include "network.h"
#include "order.h"

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
};

/* ---- buffers ---- */

typedef struct {
    Py_buffer views[12];
    int count, failed;
} buffers;

/* The memory of a contiguous buffer of at least `items` items of `itemsize` bytes; NULL for
 * None. After a failure every further call does nothing and b->failed stays set. */
static void *take(buffers *b, PyObject *object, int writable, int64_t itemsize, int64_t items,
                  const char *name)
{
    if (b->failed || object == Py_None) return NULL;
    Py_buffer *view = &b->views[b->count];
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE)) {
        b->failed = 1;
        return NULL;
    }
    b->count++;
    if (view->itemsize != itemsize || view->len < items * itemsize) {
        PyErr_Format(PyExc_ValueError,
                     "%s: expected at least %lld items of %lld bytes, got %lld bytes in items of %lld",
                     name, (long long)items, (long long)itemsize, (long long)view->len,
                     (long long)view->itemsize);
        b->failed = 1;
        return NULL;
    }
    return view->buf;
}

static void *need(buffers *b, PyObject *object, int writable, int64_t itemsize, int64_t items,
                  const char *name)
{
    if (!b->failed && object == Py_None) {
        PyErr_Format(PyExc_ValueError, "%s is required", name);
        b->failed = 1;
    }
    return take(b, object, writable, itemsize, items, name);
}

static int64_t itemsize_of(PyObject *object)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE)) return -1;
    const int64_t itemsize = view.itemsize;
    PyBuffer_Release(&view);
    return itemsize;
}

static PyObject *finish(buffers *b)
{
    const int failed = b->failed;
    while (b->count) PyBuffer_Release(&b->views[--b->count]);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static int64_t items_of(const buffers *b, int index)
{
    return b->views[index].len / b->views[index].itemsize;
}

#define CHECK(b, condition, message)                                                     \
    do {                                                                                 \
        if (!(b).failed && !(condition)) {                                                \
            PyErr_SetString(PyExc_ValueError, message);                                   \
            (b).failed = 1;                                                              \
        }                                                                                \
    } while (0)

/* ---- passes over a tile ---- */

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

/* ---- edges to CSR ---- */

typedef struct {
    const void *source, *target;
    int64_t edges;
    int wide;
} edge_list;

static edge_list take_edges(buffers *b, PyObject *source, PyObject *target)
{
    edge_list list = {NULL, NULL, 0, 0};
    const int64_t itemsize = itemsize_of(source);
    if (itemsize < 0) {
        b->failed = 1;
        return list;
    }
    CHECK(*b, itemsize == 4 || itemsize == 8, "ends of edges must be int32 or int64");
    list.wide = itemsize == 8;
    list.source = need(b, source, 0, itemsize, 0, "source");
    list.edges = b->failed ? 0 : items_of(b, b->count - 1);
    list.target = need(b, target, 0, itemsize, list.edges, "target");
    return list;
}

static PyObject *py_edge_range(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *source, *target;
    long long lo, hi;
    if (!PyArg_ParseTuple(args, "OOLL", &source, &target, &lo, &hi)) return NULL;
    buffers b = {.count = 0, .failed = 0};
    const edge_list list = take_edges(&b, source, target);
    CHECK(b, 0 <= lo && lo <= hi && hi <= list.edges, "bad range of edges");
    int64_t least = 0, most = 0;
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        edge_range(list.source, list.target, list.wide, lo, hi, &least, &most);
        Py_END_ALLOW_THREADS
    }
    PyObject *none = finish(&b);
    if (!none) return NULL;
    Py_DECREF(none);
    return Py_BuildValue("LL", (long long)least, (long long)most);
}

static PyObject *py_edge_count(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *source, *target, *bounds, *count;
    int loops;
    long long parts, n, lo, hi;
    if (!PyArg_ParseTuple(args, "OOiOLLOLL", &source, &target, &loops, &bounds, &parts, &n, &count,
                          &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    const edge_list list = take_edges(&b, source, target);
    const int64_t *limits = need(&b, bounds, 0, 8, parts + 1, "bounds");
    uint32_t *counts = need(&b, count, 1, 4, parts * n, "count");
    CHECK(b, 0 <= lo && lo <= hi && hi <= list.edges, "bad range of edges");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        edge_count(list.source, list.target, list.wide, loops, limits, parts, n, counts, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyObject *py_edge_bucket(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *source, *target, *weights, *bounds, *next, *bucket, *bucket_weights;
    int loops;
    long long parts, n, lo, hi;
    if (!PyArg_ParseTuple(args, "OOiOOLLOOOLL", &source, &target, &loops, &weights, &bounds, &parts,
                          &n, &next, &bucket, &bucket_weights, &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    const edge_list list = take_edges(&b, source, target);
    const double *w = take(&b, weights, 0, 8, list.edges, "weights");
    const int64_t *limits = need(&b, bounds, 0, 8, parts + 1, "bounds");
    uint32_t *place = need(&b, next, 1, 4, parts * n, "next");
    int32_t *ends = need(&b, bucket, 1, 4, 0, "bucket");
    double *bw = take(&b, bucket_weights, 1, 8, 0, "bucket_weights");
    CHECK(b, !w == !bw, "weights and bucket_weights go together");
    CHECK(b, 0 <= lo && lo <= hi && hi <= list.edges, "bad range of edges");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        edge_bucket(list.source, list.target, list.wide, loops, w, limits, parts, n, place, ends, bw,
                    lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyObject *py_edge_merge(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *bucket_start, *bucket, *bucket_weights, *start, *length, *upper, *upper_weights;
    PyObject *times;
    int merge;
    long long n, lo, hi;
    if (!PyArg_ParseTuple(args, "OOOLiOOOOOLL", &bucket_start, &bucket, &bucket_weights, &n, &merge,
                          &start, &length, &upper, &upper_weights, &times, &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    const int64_t *from = need(&b, bucket_start, 0, 8, n + 1, "bucket_start");
    const int64_t room = b.failed ? 0 : from[n];
    const int32_t *ends = need(&b, bucket, 0, 4, room, "bucket");
    const double *bw = take(&b, bucket_weights, 0, 8, room, "bucket_weights");
    int64_t *at = need(&b, start, 1, 8, n + 1, "start");
    int64_t *len = need(&b, length, 1, 8, n, "length");
    int32_t *up = need(&b, upper, 1, 4, room, "upper");
    double *uw = take(&b, upper_weights, 1, 8, room, "upper_weights");
    int32_t *count = take(&b, times, 1, 4, room, "times");
    CHECK(b, !bw == !uw && !bw == !count, "weights go together");
    CHECK(b, 0 <= lo && lo <= hi && hi <= n, "bad range of rows");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        edge_merge(from, ends, bw, n, merge, at, len, up, uw, count, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyObject *py_edge_degrees(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *start, *length, *upper, *degree;
    long long n, lo, hi;
    if (!PyArg_ParseTuple(args, "OOOLOLL", &start, &length, &upper, &n, &degree, &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    const int64_t *at = need(&b, start, 0, 8, n + 1, "start");
    const int64_t *len = need(&b, length, 0, 8, n, "length");
    const int32_t *up = need(&b, upper, 0, 4, b.failed ? 0 : at[n], "upper");
    int64_t *d = need(&b, degree, 1, 8, n, "degree");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        edge_degrees(at, len, up, n, d, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyObject *py_edge_mirror(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *start, *length, *upper, *upper_weights, *next, *indices, *weights;
    long long n, lo, hi;
    if (!PyArg_ParseTuple(args, "OOOOLOOOLL", &start, &length, &upper, &upper_weights, &n, &next,
                          &indices, &weights, &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    const int64_t *at = need(&b, start, 0, 8, n + 1, "start");
    const int64_t *len = need(&b, length, 0, 8, n, "length");
    const int32_t *up = need(&b, upper, 0, 4, b.failed ? 0 : at[n], "upper");
    const double *uw = take(&b, upper_weights, 0, 8, b.failed ? 0 : at[n], "upper_weights");
    int64_t *place = need(&b, next, 1, 8, n, "next");
    int32_t *out = need(&b, indices, 1, 4, 0, "indices");
    double *w = take(&b, weights, 1, 8, 0, "weights");
    CHECK(b, !uw == !w, "weights go together");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        edge_mirror(at, len, up, uw, n, place, out, w, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

/* ---- order ---- */

static PyObject *py_components(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *indptr, *indices, *label, *queue;
    long long n;
    if (!PyArg_ParseTuple(args, "OOLOO", &indptr, &indices, &n, &label, &queue)) return NULL;
    buffers b = {.count = 0, .failed = 0};
    const int64_t *start = need(&b, indptr, 0, 8, n + 1, "indptr");
    const int32_t *ends = need(&b, indices, 0, 4, b.failed ? 0 : start[n], "indices");
    int32_t *labels = need(&b, label, 1, 4, n, "label");
    int32_t *nodes = need(&b, queue, 1, 4, n, "queue");
    int64_t found = 0;
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        found = components(start, ends, n, labels, nodes);
        Py_END_ALLOW_THREADS
    }
    PyObject *none = finish(&b);
    if (!none) return NULL;
    Py_DECREF(none);
    return PyLong_FromLongLong(found);
}

static PyObject *py_cluster(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *indptr, *indices, *before, *label, *votes;
    long long n, most, lo, hi;
    if (!PyArg_ParseTuple(args, "OOLOOOLLL", &indptr, &indices, &n, &before, &label, &votes, &most,
                          &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    const int64_t *start = need(&b, indptr, 0, 8, n + 1, "indptr");
    const int32_t *ends = need(&b, indices, 0, 4, b.failed ? 0 : start[n], "indices");
    const int32_t *old = need(&b, before, 0, 4, n, "before");
    int32_t *labels = need(&b, label, 1, 4, n, "label");
    int32_t *count = need(&b, votes, 1, 4, n, "votes");
    CHECK(b, 0 <= lo && lo <= hi && hi <= n && most > 0, "bad range of nodes");
    int64_t changed = 0;
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        changed = cluster(start, ends, old, labels, count, most, lo, hi);
        Py_END_ALLOW_THREADS
    }
    PyObject *none = finish(&b);
    if (!none) return NULL;
    Py_DECREF(none);
    return PyLong_FromLongLong(changed);
}

static PyObject *py_select_rows(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *indptr, *indices, *weights, *order, *rank, *new_indptr, *new_indices, *new_weights;
    long long lo, hi;
    if (!PyArg_ParseTuple(args, "OOOOOOOOLL", &indptr, &indices, &weights, &order, &rank,
                          &new_indptr, &new_indices, &new_weights, &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    const int64_t *start = need(&b, indptr, 0, 8, 1, "indptr");
    const int32_t *ends = need(&b, indices, 0, 4, 0, "indices");
    const double *w = take(&b, weights, 0, 8, 0, "weights");
    const int32_t *rows = need(&b, order, 0, 4, hi, "order");
    const int32_t *names = need(&b, rank, 0, 4, 0, "rank");
    int64_t *to = need(&b, new_indptr, 1, 8, hi + 1, "new_indptr");
    int32_t *out = take(&b, new_indices, 1, 4, 0, "new_indices");
    double *nw = take(&b, new_weights, 1, 8, 0, "new_weights");
    CHECK(b, !out || !w == !nw, "weights go together");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        select_rows(start, ends, w, rows, names, to, out, nw, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

/* ---- layers of a network ---- */

static PyObject *py_product(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *indptr, *indices, *weights, *in, *out;
    long long columns, lo, hi;
    if (!PyArg_ParseTuple(args, "OOOOOLLL", &indptr, &indices, &weights, &in, &out, &columns, &lo,
                          &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    CHECK(b, columns > 0 && 0 <= lo && lo <= hi, "bad columns or rows");
    adjacency a;
    a.indptr = need(&b, indptr, 0, 8, hi + 1, "indptr");
    a.indices = need(&b, indices, 0, 4, 0, "indices");
    a.entries = b.failed ? 0 : items_of(&b, 1);
    a.weights = need(&b, weights, 0, 4, a.entries, "weights");
    CHECK(b, !b.failed && a.indptr[hi] <= a.entries, "indptr reaches past indices");
    const float *block = need(&b, in, 0, 4, 0, "in");
    float *made = need(&b, out, 1, 4, hi * columns, "out");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        product(&a, block, columns, made, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyObject *py_rectify(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *in, *drawn, *previous, *out, *highest;
    int below;
    double scale;
    long long own, lo, hi;
    if (!PyArg_ParseTuple(args, "OOidOOOLLL", &in, &drawn, &below, &scale, &previous, &out,
                          &highest, &own, &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    CHECK(b, 0 <= lo && lo <= hi && 0 <= own, "bad range of entries");
    const float *block = need(&b, in, 0, 4, hi, "in");
    const uint16_t *numbers = need(&b, drawn, 0, 2, hi, "drawn");
    const float *before = take(&b, previous, 0, 4, own, "previous");
    float *made = need(&b, out, 1, 4, hi, "out");
    float *most = take(&b, highest, 1, 4, own, "highest");
    CHECK(b, !before == !most, "previous and highest go together");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        rectify(block, numbers, below, (float)scale, before, made, most, own, lo, hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyObject *py_rectify_gradient(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *to_out, *to_highest, *previous, *out, *to_in, *to_previous;
    double scale;
    long long own, lo, hi;
    if (!PyArg_ParseTuple(args, "OOOOdOOLLL", &to_out, &to_highest, &previous, &out, &scale, &to_in,
                          &to_previous, &own, &lo, &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    CHECK(b, 0 <= lo && lo <= hi && 0 <= own, "bad range of entries");
    const float *from_out = take(&b, to_out, 0, 4, hi, "to_out");
    const float *from_highest = take(&b, to_highest, 0, 4, own, "to_highest");
    const float *before = take(&b, previous, 0, 4, own, "previous");
    const float *made = need(&b, out, 0, 4, hi, "out");
    float *mine = need(&b, to_in, 1, 4, hi, "to_in");
    float *passed = take(&b, to_previous, 1, 4, hi, "to_previous");
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        rectify_gradient(from_out, from_highest, before, made, (float)scale, mine, passed, own, lo,
                         hi);
        Py_END_ALLOW_THREADS
    }
    return finish(&b);
}

static PyMethodDef METHODS[] = {
    {"tile_pass", py_tile_pass, METH_VARARGS, NULL},
    {"survey", py_survey, METH_VARARGS, NULL},
    {"pack", py_pack, METH_VARARGS, NULL},
    {"unpack", py_unpack, METH_VARARGS, NULL},
    {"edge_range", py_edge_range, METH_VARARGS, NULL},
    {"edge_count", py_edge_count, METH_VARARGS, NULL},
    {"edge_bucket", py_edge_bucket, METH_VARARGS, NULL},
    {"edge_merge", py_edge_merge, METH_VARARGS, NULL},
    {"edge_degrees", py_edge_degrees, METH_VARARGS, NULL},
    {"edge_mirror", py_edge_mirror, METH_VARARGS, NULL},
    {"components", py_components, METH_VARARGS, NULL},
    {"cluster", py_cluster, METH_VARARGS, NULL},
    {"select_rows", py_select_rows, METH_VARARGS, NULL},
    {"product", py_product, METH_VARARGS, NULL},
    {"rectify", py_rectify, METH_VARARGS, NULL},
    {"rectify_gradient", py_rectify_gradient, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int add_names(PyObject *module)
{
    PyObject *names = PyTuple_New(N_PASSES);
    if (!names) return -1;
    for (int k = 0; k < N_PASSES; k++) {
        PyObject *name = PyUnicode_FromString(PASS_NAMES[k]);
        if (!name || PyTuple_SetItem(names, k, name)) return -1;
    }
    if (PyModule_AddObjectRef(module, "PASSES", names)) return -1;
    Py_DECREF(names);

    PyObject *widths = Py_BuildValue("{s:[],s:[]}", "float32", "float64");
    if (!widths) return -1;
    for (int k = 0; k < N_KINDS; k++) {
        PyObject *list =
            PyDict_GetItemString(widths, KINDS[k].itemsize == 4 ? "float32" : "float64");
        PyObject *width = PyLong_FromLong(KINDS[k].width);
        if (!list || !width || PyList_Append(list, width)) return -1;
        Py_DECREF(width);
    }
    const int failed = PyModule_AddObjectRef(module, "WIDTHS", widths);
    Py_DECREF(widths);
    return failed;
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, add_names}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_kernels", "Compiled loops; see graphfill.kernels.", 0, METHODS, SLOTS,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&MODULE); }
