"""The uncertainty of figures: 95 % intervals for shares, means, percentiles and ratios, without assumptions about the
distribution of times. The bootstrap uses Mulberry32, so that one seed gives the same intervals everywhere."""

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

# The normal distribution's quantile for a two-sided 95 % interval.
Z_95 = float(stats.norm.ppf(0.975))
# Enough that each end of a 95 % interval rests on 50 resamples.
RESAMPLES = 2000


class Estimate(NamedTuple):
    """A measured value with its 95 % interval; `high` may be infinite."""

    value: float
    low: float
    high: float

    def scaled(self, scale, shift=0.0):
        """With another unit (a scale above 0) or another origin."""
        return Estimate(*(end * scale + shift for end in self))


class Count(NamedTuple):
    hits: int
    of: int


class Mulberry32:
    """32 bits of state, sufficient for resampling; `random` continues where the last call ended."""

    def __init__(self, seed):
        self._state = seed

    def random(self, count):
        state = (self._state + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x6D2B79F5)).astype(np.uint32)
        self._state = (self._state + count * 0x6D2B79F5) % 2**32
        mixed = (state ^ (state >> np.uint32(15))) * (state | np.uint32(1))
        mixed ^= mixed + (mixed ^ (mixed >> np.uint32(7))) * (mixed | np.uint32(61))
        return (mixed ^ (mixed >> np.uint32(14))) / 2**32

    def drawn(self, *samples):
        """Bootstrap resamples: one array per sample, one row per resample."""
        sizes = [len(sample) for sample in samples]
        shares = self.random(RESAMPLES * sum(sizes)).reshape(RESAMPLES, -1)
        parts = np.split(shares, np.cumsum(sizes)[:-1], axis=1)
        return [np.asarray(sample, float)[(part * len(sample)).astype(int)] for sample, part in zip(samples, parts)]


def exactly(value):
    """A value without uncertainty."""
    return Estimate(value, value, value)


def percentile(values, share):
    """By nearest rank, so that it is an observed value; `share` in (0, 1]."""
    return float(np.quantile(np.asarray(values, float), share, method="inverted_cdf"))


def median(values):
    return percentile(values, 0.5)


def bootstrapped(value, resamples):
    """A value with the percentile interval (Efron 1979) of its resamples."""
    return Estimate(float(value), percentile(resamples, 0.025), percentile(resamples, 0.975))


def _agree(values):
    return all(value == values[0] for value in values)


def mean_estimate(values, random):
    if _agree(values):
        return exactly(float(values[0]))
    return bootstrapped(np.mean(values), random.drawn(values)[0].mean(axis=1))


def percentile_estimate(values, share, random):
    if _agree(values):
        return exactly(float(values[0]))
    drawn = np.sort(random.drawn(np.sort(values))[0], axis=1)
    rank = max(1, math.ceil(share * len(values)))
    return bootstrapped(percentile(values, share), drawn[:, rank - 1])


def ratio_of_means(first, second, random):
    if _agree(first) and _agree(second):
        return exactly(first[0] / second[0])
    one, two = random.drawn(first, second)
    return bootstrapped(np.mean(first) / np.mean(second), one.mean(axis=1) / two.mean(axis=1))


def wilson(hits, of):
    """Wilson's score interval of a share, 0 to 1 (Wilson 1927; Newcombe 1998, method 3); the counts may be effective
    ones, which are not integers."""
    share = hits / of
    centre = share + Z_95**2 / (2 * of)
    half = Z_95 * math.sqrt(share * (1 - share) / of + Z_95**2 / (4 * of**2))
    scale = 1 + Z_95**2 / of
    # If all trials agree the interval ends exactly there; rounding must not change that.
    return Estimate(share, 0.0 if hits == 0 else (centre - half) / scale, 1.0 if hits == of else (centre + half) / scale)


def rule_of_three(of):
    """Upper 95 % confidence limit of a share when none of `of` trials hit (Hanley and Lippman-Hand 1983)."""
    return min(1, 3 / of)


def ratio_of_shares(first, second):
    """The ratio of two independent shares, by MOVER-R on their Wilson intervals (Donner and Zou 2012; Fagerland and
    Newcombe 2013). It needs no correction for zeros: without hits in the second the upper end is infinite, without any
    at all the value is NaN and the interval says that nothing is known."""
    if first.hits == 0 and second.hits == 0:
        return Estimate(math.nan, 0.0, math.inf)
    one, two = wilson(*first), wilson(*second)
    product = one.value * two.value
    low_first, high_first = (end * (2 * one.value - end) for end in (one.low, one.high))
    low_second, high_second = (end * (2 * two.value - end) for end in (two.low, two.high))

    def root(of_first, of_second):
        return math.sqrt(max(0, product**2 - of_first * of_second))

    # The published lower end, (product - root) / highSecond, multiplied by product + root to avoid a division by zero.
    return Estimate(
        one.value / two.value if two.value > 0 else math.inf,
        0.0 if low_first == 0 else low_first / (product + root(low_first, high_second)),
        math.inf if low_second == 0 else (product + root(high_first, low_second)) / low_second,
    )
