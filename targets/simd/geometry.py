"""The windows of a convolution, and how many of its rows are worked on at a time."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.graph import OpView

#: Bytes of staged rows, and of input pixels, that a block may take: half of a 32 KiB L1 cache.
BLOCK_BYTES = 16384


@dataclass(frozen=True)
class Geometry:
    """A convolution; fully connected and 1x1 are one row of pixels, as far as that is possible."""

    batch: int
    input_hw: tuple[int, int]
    channels: int
    output_hw: tuple[int, int]
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)  # top, left

    @property
    def taps_per_run(self) -> int:
        return self.kernel[1] if self.dilation[1] == 1 else 1

    @property
    def staged_width(self) -> int:
        """Pixels of a row that the windows cover, with padding."""
        return (self.output_hw[1] - 1) * self.stride[1] + (self.kernel[1] - 1) * self.dilation[
            1
        ] + 1

    @property
    def window_height(self) -> int:
        return (self.kernel[0] - 1) * self.dilation[0] + 1

    def turned(self) -> Geometry:
        """Rows and columns swapped: the same memory where both images are one pixel wide."""
        pairs = (self.input_hw, self.output_hw, self.kernel, self.stride, self.dilation)
        input_hw, output_hw, kernel, stride, dilation = ((w, h) for h, w in pairs)
        top, left = self.padding
        return Geometry(
            self.batch, input_hw, self.channels, output_hw, kernel, stride, dilation, (left, top)
        )

    @property
    def padded(self) -> bool:
        height = (self.output_hw[0] - 1) * self.stride[0] + self.window_height
        return (
            self.padding != (0, 0)
            or height > self.input_hw[0]
            or self.staged_width > self.input_hw[1]
        )

    def direct(self, step: int) -> bool:
        """Whether the input can be read where it lies, ``step`` elements at a time."""
        return not self.padded and self.taps_per_run * self.channels % step == 0

    def staged_rows(self, rows: int) -> int:
        return (rows - 1) * self.stride[0] + self.window_height

    def rows_per_block(self, element_bytes: int) -> int:
        """Output rows whose staged input is about BLOCK_BYTES."""
        pitch = self.staged_width * self.channels * element_bytes
        rows = (BLOCK_BYTES // pitch - self.window_height) // self.stride[0] + 1
        return max(1, min(self.output_hw[0], rows))


def window_of(view: OpView, kernel: tuple[int, int]) -> Geometry:
    """Of a conv2d or depthwise_conv2d; images one pixel wide are turned, to be long rows."""
    params = view.params
    batch, height, width, channels = view.input(0).shape
    _, output_height, output_width, _ = view.output().shape
    geometry = Geometry(
        batch, (height, width), channels, (output_height, output_width), kernel,
        params.stride, params.dilation, (params.padding[0], params.padding[2]),
    )  # fmt: skip
    column = width == kernel[1] == output_width == 1 and params.padding[2:] == (0, 0)
    return geometry.turned() if column else geometry
