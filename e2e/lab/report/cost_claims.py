"""P1's claims and our hypotheses about cost: the claim, the measured interval, and whether it holds."""

from dataclasses import replace

import numpy as np

from .cost import H2_ALONE, H3_ALONE, NAIVE, WINNERS, group_title
from .estimates import Estimate, Mulberry32, bootstrapped, ratio_of_means
from .hypotheses import Hypothesis, judge
from .load import HIT_SHARES, MIN_R2, cached, least_squares, r_squared, shapeless, suffices, too_few

# P1, test case 2 (with TLS): CPU of the naive race above the dearer protocol alone, percent, by object.
P1_NAIVE_EXTRA = {1024: 13, 35840: 4}
# P1, test case 2: memory above the old protocol alone, percent.
P1_MEMORY_EXTRA = 8
# P1, test case 3 with TLS, 1 KiB: what an 80 % hit ratio takes away, percent.
P1_SAVED = 18
MAX_POINTS_OFF = 2
MAX_RACE_EXTRA = 5
UNMEASURED = "its cells were not measured here, or have too few driven segments"


class _Group:
    """The cells of one server and object at its highest load, by kind of measurement."""

    def __init__(self, summaries):
        highest = max(summary.cell["perSecond"] for summary in summaries)
        self.cells = [summary for summary in summaries if summary.cell["perSecond"] == highest]
        self.object_bytes = summaries[0].cell["objectBytes"]
        self.title = group_title(summaries[0].cell)

    def values(self, way, figure="serverMs", post_quantum=True):
        """The means of segments, which are what is resampled: the samples of one are not independent of each other.
        Nothing if the load was driven in too little of the cell, or in a single segment."""
        for summary in self.cells:
            if summary.cell["way"] == way and summary.cell["postQuantum"] == post_quantum:
                means = summary.segment_means(figure)
                enough = suffices(len(summary.driven), len(summary.segments)) and len(means) > 1
                return means if enough else np.array([])
        return np.array([])


def _extra(first, second, random):
    """Percent above; None unless both have samples."""
    if len(first) == 0 or len(second) == 0:
        return None
    return Estimate(*(100 * (end - 1) for end in ratio_of_means(first, second, random)))


def _dearer(a, b):
    """The alternative with the greater mean; nothing if one has no samples."""
    if len(a) == 0 or len(b) == 0:
        return np.array([])
    return a if a.mean() >= b.mean() else b


def _said_by(measured, kind, limit):
    """What a figure says about a claim of P1's that is not a hypothesis here, if all of its interval says the same."""
    if measured is None:
        return UNMEASURED
    low, high = (end < limit if kind == "below" else end >= limit for end in (measured.low, measured.high))
    if low != high:
        return "P1's claim may hold: its limit is within the interval"
    return "P1's claim holds" if low else "P1's claim does not hold"


# In P1 both transports of a race shared the cost of TLS: only one at a time used it.
NAIVE_GROUP = "Server CPU of the naive race (P1: TLS over one transport at a time)"


def _naive_rows(group, random):
    for post_quantum in (True, False):
        naive, h2, h3 = (group.values(way, "serverMs", post_quantum) for way in (NAIVE, H2_ALONE, H3_ALONE))
        if not post_quantum and len(naive) == 0:
            continue
        limit = P1_NAIVE_EXTRA[group.object_bytes]
        single = _dearer(h2, h3)
        measured = _extra(naive, single, random)
        said = _said_by(measured, "below", limit)
        yield Hypothesis(
            group=NAIVE_GROUP,
            name=f"naive above the dearer protocol, {group.title}"
            + ("" if post_quantum else ", classical key exchange"),
            unit="%",
            measured=measured,
            anchor=f"P1 under {limit} %",
            note=said if measured is None else f"{said}; dearer: {'HTTP/2' if single is h2 else 'HTTP/3'}",
        )


def _handshake_rows(group, random):
    """The cost of a second TLS handshake: TLS over TCP minus TCP alone, and the naive race's extra without it."""
    tcp, tls = (group.values({"kind": "part", "part": part}) for part in ("tcp", "tls"))
    if len(tcp) == 0 or len(tls) == 0:
        return
    naive, single = group.values(NAIVE), _dearer(group.values(H2_ALONE), group.values(H3_ALONE))
    compared = (naive, single) if len(naive) > 0 and len(single) > 0 else ()

    def handshake(tls, tcp, *_):
        return tls - tcp

    def extra(tls, tcp, naive, single):
        return 100 * ((naive - tls + tcp) / single - 1)

    # Drawn together: the handshake's uncertainty is part of the race's without it.
    samples = (tls, tcp, *compared)
    means = [each.mean() for each in samples]
    drawn = [each.mean(axis=1) for each in random.drawn(*samples)]
    measured = bootstrapped(extra(*means), extra(*drawn)) if compared else None
    yield Hypothesis(
        group=NAIVE_GROUP,
        name=f"a TLS handshake over TCP, {group.title}",
        unit="ms",
        measured=bootstrapped(handshake(*means), handshake(*drawn)),
        note="TLS without a request, less TCP alone",
    )
    limit = P1_NAIVE_EXTRA[group.object_bytes]
    yield Hypothesis(
        group=NAIVE_GROUP,
        name=f"naive without a second TLS handshake, {group.title}",
        unit="%",
        measured=measured,
        anchor=f"P1 under {limit} %",
        note=_said_by(measured, "below", limit),
    )


def _near_rows(group, random):
    race, h3 = (group.values({"kind": "near", "mode": mode}) for mode in ("race", "h3"))
    if len(race) > 0 or len(h3) > 0:
        yield Hypothesis(
            group="Server CPU of the race",
            name=f"race (10 ms) at round trip 0 above HTTP/3 alone, {group.title}",
            unit="%",
            goal=("at most", MAX_RACE_EXTRA),
            measured=_extra(race, h3, random),
        )


def sweep_shape(sweep, random):
    """Whether cost falls linearly with the hit ratio (P1, third test case), as 95 % bootstrap estimates; None unless 0,
    80 and 100 % are among its cells."""
    cells = [(share, samples) for share, samples in sweep if len(samples) > 0]
    shares = [share for share, _ in cells]
    if not {0, 0.8, 1} <= set(shares):
        return None

    noise = np.mean([np.var(samples, ddof=1) / len(samples) if len(samples) > 1 else 0 for _, samples in cells])

    def shape(means):
        at = {share: means[:, index] for index, share in enumerate(shares)}
        slope, *_ = least_squares(shares, means)
        none, most, every = at[0], at[0.8], at[1]
        return {
            # Change over the whole sweep, percent of the cost without hits.
            "slope": 100 * slope / none,
            "r2": r_squared(shares, means, noise),
            "noisy": r_squared(shares, means),
            # The distance of the 80 % cell from the line between the ends; never negative.
            "off": 100 * np.abs(most - (none + 0.8 * (every - none))) / none,
            "saved": 100 * (1 - most / none),
        }

    found = shape(np.array([[samples.mean() for _, samples in cells]]))
    drawn = random.drawn(*(samples for _, samples in cells))
    resamples = shape(np.stack([each.mean(axis=1) for each in drawn], axis=1))
    return {name: bootstrapped(found[name][0], resamples[name]) for name in found}


def _sweep_rows(group, winner, random):
    sweep = [(share, group.values(cached(winner, share))) for share in HIT_SHARES]
    shape = sweep_shape(sweep, random)

    def row(claim, figure, unit, goal=None, anchor="", note=""):
        return Hypothesis(
            group="Server CPU over the hit ratio",
            name=f"{claim}, {WINNERS[winner]}, {group.title}",
            unit=unit,
            goal=goal,
            measured=shape and shape[figure],
            anchor=anchor,
            note=note if shape else UNMEASURED,
        )

    small = group.object_bytes == 1024
    said = _said_by(shape and shape["saved"], "at least", P1_SAVED) if small else ""
    yield row("80 % cell off the line between the ends", "off", "points", ("at most", MAX_POINTS_OFF), "P1 linear")
    noisy = f"{shape['noisy'].value:.3f} with the samples' noise" if shape else ""
    linear = row("R²", "r2", "", ("at least", MIN_R2), "P1 linear", noisy)
    yield replace(linear, reason=shapeless(linear.measured))
    yield row("slope over the whole sweep", "slope", "%")
    yield row("taken away at 80 % hits", "saved", "%", None, f"P1 {P1_SAVED} %" if small else "", said)


def _memory_rows(group, random):
    for claim, first, second, most, anchor in (
        ("naive above HTTP/2 alone", NAIVE, H2_ALONE, P1_MEMORY_EXTRA, "P1 under 8 %"),
        ("naive above HTTP/3 alone", NAIVE, H3_ALONE, 0, "P1 always under SCTP"),
        ("80 % hits above HTTP/2 alone", cached("h2", 0.8), H2_ALONE, 1, "P1 equal at 80 %"),
    ):
        measured = _extra(group.values(first, "serverPssBytes"), group.values(second, "serverPssBytes"), random)
        yield Hypothesis(
            group="Server memory (PSS)",
            name=f"{claim}, {group.title}",
            unit="%",
            measured=measured,
            anchor=anchor,
            note=_said_by(measured, "below", most),
        )


def hypotheses(run):
    """Every claim for every server and object at its highest load. All share one random stream, in this order."""
    unjudged = too_few(run.asked["seconds"])
    random = Mulberry32(run.meta["seed"])
    claims = []
    for group in map(_Group, run.groups):
        claims += _naive_rows(group, random)
        claims += _handshake_rows(group, random)
        claims += _near_rows(group, random)
        for winner in WINNERS:
            claims += _sweep_rows(group, winner, random)
        claims += _memory_rows(group, random)
    return [judge(claim, unjudged) for claim in claims]
