"""The results of an `adoption` run by scenario and client, computed in one place so that tables, hypotheses, plots and
files agree; and P2's published figures."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from .estimates import Count, Estimate, Mulberry32, Z_95, mean_estimate, median, percentile_estimate, wilson

# The papers' procedure allows a connection this long before it has failed; a failed trial enters every mean as this.
DEADLINE_MS = 30_000
# Ours, whose misses are explained: first contact and known host.
RACES = ("race", "race-known")
GO_RACE, ALT_SVC = "go-race", "alt-svc"

PAPER = json.loads((Path(__file__).parent / "paper.json").read_text())
PAPER_TITLE = "P2, the paper"
PAPER_TRIALS = 1000


def paper_row(side, scenario):
    """The paper's figures for a scenario, if it has any."""
    where = scenario["delayMs"], scenario["loss"]
    return next((row for row in PAPER[side] if (row["delayMs"], row["loss"]) == where), None)


def paper_adopted(row):
    """How many of the paper's trials adopted HTTP/3; its percentages have one decimal and give this exactly."""
    return None if row is None or row["adoption"] is None else Count(round(row["adoption"] * PAPER_TRIALS), PAPER_TRIALS)


def paper_mean(row):
    """With the normal 95 % interval from its standard deviation over 1000 trials; the paper gives none."""
    half = Z_95 * row["sigmaMs"] / math.sqrt(PAPER_TRIALS)
    return Estimate(row["meanMs"], row["meanMs"] - half, row["meanMs"] + half)


def times_of(trials, key):
    """The times of all trials in milliseconds, a failed one as the deadline. A missing response is a failure too, if
    other trials of this client have one. Connections used without a reported establishment time are left out: for a
    client that never reports times the result is empty."""
    failed = trials["adopted"].isna()
    if not failed.all() and trials.loc[~failed, key].isna().all():
        return np.array([])
    times = trials[key].astype(float).mask(failed, DEADLINE_MS)
    return (times.fillna(DEADLINE_MS) if key == "firstByteMs" else times.dropna()).to_numpy()


def is_alt_svc(client):
    return ALT_SVC in client["name"]


def on_side(side, client):
    """All clients race except those by Alt-Svc; browsers learn of HTTP/3 by Alt-Svc and are on both sides."""
    return not is_alt_svc(client) if side == "race" else is_alt_svc(client) or client["kind"] == "browser"


@dataclass(frozen=True)
class Times:
    """Milliseconds; a failed trial counts as the deadline."""

    n: int
    mean: Estimate
    sigma_ms: float
    median_ms: float
    p95: Estimate
    max_ms: float

    @classmethod
    def of(cls, trials, key, seed):
        """None if the client does not report it."""
        values = np.sort(times_of(trials, key))
        if len(values) == 0:
            return None
        return cls(
            n=len(values),
            mean=mean_estimate(values, Mulberry32(seed)),
            sigma_ms=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
            median_ms=median(values),
            p95=percentile_estimate(values, 0.95, Mulberry32(seed)),
            max_ms=float(values[-1]),
        )


@dataclass(frozen=True)
class Figures:
    """The results of one client's trials in one scenario."""

    scenario: dict
    client: dict
    trials: pd.DataFrame
    # Whether it crashed here: it has fewer trials than requested, and those of the turn in which it crashed are lost.
    broke_off: bool
    # Trials that continued over HTTP/3, out of all, including failed ones.
    adopted: Count
    failed: int
    established: Times | None
    first_byte: Times | None

    @property
    def adoption(self):
        return wilson(*self.adopted)

    @property
    def misses(self):
        return Count(self.adopted.of - self.adopted.hits, self.adopted.of)

    @property
    def title(self):
        return f"{self.client['title']} (crashed)" if self.broke_off else self.client["title"]


def table_order(clients):
    """In the order of the run, but each client that knows the host right after its first contact."""
    names = {client["name"] for client in clients}

    def is_second(name):
        return re.match(r"(race|alt-svc)-known", name) is not None and name.replace("-known", "", 1) in names

    ordered = []
    for first in clients:
        if is_second(first["name"]):
            continue
        known = re.sub(r"^(race|alt-svc)", r"\1-known", first["name"])
        ordered += [first, *(each for each in clients if is_second(each["name"]) and each["name"] == known)]
    return ordered


class Run:
    """A record with all figures computed from it."""

    def __init__(self, meta, lines):
        self.meta, self.asked, self.lines = meta, meta["asked"], lines
        self.absent = meta["found"]["absent"]
        self.clients = table_order(self.asked["clients"])
        turns = [line for line in lines if line["kind"] == "turn"]
        columns = ["adopted", "establishedMs", "firstByteMs", "datagramsSent", "error", "trace"]
        self.trials = pd.json_normalize(turns, "trials", ["scenario", "client", "turn"], max_level=0)
        self.trials = self.trials.reindex(columns=["scenario", "client", "turn", *columns])
        # The link's report of each turn, in order.
        self.links = {(turn["scenario"], turn["client"], turn["turn"]): turn["link"] for turn in turns}
        # Only if the latest line about the client says that it crashed.
        last = {(line["scenario"], line["client"]): line for line in lines}
        self.crashed = {key: line["error"] for key, line in last.items() if line["kind"] == "crash"}
        self._figures = {}
        for scenario in self.asked["scenarios"]:
            for client in self.clients:
                own = self.trials_of(scenario["id"], client["name"])
                if len(own) > 0:
                    self._figures[scenario["id"], client["name"]] = self._figures_of(scenario, client, own)

    def trials_of(self, scenario, client):
        own = self.trials[(self.trials["scenario"] == scenario) & (self.trials["client"] == client)]
        return own.reset_index(drop=True)

    def links_of(self, scenario):
        """A report for each turn, in order."""
        return [link for (where, *_), link in self.links.items() if where == scenario]

    def _figures_of(self, scenario, client, trials):
        seed = self.meta["seed"]
        return Figures(
            scenario=scenario,
            client=client,
            trials=trials,
            broke_off=(scenario["id"], client["name"]) in self.crashed,
            adopted=Count(int((trials["adopted"] == "h3").sum()), len(trials)),
            failed=int(trials["adopted"].isna().sum()),
            established=Times.of(trials, "establishedMs", seed),
            first_byte=Times.of(trials, "firstByteMs", seed),
        )

    @property
    def figures(self):
        return list(self._figures.values())

    def find(self, scenario, client):
        return self._figures.get((scenario["id"], client))

    def whole(self, scenario, client):
        """The figures of a client that did not crash: those comparable with others without a remark."""
        figures = self.find(scenario, client)
        return None if figures is None or figures.broke_off else figures

    @property
    def delays(self):
        """P2's first sweep."""
        return sorted((each for each in self.asked["scenarios"] if each["loss"] == 0), key=lambda each: each["delayMs"])

    @property
    def losses(self):
        """P2's second sweep, without delay, followed by scenarios with both."""
        own = [each for each in self.asked["scenarios"] if each["loss"] > 0 or each["delayMs"] == 0]
        return sorted(own, key=lambda each: (each["delayMs"], each["loss"]))
