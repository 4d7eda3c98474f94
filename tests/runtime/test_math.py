"""kiln_math.h against numpy's float64, over the whole range of float32."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[np.float32]
Evaluate = Callable[..., Array]


@pytest.fixture(scope="session")
def evaluate(c_tests: Path) -> Evaluate:
    library = ctypes.CDLL(str(c_tests / "libmath_shim.so"))
    floats = np.ctypeslib.ndpointer(np.float32, flags="C")
    library.evaluate.argtypes = [ctypes.c_char_p, ctypes.c_size_t, floats, floats, floats]

    def call(name: str, x: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Array:
        first = np.ascontiguousarray(x, np.float32)
        second = first if y is None else np.ascontiguousarray(y, np.float32)
        out = np.empty_like(first)
        assert library.evaluate(name.encode(), first.size, first, second, out) == 0, name
        return out

    return call


def samples() -> Array:
    """Every 9973rd finite float32, of all exponents and both signs, and a dense middle."""
    everywhere = np.arange(0, 2**32, 9973, dtype=np.uint64).astype(np.uint32).view(np.float32)
    middle = np.linspace(-12, 12, 100001, dtype=np.float32)
    return np.concatenate([everywhere[np.isfinite(everywhere)], middle])


def units_in_last_place(got: Array, want: npt.NDArray[np.float64]) -> float:
    """The largest error, where the true result is a normal float32."""
    rounded = want.astype(np.float32)
    normal = np.isfinite(rounded) & (np.abs(want) >= np.finfo(np.float32).tiny)
    error = np.abs(got[normal].astype(np.float64) - want[normal])
    assert np.isfinite(error).all()
    return float(np.max(error / np.spacing(np.abs(rounded[normal])).astype(np.float64)))


def logistic(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1.0) / (1.0 + e)


def erf(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.array([math.erf(value) for value in x])


FUNCTIONS = {
    "exp": (np.exp, 1), "log": (np.log, 1), "tanh": (np.tanh, 2), "logistic": (logistic, 3),
    "sin": (np.sin, 2), "cos": (np.cos, 2), "tan": (np.tan, 3), "erf": (erf, 2),
    "sqrt": (np.sqrt, 0.5), "sqrt_bits": (np.sqrt, 0.5), "floor": (np.floor, 0),
    "ceil": (np.ceil, 0), "trunc": (np.trunc, 0), "rint": (np.rint, 0),
    "round": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error(evaluate: Evaluate, name: str) -> None:
    truth, limit = FUNCTIONS[name]
    x = samples()
    if name in ("log", "sqrt", "sqrt_bits"):
        x = x[x > 0]
    with np.errstate(all="ignore"):
        want = truth(x.astype(np.float64))
        assert units_in_last_place(evaluate(name, x), want) <= limit


def test_power(evaluate: Evaluate) -> None:
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(-60, 60, 200_000)).astype(np.float32)
    y = (rng.uniform(-90, 90, x.size) / np.log(x)).astype(np.float32)
    with np.errstate(all="ignore"):
        want = x.astype(np.float64) ** y.astype(np.float64)
        assert units_in_last_place(evaluate("pow", x, y), want) <= 1


SPECIAL = (0.0, -0.0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2, -2, 2.5, -2.5, 3, -3, 8388609, 1e30, -1e30,
           1e-40, -1e-40, 16777215, -16777215, math.inf, -math.inf, math.nan)  # fmt: skip


def test_power_of_special_values_and_negative_bases(evaluate: Evaluate) -> None:
    x, y = (a.ravel() for a in np.meshgrid(np.float32(SPECIAL), np.float32(SPECIAL)))
    with np.errstate(all="ignore"):
        want = (x.astype(np.float64) ** y.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(evaluate("pow", x, y), want, rtol=2e-7, atol=1e-45)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("erf", "logistic", "round")])
def test_special_values(evaluate: Evaluate, name: str) -> None:
    x = np.float32(SPECIAL)
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name][0](x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(evaluate(name, x), want, rtol=4e-7, atol=1e-44)


def test_results_that_are_denormal(evaluate: Evaluate) -> None:
    x = np.linspace(-104, -87.4, 5000, dtype=np.float32)
    np.testing.assert_allclose(evaluate("exp", x), np.exp(x.astype(np.float64)), atol=1.5e-45)
