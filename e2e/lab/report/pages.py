"""The contents of each experiment's page: hypotheses, plots and tables."""

import math
from datetime import UTC, datetime

from . import adoption, adoption_tables, cost, cost_tables, misses, paths, plots
from .adoption import DEADLINE_MS, PAPER_TITLE, is_alt_svc
from .estimates import wilson
from .figures import BYTES_PER_MIB
from .hypotheses import by_group
from .load import HIT_SHARES, cached, least_squares
from .page import Figure, Page, Section

HOW = "How this was measured, and what may be wrong with it: docs/laboratory.md."
JUDGING = (
    'A hypothesis holds if the favourable end of the 95 % interval meets it; "whole interval" says that the unfavourable'
    " end does too."
)


def conditions(meta, *own):
    machine = meta["machine"]
    system = f"{machine['cpu']}, {machine['cores']} cores, {machine['memoryGiB']} GiB, {machine['system']}"
    begun = datetime.fromtimestamp(meta["startedAtMs"] / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return [("Begun", begun), ("Machine", system), *own, ("Seed", str(meta["seed"])), ("Build", meta["build"][:12])]


def _versions(*found):
    merged = {name: version for versions in found for name, version in versions.items()}
    return "Versions", ", ".join(f"{name} {version}" for name, version in merged.items())


def _legend(figure, clients, signs):
    return [(plots.legend(signs[name], f"{figure}-of-{name}"), title) for name, title in clients]


# Adoption.


def _clients(run, has=lambda client: True):
    """The paper and those clients, by name and title."""
    return [("paper", PAPER_TITLE), *((each["name"], each["title"]) for each in run.clients if has(each))]


def _adoption_by_loss(run, signs):
    def share(scenario, name):
        if name == "paper":
            adopted = adoption.paper_adopted(adoption.paper_row("race", scenario))
            found = adopted and wilson(*adopted)
        else:
            figures = run.find(scenario, name)
            found = figures and figures.adoption
        return found and found.scaled(100)

    clients = _clients(run, lambda client: not is_alt_svc(client))
    series = [(signs[name], [share(scenario, name) for scenario in run.losses]) for name, _ in clients]
    least = min([90, *(point.low for _, found in series for point in found if point)])
    drawing = plots.points(
        "adoption-by-loss",
        "Share of trials that adopted HTTP/3, by loss; the figures are in Table 3.",
        [adoption_tables.loss_text(scenario["loss"]) for scenario in run.losses],
        ("packets lost from server to client", "trials that adopted HTTP/3"),
        series,
        ticks=list(range(max(0, 10 * math.floor(least / 10)), 101, 10)),
        unit="%",
    )
    note = "Shares of all trials, failed ones included, with 95 % Wilson intervals. The same figures: Table 3."
    return Figure("Adoption by loss", note, [drawing], _legend("adoption-by-loss", clients, signs))


def _mean_by_delay(run, signs):
    def mean(scenario, name, over):
        if name == "paper":
            row = adoption.paper_row("race", scenario)
            found = row and adoption.paper_mean(row)
        else:
            figures = run.find(scenario, name)
            found = figures and figures.established and figures.established.mean
        return found and found.scaled(1, -over)

    delays = [scenario["delayMs"] for scenario in run.delays]

    def series(clients, beyond):
        return [
            (signs[name], [mean(scenario, name, scenario["delayMs"] if beyond else 0) for scenario in run.delays])
            for name, _ in clients
        ]

    everyone = [each for each in _clients(run) if any(mean(scenario, each[0], 0) for scenario in run.delays)]
    races = _clients(run, lambda client: not is_alt_svc(client) and client["kind"] != "browser")
    whole = series(everyone, beyond=False)
    slowest = max([100, *(point.value for _, found in whole for point in found if point)])
    shown = min(slowest, 3 * max(100, *delays))
    x = "the link's round trip d, ms"
    left = plots.points(
        "mean-by-delay",
        "Mean time to established, by delay. The figures are in Tables 1 and 2.",
        [str(delay) for delay in delays],
        (x, "mean time to established, ms; dashed: d"),
        whole,
        ticks=list(range(0, 100 * math.ceil(shown / 100) + 1, 100)),
        reference=delays,
        width=516,
    )
    right = plots.points(
        "mean-over-delay",
        "The same means less the delay, without Alt-Svc and browsers.",
        [str(delay) for delay in delays],
        (x, "mean less d, ms; dashed: the hypothesis, 2 ms"),
        series(races, beyond=True),
        ticks=[0, 2, 4, 6, 8, 10],
        reference=[2] * len(delays),
        width=516,
    )
    note = (
        "Left everyone who tells it, right what races take beyond the delay. 95 % intervals: bootstrap here, from the"
        " published deviation for the paper. An arrow is beyond the axis. The same figures: Tables 1 and 2."
    )
    return Figure("Mean time to established by delay", note, [left, right], _legend("mean-by-delay", everyone, signs))


def _distributions(run, signs, scenarios, note):
    found = []
    for scenario in scenarios:
        delay, rows = scenario["delayMs"], []
        for side, label in (("race", "race"), ("altSvc", "Alt-Svc")):
            paper = adoption.paper_row(side, scenario)
            if paper:
                rows.append((f"{PAPER_TITLE}, {label}", signs["paper"], [], 0, max(0, paper["meanMs"] - delay)))
        for client in run.clients:
            figures = run.find(scenario, client["name"])
            if figures:
                times = figures.trials["establishedMs"].dropna() if figures.established else []
                over = [max(0.0, float(time) - delay) for time in times]
                rows.append((figures.title, signs[client["name"]], over, figures.failed, None))
        if any(run.find(scenario, client["name"]) for client in run.clients):
            found.append((scenario, rows))
    slowest = max([0, *(max([*row[2], row[4] or 0]) for _, rows in found for row in rows if row[2] or row[4])])
    ends = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
    end = next((end for end in ends if end >= slowest), DEADLINE_MS)
    figures = []
    for scenario, rows in found:
        loss = f", {adoption_tables.loss_text(scenario['loss'])} loss" if scenario["loss"] > 0 else ""
        title = f"Round trip {scenario['delayMs']} ms{loss}"
        name = f"times-{scenario['id']}"
        drawing = plots.strips(name, f"{title}: every trial.", rows, 0.5, end, "ms over the round trip")
        figures.append(Figure(title, note, [drawing]))
    return figures


def adoption_page(run, rows):
    signs = plots.signs((client["name"], client["kind"]) for client in run.clients)
    trials = run.asked["trials"]
    comparisons = [_adoption_by_loss(run, signs)] if len(run.losses) > 1 else []
    comparisons += [_mean_by_delay(run, signs)] if len(run.delays) > 1 else []
    only_loss = [scenario for scenario in run.losses if scenario not in run.delays]
    missing = adoption_tables.missing_clients(run)
    *paper, link = adoption_tables.tables(run)
    return Page(
        title="Adoption of HTTP/3 and time to established, by delay and by loss",
        lead="Photofinish, the published figures and other clients, over the same emulated link in the same minutes.",
        conditions=conditions(
            run.meta,
            _versions(run.meta["machine"]["versions"], *(client["versions"] for client in run.clients)),
            (
                "Trials in a scenario",
                f"ours {trials['ours']}, peers {trials['peer']}, browsers {trials['browser']}",
            ),
            ("Hypotheses", "judged (--full)" if run.asked["full"] else "trends only"),
        ),
        rows=rows,
        sections=[
            Section("The emulator's accuracy", tables=[link]),
            Section(
                "Hypotheses",
                [
                    f"{JUDGING} With fewer than 1000 trials on either side, or without --full, nothing is judged and a"
                    " trend is given. P2 is the paper; the Go client follows the paper's published code and was measured"
                    " in the same minutes."
                ],
                hypotheses=by_group(rows),
            ),
            Section("Adoption and means", figures=comparisons),
            Section(
                "The paper's tables, with everyone beside",
                tables=paper,
                lists=[{"title": adoption_tables.MISSING_TITLE, "lines": missing}] if missing else [],
            ),
            Section(
                "Distribution of the time to established",
                figures=[
                    *_distributions(run, signs, run.delays, "The same figures: Tables 1 and 2."),
                    *_distributions(run, signs, only_loss, "The same figures: Tables 3 and 4."),
                ],
            ),
            Section(
                misses.TITLE,
                ["Times are milliseconds from the start of the trial; a dash: it did not come to that."],
                lists=[
                    {"title": each["title"], "lines": each["causes"] + each["lines"]} for each in misses.told_misses(run)
                ],
            ),
        ],
        footer=[adoption_tables.CITATION, HOW],
    )


# Paths.


def paths_page(run, rows_by_name):
    sections = []
    for name, rows in rows_by_name.items():
        groups = dict.fromkeys(row.group for row in rows)
        figures = []
        for nth, group in enumerate(groups):
            clients = run.drawn.get(group, [])
            if len(clients) < 2:
                continue
            signs = plots.signs((client.name, client.kind) for client, _ in clients)
            strips = []
            for client, times in clients:
                told = [float(time) for time in times if time < DEADLINE_MS]
                strips.append((client.label, signs[client.name], told, len(times) - len(told), None))
            drawing = plots.strips(f"plot-{name}-{nth}", f"{group}: every trial.", strips, 50, 10_000, "ms", width=760)
            figures.append(Figure(f"{group}: every trial", "The figures are in the table.", [drawing]))
        sections.append(Section(name, figures=figures, hypotheses=by_group(rows)))
    versions = [line["versions"] for line in run.lines if line["kind"] == "versions"]
    absent = [f"{line['title']}: {line['why']}" for line in run.absent.values()]
    return Page(
        title="Broken and lossy paths",
        lead="What a race costs where it matters most: UDP lost, refused or known to be lost, everything dead, first"
        " flights lost. Server: Caddy at its defaults.",
        conditions=conditions(
            run.meta,
            _versions(run.meta["machine"]["versions"], *versions),
            ("Trials", "those of --full" if run.asked["full"] else "the usual"),
            ("The link's lateness", paths.lateness_words(run)),
        ),
        rows=[row for rows in rows_by_name.values() for row in rows],
        sections=[*sections, *([Section("Not measured", lists=[{"title": "Clients", "lines": absent}])] if absent else [])],
        footer=[
            f"{JUDGING} A failed trial counts as 30 000 ms. Records do not say when an attempt failed: the time from a"
            " refusal to the start of TCP is derived from the round trip of TCP's connecting.",
            HOW,
        ],
    )


# Cost.

LOOKS = {"h2": plots.sign("h2", 1), "h3": plots.sign("h3", 0), "half": plots.sign("h1", 2)}


def _cell(group, load, way):
    return next(
        (
            summary
            for summary in group
            if summary.cell["perSecond"] == load and summary.cell["postQuantum"] and summary.cell["way"] == way
        ),
        None,
    )


def _points(group, figure, scale, cells):
    """The cells that have samples, each with its index."""
    found = []
    for x, load, way in cells:
        summary = _cell(group, load, way)
        spread = summary and summary.spread(figure)
        if spread:
            found.append((x, tuple(value / scale for value in spread)))
    return found


def _by_load(group, figure, title, scale=1):
    cell = group[0].cell
    loads = sorted({summary.cell["perSecond"] for summary in group})
    series = [
        (name, LOOKS[look], _points(group, figure, scale, [(load, load, way) for load in loads]), None)
        for name, look, way in (
            ("HTTP/2 alone", "h2", cost.H2_ALONE),
            ("HTTP/3 alone", "h3", cost.H3_ALONE),
            ("naive race", "half", cost.NAIVE),
        )
    ]
    name = f"load-{figure}-{cell['server']}-{cell['objectBytes']}"
    return plots.lines(name, f"{title} by load", series, ("requests a second", f"{cost.group_title(cell)}: {title}"))


def hit_lines(group):
    """Server CPU over the hit ratio in percent: each winner's points, and the least-squares line through medians."""
    highest = max(summary.cell["perSecond"] for summary in group)
    found = {}
    for winner in cost.WINNERS:
        cells = [(100 * share, highest, cached(winner, share)) for share in HIT_SHARES]
        points = _points(group, "serverMs", 1, cells)
        fit = None
        if len(points) >= 2:
            slope, intercept, _ = least_squares([x for x, _ in points], [spread[0] for _, spread in points])
            fit = float(slope[0]), float(intercept[0])
        found[winner] = points, fit
    return found


def _by_hits(group):
    cell = group[0].cell
    series = [(cost.WINNERS[winner], LOOKS[winner], *found) for winner, found in hit_lines(group).items()]
    title = f"{cost.group_title(cell)}: server CPU, ms a request"
    labels = "hit ratio, %; dashed: least squares", title
    return plots.lines(f"hits-{cell['server']}-{cell['objectBytes']}", "Server CPU over the hit ratio", series, labels)


def cost_page(run, rows):
    note = "Points: medians; whiskers: 10th to 90th percentile of the samples."
    pss = [_by_load(group, "serverPssBytes", "server PSS, MiB", BYTES_PER_MIB) for group in run.groups]
    figures = [
        ("Server CPU by load", [_by_load(group, "serverMs", "server CPU, ms a request") for group in run.groups]),
        ("Server CPU over the hit ratio", [_by_hits(group) for group in run.groups]),
        ("Server memory by load", pss),
    ]
    versions = {line["scenario"].split("-")[0]: line["serverVersion"] for line in run.lines}
    loads = [
        (
            f"{cost.SERVERS[each['server']]} {versions.get(each['server'], '')}".strip(),
            f"{', '.join(map(str, each['driven']))} requests a second" if each["driven"] else "no load was driven",
        )
        for each in run.found["loads"]
    ]
    return Page(
        title="What racing costs a server, and what a cache takes away",
        lead="Requests at exponentially distributed gaps from our own client, over a link with a round trip of 20 ms.",
        conditions=conditions(run.meta, ("Seconds a cell", str(run.asked["seconds"])), *loads),
        rows=rows,
        sections=[
            Section("Plots", figures=[Figure(title, note, drawings) for title, drawings in figures]),
            Section("Claims", [JUDGING], hypotheses=by_group(rows)),
            Section("Tables", tables=cost_tables.tables(run)),
        ],
        footer=[
            "P1: Papastergiou et al., On the Cost of Using Happy Eyeballs for Transport Protocol Selection, ANRW 2016.",
            HOW,
        ],
    )


# Link.


def link_page(meta, tables):
    netem = meta["found"]["netem"]
    return Page(
        title="How exact the emulated link is",
        lead="Delay, loss and rate asked and got, by the link itself and as programs at its ends see them.",
        conditions=conditions(meta, ("The kernel's netem", "there" if netem is None else netem)),
        rows=[],
        sections=[Section("Tables", tables=tables)],
        footer=[HOW],
    )
