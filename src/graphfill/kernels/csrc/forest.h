/* Extremely randomised trees that answer as they grow.
 *
 * The rows learnt from and the rows asked about go down a tree together: a node draws features
 * and a threshold for each, keeps the one that separates the answers best, and shares both kinds
 * of rows out. At a leaf the rows asked about get the mean answer. No tree is stored. Random
 * numbers of a node come from its parent's, so what is asked changes no other answer, and all sums
 * run over the rows in their own order, as in kernels/_scipy.py.
 */

typedef struct {
    int64_t rows, rows_end, asked, asked_end;
    uint64_t state;
} forest_node;

typedef struct {
    int64_t n, n_asked, n_features, n_classes, tried, least;
    const float *x, *x_asked;  /* [features, rows] */
    const double *y;           /* values, or numbers of classes */
    double *out;               /* [asked, classes or 1] */
    int64_t *rows, *asked, *spare, *features;
    double *total, *left;      /* [classes] */
    forest_node *nodes;
} forest;

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* How well a threshold separates the answers: sum over the two sides of |sum of answers|^2 / n,
 * an answer being a number or the indicator of a class. */
static double separation(const forest *f, const float *x, double threshold, int64_t lo, int64_t hi,
                         double total, int64_t *count)
{
    int64_t n = 0;
    double sum = 0, squares = 0, products = 0;
    for (int64_t k = lo; k < hi; k++) {
        const int64_t row = f->rows[k];
        if (!(x[row] <= threshold)) continue;
        n++;
        if (!f->n_classes) {
            sum += f->y[row];
            continue;
        }
        const int64_t class = (int64_t)f->y[row];
        squares += 2 * f->left[class] + 1;
        products += f->total[class];
        f->left[class] += 1;
    }
    *count = n;
    const double rest = (double)(hi - lo - n);
    if (!f->n_classes) return sum * sum / (double)n + (total - sum) * (total - sum) / rest;
    for (int64_t k = lo; k < hi; k++)
        if (x[f->rows[k]] <= threshold) f->left[(int64_t)f->y[f->rows[k]]] = 0;
    return squares / (double)n + (total - 2 * products + squares) / rest;
}

/* Rows at or below the threshold first, both parts in the order they had; where they meet. */
static int64_t part(const float *x, double threshold, int64_t *rows, int64_t *spare, int64_t lo,
                    int64_t hi)
{
    int64_t low = lo, high = 0;
    for (int64_t k = lo; k < hi; k++) {
        if (x[rows[k]] <= threshold) rows[low++] = rows[k];
        else spare[high++] = rows[k];
    }
    memcpy(rows + low, spare, (size_t)high * sizeof *rows);
    return low;
}

/* The node's sum of answers, or of squared counts of classes (kept in f->total); whether all
 * answers are equal. */
static int sum_answers(const forest *f, int64_t lo, int64_t hi, double *total)
{
    double sum = 0;
    int equal = 1;
    for (int64_t k = lo; k < hi; k++) {
        const double y = f->y[f->rows[k]];
        equal &= y == f->y[f->rows[lo]];
        if (f->n_classes) sum += 2 * f->total[(int64_t)y]++ + 1;
        else sum += y;
    }
    *total = sum;
    return equal;
}

/* Add a leaf's mean answer; f->total has the counts of its classes. */
static void answer(const forest *f, const forest_node *node, double total)
{
    const int64_t lo = node->rows, hi = node->rows_end;
    const double size = (double)(hi - lo);
    if (!f->n_classes) {
        for (int64_t k = node->asked; k < node->asked_end; k++) f->out[f->asked[k]] += total / size;
        return;
    }
    int64_t distinct = 0; /* classes, in f->spare; their shares stand negative in f->total */
    for (int64_t k = lo; k < hi; k++) {
        const int64_t class = (int64_t)f->y[f->rows[k]];
        if (!(f->total[class] > 0)) continue;
        f->total[class] /= -size;
        f->spare[distinct++] = class;
    }
    for (int64_t k = node->asked; k < node->asked_end; k++) {
        double *out = f->out + f->asked[k] * f->n_classes;
        for (int64_t j = 0; j < distinct; j++) out[f->spare[j]] -= f->total[f->spare[j]];
    }
}

/* The feature to part a node by, or -1, and its threshold. */
static int64_t best_feature(const forest *f, int64_t lo, int64_t hi, double total, uint64_t *state,
                            double *threshold)
{
    int64_t best = -1, left = f->tried;
    double highest = -1;
    for (int64_t k = 0; k < f->n_features; k++) f->features[k] = k;
    for (int64_t k = 0; k < f->n_features && left; k++) {
        const int64_t drawn = k + (int64_t)(next_random(state) % (uint64_t)(f->n_features - k));
        const int64_t feature = f->features[drawn];
        f->features[drawn] = f->features[k];
        const float *x = f->x + feature * f->n;
        float low = x[f->rows[lo]], high = low;
        for (int64_t j = lo + 1; j < hi; j++) {
            const float value = x[f->rows[j]];
            if (value < low) low = value;
            if (value > high) high = value;
        }
        if (!(low < high)) continue;
        left--;
        const double share = (double)(next_random(state) >> 11) * 0x1p-53;
        double at = (double)low + share * ((double)high - (double)low);
        if (!(at < (double)high)) at = low;
        int64_t count;
        const double value = separation(f, x, at, lo, hi, total, &count);
        if (count < f->least || hi - lo - count < f->least || !(value > highest)) continue;
        highest = value, best = feature, *threshold = at;
    }
    return best;
}

static void grow_tree(const forest *f, uint64_t state)
{
    for (int64_t k = 0; k < f->n; k++) f->rows[k] = k;
    for (int64_t k = 0; k < f->n_asked; k++) f->asked[k] = k;
    int64_t waiting = 1;
    f->nodes[0] = (forest_node){0, f->n, 0, f->n_asked, state};
    while (waiting) {
        const forest_node node = f->nodes[--waiting];
        const int64_t lo = node.rows, hi = node.rows_end;
        if (node.asked == node.asked_end) continue;
        double total, threshold = 0;
        uint64_t random = node.state;
        int64_t feature = -1;
        const int equal = sum_answers(f, lo, hi, &total);
        if (!equal && hi - lo >= 2 * f->least)
            feature = best_feature(f, lo, hi, total, &random, &threshold);
        if (feature < 0) answer(f, &node, total);
        if (f->n_classes)
            for (int64_t k = lo; k < hi; k++) f->total[(int64_t)f->y[f->rows[k]]] = 0;
        if (feature < 0) continue;
        const float *x = f->x + feature * f->n, *x_asked = f->x_asked + feature * f->n_asked;
        const int64_t middle = part(x, threshold, f->rows, f->spare, lo, hi);
        const int64_t between =
            part(x_asked, threshold, f->asked, f->spare, node.asked, node.asked_end);
        const uint64_t first = next_random(&random), second = next_random(&random);
        f->nodes[waiting++] = (forest_node){lo, middle, node.asked, between, first};
        f->nodes[waiting++] = (forest_node){middle, hi, between, node.asked_end, second};
    }
}
