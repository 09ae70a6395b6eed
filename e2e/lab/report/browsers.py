"""A run of `browsers`: up to which delay each client waits for what is late, and when it begins its attempts, from packets
and from the server's log; the tables, and a page with a drawing of how many visits waited at each delay."""

from typing import NamedTuple

from . import plots
from .estimates import Count, median, percentile, wilson
from .hypotheses import fixed
from .page import HOW, Figure, Page, Section, conditions
from .tables import NONE, Column, Row, Table, right

ANSWERS = ("A", "AAAA", "HTTPS")
# What a client does that waits for the late one, as a heading.
WAITS = {"quic": "used HTTP/3", "ipv6": "used IPv6", **dict.fromkeys(ANSWERS, "awaited the answer")}
GAPS = {
    "quic": "TCP after QUIC, ms",
    "ipv6": "IPv4 after IPv6, ms",
    **dict.fromkeys(ANSWERS, "first attempt without it, ms"),
}


def _begin(trial, **wanted):
    """When the first such attempt began; None if there was none."""
    return next(
        (each["atMs"] for each in trial["attempts"] if all(each[key] == value for key, value in wanted.items())), None
    )


def waited(late, trial):
    """Whether the client waited for the late one: used that transport or family, or attempted nothing before the
    answer. A visit without a request did not."""
    request = trial["request"]
    if request is None:
        return False
    if late == "quic":
        return request["protocol"] == "h3"
    if late == "ipv6":
        return request["family"] == 6
    answers = [query["answeredMs"] for query in trial["queries"] if query["kind"] == late]
    first = _begin(trial)
    return first is not None and any(at is not None and at <= first for at in answers)


def gap(late, trial):
    """How long after the late candidate the other one was attempted, or for a late answer after the first query that
    the client did not wait for; None if that did not happen."""
    if late in ANSWERS:
        return None if waited(late, trial) else _begin(trial)
    first, other = ({"transport": "udp"}, {"transport": "tcp"}) if late == "quic" else ({"family": 6}, {"family": 4})
    if late == "ipv6":
        first, other = first | {"transport": "tcp"}, other | {"transport": "tcp"}
    at, after = _begin(trial, **first), _begin(trial, **other)
    return None if at is None or after is None else after - at


class Cell(NamedTuple):
    """One client in one sweep."""

    sweep: dict
    client: dict
    # By delay, ascending: in how many of the visits it waited.
    waits: dict[float, Count]
    gaps: list[float]
    failed: int

    @property
    def visits(self):
        return sum(count.of for count in self.waits.values())

    @property
    def up_to(self):
        """The longest delay up to which most visits waited at every delay; None if they did at none."""
        found = None
        for delay, count in self.waits.items():
            if 2 * count.hits <= count.of:
                break
            found = delay
        return found

    @property
    def mixed(self):
        """The delays at which some visits waited and others did not."""
        return [delay for delay, count in self.waits.items() if 0 < count.hits < count.of]


class Run:
    def __init__(self, meta, lines):
        self.meta, self.asked, self.found, self.lines = meta, meta["asked"], meta["found"], lines
        self.cells = [
            cell for sweep in self.asked["sweeps"] for client in self.asked["clients"] if (cell := self._cell(sweep, client))
        ]

    def _cell(self, sweep, client):
        own = [
            trial
            for line in self.lines
            if line["kind"] == "turn" and (line["sweep"], line["client"]) == (sweep["name"], client["name"])
            for trial in line["trials"]
        ]
        if not own:
            return None
        late = sweep["late"]
        waits = {}
        for delay in sorted({trial["delayMs"] for trial in own}):
            at = [waited(late, trial) for trial in own if trial["delayMs"] == delay]
            waits[delay] = Count(sum(at), len(at))
        gaps = [found for trial in own if (found := gap(late, trial)) is not None]
        return Cell(sweep, client, waits, gaps, sum(trial["request"] is None for trial in own))

    def of(self, sweep):
        return [cell for cell in self.cells if cell.sweep["name"] == sweep["name"]]

    @property
    def load(self):
        """The median and highest load of the machine at the end of a turn, per processor."""
        loads = [line["load"] / self.meta["machine"]["cores"] for line in self.lines if line["kind"] == "turn"]
        return (median(loads), max(loads)) if loads else None


def _delay(value):
    return NONE if value is None else f"{value:g}"


def _spread(gaps):
    if not gaps:
        return NONE
    low, middle, high = (fixed(percentile(gaps, share), 0) for share in (0.1, 0.5, 0.9))
    return f"{middle} ({low} to {high})"


def tables(run):
    found = []
    for sweep in run.asked["sweeps"]:
        late = sweep["late"]
        longest = max(run.asked["delaysMs"])
        rows = [
            Row(
                cell.client["title"],
                [
                    cell.client["version"],
                    f"all, {longest:g}" if cell.up_to == longest else _delay(cell.up_to),
                    ", ".join(f"{delay:g}" for delay in cell.mixed) or NONE,
                    _spread(cell.gaps),
                    str(cell.visits),
                    str(cell.failed),
                ],
                cell.client["kind"],
                cell.client["name"],
            )
            for cell in run.of(sweep)
        ]
        columns = [
            Column("client"),
            Column("version"),
            *right(f"{WAITS[late]} up to, ms", "both at, ms", GAPS[late], "visits", "failed"),
        ]
        caption = (
            "Up to: the longest delay at which, as at all shorter ones, most visits did. Gap: median, 10th and 90th"
            " percentile of the visits in which there was one."
        )
        found.append(Table(sweep["name"], sweep["title"], caption, columns, rows))
    return found


def figures(run):
    """Each client in each sweep at each delay, for further analysis."""
    return [
        {"sweep": cell.sweep["name"], "client": cell.client["name"], "delayMs": delay, "waited": count.hits, "of": count.of}
        for cell in run.cells
        for delay, count in cell.waits.items()
    ]


def _figure(run, sweep, signs):
    cells = run.of(sweep)
    delays = run.asked["delaysMs"]
    series = [
        (
            signs[cell.client["name"]],
            [wilson(*cell.waits[delay]).scaled(100) if delay in cell.waits else None for delay in delays],
        )
        for cell in cells
    ]
    name = f"waits-{sweep['name']}"
    drawing = plots.points(
        name,
        f"{sweep['title']}: how many visits {WAITS[sweep['late']]}, by delay.",
        [f"{delay:g}" for delay in delays],
        ("delay, ms", f"visits that {WAITS[sweep['late']]}"),
        series,
        ticks=list(range(0, 101, 20)),
        unit="%",
    )
    legend = [(plots.legend(signs[cell.client["name"]], f"{name}-of-{cell.client['name']}"), cell.client["title"]) for cell in cells]
    return Figure(sweep["title"], "Shares of all visits with 95 % Wilson intervals.", [drawing], legend)


def page(run, tables):
    signs = plots.signs((client["name"], client["kind"]) for client in run.asked["clients"])
    versions = {client["title"]: client["version"] for client in run.asked["clients"] if client["kind"] == "browser"}
    load = [] if run.load is None else [("Load per processor", "median {:.2f}, at most {:.2f}".format(*run.load))]
    absent = [client["title"] for client in run.found["absent"]]
    return Page(
        title="What browsers really do",
        lead="Which delay of QUIC, of IPv6 and of DNS answers clients wait for: by their packets and the server's log.",
        conditions=conditions(
            run.meta,
            ("Versions", ", ".join(f"{name} {each}" for name, each in {**run.found["versions"], **versions}.items())),
            ("Visits at each delay", str(run.asked["trials"])),
            *load,
        ),
        rows=[],
        sections=[
            *(
                Section(sweep["title"], figures=[_figure(run, sweep, signs)], tables=[table])
                for sweep, table in zip(run.asked["sweeps"], tables)
                if run.of(sweep)
            ),
            *(
                [Section("QUIC that fails", tables=[each for each in tables[len(run.asked["sweeps"]) :] if each.rows])]
                if run.asked["ways"]
                else []
            ),
            *([Section("Not measured", lists=[{"title": "Clients", "lines": absent}])] if absent else []),
        ],
        footer=[HOW],
    )
