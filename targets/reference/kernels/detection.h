/* The end of a detector: boxes decoded from anchors, the best ones that do not overlap. */
#ifndef REFERENCE_DETECTION_H
#define REFERENCE_DETECTION_H

#include "memory.h"

#include "kernel.h"
#include "kiln_math.h"

/* codes (boxes, code_size): y, x, height, width, ...; scores (boxes, columns), the background, if
 * any, in the first column. */
struct detection_shape {
    int32_t boxes, code_size, classes, columns;
    int32_t max_detections, classes_per_detection, per_class, regular;
    float score_threshold, overlap_threshold;
    float scale[4];
};

/* top, left, bottom, right of every box, from (y, x, height, width) of its anchor. */
KILN_INLINE void kiln_decode_boxes(const struct detection_shape *s, const float *codes,
                                   const float *anchors, float *boxes) {
    for (int32_t i = 0; i < s->boxes; i++, codes += s->code_size, anchors += 4, boxes += 4) {
        for (int32_t axis = 0; axis < 2; axis++) {
            const float size = anchors[2 + axis];
            const float centre = codes[axis] / s->scale[axis] * size + anchors[axis];
            const float half = 0.5f * kiln_expf(codes[2 + axis] / s->scale[2 + axis]) * size;
            boxes[axis] = centre - half;
            boxes[2 + axis] = centre + half;
        }
    }
}

/* Intersection over union; 0 where one has no area. */
KILN_INLINE float kiln_overlap(const float *a, const float *b) {
    const float area_a = (a[2] - a[0]) * (a[3] - a[1]), area_b = (b[2] - b[0]) * (b[3] - b[1]);
    if (area_a <= 0.0f || area_b <= 0.0f)
        return 0.0f;
    float shared = 1.0f;
    for (int32_t axis = 0; axis < 2; axis++) {
        const float low = a[axis] > b[axis] ? a[axis] : b[axis];
        const float high = a[2 + axis] < b[2 + axis] ? a[2 + axis] : b[2 + axis];
        shared *= high > low ? high - low : 0.0f;
    }
    return shared / (area_a + area_b - shared);
}

KILN_INLINE void kiln_mark_alive(const struct detection_shape *s, const float *scores,
                                 uint8_t *alive) {
    for (int32_t i = 0; i < s->boxes; i++)
        alive[i] = scores[i] >= s->score_threshold;
}

/* The best box that is alive, or -1; those that overlap it are alive no more. */
KILN_INLINE int32_t kiln_choose(const struct detection_shape *s, const float *boxes,
                                const float *scores, uint8_t *alive) {
    int32_t best = -1;
    for (int32_t i = 0; i < s->boxes; i++)
        if (alive[i] && (best < 0 || scores[i] > scores[best]))
            best = i;
    if (best < 0)
        return best;
    for (int32_t i = 0; i < s->boxes; i++)
        if (alive[i] && kiln_overlap(boxes + 4 * best, boxes + 4 * i) > s->overlap_threshold)
            alive[i] = 0;
    alive[best] = 0;
    return best;
}

/* The best class after `before` (none: -1), by score and then by number. */
KILN_INLINE int32_t kiln_next_class(const float *scores, int32_t classes, int32_t before) {
    int32_t best = -1;
    for (int32_t i = 0; i < classes; i++) {
        if (before >= 0 &&
            (scores[i] > scores[before] || (scores[i] == scores[before] && i <= before)))
            continue;
        if (best < 0 || scores[i] > scores[best])
            best = i;
    }
    return best;
}

/* Puts a detection into the sorted ones, of which there are at most `limit`; returns their count.
 */
KILN_INLINE int32_t kiln_insert(int32_t limit, int32_t count, const float *box, int32_t class_index,
                                float score, float *boxes, float *classes, float *scores) {
    int32_t at = count;
    while (at > 0 && scores[at - 1] < score)
        at--;
    if (at >= limit)
        return count;
    const int32_t moved = (count < limit ? count : limit - 1) - at;
    memmove(boxes + 4 * (at + 1), boxes + 4 * at, (size_t)moved * 16);
    memmove(classes + at + 1, classes + at, (size_t)moved * 4);
    memmove(scores + at + 1, scores + at, (size_t)moved * 4);
    memcpy(boxes + 4 * at, box, 16);
    classes[at] = (float)class_index;
    scores[at] = score;
    return count < limit ? count + 1 : limit;
}

KILN_INLINE int32_t kiln_detect_by_class(const struct detection_shape *s, const float *scores,
                                         const float *boxes, float *column, uint8_t *alive,
                                         float *out_boxes, float *out_classes, float *out_scores) {
    int32_t count = 0;
    for (int32_t c = 0; c < s->classes; c++) {
        for (int32_t i = 0; i < s->boxes; i++)
            column[i] = scores[i * s->columns + c];
        kiln_mark_alive(s, column, alive);
        for (int32_t n = 0; n < s->per_class; n++) {
            const int32_t best = kiln_choose(s, boxes, column, alive);
            if (best < 0)
                break;
            count = kiln_insert(s->max_detections, count, boxes + 4 * best, c, column[best],
                                out_boxes, out_classes, out_scores);
        }
    }
    return count;
}

KILN_INLINE int32_t kiln_detect_by_box(const struct detection_shape *s, const float *scores,
                                       const float *boxes, float *best, uint8_t *alive,
                                       float *out_boxes, float *out_classes, float *out_scores) {
    for (int32_t i = 0; i < s->boxes; i++) {
        const float *row = scores + i * s->columns;
        best[i] = row[kiln_next_class(row, s->classes, -1)];
    }
    kiln_mark_alive(s, best, alive);
    const int32_t wanted = s->classes_per_detection;
    int32_t count = 0;
    for (; count < s->max_detections; count++) {
        const int32_t box = kiln_choose(s, boxes, best, alive);
        if (box < 0)
            break;
        const float *row = scores + box * s->columns;
        int32_t class_index = -1;
        for (int32_t k = 0; k < wanted && k < s->classes; k++) {
            const int32_t at = count * wanted + k;
            class_index = kiln_next_class(row, s->classes, class_index);
            memcpy(out_boxes + 4 * at, boxes + 4 * box, 16);
            out_classes[at] = (float)class_index;
            out_scores[at] = row[class_index];
        }
    }
    return count;
}

KILN_KERNEL void detection_postprocess_float32__reference(const struct detection_shape *s,
                                                          const float *codes, const float *scores,
                                                          const float *anchors, float *boxes,
                                                          float *best, uint8_t *alive,
                                                          float *out_boxes, float *out_classes,
                                                          float *out_scores, float *out_count) {
    const size_t rows = (size_t)(s->max_detections * s->classes_per_detection);
    memset(out_boxes, 0, rows * 16);
    memset(out_classes, 0, rows * 4);
    memset(out_scores, 0, rows * 4);
    kiln_decode_boxes(s, codes, anchors, boxes);
    scores += s->columns - s->classes;
    const int32_t count = s->regular ? kiln_detect_by_class(s, scores, boxes, best, alive,
                                                            out_boxes, out_classes, out_scores)
                                     : kiln_detect_by_box(s, scores, boxes, best, alive, out_boxes,
                                                          out_classes, out_scores);
    out_count[0] = (float)count;
}

#endif
