"""What runs under load, `cost` and `p1`, have in common."""

import numpy as np

from .estimates import median, percentile
from .hypotheses import format_number, significant
from .tables import NONE

BYTES_PER_MIB = 2**20
HIT_SHARES = (0, 0.2, 0.4, 0.6, 0.8, 1)
# P1 ran each load for 600 s; claims are judged on 60.
JUDGED_SECONDS = 60
# What P1 calls linear.
MIN_R2 = 0.98


def cached(winner, share):
    return {"kind": "cached", "winner": winner, "hitShare": share}


def kernel_bytes(sample):
    """The kernel's caches and buffers, of both ends; None if unavailable."""
    parts = sample["slabBytes"], sample["bufferBytes"]
    return None if None in parts else sum(parts)


def too_few(seconds):
    """Why a run with that many seconds a cell is not judged; empty if it is."""
    return f"{seconds} of {JUDGED_SECONDS} seconds a cell" if seconds < JUDGED_SECONDS else ""


def suffices(driven, of):
    """Whether a load was driven in enough of its parts for a comparison: the few others that a machine at its limit
    completes show that limit, not the protocol."""
    return 0 < of <= 2 * driven


def driven_text(noun, parts, driven, most_reasons=None):
    """Whether the load was driven; if not in every part of a cell, with the reasons, or the first of them."""
    if not parts:
        return "not measured"
    if len(driven) == len(parts):
        return "yes"
    why = dict.fromkeys(reason for part in parts for reason in part["drive"]["why"])
    share = f"{len(driven)} of {len(parts)} {noun}" if driven else "NOT DRIVEN"
    return f"{share}: {'; '.join([*why][:most_reasons])}"


def least_squares(x, y):
    """Slope and intercept of the line for each row of `y`, and its squared deviations from its mean and from the line."""
    x, y = np.asarray(x, float), np.atleast_2d(y)
    centred = x - x.mean()
    slope = (centred * (y - y.mean(axis=1, keepdims=True))).sum(axis=1) / (centred**2).sum()
    intercept = y.mean(axis=1) - slope * x.mean()
    around = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    left = ((y - intercept[:, None] - slope[:, None] * x) ** 2).sum(axis=1)
    return slope, intercept, around, left


def r_squared(x, y, noise=0.0):
    """The share of variance that the line explains, from 0 to 1, for each row of `y`; 1 if there is none.

    Noise of that variance in each value lowers it, whatever the shape of what is measured, and is taken out: on average it
    adds its variance to the squared deviations for each of their degrees of freedom (pure error and lack of fit: Draper
    and Smith, Applied Regression Analysis, chapter 2). 0 if nothing else is left.
    """
    _, _, around, left = least_squares(x, y)
    if noise == 0:
        return np.where(around == 0, 1, 1 - left / np.where(around == 0, 1, around))
    around = around - (len(x) - 1) * noise
    left = left - (len(x) - 2) * noise
    return np.where(around <= 0, 0, np.clip(1 - left / np.where(around <= 0, 1, around), 0, 1))


def shapeless(measured):
    """Why an R² is not judged; empty if it is."""
    return "the cells differ no more than their noise" if measured is not None and measured.low == 0 else ""


def spread_of(values):
    """Median, 10th and 90th percentile; None without values."""
    return (median(values), percentile(values, 0.1), percentile(values, 0.9)) if len(values) else None


def figure_text(value):
    """Three significant figures, more than the samples' spread supports."""
    return format_number(significant(value))


def spread_text(summary, figure, scale=1):
    """The median with the 10th and 90th percentile."""
    spread = summary.spread(figure)
    if spread is None:
        return NONE
    middle, low, high = (figure_text(value / scale) for value in spread)
    return f"{middle} ({low}–{high})"
