"""P1's claims about racing SCTP against TCP, as it states them: what it says, what was measured, and whether it holds."""

from dataclasses import replace

from .estimates import Mulberry32
from .hypotheses import Hypothesis, judge
from .load import HIT_SHARES, MIN_R2, cached, r_squared, shapeless, too_few
from .p1 import MIDDLEBOX, NAIVE, SCTP_ALONE, SIX, TCP_ALONE, WINNERS, estimate, in_common

# By object and security: CPU of the naive race above the dearer protocol alone, percent. P1 had TLS 1.2.
RACE_EXTRA = {
    (1024, "plain"): (("at most", 40), "P1 about 40 %"),
    (35840, "plain"): (("below", 10), "P1 under 10 %"),
    (1024, "1.2"): (("below", 13), "P1 under 13 %"),
    (35840, "1.2"): (("below", 4), "P1 under 4 %"),
}
# What a hit ratio of 80 % takes away at 1 KiB, percent, when TCP wins.
SAVED = {(1024, "plain"): (("at least", 43), "P1 43 %"), (1024, "1.2"): (("at least", 18), "P1 18 %")}
UNMEASURED = "its cells were not measured here, or in too few rounds all of them were driven"


def _percent_above(means):
    """The first cell above the dearest of the others."""
    return 100 * (means[:, 0] / means[:, 1:].max(axis=1) - 1)


def _compared(group, first, others, figure, random):
    matrix = in_common([group.find(way) for way in (first, *others)], figure)
    if matrix is None:
        return None, UNMEASURED
    return estimate(matrix, _percent_above, random), f"{len(matrix)} rounds"


def _said(claims, group):
    return claims.get((group.object_bytes, group.security), (None, ""))


def _where(group):
    return f"{group.title}, {group.per_second}/s"


def _processor_rows(group, random):
    measured, note = _compared(group, NAIVE, (TCP_ALONE, SCTP_ALONE), "serverMs", random)
    if measured is not None:
        # Of the rounds that were compared.
        ways = [group.find(way) for way in (NAIVE, TCP_ALONE, SCTP_ALONE)]
        _, tcp, sctp = in_common(ways, "serverMs").mean(axis=0)
        note = f"dearer: {'TCP' if tcp >= sctp else 'SCTP'}; {note}"
    goal, anchor = _said(RACE_EXTRA, group)
    if measured is not None and measured.high < 0:
        # A race of P1's contains its dearer part, and cannot be cheaper.
        goal, note = None, f"cheaper than its dearer part alone: says nothing about P1's claim; {note}"
    yield Hypothesis(
        group="Server CPU of the naive race (P1, test cases 1 and 2)",
        name=f"race above the dearer protocol alone, {_where(group)}",
        unit="%",
        goal=goal,
        measured=measured,
        anchor=anchor,
        note=note,
    )


def _above_rows(group, random):
    """What racing adds to each of its parts; P1 gives no figures for these."""
    for name, way in (("TCP", TCP_ALONE), ("SCTP", SCTP_ALONE)):
        measured, note = _compared(group, NAIVE, (way,), "serverMs", random)
        title = f"race above {name} alone, {_where(group)}"
        yield Hypothesis("Server CPU of the naive race (P1, test cases 1 and 2)", title, "%", None, measured, "", note)


def _memory_rows(group, random):
    secured = group.security != "plain"
    for name, first, other, figure, goal, anchor in (
        (
            "server memory, race above TCP alone",
            NAIVE,
            TCP_ALONE,
            "serverPssBytes",
            ("below", 8) if secured else None,
            "P1 under 8 %" if secured else "P1 no significant increase",
        ),
        ("server memory, race above SCTP alone", NAIVE, SCTP_ALONE, "serverPssBytes", ("below", 0), "P1 always under SCTP"),
        ("network stack, race above TCP alone", NAIVE, TCP_ALONE, "networkBytes", None, ""),
        ("server memory, 80 % hits above TCP alone", cached("tcp", 0.8), TCP_ALONE, "serverPssBytes", None, "P1 equal"),
    ):
        if None in (group.find(first), group.find(other)):
            continue
        measured, note = _compared(group, first, (other,), figure, random)
        name = f"{name}, {_where(group)}"
        yield Hypothesis("Memory (P1, test cases 1 to 3)", name, "%", goal, measured, anchor, note)


def sweep_of(group, winner):
    """The hit ratios of that winner's cells, and a row for each round with all of them."""
    cells = [(share, group.find(cached(winner, share))) for share in HIT_SHARES]
    cells = [(share, summary) for share, summary in cells if summary is not None]
    if not {0, 0.8, 1} <= {share for share, _ in cells}:
        return None
    matrix = in_common([summary for _, summary in cells], "serverMs")
    return None if matrix is None else ([share for share, _ in cells], matrix)


def noise_of_means(matrix):
    """The variance of a cell's mean over the rounds, without the pace of the machine in a round, which its cells share."""
    rounds, cells = matrix.shape
    if rounds == 1:
        return 0.0
    paced = matrix * (matrix.mean() / matrix.mean(axis=1, keepdims=True))
    return float(((paced - paced.mean(axis=0)) ** 2).sum() / ((rounds - 1) * (cells - 1)) / rounds)


def _sweep_rows(group, winner, random):
    if group.find(cached(winner, 0.8)) is None:
        return
    sweep = sweep_of(group, winner)
    shares, matrix = sweep or ([], None)

    def row(name, figure_of, unit, goal=None, anchor=""):
        return Hypothesis(
            group="Server CPU over the hit ratio (P1, test case 3)",
            name=f"{name}, {WINNERS[winner]}, {_where(group)}",
            unit=unit,
            goal=goal,
            measured=None if matrix is None else estimate(matrix, figure_of, random),
            anchor=anchor,
            note=UNMEASURED if matrix is None else f"{len(matrix)} rounds",
        )

    def saved(means):
        return 100 * (1 - means[:, shares.index(0.8)] / means[:, 0])

    def r2(means):
        return r_squared(shares, means, noise_of_means(matrix))

    goal, anchor = _said(SAVED, group) if winner == "tcp" else (None, "")
    yield row("taken away at 80 % hits", saved, "%", goal, anchor)
    linear = row("R²", r2, "", ("at least", MIN_R2), "P1 linear")
    if matrix is not None:
        [noisy] = r_squared(shares, matrix.mean(axis=0))
        note = f"{linear.note}; {noisy:.3f} with their noise"
        linear = replace(linear, note=note, reason=shapeless(linear.measured))
    yield linear


def _beyond_rows(group, random):
    title = "Beyond P1: its future work"
    for name, first, others in (
        ("six candidates above TCP and SCTP over one family", SIX, (NAIVE,)),
        ("race behind a middlebox that drops SCTP, above TCP alone", MIDDLEBOX, (TCP_ALONE,)),
    ):
        if group.find(first) is None:
            continue
        measured, note = _compared(group, first, others, "serverMs", random)
        yield Hypothesis(title, f"server CPU, {name}, {_where(group)}", "%", None, measured, "", note)
        matrix = in_common([group.find(first), group.find(TCP_ALONE)], "doneMs")
        if matrix is not None:
            later = estimate(matrix, lambda means: means[:, 0] - means[:, 1], random)
            name = f"transaction time, {name.split(' above')[0].split(',')[0]}, above TCP alone, {_where(group)}"
            yield Hypothesis(title, name, "ms", None, later)


def hypotheses(run):
    """Every claim, of each object and security at its highest load; the race also at the others. All share one random
    stream, in this order."""
    unjudged = too_few(run.asked["seconds"])
    random = Mulberry32(run.meta["seed"])
    claims = []
    for group in run.groups:
        claims += _processor_rows(group, random)
        claims += _above_rows(group, random)
    for group in run.highest:
        claims += _memory_rows(group, random)
        for winner in WINNERS:
            claims += _sweep_rows(group, winner, random)
        claims += _beyond_rows(group, random)
    return [judge(claim, unjudged) for claim in claims]
