/* Extremely randomised trees that answer as they grow.
 *
 * The rows learnt from and the rows asked about go down a tree together: a node draws features
 * and a threshold for each, keeps the one that separates the answers best, and shares both kinds
 * of rows out. At a leaf the rows asked about get the mean answer. No tree is stored. Random
 * numbers of a node come from its parent's, so what is asked changes no other answer. Sums run over
 * the rows in their own order, or lane by lane, as in kernels/_scipy.py.
 */

enum {
    LANES = 8, /* sums that are added up side by side */
    FEW = 24,  /* rows that are not worth it */
};

typedef struct {
    int64_t rows, rows_end, asked, asked_end;
    uint64_t state;
} forest_node;

typedef struct {
    int64_t n, n_asked, n_features, n_classes, tried, least;
    const float *x, *x_asked;  /* [features, rows] */
    const double *y;           /* values, or numbers of classes */
    double *out;               /* [asked, classes or 1] */
    int32_t *rows, *asked, *spare, *features;
    /* Of one node: its answers, as numbers or classes; its classes; a feature's values. */
    double *answers;
    int32_t *class_of, *classes;
    float *values;
    int64_t distinct;          /* classes of the node */
    int32_t *total, *left;     /* [classes] */
    forest_node *nodes;
} forest;

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A feature's values in some rows, and the least and the largest of them. */
CLONES static void gather(const float *restrict x, const int32_t *restrict rows, int64_t n,
                          float *restrict values, float *least, float *largest)
{
    float low = x[rows[0]], high = low;
    int64_t k = 0;
    if (n >= FEW) {
        float lows[LANES], highs[LANES];
        for (int l = 0; l < LANES; l++) lows[l] = highs[l] = low;
        for (; k + LANES <= n; k += LANES) {
            for (int l = 0; l < LANES; l++) values[k + l] = x[rows[k + l]];
            for (int l = 0; l < LANES; l++) {
                lows[l] = values[k + l] < lows[l] ? values[k + l] : lows[l];
                highs[l] = values[k + l] > highs[l] ? values[k + l] : highs[l];
            }
        }
        for (int l = 0; l < LANES; l++) {
            low = lows[l] < low ? lows[l] : low;
            high = highs[l] > high ? highs[l] : high;
        }
    }
    for (; k < n; k++) {
        const float value = values[k] = x[rows[k]];
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    *least = low, *largest = high;
}

/* The sum of answers whose value is at or below the threshold, and how many they are. The products
 * with 0 or 1 spare a branch that nobody could predict. */
CLONES static double sum_below(const float *restrict values, const double *restrict answers,
                               int64_t n, float threshold, int64_t *count)
{
    const int64_t even = n < FEW ? 0 : n - n % LANES;
    double sums[LANES] = {0};
    int32_t counts[LANES] = {0};
    for (int64_t k = 0; k < even; k += LANES)
        for (int l = 0; l < LANES; l++) {
            const int below = values[k + l] <= threshold;
            sums[l] += below * answers[k + l];
            counts[l] += below;
        }
    for (int64_t k = even; k < n; k++) {
        const int below = values[k] <= threshold;
        sums[0] += below * answers[k];
        counts[0] += below;
    }
    double sum = 0;
    int64_t total = 0;
    for (int l = 0; l < LANES; l++) sum += sums[l], total += counts[l];
    *count = total;
    return sum;
}

/* How well a threshold separates the answers: sum over the two sides of |sum of answers|^2 / n,
 * an answer being a number or the indicator of a class. */
static double separation(const forest *f, float threshold, int64_t n, double total, int64_t *count)
{
    if (!f->n_classes) {
        const double sum = sum_below(f->values, f->answers, n, threshold, count);
        const double rest = (double)(n - *count);
        return sum * sum / (double)*count + (total - sum) * (total - sum) / rest;
    }
    int64_t below = 0;
    for (int64_t k = 0; k < n; k++) {
        const int32_t is_below = f->values[k] <= threshold;
        f->left[f->class_of[k]] += is_below;
        below += is_below;
    }
    double squares = 0, others = 0;
    for (int64_t k = 0; k < f->distinct; k++) {
        const double left = f->left[f->classes[k]], right = f->total[f->classes[k]] - left;
        squares += left * left, others += right * right;
        f->left[f->classes[k]] = 0;
    }
    *count = below;
    return squares / (double)below + others / (double)(n - below);
}

/* Rows at or below the threshold first, both parts in the order they had; where they meet. */
static int64_t part(const float *x, float threshold, int32_t *rows, int32_t *spare, int64_t lo,
                    int64_t hi)
{
    int64_t low = lo, high = 0;
    for (int64_t k = lo; k < hi; k++) {
        const int32_t row = rows[k];
        const int below = x[row] <= threshold;
        rows[low] = spare[high] = row;
        low += below, high += !below;
    }
    memcpy(rows + low, spare, (size_t)high * sizeof *rows);
    return low;
}

/* Take the node's answers, and their sum, or how many each class has; whether all are equal. */
static int take_answers(forest *f, const int32_t *rows, int64_t n, double *total)
{
    double sum = 0;
    int equal = 1;
    f->distinct = 0;
    for (int64_t k = 0; k < n; k++) {
        const double y = f->answers[k] = f->y[rows[k]];
        equal &= y == f->answers[0];
        sum += y;
        if (!f->n_classes) continue;
        const int32_t class = f->class_of[k] = (int32_t)y;
        if (!f->total[class]++) f->classes[f->distinct++] = class;
    }
    *total = sum;
    return equal;
}

/* Add a leaf's mean answer. */
static void answer(const forest *f, const forest_node *node, double total)
{
    const double size = (double)(node->rows_end - node->rows);
    for (int64_t k = node->asked; k < node->asked_end; k++) {
        double *out = f->out + f->asked[k] * (f->n_classes ? f->n_classes : 1);
        if (!f->n_classes) *out += total / size;
        for (int64_t j = 0; j < f->distinct; j++)
            out[f->classes[j]] += (double)f->total[f->classes[j]] / size;
    }
}

/* The feature to part a node by, or -1, and its threshold. */
static int64_t best_feature(const forest *f, const int32_t *rows, int64_t n, double total,
                            uint64_t *state, float *threshold)
{
    int64_t best = -1, left = f->tried;
    double highest = -1;
    for (int64_t k = 0; k < f->n_features; k++) f->features[k] = (int32_t)k;
    for (int64_t k = 0; k < f->n_features && left; k++) {
        const int64_t drawn = k + (int64_t)(next_random(state) % (uint64_t)(f->n_features - k));
        const int32_t feature = f->features[drawn];
        f->features[drawn] = f->features[k];
        float low, high;
        gather(f->x + feature * f->n, rows, n, f->values, &low, &high);
        if (!(low < high)) continue;
        left--;
        const double share = (double)(next_random(state) >> 11) * 0x1p-53;
        float at = (float)((double)low + share * ((double)high - (double)low));
        if (!(at < high)) at = low;
        int64_t count;
        const double value = separation(f, at, n, total, &count);
        if (count < f->least || n - count < f->least || !(value > highest)) continue;
        highest = value, best = feature, *threshold = at;
    }
    return best;
}

static void grow_tree(forest *f, uint64_t state)
{
    for (int64_t k = 0; k < f->n; k++) f->rows[k] = (int32_t)k;
    for (int64_t k = 0; k < f->n_asked; k++) f->asked[k] = (int32_t)k;
    int64_t waiting = 1;
    f->nodes[0] = (forest_node){0, f->n, 0, f->n_asked, state};
    while (waiting) {
        const forest_node node = f->nodes[--waiting];
        const int64_t lo = node.rows, hi = node.rows_end;
        if (node.asked == node.asked_end) continue;
        double total;
        float threshold = 0;
        uint64_t random = node.state;
        int64_t feature = -1;
        const int equal = take_answers(f, f->rows + lo, hi - lo, &total);
        if (!equal && hi - lo >= 2 * f->least)
            feature = best_feature(f, f->rows + lo, hi - lo, total, &random, &threshold);
        if (feature < 0) answer(f, &node, total);
        for (int64_t k = 0; k < f->distinct; k++) f->total[f->classes[k]] = 0;
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
