"""Statistics of tensors, and the three ways to a range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import UsageError
from compiler.quantization.choose import activation_quantization
from compiler.quantization.ranges import (
    RANGE_METHODS,
    TensorStatistics,
    minmax_range,
    mse_range,
    percentile_range,
)

REALS = st.floats(-1e6, 1e6, allow_nan=False, width=32)


def statistics_of(*parts: np.ndarray) -> TensorStatistics:
    statistics = TensorStatistics("t")
    for part in parts:
        statistics.update(part)
    return statistics


def squared_error(values: np.ndarray, low: float, high: float) -> float:
    """Of int8 with that range, computed from the values themselves."""
    quant = activation_quantization(low, high)
    steps = np.clip(np.rint(values / quant.scale[0]) + quant.zero_point[0], -128, 127)
    return float(np.square((steps - quant.zero_point[0]) * quant.scale[0] - values).mean())


@given(REALS, REALS)
def test_zero_is_exact_and_the_range_is_held(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    quant = activation_quantization(low, high)
    (scale,), (zero,) = quant.scale, quant.zero_point
    assert -128 <= zero <= 127  # so that some integer means 0.0
    assert scale == np.float32(scale)
    if max(abs(low), abs(high)) > 1e-30:
        assert (-128 - zero) * scale <= min(low, 0) + 0.51 * scale
        assert (127 - zero) * scale >= max(high, 0) - 0.51 * scale


def test_the_histogram_does_not_depend_on_the_order() -> None:
    random = np.random.default_rng(0)
    parts = [random.normal(size=1000).astype(np.float32) * scale for scale in (0.01, 30.0, 1.0)]
    forward, backward = statistics_of(*parts), statistics_of(*parts[::-1])
    assert forward.bound == backward.bound
    np.testing.assert_array_equal(forward.counts, backward.counts)
    assert forward.counts.sum() == 3000


def test_minmax_is_exact() -> None:
    values = np.array([-1.25, 0.5, 3.7], np.float32)
    assert minmax_range(statistics_of(values)) == (np.float32(-1.25), np.float32(3.7))


def test_percentile_leaves_a_few_outliers_out() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 100_000).astype(np.float32)
    low, high = percentile_range(statistics_of(np.append(values, [-50, 80]).astype(np.float32)))
    assert -1.01 < low < -0.99
    assert 0.99 < high < 1.01


@pytest.mark.parametrize("shape", ["normal", "relu", "outlier", "laplace", "skewed"])
def test_mse_is_near_the_best_of_all_ranges(shape: str) -> None:
    """The best of a grid of both limits, tried on the values themselves."""
    random = np.random.default_rng(1)
    values = {
        "normal": random.normal(size=5000),
        "relu": np.maximum(random.normal(size=5000), 0),
        "outlier": np.append(random.normal(size=50_000), 25.0),
        "laplace": random.laplace(size=5000),
        "skewed": random.exponential(size=5000) - 0.1,
    }[shape].astype(np.float32)
    statistics = statistics_of(values)
    low, high = minmax_range(statistics)
    fractions = np.linspace(0.2, 1.0, 33)
    best = min(squared_error(values, low * a, high * b) for a in fractions for b in fractions)
    assert squared_error(values, *mse_range(statistics)) <= 1.03 * best


def test_mse_clips_long_tails() -> None:
    values = np.random.default_rng(1).laplace(size=50_000).astype(np.float32)
    statistics = statistics_of(values)
    clipped = squared_error(values, *mse_range(statistics))
    assert clipped < 0.92 * squared_error(values, *minmax_range(statistics))


def test_mse_keeps_a_uniform_range() -> None:
    """Nothing is gained by clipping values that are all equally frequent."""
    values = np.random.default_rng(2).uniform(0, 6, 50_000).astype(np.float32)
    low, high = mse_range(statistics_of(values))
    assert low == 0.0
    assert high > 5.9


def test_infinities_are_left_out_and_nan_is_refused() -> None:
    statistics = statistics_of(np.array([-np.inf, 1, 2], np.float32))
    assert minmax_range(statistics) == (1.0, 2.0)
    with pytest.raises(UsageError, match="'t' becomes NaN"):
        statistics.update(np.array([np.nan], np.float32))


@pytest.mark.parametrize("method", RANGE_METHODS)
def test_a_tensor_of_zeros_has_a_range(method: str) -> None:
    low, high = RANGE_METHODS[method](statistics_of(np.zeros(10, np.float32)))
    assert low == high == 0.0
    assert activation_quantization(low, high).scale[0] > 0
