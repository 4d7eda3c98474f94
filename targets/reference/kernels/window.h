/* Convolution and pooling windows over NHWC images: their shape, and which taps are inside. */
#ifndef REFERENCE_WINDOW_H
#define REFERENCE_WINDOW_H

#include "kernel.h"

#define KILN_WINDOW_MEMBERS                                                                        \
    int32_t batch;                                                                                 \
    int32_t input_height, input_width, input_channels;                                             \
    int32_t output_height, output_width, output_channels;                                          \
    int32_t kernel_height, kernel_width;                                                           \
    int32_t stride_y, stride_x, dilation_y, dilation_x;                                            \
    int32_t pad_top, pad_left;

/* Taps begin <= tap < end lie inside the image: 0 <= origin + tap * dilation < size. */
struct kiln_taps {
    int32_t begin, end;
};

KILN_INLINE struct kiln_taps kiln_taps_inside(int32_t origin, int32_t size, int32_t dilation,
                                              int32_t count) {
    struct kiln_taps taps = {0, 0};
    if (origin < 0)
        taps.begin = (-origin + dilation - 1) / dilation;
    if (origin < size)
        taps.end = (size - origin + dilation - 1) / dilation;
    if (taps.end > count)
        taps.end = count;
    if (taps.begin > taps.end)
        taps.begin = taps.end;
    return taps;
}

#endif
