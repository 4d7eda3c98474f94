"""Reductions over axes, and what normalises along one."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.registry import classify, params

REDUCTIONS = ("mean", "sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_any", "reduce_all")


@params.of(*REDUCTIONS)
@dataclass(frozen=True)
class ReduceParams:
    """Input x; ``axes`` are non-negative and sorted."""

    axes: tuple[int, ...]
    keep_dims: bool = False


@params.of("arg_max", "arg_min")
@dataclass(frozen=True)
class ArgParams:
    """Index of the first extreme element along ``axis``; output ``dtype`` int32 or int64."""

    axis: int
    keep_dims: bool = False
    dtype: str = "int32"


@params.of("softmax")
@dataclass(frozen=True)
class SoftmaxParams:
    """exp(beta * x) / sum along ``axis`` (non-negative)."""

    axis: int
    beta: float = 1.0


@params.of("log_softmax")
@dataclass(frozen=True)
class LogSoftmaxParams:
    """log(softmax(x)) along ``axis`` (non-negative)."""

    axis: int


@params.of("l2_normalization")
@dataclass(frozen=True)
class L2NormalizationParams:
    """x / sqrt(sum(x * x)) along the last axis; ``epsilon`` is the least sum of squares."""

    epsilon: float = 1e-6


for _kind in (*REDUCTIONS, "arg_max", "arg_min", "softmax", "log_softmax", "l2_normalization"):
    classify(_kind, "reduction")
