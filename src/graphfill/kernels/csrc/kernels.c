/* The compiled loops of graphfill, as one Python module over plain buffers.
 *
 * Nothing here knows NumPy: arguments are contiguous buffers whose lengths are checked
 * against each other, and every loop runs without the interpreter lock on the rows
 * lo <= row < hi, so that Python threads can share one pass. _tiles.py,
 * _compiled_graphs.py, _forest.py and _blocks.py are the only callers and document each function;
 * entries of the graph are trusted to be in range, which Graph has checked.
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
#include "order.h"
#include "hops.h"
#include "forest.h"
#include "blocks.h"

/* The loops are above, what Python calls below; both take what they need from those before. */
#include "buffers.h"
#include "tile_calls.h"
#include "graph_calls.h"
#include "forest_calls.h"
#include "block_calls.h"

static PyMethodDef METHODS[] = {
    {"tile_pass", py_tile_pass, METH_VARARGS, NULL},
    {"survey", py_survey, METH_VARARGS, NULL},
    {"pack", py_pack, METH_VARARGS, NULL},
    {"unpack", py_unpack, METH_VARARGS, NULL},
    {"edge_count", py_edge_count, METH_VARARGS, NULL},
    {"edge_bucket", py_edge_bucket, METH_VARARGS, NULL},
    {"edge_merge", py_edge_merge, METH_VARARGS, NULL},
    {"edge_degrees", py_edge_degrees, METH_VARARGS, NULL},
    {"edge_mirror", py_edge_mirror, METH_VARARGS, NULL},
    {"components", py_components, METH_VARARGS, NULL},
    {"cluster", py_cluster, METH_VARARGS, NULL},
    {"grow_forest", py_grow_forest, METH_VARARGS, NULL},
    {"invert_blocks", py_invert_blocks, METH_VARARGS, NULL},
    {"select_rows", py_select_rows, METH_VARARGS, NULL},
    {"hop", py_hop, METH_VARARGS, NULL},
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
    PyModuleDef_HEAD_INIT, "_compiled", "Compiled loops; see graphfill.kernels.", 0, METHODS, SLOTS,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__compiled(void) { return PyModuleDef_Init(&MODULE); }
