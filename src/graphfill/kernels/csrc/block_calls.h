/* What Python calls to invert blocks: arguments checked, then blocks.h. */

static PyObject *py_invert_blocks(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *cells, *degree, *omega, *theta, *out;
    long long m, p, lo, hi;
    if (!PyArg_ParseTuple(args, "OOOOOLLLL", &cells, &degree, &omega, &theta, &out, &m, &p, &lo,
                          &hi))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    CHECK(b, m > 0 && p >= 0 && 0 <= lo && lo <= hi, "bad sizes of blocks");
    blocks f = {.m = m, .p = p};
    f.cells = need(&b, cells, 0, 4, hi * m, "cells");
    f.degree = need(&b, degree, 0, 8, hi, "degree");
    f.omega = need(&b, omega, 0, 8, p * p, "omega");
    f.theta = need(&b, theta, 0, 8, p * p, "theta");
    const int64_t itemsize = itemsize_of(out);
    void *inverses = need(&b, out, 1, itemsize == 4 ? 4 : 8, hi * m * m, "out");
    for (int64_t k = lo * m; !b.failed && k < hi * m; k++)
        CHECK(b, f.cells[k] >= 0 && f.cells[k] <= p, "a cell is out of range");
    if (b.failed) return finish(&b);
    double *room = malloc((size_t)(m * m + 2 * m) * sizeof *room);
    if (!room) {
        PyErr_NoMemory();
        b.failed = 1;
    } else {
        Py_BEGIN_ALLOW_THREADS
        if (itemsize == 4) invert_rows(&f, room, inverses, NULL, lo, hi);
        else invert_rows(&f, room, NULL, inverses, lo, hi);
        Py_END_ALLOW_THREADS
    }
    free(room);
    return finish(&b);
}
