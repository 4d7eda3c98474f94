"""What calibration remembers of a tensor, and four ways to choose its range from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from compiler.errors import UsageError
from compiler.quantization.choose import INT8_MAX, INT8_MIN, Range

#: Histogram bins over [-bound, bound]; a power of two, so that doubling the bound merges pairs
#: exactly, and fine enough that an outlier 100 times the rest still leaves bins below int8's step.
BINS = 65536

#: The search for the least error looks at no more points than this.
SEARCHED_BINS = 4096

#: Share of the values that the percentile method keeps between its limits.
KEPT = 0.9999

#: Fractions of the full range that the search for the least error tries.
FRACTIONS = np.linspace(0.2, 1.0, 81)


@dataclass
class TensorStatistics:
    """Exact extremes and a histogram, updated sample by sample.

    The histogram's bound is a power of two that doubles as needed, so that nothing but the
    bin's width is lost, whatever the order of the samples.
    """

    name: str
    low: float = np.inf
    high: float = -np.inf
    bound: float = 0.0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(BINS))

    def update(self, values: np.ndarray) -> None:
        """Count ``values``; infinities (attention masks) are left out. NaN raises UsageError."""
        flat = np.asarray(values, np.float32).reshape(-1)
        low, high = float(flat.min()), float(flat.max())
        if not np.isfinite([low, high]).all():
            if np.isnan(flat).any():
                raise UsageError(
                    f"calibration: tensor '{self.name}' becomes NaN; give inputs of the range that "
                    f"the model was trained on"
                )
            flat = flat[np.isfinite(flat)]
            if not flat.size:
                return
            low, high = float(flat.min()), float(flat.max())
        self.low, self.high = min(self.low, low), max(self.high, high)
        self._reach(max(-low, high))
        # Scaling by a power of two is exact, so a value's bin does not depend on the bound.
        bins = np.floor(flat * np.float32(BINS / 2 / self.bound)).astype(np.int32) + BINS // 2
        self.counts += np.bincount(np.minimum(bins, BINS - 1), minlength=BINS)

    def _reach(self, magnitude: float) -> None:
        if self.bound == 0.0:
            self.bound = float(2.0 ** np.ceil(np.log2(max(magnitude, 1e-30))))
        while self.bound < magnitude:
            merged = self.counts.reshape(-1, 2).sum(axis=1)
            self.counts = np.zeros(BINS)
            self.counts[BINS // 4 : BINS // 4 + BINS // 2] = merged
            self.bound *= 2

    @property
    def edges(self) -> np.ndarray:
        """The BINS + 1 limits of the bins."""
        return np.linspace(-self.bound, self.bound, BINS + 1)

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """(values, weights) that stand for the tensor: bins in use, merged while too many."""
        counts, width = self.counts, 2 * self.bound / BINS
        while np.count_nonzero(counts) > SEARCHED_BINS:
            counts, width = counts.reshape(-1, 2).sum(axis=1), width * 2
        used = np.flatnonzero(counts)
        centres = -self.bound + width * (used + 0.5)
        return np.clip(centres, self.low, self.high), counts[used]


def minmax_range(statistics: TensorStatistics) -> Range:
    """Everything that was seen."""
    return statistics.low, statistics.high


def percentile_range(statistics: TensorStatistics) -> Range:
    """All but the outermost values, the same share on both sides."""
    total = np.cumsum(statistics.counts)
    cut = (1 - KEPT) / 2 * total[-1]
    low = statistics.edges[np.searchsorted(total, cut, side="right")]
    high = statistics.edges[np.searchsorted(total, total[-1] - cut) + 1]
    return max(float(low), statistics.low), min(float(high), statistics.high)


def mse_range(statistics: TensorStatistics) -> Range:
    """The clipped range with the least mean squared error of int8 values.

    Both limits shrink together first, then each on its own.
    """
    low, high = min(statistics.low, 0.0), max(statistics.high, 0.0)
    values, weights = statistics.points()
    for shrink_low, shrink_high in ((True, True), (True, False), (False, True)):
        lows = low * (FRACTIONS if shrink_low else np.ones_like(FRACTIONS))
        highs = high * (FRACTIONS if shrink_high else np.ones_like(FRACTIONS))
        best = int(np.argmin(_errors(values, weights, lows, highs)))
        low, high = float(lows[best]), float(highs[best])
    return low, high


def kl_range(statistics: TensorStatistics) -> Range:
    """The clipped range whose int8 values are distributed most like the originals.

    What is clipped counts for the outermost values; both limits shrink together, then each on its
    own. (Migacz, "8-bit inference with TensorRT", 2017, for ranges of any symmetry.)
    """
    low, high = min(statistics.low, 0.0), max(statistics.high, 0.0)
    values, weights = statistics.points()
    for shrink_low, shrink_high in ((True, True), (True, False), (False, True)):
        lows = low * (FRACTIONS if shrink_low else np.ones_like(FRACTIONS))
        highs = high * (FRACTIONS if shrink_high else np.ones_like(FRACTIONS))
        found = [_divergence(values, weights, *pair) for pair in zip(lows, highs, strict=True)]
        best = int(np.argmin(found))
        low, high = float(lows[best]), float(highs[best])
    return low, high


def _divergence(values: np.ndarray, weights: np.ndarray, low: float, high: float) -> float:
    """Kullback-Leibler divergence, in nats, of the quantized histogram from the clipped one.

    An integer stands for all of its bins alike, but for one that it hits exactly: many values are
    0, or at an activation's limit, and lose nothing.
    """
    inside = (values >= low) & (values <= high)
    if not inside.any():
        return float(np.inf)
    own = weights[inside]
    kept = own.copy()  # what is clipped counts for the outermost bins
    kept[0] += weights[values < low].sum()
    kept[-1] += weights[values > high].sum()
    scale = max(high - low, 1e-30) / (INT8_MAX - INT8_MIN)
    zero = np.rint(-low / scale)
    levels = np.clip(np.rint(values[inside] / scale) + zero, 0, INT8_MAX - INT8_MIN)
    exact = np.abs((levels - zero) * scale - values[inside]) <= np.diff(values).min(initial=scale)
    levels = levels.astype(np.int64)
    mass = np.bincount(levels, own * ~exact)
    bins = np.bincount(levels, ~exact)
    found = np.where(exact, own, (mass / np.maximum(bins, 1))[levels])
    total = kept.sum()
    return float((kept * np.log(kept / total * (found.sum() / found))).sum() / total)


def _errors(
    values: np.ndarray, weights: np.ndarray, lows: np.ndarray, highs: np.ndarray
) -> np.ndarray:
    """Squared error over the histogram of each range (lows[i], highs[i])."""
    scales = np.maximum(highs - lows, 1e-30)[:, None] / (INT8_MAX - INT8_MIN)
    zeros = np.rint(INT8_MIN - lows[:, None] / scales)
    steps = np.clip(np.rint(values / scales) + zeros, INT8_MIN, INT8_MAX)
    errors: np.ndarray = np.square((steps - zeros) * scales - values) @ weights
    return errors


RANGE_METHODS: Mapping[str, Callable[[TensorStatistics], Range]] = {
    "minmax": minmax_range,
    "percentile": percentile_range,
    "mse": mse_range,
    "kl": kl_range,
}
