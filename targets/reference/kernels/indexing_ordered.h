/* What compares or adds elements of one type: expects KILN_SUFFIX, KILN_TYPE and KILN_WRAP (in
 * which it adds), and undefines them. */

/* Whether a goes before b. */
KILN_INLINE int KILN_PASTE3(kiln_before, KILN_SUFFIX, KILN_INDEX_NAME)(KILN_TYPE a, KILN_TYPE b,
                                                                       int largest) {
    return largest ? a > b : a < b;
}

/* One insertion per element: k is small beside the extent. */
KILN_INLINE void KILN_PASTE3(kiln_top_k, KILN_SUFFIX,
                             KILN_INDEX_NAME)(const struct top_k_shape *s, const KILN_TYPE *input,
                                              KILN_TYPE *values, KILN_INDEX *indices, int largest) {
    const int32_t inner = s->inner;
    for (int32_t outer = 0; outer < s->outer; outer++) {
        for (int32_t lane = 0; lane < inner; lane++) {
            KILN_TYPE *best = values + lane;
            KILN_INDEX *places = indices + lane;
            for (int32_t i = 0; i < s->extent; i++) {
                const KILN_TYPE x = input[i * inner + lane];
                int32_t at = i < s->k ? i : s->k;
                while (at > 0 && KILN_PASTE3(kiln_before, KILN_SUFFIX,
                                             KILN_INDEX_NAME)(x, best[(at - 1) * inner], largest)) {
                    if (at < s->k) {
                        best[at * inner] = best[(at - 1) * inner];
                        places[at * inner] = places[(at - 1) * inner];
                    }
                    at--;
                }
                if (at < s->k) {
                    best[at * inner] = x;
                    places[at * inner] = i;
                }
            }
        }
        input += s->extent * inner;
        values += s->k * inner;
        indices += s->k * inner;
    }
}

KILN_KERNEL void KILN_PASTE3(top_k_largest, KILN_SUFFIX,
                             KILN_INDEX_NAME)(const struct top_k_shape *s, const KILN_TYPE *input,
                                              KILN_TYPE *values, KILN_INDEX *indices) {
    KILN_PASTE3(kiln_top_k, KILN_SUFFIX, KILN_INDEX_NAME)(s, input, values, indices, 1);
}

KILN_KERNEL void KILN_PASTE3(top_k_least, KILN_SUFFIX,
                             KILN_INDEX_NAME)(const struct top_k_shape *s, const KILN_TYPE *input,
                                              KILN_TYPE *values, KILN_INDEX *indices) {
    KILN_PASTE3(kiln_top_k, KILN_SUFFIX, KILN_INDEX_NAME)(s, input, values, indices, 0);
}

#define KILN_REDUCTION add
#define KILN_JOINED(a, b) ((KILN_TYPE)((KILN_WRAP)(a) + (KILN_WRAP)(b)))
#include "reference/kernels/scatter_body.h"
#define KILN_REDUCTION mul
#define KILN_JOINED(a, b) ((KILN_TYPE)((KILN_WRAP)(a) * (KILN_WRAP)(b)))
#include "reference/kernels/scatter_body.h"
#define KILN_REDUCTION max
#define KILN_JOINED(a, b) ((a) > (b) ? (a) : (b))
#include "reference/kernels/scatter_body.h"
#define KILN_REDUCTION min
#define KILN_JOINED(a, b) ((a) < (b) ? (a) : (b))
#include "reference/kernels/scatter_body.h"

#undef KILN_SUFFIX
#undef KILN_TYPE
#undef KILN_WRAP
