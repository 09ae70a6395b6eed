"""P2's four tables with our, the paper's and every peer's rows, and the run as a document."""

from .adoption import PAPER_TITLE, PAPER_TRIALS, on_side, paper_adopted, paper_row
from .estimates import wilson
from .hypotheses import fixed
from .link import accuracy, link_table
from .misses import cause_of, known, misses_of_run
from .tables import NONE, Column, Row, Table, right

CITATION = 'P2: "Happy Eyeballs for HTTP/3", MDPI, 2022, Tables 1 to 4 (1000 trials a cell, loss from server to client).'
# Over the lines of `missing_clients`.
MISSING_TITLE = "Not in the tables, or not with all of their trials"


def ms(value):
    return fixed(value, 1 if value < 10_000 else 0)


def percent(share, digits=1):
    return fixed(100 * share, digits)


def _shares(estimate):
    return [percent(estimate.value), f"{percent(estimate.low)} to {percent(estimate.high)}"]


def loss_text(loss):
    return f"{100 * loss:.3g} %"


FIGURE_COLUMNS = [
    Column("client"),
    *right("trials", "HTTP/3 %", "95 %", "failed", "mean", "95 %", "sigma", "median", "p95", "max", "first byte"),
]


def _figure_cells(figures):
    times = figures.established
    told = (
        [NONE] * 6
        if times is None
        else [
            ms(times.mean.value),
            f"{ms(times.mean.low)} to {ms(times.mean.high)}",
            *map(ms, (times.sigma_ms, times.median_ms, times.p95.value, times.max_ms)),
        ]
    )
    first_byte = NONE if figures.first_byte is None else ms(figures.first_byte.mean.value)
    trials, failed = str(figures.adopted.of), str(figures.failed)
    return [figures.title, trials, *_shares(figures.adoption), failed, *told, first_byte]


def _paper_cells(row):
    if row is None:
        return [PAPER_TITLE]
    adopted = paper_adopted(row)
    shares = _shares(wilson(*adopted)) if adopted else [NONE, NONE]
    most = NONE if row["maxMs"] is None else ms(row["maxMs"])
    figures = [NONE, ms(row["meanMs"]), NONE, ms(row["sigmaMs"]), NONE, NONE, most, NONE]
    return [PAPER_TITLE, str(PAPER_TRIALS), *shares, *figures]


def paper_tables(run):
    """P2's Tables 1 to 4."""

    def table(number, title, sweep, side, caption):
        rows = []
        for scenario in run.delays if sweep == "delay" else run.losses:
            delay, loss = scenario["delayMs"], loss_text(scenario["loss"])
            text = f"{delay} ms" if sweep == "delay" else loss if delay == 0 else f"{loss}, {delay} ms"
            rows.append(Row(text, _paper_cells(paper_row(side, scenario)), "paper", "paper"))
            for client in run.clients:
                if on_side(side, client):
                    figures = run.find(scenario, client["name"])
                    cells = [client["title"]] if figures is None else _figure_cells(figures)
                    rows.append(Row(text, cells, client["kind"], client["name"]))
        return Table(
            id=f"table-{number}",
            title=f"Table {number}. {title}",
            caption=f"{caption} Times are milliseconds to established; a failed trial counts as 30,000.",
            columns=[Column(sweep), *FIGURE_COLUMNS],
            rows=[row._replace(cells=row.cells + [NONE] * (len(FIGURE_COLUMNS) - len(row.cells))) for row in rows],
        )

    first_used = "The time of the first connection that could be used."
    return [
        table(1, "Race, by external round trip", "delay", "race", "No loss; half of the delay in each direction."),
        table(2, "Alt-Svc, by external round trip", "delay", "altSvc", first_used),
        table(3, "Race, by loss from server to client", "loss", "race", "Independent losses, no delay."),
        table(
            4,
            "Alt-Svc, by loss from server to client",
            "loss",
            "altSvc",
            "At 50 % the paper could not complete its trials.",
        ),
    ]


def tables(run):
    return [*paper_tables(run), link_table(accuracy(run))]


def missing_clients(run):
    """One line for each client missing from the tables, wholly, partly or with fewer trials, with the reason."""
    order = [each["id"] for each in run.asked["scenarios"]]
    crashed = [
        f"{name}: crashed in {scenario} after {len(run.trials_of(scenario, name))} trials: {error}"
        for (scenario, name), error in sorted(run.crashed.items(), key=lambda item: order.index(item[0][0]))
    ]
    return [*(f"{each['title']}: {each['why']}" for each in run.absent), *crashed]


def trials(run):
    """A row for each trial, numbered from 1; the cause of a miss if our client recorded it."""
    table = run.trials.drop(columns="trace")
    table.insert(3, "trial", table.groupby(["scenario", "client"]).cumcount() + 1)
    causes = [
        cause_of(known(adopted), trace) if known(trace) else ""
        for adopted, trace in zip(run.trials["adopted"], run.trials["trace"])
    ]
    return table.assign(cause=causes)


def document(run):
    """The figures by scenario and client, the link's reports, and every miss."""

    def times(summary):
        return summary and {
            "n": summary.n,
            "meanMs": summary.mean._asdict(),
            "sigmaMs": summary.sigma_ms,
            "medianMs": summary.median_ms,
            "p95Ms": summary.p95._asdict(),
            "maxMs": summary.max_ms,
        }

    return {
        "figures": [
            {
                "scenario": each.scenario["id"],
                "client": each.client["name"],
                "trials": each.adopted.of,
                "adopted": each.adopted.hits,
                "failed": each.failed,
                "adoption": each.adoption._asdict(),
                "established": times(each.established),
                "firstByte": times(each.first_byte),
            }
            for each in run.figures
        ],
        "link": accuracy(run),
        "misses": misses_of_run(run),
    }
