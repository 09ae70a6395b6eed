"""A run of `paths`: the cost of a race on broken and lossy paths, each row judged against its claim."""

import pandas as pd

from . import plots
from .adoption import DEADLINE_MS, times_of
from .estimates import Mulberry32, exactly, mean_estimate, median, percentile_estimate, wilson
from .hypotheses import Hypothesis, by_group, fixed, format_number, judge
from .page import HOW, JUDGING, Figure, Page, Section, conditions, served, versions_of

# Each figure gets its own stream from this, so that leaving one out changes no other.
SEED = 1
ROUND_TRIP_MS = 50

ESTIMATES = {
    "mean": lambda samples: mean_estimate(samples, Mulberry32(SEED)),
    "median": lambda samples: percentile_estimate(samples, 0.5, Mulberry32(SEED)),
    "p95": lambda samples: percentile_estimate(samples, 0.95, Mulberry32(SEED)),
    # Resampling says nothing about values beyond the sample, and a count is exact.
    "max": lambda samples: exactly(max(samples)),
    "total": lambda samples: exactly(sum(samples)),
}


def estimate(statistic, samples):
    """None without samples."""
    return ESTIMATES[statistic](list(samples)) if len(samples) > 0 else None


class Client:
    """All results of one client in one scenario, its trials in turn order."""

    def __init__(self, turns):
        first = turns[0]
        self.name, self.title, self.kind = first["client"], first["title"], first["clientKind"]
        ordered = sorted(turns, key=lambda turn: turn["turn"])
        self.trials = [trial for turn in ordered for trial in turn["trials"]]
        # The label of a strip in a drawing, which has little space.
        self.label = self.title.split(" (")[0]

    def each(self, key):
        return [trial[key] for trial in self.trials if trial.get(key) is not None]

    @property
    def times(self):
        frame = pd.DataFrame(self.trials).reindex(columns=["adopted", "establishedMs"])
        return times_of(frame, "establishedMs")


class Run:
    def __init__(self, meta, lines):
        self.meta, self.asked, self.lines = meta, meta["asked"], lines
        self.turns = [line for line in lines if line["kind"] == "turn"]
        self.absent = {line["client"]: line for line in lines if line["kind"] == "absent"}
        # The trials behind the drawings: the clients of each group with their times.
        self.drawn = {}

    def conditions(self, row):
        """The conditions in the row's scenarios, the part after the slash, in the order of measurement."""
        scenarios = dict.fromkeys(turn["scenario"] for turn in self.turns)
        return [name.partition("/")[2] for name in scenarios if name.partition("/")[0] == row]

    def clients(self, scenario, *order):
        """The clients measured there, in this order."""
        turns = [turn for turn in self.turns if turn["scenario"] == scenario]
        own = [[turn for turn in turns if turn["client"] == name] for name in order]
        return [Client(each) for each in own if each]

    def draw(self, group, client):
        self.drawn.setdefault(group, []).append((client, client.times))


def _figure(group, name, statistic, samples, unit="ms", goal=None, anchor="", note=""):
    return Hypothesis(group, name, unit, goal, estimate(statistic, samples), anchor, note)


def _anchor(clients, statistic, names):
    """The peers' figures of the same run: "here: NAME FIGURE, ...", with absent ones named."""

    def said(name):
        found = next((estimate(statistic, client.times) for client in clients if client.name == name), None)
        return f"{name} {format_number(found.value) if found else 'absent'}"

    return f"here: {', '.join(map(said, names))}"


def _adopted(run, group, client):
    """Adoption of HTTP/3 among all trials, mean and 95th percentile; failed trials count as the whole deadline."""
    of, failed = len(client.trials), sum(trial["adopted"] is None for trial in client.trials)
    hits = sum(trial["adopted"] == "h3" for trial in client.trials)
    note = f"{failed} of {of} failed" if failed else ""
    run.draw(group, client)
    share = wilson(hits, of).scaled(100)
    yield Hypothesis(group, f"{client.title}: adopted HTTP/3", "%", None, share, "", note)
    yield _figure(group, f"{client.title}: established, mean", "mean", client.times)
    yield _figure(group, f"{client.title}: established, p95", "p95", client.times)


def established(run, title):
    """The first flight to the server is lost: how soon each QUIC stack retransmits it."""
    # One round trip and the first probe time-out, 200 ms for an unknown host, otherwise the path's own.
    limits = {"h3": 255, "h3-known": 115, "h3-classic": 255, "h3-known-classic": 115}
    order = ("h3", "h3-known", "h3-known-one", "h3-classic", "h3-known-classic", "quinn", "go-h3")
    clients = run.clients("established", *order)
    anchor = _anchor(clients, "p95", ("quinn", "go-h3"))
    for client in clients:
        limit = limits.get(client.name)
        against = {"goal": ("at most", limit), "anchor": anchor} if limit else {}
        yield _figure(title, f"{client.title}: established, p95", "p95", client.times, **against)
        yield _figure(title, f"{client.title}: established, mean", "mean", client.times)
        run.draw(title, client)


def spurious(run, title):
    """Datagrams beyond the median at the shortest round trip, far below every first probe time-out."""
    needed = {}
    for condition in run.conditions("spurious"):
        for client in run.clients(f"spurious/{condition}", "h3", "h3-known", "quinn"):
            sent = client.each("datagramsSent")
            least = needed.setdefault(client.name, int(median(sent)) if sent else 0)
            extra = [count - least for count in sent]
            name = f"{client.title}: round trip {condition}"
            yield _figure(title, name, "mean", extra, unit="datagrams", note=f"{least} needed")


def black_hole(run, title):
    """How soon there is HTTP/2 to use, for an unknown host and for one whose path has just failed."""
    # The start delay, the handshakes of TCP and TLS 1.3, and an allowance for TLS processing.
    goal = ("at most", 10 + 2 * ROUND_TRIP_MS + 3)
    clients = run.clients("black-hole", "race", "race-known", "h2", "go-race", "curl")
    anchor = _anchor(clients, "median", ("go-race", "curl"))
    for client in clients:
        against = {"goal": goal, "anchor": anchor} if client.name == "race" else {}
        note = "the path died since: the longer head start is in this" if client.name == "race-known" else ""
        yield _figure(title, f"{client.title}, median", "median", client.times, note=note, **against)
        run.draw(title, client)


def refused(run, title):
    """TCP starts because of the refusal, whatever the start delay."""
    for delay in (10, 250, 500, 1000):
        for client in run.clients("refused", f"start-delay-{delay}"):
            yield _figure(
                title,
                f"{client.title}, median",
                "median",
                client.each("afterRefusalMs"),
                goal=("at most", 2),
                anchor="peers, to HTTP/2: row one-protocol",
                note="the start delay was over before the refusal came" if delay < ROUND_TRIP_MS else "",
            )


def known_broken(run, title):
    """It costs neither time compared with HTTP/2 alone, nor packets; by round, with a value of both sides in each."""
    sides = run.clients("known-broken", "known", "alone")
    if len(sides) < 2:
        return
    known, alone = sides
    ours, theirs = known.each("medianMs"), alone.each("medianMs")
    pairs = list(zip(ours, theirs))
    none = ("at most", 0)
    extra = [side - baseline for side, baseline in pairs]
    yield _figure(title, "beyond HTTP/2 alone, by round", "median", extra, goal=none)
    yield _figure(title, "to HTTP/2 alone, by round", "median", [side / baseline for side, baseline in pairs], "x")
    yield _figure(title, "HTTP/2 alone, median", "median", theirs)
    yield _figure(title, "UDP packets sent", "total", known.each("udpPackets"), "packets", goal=none)


def dead(run, title):
    """Both paths blocked: a race ends at its deadline."""
    for deadline in (1000, 3000):
        for client in run.clients("dead", f"deadline-{deadline}"):
            samples, anchor = client.each("beyondDeadlineMs"), "the paper's code waits for ever"
            name = f"{client.title}, median"
            yield _figure(title, name, "median", samples, goal=("at most", 10), anchor=anchor)
            yield _figure(title, f"{name}, not before it", "median", samples, goal=("at least", 0), anchor=anchor)
            yield _figure(title, f"{client.title}, worst", "max", samples, anchor=anchor)


def one_protocol(run, _title):
    """Servers that speak only one of the two protocols: the outcome of races."""
    for condition in run.conditions("one-protocol"):
        for client in run.clients(f"one-protocol/{condition}", "race", "go-race", "curl"):
            yield from _adopted(run, condition, client)


def scenarios(run, _title):
    """Reported without goals, since chance dominates the results."""
    for condition in run.conditions("scenarios"):
        for client in run.clients(f"scenarios/{condition}", "race", "race-known", "go-race"):
            yield from _adopted(run, condition, client)


def packets(run, title):
    """The cost of our ideas: QUIC datagrams that a race sends."""
    for condition in run.conditions("packets"):
        group = f"{title}, {condition}"
        order = ("race", "race-not-fresh", "race-known", "race-known-not-fresh")
        for client in run.clients(f"packets/{condition}", *order):
            name = f"{client.title}: datagrams sent, mean"
            yield _figure(group, name, "mean", client.each("datagramsSent"), unit="datagrams")
            yield from _adopted(run, group, client)


ROWS = {
    "established": established,
    "spurious": spurious,
    "black-hole": black_hole,
    "refused": refused,
    "known-broken": known_broken,
    "dead": dead,
    "one-protocol": one_protocol,
    "scenarios": scenarios,
    "packets": packets,
}


def by_row(run):
    """The figures of every row that has been measured, wholly or partly, judged."""
    measured = {turn["scenario"].partition("/")[0] for turn in run.turns}
    return {
        row["name"]: [judge(claim, row.get("tooFew", "")) for claim in ROWS[row["name"]](run, row["title"])]
        for row in run.asked["rows"]
        if row["name"] in measured
    }


def lateness_words(run):
    links = [line["link"][way]["lateUs"] for line in run.lines if "link" in line for way in ("up", "down")]
    worst = max([0, *(late["p99"] for late in links if late)])
    part = "turn" if any("link" in turn for turn in run.turns) else "row (of a resumed one, since then)"
    return f"{fixed(worst, 0)} µs at the 99th percentile of the worst {part}"


def page(run, rows_by_name):
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
            versions_of(run.meta["machine"]["versions"], *versions),
            *served(run.asked),
            ("Trials", "those of --full" if run.asked["full"] else "the usual"),
            ("The link's lateness", lateness_words(run)),
        ),
        rows=[row for rows in rows_by_name.values() for row in rows],
        sections=[*sections, *([Section("Not measured", lists=[{"title": "Clients", "lines": absent}])] if absent else [])],
        footer=[
            f"{JUDGING} A failed trial counts as 30 000 ms. Records do not say when an attempt failed: the time from a"
            " refusal to the start of TCP is derived from the round trip of TCP's connecting.",
            HOW,
        ],
    )
