"""Between a user's arrays and the model's tensors."""

from pathlib import Path

import numpy as np
import pytest

from compiler.arrays import TensorInfo, collect_outputs, make_series, random_inputs, read_npz
from compiler.errors import UsageError

INT8 = TensorInfo("x", (1, 2), "int8", 0.5, 3)
FLOAT = TensorInfo("y", (3,), "float32", None, None)


def test_floats_are_quantized_to_nearest_and_saturate() -> None:
    series = make_series({"x": np.array([[0.74, 1000.0]])}, [INT8])
    assert not series.is_series
    assert series.runs[0]["x"].tolist() == [[4, 127]]
    assert series.runs[0]["x"].dtype == np.int8


def test_one_more_dimension_is_a_series() -> None:
    arrays = {"x": np.zeros((5, 1, 2), np.int8), "y": np.ones(3, np.float32)}
    series = make_series(arrays, [INT8, FLOAT])
    assert series.is_series and len(series) == 5
    assert series.runs[4]["x"].shape == (1, 2) and series.runs[4]["y"].shape == (3,)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"z": np.zeros(3), "w": np.zeros(3)}, "'x'"),
        ({"x": np.zeros((1, 3), np.int8), "y": np.zeros(3)}, "[1, 2]"),
        ({"x": np.full((1, 2), 300), "y": np.zeros(3)}, "do not fit"),
        ({"x": np.zeros((1, 2), np.int8), "y": np.zeros(3), "q": np.zeros(1)}, "'q'"),
        ({"x": np.zeros((2, 1, 2), np.int8), "y": np.zeros((3, 3))}, "different lengths"),
        ({"x": np.array([["a", "b"]]), "y": np.zeros(3)}, "cannot become"),
    ],
)
def test_what_does_not_fit_is_named(arrays: dict[str, np.ndarray], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_series(arrays, [INT8, FLOAT])
    assert words in str(caught.value)


def test_quantized_outputs_come_twice() -> None:
    result = collect_outputs([{"x": np.array([[3, 5]], np.int8)}], [INT8], False)
    assert result["x"].tolist() == [[3, 5]]
    assert result["x.float"].tolist() == [[0.0, 1.0]]


def test_random_inputs_repeat() -> None:
    first, second = random_inputs([INT8, FLOAT], 4), random_inputs([INT8, FLOAT], 4)
    assert first["x"].shape == (4, 1, 2) and first["x"].dtype == np.int8
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_file_that_is_no_npz(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(b"hello")
    with pytest.raises(UsageError, match=r"not an \.npz"):
        read_npz(path)
    np.save(tmp_path / "y.npy", np.zeros(3))
    with pytest.raises(UsageError, match=r"not an \.npz"):
        read_npz(tmp_path / "y.npy")
    with pytest.raises(UsageError, match="no such file"):
        read_npz(tmp_path / "missing.npz")
