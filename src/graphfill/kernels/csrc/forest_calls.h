/* What Python calls to grow trees: arguments checked, then forest.h. */
#include <stdlib.h>

static PyObject *py_grow_forest(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *y, *x_asked, *out, *state;
    long long n, n_asked, n_features, n_classes, tried, least;
    if (!PyArg_ParseTuple(args, "OOOOOLLLLLL", &x, &y, &x_asked, &out, &state, &n, &n_asked,
                          &n_features, &n_classes, &tried, &least))
        return NULL;
    buffers b = {.count = 0, .failed = 0};
    forest f = {.n = n, .n_asked = n_asked, .n_features = n_features, .n_classes = n_classes,
                .tried = tried, .least = least};
    CHECK(b, n > 0 && n_asked >= 0 && n_features > 0 && n_classes >= 0 && tried > 0 && least > 0,
          "bad sizes of a forest");
    CHECK(b, n <= INT32_MAX && n_asked <= INT32_MAX && n_features <= INT32_MAX,
          "a forest of more than 2^31 rows");
    f.x = need(&b, x, 0, 4, n * n_features, "x");
    f.y = need(&b, y, 0, 8, n, "y");
    f.x_asked = need(&b, x_asked, 0, 4, n_asked * n_features, "x_asked");
    f.out = need(&b, out, 1, 8, n_asked * (n_classes ? n_classes : 1), "out");
    const uint64_t *states = need(&b, state, 0, 8, 0, "state");
    const int64_t n_trees = b.failed ? 0 : items_of(&b, b.count - 1);
    for (int64_t k = 0; n_classes && !b.failed && k < n; k++)
        CHECK(b, f.y[k] >= 0 && f.y[k] < (double)n_classes, "bad number of a class");
    if (b.failed) return finish(&b);
    const size_t longer = (size_t)(n > n_asked ? n : n_asked);
    const size_t classes = (size_t)n_classes + 1, size = (size_t)n;
    int32_t *places = malloc((2 * size + (size_t)(n_asked + n_features) + longer + classes) * sizeof *places);
    f.values = malloc(size * sizeof *f.values);
    f.answers = malloc(size * sizeof *f.answers);
    f.total = calloc(2 * classes, sizeof *f.total);
    f.nodes = malloc((size + 1) * sizeof *f.nodes);
    if (!places || !f.values || !f.answers || !f.total || !f.nodes) {
        PyErr_NoMemory();
        b.failed = 1;
    } else {
        f.rows = places, f.class_of = places + n, f.asked = f.class_of + n;
        f.features = f.asked + n_asked, f.classes = f.features + n_features;
        f.spare = f.classes + classes, f.left = f.total + classes;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t k = 0; k < n_trees; k++) grow_tree(&f, states[k]);
        Py_END_ALLOW_THREADS
    }
    free(places);
    free(f.values);
    free(f.answers);
    free(f.total);
    free(f.nodes);
    return finish(&b);
}
