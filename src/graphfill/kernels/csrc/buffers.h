/* Python's buffers as plain memory: taken by name, their lengths checked, given back together. */
#ifndef GRAPHFILL_BUFFERS_H
#define GRAPHFILL_BUFFERS_H

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

static inline int64_t itemsize_of(PyObject *object)
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

#endif
