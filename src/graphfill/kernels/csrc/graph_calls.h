/* What Python calls to make, order and search graphs: arguments checked, then edges.h, order.h and
 * hops.h. */

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

static PyObject *py_hop(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *indptr, *indices, *from, *reached, *hops;
    long long columns, number, lo, hi;
    if (!PyArg_ParseTuple(args, "OOOOOLLLL", &indptr, &indices, &from, &reached, &hops, &columns,
                          &number, &lo, &hi))
        return NULL;
    const int64_t words = (columns + 63) / 64;
    buffers b = {.count = 0, .failed = 0};
    const int64_t *start = need(&b, indptr, 0, 8, hi + 1, "indptr");
    const int32_t *ends = need(&b, indices, 0, 4, b.failed ? 0 : start[hi], "indices");
    const uint64_t *old = need(&b, from, 0, 8, hi * words, "from");
    uint64_t *new = need(&b, reached, 1, 8, hi * words, "reached");
    uint16_t *distances = need(&b, hops, 1, 2, hi * columns, "hops");
    CHECK(b, 0 <= lo && lo <= hi && columns > 0 && 0 < number && number < 65535,
          "bad range of rows, or bad numbers");
    int64_t found = 0;
    if (!b.failed) {
        Py_BEGIN_ALLOW_THREADS
        found = hop(start, ends, old, new, distances, words, columns, (uint16_t)number, lo, hi);
        Py_END_ALLOW_THREADS
    }
    PyObject *none = finish(&b);
    if (!none) return NULL;
    Py_DECREF(none);
    return PyLong_FromLongLong(found);
}
