/* One diffusion step on rows stored as bfloat16, summed in float32; measured by
 * half_width.py against the float32 kernel of the package. */
#include <stdint.h>
#include <string.h>

#define AHEAD 64
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif
#ifndef W
#define W 32
#endif

static inline float widen(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* Round to nearest, ties to even. */
static inline uint16_t narrow(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* out = scale A z at unknown cells of the rows lo <= i < hi. */
CLONES void diffuse(const int64_t *indptr, const int32_t *indices, int64_t entries,
                    const float *scale, const uint8_t *known, const uint16_t *restrict z,
                    uint16_t *restrict out, int64_t lo, int64_t hi)
{
    for (int64_t i = lo; i < hi; i++) {
        float sum[W] = {0};
        for (int64_t k = indptr[i]; k < indptr[i + 1]; k++) {
            if (k + AHEAD < entries) {
                const char *next = (const char *)(z + (size_t)indices[k + AHEAD] * W);
                for (int b = 0; b < 2 * W; b += 64) __builtin_prefetch(next + b);
            }
            const uint16_t *restrict row = z + (size_t)indices[k] * W;
            for (int l = 0; l < W; l++) sum[l] += widen(row[l]);
        }
        for (int c = 0; c < W; c += 32) {
            uint32_t word;
            memcpy(&word, known + i * (W / 8) + c / 8, 4);
            for (int l = 0; l < 32; l++) {
                const uint16_t new = narrow(scale[i] * sum[c + l]);
                out[i * W + c + l] = (word >> l) & 1 ? out[i * W + c + l] : new;
            }
        }
    }
}
