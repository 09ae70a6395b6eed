"""The page of a `p1` run: plots, claims and tables."""

from . import p1, p1_tables, plots
from .figures import BYTES_PER_MIB
from .hypotheses import by_group
from .load import HIT_SHARES, cached, least_squares
from .page import Figure, Page, Section
from .pages import HOW, JUDGING, conditions

LOOKS = {"tcp": plots.sign("h2", 1), "sctp": plots.sign("h3", 0), "half": plots.sign("h1", 2)}

USER_SPACE = (
    "SCTP runs in user space here (dcsctp), TCP in the kernel; in P1 both were in the kernel. Absolute processor times are"
    " therefore not comparable with P1's, and SCTP alone is dearer than there: what is compared is the ratio of the race to"
    " its dearer part. dcsctp also writes each packet as text for a log that nobody reads, which makes SCTP alone dearer"
    " still, above all at 35 KiB, and the race beside it cheaper than it is."
)


def _point(summary, figure, scale):
    spread = summary and summary.spread(figure)
    return spread and tuple(value / scale for value in spread)


def _by_load(groups, figure, title, scale=1):
    group = groups[0]
    series = []
    for name, look, way in (
        ("TCP alone", "tcp", p1.TCP_ALONE),
        ("SCTP alone", "sctp", p1.SCTP_ALONE),
        ("race", "half", p1.NAIVE),
    ):
        found = [(each.per_second, _point(each.find(way), figure, scale)) for each in groups]
        series.append((name, LOOKS[look], [(x, point) for x, point in found if point], None))
    name = f"load-{figure}-{group.object_bytes}-{group.security.replace('.', '')}"
    return plots.lines(name, f"{title} by load", series, ("requests a second", f"{group.title}: {title}"))


def _by_hits(group):
    series = []
    for winner, title in p1.WINNERS.items():
        found = [(100 * share, _point(group.find(cached(winner, share)), "serverMs", 1)) for share in HIT_SHARES]
        found = [(x, point) for x, point in found if point]
        fit = None
        if len(found) >= 2:
            slope, intercept, _ = least_squares([x for x, _ in found], [spread[0] for _, spread in found])
            fit = float(slope[0]), float(intercept[0])
        series.append((title, LOOKS[winner], found, fit))
    title = f"{group.title}, {group.per_second}/s: server CPU, ms a request"
    labels = "hit ratio, %; dashed: least squares", title
    name = f"hits-{group.object_bytes}-{group.security.replace('.', '')}"
    return plots.lines(name, "Server CPU over the hit ratio", series, labels)


def page(run, rows):
    note = "Points: medians; whiskers: 10th to 90th percentile of the turns."
    settings = {}
    for group in run.groups:
        settings.setdefault((group.object_bytes, group.security), []).append(group)
    swept = [group for group in run.highest if group.find(cached("tcp", 0.8)) is not None]
    figures = [
        ("Server CPU by load", [_by_load(own, "serverMs", "server CPU, ms a request") for own in settings.values()]),
        ("Server CPU over the hit ratio", [_by_hits(group) for group in swept]),
        ("Server memory by load", [_by_load(own, "serverPssBytes", "server PSS, MiB", BYTES_PER_MIB) for own in settings.values()]),
    ]
    loads = [
        (
            f"{each['objectBytes'] / 1024:g} KiB, {p1.SECURITIES[each['security']]}",
            f"{', '.join(map(str, each['driven']))} requests a second" if each["driven"] else "no load was driven",
        )
        for each in run.found["loads"]
    ]
    timers = ", ".join(f"{name} {value:g}" for name, value in run.found["timers"].items())
    return Page(
        title="What racing SCTP against TCP costs a server",
        lead="P1 with its own transports: requests at exponentially distributed gaps over a link with a round trip of 20"
        " ms, one connection each, TLS on the winner alone.",
        conditions=conditions(
            run.meta,
            ("Seconds a cell", str(run.asked["seconds"])),
            ("TCP's contender", run.asked["sctp"]),
            ("SCTP's timers", timers),
            *loads,
        ),
        rows=rows,
        sections=[
            Section("Plots", figures=[Figure(title, note, drawings) for title, drawings in figures if drawings]),
            Section(
                "Claims",
                [
                    *([] if run.asked["sctp"] == "sctp-kernel" else [USER_SPACE]),
                    JUDGING,
                ],
                hypotheses=by_group(rows),
            ),
            Section("Tables", tables=p1_tables.tables(run)),
        ],
        footer=[
            "P1: Papastergiou et al., On the Cost of Using Happy Eyeballs for Transport Protocol Selection, ANRW 2016.",
            HOW,
        ],
    )
