"""One hypothesis of the laboratory: the goal, the measured value with its interval, the reference figure, and the
verdict. All experiments use this form, so that one rule judges them."""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from .estimates import Estimate
from .tables import Column, format_table, right


@dataclass(frozen=True)
class Hypothesis:
    # The common topic of rows, such as "adoption by delay".
    group: str
    # Client and condition: "race, delay 50 ms".
    name: str
    # After each figure: "ms", "%", "x"; empty for none.
    unit: str = ""
    # "at most", "below" or "at least", and a limit; None: the figure is only reported.
    goal: tuple[str, float] | None = None
    # None if it could not be measured; `note` has the reason.
    measured: Estimate | None = None
    # The figure that the goal refers to: published, or the peer's in this run.
    anchor: str = ""
    note: str = ""
    verdict: str = ""
    # What the verdict would be if there is too little to judge it on, and why it is too little.
    trend: str = ""
    reason: str = ""


def _meets(value, goal):
    kind, limit = goal
    if kind == "at least":
        return value >= limit
    return value < limit if kind == "below" else value <= limit


def judge(claim, too_few=""):
    """It holds if the favourable end of the interval meets the goal, and with the whole interval if the unfavourable
    end does too. `too_few` is the reason why the trials do not suffice, unless the claim has one of its own; then there is
    only a trend."""
    too_few = claim.reason or too_few
    if claim.measured is None:
        return replace(claim, verdict="not measured")
    if claim.goal is None:
        return replace(claim, verdict="reported")
    ends = claim.measured.low, claim.measured.high
    best, worst = reversed(ends) if claim.goal[0] == "at least" else ends
    holds = _meets(best, claim.goal)
    if too_few:
        return replace(claim, verdict="not judged", trend="holds" if holds else "missed", reason=too_few)
    if not holds:
        return replace(claim, verdict="MISSED")
    return replace(claim, verdict="holds, whole interval" if _meets(worst, claim.goal) else "holds")


def any_missed(rows):
    return any(row.verdict == "MISSED" for row in rows)


def fixed(value, digits):
    """With this many decimals, halves rounded away from zero."""
    text = f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"
    return text.removeprefix("-") if value == 0 else text


def significant(value, figures=3):
    """The value with this many significant figures."""
    exact = Decimal(value)
    if exact == 0:
        return 0.0
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - figures + 1), ROUND_HALF_UP))


def format_number(value):
    """Up to four significant figures, at most three decimals, and a true minus sign."""
    if value == math.inf:
        return "∞"
    size = abs(value)
    text = fixed(value, 0 if size == 0 else max(0, min(3, 3 - math.floor(math.log10(size)))))
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if not text.startswith("-"):
        return text
    return text.replace("-", "−" if text.strip("-0.") else "", 1)


def format_interval(estimate):
    """"1.7 to 2.1", or "at least 1.7" if the interval has no upper end."""
    if estimate.high == math.inf:
        return f"at least {format_number(estimate.low)}"
    return f"{format_number(estimate.low)} to {format_number(estimate.high)}"


def format_verdict(row):
    """With a qualification, for example "not judged (100 of 1000 trials; trend: holds)"."""
    return f"not judged ({row.reason}; trend: {row.trend})" if row.verdict == "not judged" else row.verdict


COLUMNS = [
    Column("claim"),
    *right("goal", "measured", "95 % interval"),
    *map(Column, ("anchor", "verdict", "note")),
]


def cells_of(row):
    def with_unit(text):
        return f"{text} {row.unit}" if row.unit else text

    measured = row.measured
    known = measured is not None and not math.isnan(measured.value)
    return [
        row.name,
        "" if row.goal is None else with_unit(f"{row.goal[0]} {format_number(row.goal[1])}"),
        with_unit(format_number(measured.value)) if known else "–",
        "" if measured is None else format_interval(measured),
        row.anchor,
        format_verdict(row),
        row.note,
    ]


def by_group(rows):
    """The groups in order of first appearance, each with its rows."""
    names = list(dict.fromkeys(row.group for row in rows))
    return [(name, [row for row in rows if row.group == name]) for name in names]


def format_hypotheses(rows):
    return "\n\n".join(f"{group}\n{format_table(COLUMNS, map(cells_of, own))}" for group, own in by_group(rows))
