"""The pages of runs under load, `cost` and `p1`: plots over the load and over the hit ratio, claims and tables."""

from . import cost, p1, plots
from .hypotheses import by_group
from .load import BYTES_PER_MIB, HIT_SHARES, cached, least_squares
from .page import HOW, JUDGING, Figure, Page, Section, conditions

# The old protocol, the new one, and both at once; of winners, `half` is both in turn.
OLD, NEW, BOTH = plots.sign("h2", 1), plots.sign("h3", 0), plots.sign("h1", 2)
LOOKS = {"h2": OLD, "tcp": OLD, "h3": NEW, "sctp": NEW, "half": BOTH}

PAPER = "P1: Papastergiou et al., On the Cost of Using Happy Eyeballs for Transport Protocol Selection, ANRW 2016."
CPU, MEMORY = ("serverMs", "server CPU, ms a request", 1), ("serverPssBytes", "server PSS, MiB", BYTES_PER_MIB)

USER_SPACE = (
    "SCTP runs in user space here (dcsctp), TCP in the kernel; in P1 both were in the kernel. Absolute processor times are"
    " therefore not comparable with P1's, and SCTP alone is dearer than there: what is compared is the ratio of the race to"
    " its dearer part. dcsctp also writes each packet as text for a log that nobody reads, which makes SCTP alone dearer"
    " still, above all at 35 KiB, and the race beside it cheaper than it is."
)


def _points(cells, figure, scale=1):
    """Those of the cells that have samples, each with its place on the axis."""
    spreads = [(x, summary and summary.spread(figure)) for x, summary in cells]
    return [(x, tuple(value / scale for value in spread)) for x, spread in spreads if spread]


def _by_load(key, heading, measure, loads, find, ways):
    """`find` takes a load and one of the ways, which are names with looks and what was requested."""
    figure, title, scale = measure
    series = [
        (name, look, _points([(load, find(load, way)) for load in loads], figure, scale), None) for name, look, way in ways
    ]
    return plots.lines(f"load-{figure}-{key}", f"{title} by load", series, ("requests a second", f"{heading}: {title}"))


def _hit_lines(winners, find):
    """Server CPU over the hit ratio in percent: each winner's points, and the least-squares line through medians."""
    found = {}
    for winner in winners:
        points = _points([(100 * share, find(cached(winner, share))) for share in HIT_SHARES], "serverMs")
        fit = None
        if len(points) >= 2:
            slope, intercept, *_ = least_squares([x for x, _ in points], [spread[0] for _, spread in points])
            fit = float(slope[0]), float(intercept[0])
        found[winner] = points, fit
    return found


def _by_hits(key, heading, winners, found):
    series = [(winners[winner], LOOKS[winner], *line) for winner, line in found.items()]
    labels = "hit ratio, %; dashed: least squares", f"{heading}: server CPU, ms a request"
    return plots.lines(f"hits-{key}", "Server CPU over the hit ratio", series, labels)


def _driven(loads, title_of):
    """The loads that were driven, as conditions."""
    return [
        (
            title_of(each),
            f"{', '.join(map(str, each['driven']))} requests a second" if each["driven"] else "no load was driven",
        )
        for each in loads
    ]


def _page(run, rows, drawings, *, title, lead, own, parts, tables, claims=()):
    """`drawings` are those of processor time by load, of the same over the hit ratio, and of memory; `parts` are what a
    point is of."""
    titles = "Server CPU by load", "Server CPU over the hit ratio", "Server memory by load"
    note = f"Points: medians; whiskers: 10th to 90th percentile of the {parts}."
    return Page(
        title=title,
        lead=lead,
        conditions=conditions(run.meta, ("Seconds a cell", str(run.asked["seconds"])), *own),
        rows=rows,
        sections=[
            Section("Plots", figures=[Figure(title, note, drawn) for title, drawn in zip(titles, drawings) if drawn]),
            Section("Claims", [*claims, JUDGING], hypotheses=by_group(rows)),
            Section("Tables", tables=tables),
        ],
        footer=[PAPER, HOW],
    )


def hit_lines(group):
    """Those of a server and object of `cost`, at its highest load."""
    highest = max(summary.cell["perSecond"] for summary in group)
    return _hit_lines(cost.WINNERS, lambda way: cost.find(group, highest, way))


def cost_page(run, rows):
    ways = ("HTTP/2 alone", OLD, cost.H2_ALONE), ("HTTP/3 alone", NEW, cost.H3_ALONE), ("naive race", BOTH, cost.NAIVE)

    def key(group):
        return f"{group[0].cell['server']}-{group[0].cell['objectBytes']}"

    def by_load(group, measure):
        loads = sorted({summary.cell["perSecond"] for summary in group})
        heading = cost.group_title(group[0].cell)
        return _by_load(key(group), heading, measure, loads, lambda load, way: cost.find(group, load, way), ways)

    def by_hits(group):
        return _by_hits(key(group), cost.group_title(group[0].cell), cost.WINNERS, hit_lines(group))

    versions = {line["scenario"].split("-")[0]: line["serverVersion"] for line in run.lines}
    return _page(
        run,
        rows,
        (
            [by_load(group, CPU) for group in run.groups],
            [by_hits(group) for group in run.groups],
            [by_load(group, MEMORY) for group in run.groups],
        ),
        title="What racing costs a server, and what a cache takes away",
        lead="Requests at exponentially distributed gaps from our own client, over a link with a round trip of 20 ms.",
        own=_driven(
            run.found["loads"],
            lambda each: f"{cost.SERVERS[each['server']]} {versions.get(each['server'], '')}".strip(),
        ),
        parts="samples",
        tables=cost.tables(run),
    )


def p1_page(run, rows):
    ways = ("TCP alone", OLD, p1.TCP_ALONE), ("SCTP alone", NEW, p1.SCTP_ALONE), ("race", BOTH, p1.NAIVE)

    def key(group):
        return f"{group.object_bytes}-{group.security.replace('.', '')}"

    def by_load(groups, measure):
        at = {group.per_second: group for group in groups}
        return _by_load(key(groups[0]), groups[0].title, measure, at, lambda load, way: at[load].find(way), ways)

    def by_hits(group):
        heading = f"{group.title}, {group.per_second}/s"
        return _by_hits(key(group), heading, p1.WINNERS, _hit_lines(p1.WINNERS, group.find))

    settings = {}
    for group in run.groups:
        settings.setdefault((group.object_bytes, group.security), []).append(group)
    swept = [group for group in run.highest if any(group.find(cached(winner, 0.8)) for winner in p1.WINNERS)]
    timers = ", ".join(f"{name} {value:g}" for name, value in run.found["timers"].items())
    return _page(
        run,
        rows,
        (
            [by_load(own, CPU) for own in settings.values()],
            [by_hits(group) for group in swept],
            [by_load(own, MEMORY) for own in settings.values()],
        ),
        title="What racing SCTP against TCP costs a server",
        lead="P1 with its own transports: requests at exponentially distributed gaps over a link with a round trip of 20"
        " ms, one connection each, TLS on the winner alone.",
        own=[
            ("TCP's contender", run.asked["sctp"]),
            ("SCTP's timers", timers),
            *_driven(
                run.found["loads"],
                lambda each: f"{each['objectBytes'] / 1024:g} KiB, {p1.SECURITIES[each['security']]}",
            ),
        ],
        parts="turns",
        tables=p1.tables(run),
        claims=[] if run.asked["sctp"] == "sctp-kernel" else [USER_SPACE],
    )
