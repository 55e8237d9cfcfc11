/* The loops that training a network spends its time on, as one Python module over plain buffers.
 *
 * As in kernels.c, arguments are contiguous buffers whose lengths are checked against each other,
 * and every loop runs without the interpreter lock on a range lo <= i < hi. products.py and
 * network.py in _models are the only callers; network.h documents each function. kernels.h and
 * buffers.h are those of the core.
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels.h"
#include "network.h"

#include "buffers.h"

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
    {"product", py_product, METH_VARARGS, NULL},
    {"rectify", py_rectify, METH_VARARGS, NULL},
    {"rectify_gradient", py_rectify_gradient, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot SLOTS[] = {{0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_layers", "Compiled layers; see graphfill.bench._models.products.", 0,
    METHODS, SLOTS, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__layers(void) { return PyModuleDef_Init(&MODULE); }
