"""The page of an `adoption` run: hypotheses, plots, the paper's tables with everyone beside, and misses."""

import math

from . import adoption, adoption_tables, misses, plots
from .adoption import DEADLINE_MS, PAPER_TITLE, is_alt_svc
from .estimates import wilson
from .hypotheses import by_group
from .page import HOW, JUDGING, Figure, Page, Section, conditions, served, versions_of


def _legend(figure, clients, signs):
    return [(plots.legend(signs[name], f"{figure}-of-{name}"), title) for name, title in clients]


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


def page(run, rows):
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
            versions_of(run.meta["machine"]["versions"], *(client["versions"] for client in run.clients)),
            *served(run.asked),
            ("Trials in a scenario", f"ours {trials['ours']}, peers {trials['peer']}, browsers {trials['browser']}"),
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
