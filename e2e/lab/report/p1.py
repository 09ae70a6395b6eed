"""A run of `p1`: cells from turns. The cells of a group took turns of seconds in the same rounds, so that comparisons are
of rounds, not of pooled samples: what slows a whole round down cancels out. Its tables, and every turn as rows."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from .estimates import RESAMPLES, bootstrapped, exactly
from .load import BYTES_PER_MIB, cached, driven_text, kernel_bytes, spread_of, spread_text, suffices
from .tables import NONE, Column, Row, Table, right

WINNERS = {"tcp": "TCP wins", "sctp": "SCTP wins", "half": "half and half"}
SECURITIES = {"plain": "plain", "1.2": "TLS 1.2", "1.3": "TLS 1.3"}

# TCP alone, SCTP alone, and the naive race that TCP wins (P1, test cases 1 and 2).
TCP_ALONE, SCTP_ALONE, NAIVE = cached("tcp", 1), cached("sctp", 1), cached("tcp", 0)
SIX, MIDDLEBOX = {"kind": "six"}, {"kind": "middlebox"}


def _per_request(key):
    return lambda line: line["trials"][0][key] / line["trials"][0]["requests"]


def _median_of(times):
    return lambda line: line["load"][times] and line["load"][times]["median"]


# The figures of a turn; None if unavailable.
FIGURES = {
    **{key: _per_request(key) for key in ("serverMs", "serverUserMs", "serverSystemMs", "linkMs")},
    "serverPssBytes": lambda line: line["trials"][0]["serverPssBytes"],
    "networkBytes": lambda line: kernel_bytes(line["trials"][0]),
    **{key: _median_of(key) for key in ("establishedMs", "doneMs")},
}


@dataclass(frozen=True)
class Summary:
    """All turns of a cell."""

    cell: dict
    turns: list

    @property
    def driven(self):
        return [turn for turn in self.turns if not turn["drive"]["why"] and turn["trials"][0]["requests"] > 0]

    def by_round(self, figure):
        """Of the rounds in which it was driven."""
        found = ((turn["turn"], FIGURES[figure](turn)) for turn in self.driven)
        return {nth: value for nth, value in found if value is not None}

    def spread(self, figure):
        return spread_of(list(self.by_round(figure).values()))


def in_common(summaries, figure):
    """A row for each round in which all of these cells were driven, a column for each cell; None if such rounds are too
    few."""
    if not summaries or None in summaries:
        return None
    every = [summary.by_round(figure) for summary in summaries]
    rounds = sorted(set.intersection(*(set(each) for each in every)))
    if not suffices(len(rounds), max(len(summary.turns) for summary in summaries)):
        return None
    return np.array([[each[nth] for each in every] for nth in rounds])


def estimate(matrix, figure_of, random):
    """`figure_of` takes means, a row for each resample and a column for each cell. Rounds are resampled whole."""
    found = float(figure_of(matrix.mean(axis=0, keepdims=True))[0])
    count = len(matrix)
    if count == 1:
        return exactly(found)
    drawn = (random.random(RESAMPLES * count).reshape(RESAMPLES, count) * count).astype(int)
    return bootstrapped(found, figure_of(matrix[drawn].mean(axis=1)))


class Group:
    """The cells of one object, security and load."""

    def __init__(self, summaries):
        self.summaries = summaries
        cell = summaries[0].cell
        self.object_bytes, self.security, self.per_second = cell["objectBytes"], cell["security"], cell["perSecond"]
        self.title = f"{self.object_bytes / 1024:g} KiB, {SECURITIES[self.security]}"

    def find(self, way):
        return next((summary for summary in self.summaries if summary.cell["way"] == way), None)


class Run:
    def __init__(self, meta, lines):
        self.meta, self.asked, self.found = meta, meta["asked"], meta["found"]
        self.summaries = [
            Summary(cell, [line for line in lines if line["scenario"] == cell["id"]]) for cell in self.found["scenarios"]
        ]
        groups = defaultdict(list)
        for summary in self.summaries:
            groups[tuple(summary.cell[name] for name in ("objectBytes", "security", "perSecond"))].append(summary)
        self.groups = [Group(own) for own in groups.values()]

    @property
    def highest(self):
        """Of each object and security the group with the highest load."""
        last = {}
        for group in self.groups:
            key = group.object_bytes, group.security
            if key not in last or group.per_second > last[key].per_second:
                last[key] = group
        return list(last.values())


def _title(way):
    if way["kind"] == "six":
        return "race of six"
    if way["kind"] == "middlebox":
        return "race, SCTP dropped"
    winner, share = way["winner"], way["hitShare"]
    if share == 1 and winner != "half":
        return f"{winner.upper()} alone"
    return f"race, {WINNERS[winner]}" if share == 0 else f"{100 * share:g} % hits, {WINNERS[winner]}"


def _winners_text(summary):
    counts = Counter()
    for turn in summary.driven:
        for each in turn["load"]["winners"]:
            counts[each["transport"]] += each["all"]
    total = counts.total()
    return ", ".join(f"{name} {100 * count / total:.0f} %" for name, count in counts.items()) if total else NONE


def tables(run):
    def rows(cells):
        return [
            Row(
                f"{group.title}, {group.per_second}/s",
                [_title(summary.cell["way"]).replace(" ", "\u00a0"), *cells(summary)],
            )
            for group in run.groups
            for summary in group.summaries
        ]

    undriven = [
        Row(
            f"{each['objectBytes'] / 1024:g} KiB, {each['security']}, {load['perSecond']}/s",
            ["all", NONE, f"not measured: {load['why']}"],
        )
        for each in run.found["loads"]
        for load in each["notDriven"]
    ]
    where = [Column("object, security, load"), Column("requests")]
    return [
        Table(
            id="processor",
            title="Processor time of the server a request, ms",
            caption="Medians, in brackets the 10th and 90th percentile of the turns. User and kernel: in hundredths of a"
            " second a turn. Receiving, up to the socket, is charged to the link.",
            columns=[*where, *right("server", "user", "kernel", "link")],
            rows=rows(
                lambda summary: [
                    spread_text(summary, figure) for figure in ("serverMs", "serverUserMs", "serverSystemMs", "linkMs")
                ]
            ),
        ),
        Table(
            id="memory",
            title="Memory, MiB",
            caption="Network stack: sockets' caches and buffers of the whole kernel, both ends of each connection, in the"
            " middle of a turn.",
            columns=[*where, *right("server PSS", "network stack")],
            rows=rows(
                lambda summary: [spread_text(summary, figure, BYTES_PER_MIB) for figure in ("serverPssBytes", "networkBytes")]
            ),
        ),
        Table(
            id="times",
            title="Times of a request, ms",
            caption="Medians of the turns' medians. Established: the connection, without TLS.",
            columns=[*where, *right("established", "done")],
            rows=rows(lambda summary: [spread_text(summary, figure) for figure in ("establishedMs", "doneMs")]),
        ),
        Table(
            id="drive",
            title="Who won, and whether the generator kept its schedule",
            caption="Turns that were not driven are in no other table.",
            columns=[*where, Column("winners"), Column("driven")],
            # The reasons contain figures, which differ from turn to turn.
            rows=[
                *rows(lambda each: [_winners_text(each), driven_text("turns", each.turns, each.driven, most_reasons=2)]),
                *undriven,
            ],
        ),
    ]


def turns(run):
    """A row for each driven turn, with figures in the units of their names."""
    for summary in run.summaries:
        where = {key: summary.cell[key] for key in ("objectBytes", "security", "perSecond")}
        for turn in summary.driven:
            figures = {name: figure(turn) for name, figure in FIGURES.items()}
            yield {"scenario": summary.cell["id"], **where, "round": turn["turn"], **figures}
