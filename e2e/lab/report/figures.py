"""Measured figures as the text of a cell."""

from .hypotheses import format_number, significant
from .tables import NONE

BYTES_PER_MIB = 2**20


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
