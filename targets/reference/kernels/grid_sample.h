/* Samples of images at positions of a grid, with any number of axes up to 3. */
#ifndef REFERENCE_GRID_SAMPLE_H
#define REFERENCE_GRID_SAMPLE_H

#include "kernel.h"
#include "kiln_math.h"

enum kiln_grid_mode { KILN_GRID_NEAREST, KILN_GRID_LINEAR, KILN_GRID_CUBIC };
enum kiln_grid_padding { KILN_GRID_ZEROS, KILN_GRID_BORDER, KILN_GRID_REFLECTION };

/* input (batch, channels, extent...), grid (batch, points, axes) -> (batch, channels, points) */
struct grid_sample_shape {
    int32_t batch, channels, points;
    int32_t axes;
    int32_t extent[3];
    int32_t mode, padding; /* enum kiln_grid_mode, enum kiln_grid_padding */
    int32_t align_corners;
};

/* Pixels along one axis, -1 where outside, and their weights. */
struct kiln_grid_taps {
    int32_t count;
    int32_t pixel[4];
    float weight[4];
};

KILN_INLINE float kiln_reflect(float x, float low, float high) {
    const float span = high - low;
    if (x >= low && x <= high)
        return x;
    if (!(span > 0.0f))
        return low;
    const float beyond = x < low ? low - x : x - high;
    const float turns = kiln_floorf(beyond / span);
    const float rest = beyond - turns * span;
    const int is_even = turns - 2.0f * kiln_floorf(turns * 0.5f) < 0.5f;
    return (x < low) == is_even ? low + rest : high - rest;
}

/* Keys' kernel with parameter -0.75: weights of the four pixels around position t in [0, 1). */
KILN_INLINE void kiln_cubic_weights(float t, float *weight) {
    const float a = -0.75f, u = 1.0f - t;
    weight[0] = ((a * (1.0f + t) - 5.0f * a) * (1.0f + t) + 8.0f * a) * (1.0f + t) - 4.0f * a;
    weight[1] = ((a + 2.0f) * t - (a + 3.0f)) * t * t + 1.0f;
    weight[2] = ((a + 2.0f) * u - (a + 3.0f)) * u * u + 1.0f;
    weight[3] = ((a * (1.0f + u) - 5.0f * a) * (1.0f + u) + 8.0f * a) * (1.0f + u) - 4.0f * a;
}

KILN_INLINE struct kiln_grid_taps kiln_grid_axis(const struct grid_sample_shape *s, float position,
                                                 int32_t size) {
    const float last = (float)(size - 1);
    const float low = s->align_corners ? 0.0f : -0.5f;
    const float high = s->align_corners ? last : last + 0.5f;
    float x = (position + 1.0f) * 0.5f * (high - low) + low;
    if (s->mode == KILN_GRID_NEAREST)
        x = kiln_rintf(x);
    if (s->padding == KILN_GRID_BORDER && (x < low || x > high))
        x = kiln_clamp_float(x, 0.0f, last);
    else if (s->padding == KILN_GRID_REFLECTION)
        x = kiln_reflect(x, low, high);
    /* What is far outside stays so, within the range of integers; NaN goes outside. */
    x = x >= -8.0f ? kiln_clamp_float(x, -8.0f, (float)size + 8.0f) : -8.0f;
    struct kiln_grid_taps taps = {1, {0}, {1.0f}};
    const float floor = kiln_floorf(x);
    int32_t first = (int32_t)floor;
    if (s->mode == KILN_GRID_LINEAR) {
        taps.count = 2;
        taps.weight[0] = 1.0f - (x - floor);
        taps.weight[1] = x - floor;
    } else if (s->mode == KILN_GRID_CUBIC) {
        taps.count = 4;
        first--;
        kiln_cubic_weights(x - floor, taps.weight);
    }
    for (int32_t i = 0; i < taps.count; i++) {
        int32_t pixel = first + i;
        if (s->padding == KILN_GRID_REFLECTION)
            pixel = (int32_t)kiln_reflect((float)pixel, low, high);
        if (s->padding != KILN_GRID_ZEROS)
            pixel = kiln_clamp(pixel, 0, size - 1);
        taps.pixel[i] = pixel >= 0 && pixel < size ? pixel : -1;
    }
    return taps;
}

KILN_KERNEL void grid_sample_float32__reference(const struct grid_sample_shape *s,
                                                const float *input, const float *grid,
                                                float *output) {
    const int32_t plane = s->extent[0] * s->extent[1] * s->extent[2];
    for (int32_t n = 0; n < s->batch; n++, input += s->channels * plane) {
        for (int32_t point = 0; point < s->points; point++, grid += s->axes) {
            struct kiln_grid_taps axis[3];
            for (int32_t i = 0; i < 3; i++) {
                const struct kiln_grid_taps none = {1, {0}, {1.0f}};
                axis[i] = none;
                if (i >= 3 - s->axes)
                    axis[i] = kiln_grid_axis(s, grid[2 - i], s->extent[i]);
            }
            for (int32_t c = 0; c < s->channels; c++)
                output[(n * s->channels + c) * s->points + point] = 0.0f;
            const int32_t taps = axis[0].count * axis[1].count * axis[2].count;
            for (int32_t tap = 0; tap < taps; tap++) {
                const int32_t x = tap % axis[2].count, rest = tap / axis[2].count;
                const int32_t y = rest % axis[1].count, z = rest / axis[1].count;
                const float weight = axis[0].weight[z] * axis[1].weight[y] * axis[2].weight[x];
                if (axis[0].pixel[z] < 0 || axis[1].pixel[y] < 0 || axis[2].pixel[x] < 0)
                    continue;
                const int32_t offset =
                    (axis[0].pixel[z] * s->extent[1] + axis[1].pixel[y]) * s->extent[2] +
                    axis[2].pixel[x];
                for (int32_t c = 0; c < s->channels; c++)
                    output[(n * s->channels + c) * s->points + point] +=
                        weight * input[c * plane + offset];
            }
        }
    }
}

#endif
