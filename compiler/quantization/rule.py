"""The ``quantize`` attribute: what an operator says so that it can become an integer one.

    from compiler.quantization.rule import QuantizeRule
    from compiler.registry import quantize

    quantize.of("my_operator")(QuantizeRule())

makes ``my_operator`` an integer operator whose float activations become int8, each with the scale
that calibration chose; its ``reference`` must then know integers too. An operator without the
attribute stays float, between a ``dequantize`` and a ``quantize``. A subclass overrides what is
special: constants that become weights, tensors that must have equal scales, an output whose scale
the operator itself fixes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from compiler.graph import OpView, Quantization, Tensor


class QuantizeRule:
    """The default: every float input and output is an activation with a scale of its own."""

    #: All activations must have one scale and zero point, as where elements are only moved.
    equal_scales: ClassVar[bool] = False

    #: Values of the input that the output's range leaves out do not matter, as in a clamp: the
    #: input takes the output's scale if nothing else reads it.
    narrows: ClassVar[bool] = False

    #: What the activations may become: "int8", and "int16" where ``reference`` knows it too.
    dtypes: ClassVar[tuple[str, ...]] = ("int8",)

    def applies(self, view: OpView) -> bool:
        """Whether this very operator can be an integer one; otherwise it stays float."""
        return True

    def activations(self, view: OpView) -> Sequence[int]:
        """Indices of the inputs that become int8 activations, constants among them too."""
        return [i for i, t in enumerate(view.inputs) if t is not None and t.dtype == "float32"]

    def fixed(self, view: OpView, output: int, dtype: str = "int8") -> Quantization | None:
        """The quantization that output number ``output`` always has in ``dtype``, if it does."""
        return None

    def extremes(self, view: OpView) -> tuple[float, ...]:
        """Values besides the calibrated ones that the activations must be able to hold."""
        return ()

    def constants(self, view: OpView) -> Mapping[int, Tensor]:
        """Integer tensors for the inputs that are no activations (weights, bias), by index.

        In ``view`` the activations are integers already. A tensor's name should tell it apart; it
        is made unique afterwards.
        """
        return {}
