"""A run of `cost`: cells from segments, the samples of all driven segments of a cell pooled, as P1 reports them; its
tables, and every sample as rows."""

from dataclasses import dataclass

import numpy as np

from .hypotheses import fixed, format_number
from .load import BYTES_PER_MIB, cached, driven_text, figure_text, kernel_bytes, spread_of, spread_text
from .tables import NONE, Column, Row, Table, right

SERVERS = {"caddy": "Caddy", "own": "own origin"}
WINNERS = {"h2": "HTTP/2 wins", "h3": "HTTP/3 wins", "half": "half and half"}

# HTTP/2 only, HTTP/3 only, and the naive race in which the old protocol wins (P1, test cases 1 and 2).
H2_ALONE, H3_ALONE, NAIVE = cached("h2", 1), cached("h3", 1), cached("h2", 0)


def _both(part):
    return lambda sample: sample[part]["userMs"] + sample[part]["systemMs"]


def _within(part, key):
    return lambda sample: sample[part] and sample[part][key]


# The figures of a sample; None if unavailable.
FIGURES = {
    "serverMs": lambda sample: _both("server")(sample) / sample["requests"],
    "serverUserMs": lambda sample: sample["server"]["userMs"] / sample["requests"],
    "serverSystemMs": lambda sample: sample["server"]["systemMs"] / sample["requests"],
    "clientMs": lambda sample: _both("client")(sample) / sample["requests"],
    "linkMs": lambda sample: _both("link")(sample) / sample["requests"],
    # As a share of one processor.
    "serverShare": lambda sample: _both("server")(sample) / (1000 * sample["seconds"]),
    "serverPssBytes": _within("serverMemory", "pssBytes"),
    "serverRssBytes": _within("serverMemory", "rssBytes"),
    "clientPssBytes": _within("clientMemory", "pssBytes"),
    "kernelBytes": kernel_bytes,
    "serverSockets": lambda sample: sample["serverSockets"]
    and sample["serverSockets"]["tcp"] + sample["serverSockets"]["udp"],
}


def _informative(segment):
    """Samples without a request carry no information."""
    return [sample for sample in segment["trials"] if sample["requests"] > 0]


def _figures(figure, samples):
    found = map(FIGURES[figure], samples)
    return np.array([value for value in found if value is not None], float)


@dataclass(frozen=True)
class Summary:
    """All driven segments of a cell, pooled."""

    cell: dict
    segments: list

    @property
    def driven(self):
        return [segment for segment in self.segments if not segment["drive"]["why"]]

    @property
    def samples(self):
        return [sample for segment in self.driven for sample in _informative(segment)]

    def values(self, figure):
        return _figures(figure, self.samples)

    def segment_means(self, figure):
        """Of the driven segments; those without the figure are left out."""
        found = (_figures(figure, _informative(segment)) for segment in self.driven)
        return np.array([values.mean() for values in found if len(values) > 0], float)

    def spread(self, figure):
        return spread_of(self.values(figure))


class Run:
    def __init__(self, meta, lines):
        self.meta, self.asked, self.found, self.lines = meta, meta["asked"], meta["found"], lines
        self.summaries = [
            Summary(cell, [line for line in lines if line["scenario"] == cell["id"]]) for cell in self.found["scenarios"]
        ]

    @property
    def groups(self):
        """The cells of each server and object."""
        groups = {}
        for summary in self.summaries:
            groups.setdefault((summary.cell["server"], summary.cell["objectBytes"]), []).append(summary)
        return list(groups.values())


def find(group, load, way):
    """The cell of a group with that load and what was requested, with our keys; None if there is none."""
    return next(
        (
            summary
            for summary in group
            if summary.cell["perSecond"] == load and summary.cell["postQuantum"] and summary.cell["way"] == way
        ),
        None,
    )


def group_title(cell):
    return f"{SERVERS[cell['server']]}, {cell['objectBytes'] / 1024:g} KiB"


def _way_title(way):
    if way["kind"] == "part":
        return "TCP and TLS, no request" if way["part"] == "tls" else "TCP alone"
    if way["kind"] == "near":
        return "race (10 ms), RTT 0" if way["mode"] == "race" else "HTTP/3 alone, RTT 0"
    winner, share = way["winner"], way["hitShare"]
    if share == 1 and winner != "half":
        return "HTTP/2 alone" if winner == "h2" else "HTTP/3 alone"
    return f"naive, {WINNERS[winner]}" if share == 0 else f"{100 * share:g} % hits, {WINNERS[winner]}"


def _cell_title(cell):
    title = _way_title(cell["way"]) + ("" if cell["postQuantum"] else ", classical keys")
    # Without line breaks: rows are found by their names.
    return title.replace(" ", "\u00a0")


def _median(summary, figure, scale=1):
    spread = summary.spread(figure)
    return NONE if spread is None else figure_text(spread[0] / scale)


def _drive_cells(summary):
    drives = [segment["drive"] for segment in summary.driven]
    late = [drive["lateP99Ms"] for drive in drives if drive["lateP99Ms"] is not None]
    races, won = (sum(segment["races"][key] for segment in summary.driven) for key in ("of", "h3"))
    return [
        format_number(max(late)) if late else NONE,
        fixed(100 * min(drive["idleShare"] for drive in drives), 0) if drives else NONE,
        fixed(100 * won / races, 1) if races else NONE,
        driven_text("segments", summary.segments, summary.driven),
    ]


def tables(run):
    where = [Column("server, object, load"), Column("requests")]

    def rows(cells):
        return [
            Row(
                f"{group_title(summary.cell)}, {summary.cell['perSecond']}/s",
                [_cell_title(summary.cell), *cells(summary)],
            )
            for summary in run.summaries
        ]

    undriven = [
        Row(
            f"{SERVERS[each['server']]}, {load['perSecond']}/s",
            ["all", NONE, NONE, NONE, f"not measured: {load['why']}"],
        )
        for each in run.found["loads"]
        for load in each["notDriven"]
    ]
    return [
        Table(
            id="processor",
            title="Processor time a request, ms",
            caption="Medians, in brackets the 10th and 90th percentile of the samples. Server: user and kernel time of"
            " its process. Receiving, up to the socket, is charged to the link, and TCP has more of it than QUIC.",
            columns=[*where, *right("server", "user", "kernel", "% of a core", "client", "link")],
            rows=rows(
                lambda summary: [
                    *(spread_text(summary, figure) for figure in ("serverMs", "serverUserMs", "serverSystemMs")),
                    _median(summary, "serverShare", 0.01),
                    _median(summary, "clientMs"),
                    _median(summary, "linkMs"),
                ]
            ),
        ),
        Table(
            id="memory",
            title="Memory, MiB",
            caption="Kernel: sockets' caches and buffers of the whole machine, both ends of each connection. Sockets: the"
            " server's, TCP and UDP.",
            columns=[*where, *right("server PSS", "server RSS", "client PSS", "kernel", "sockets")],
            rows=rows(
                lambda summary: [
                    *(
                        spread_text(summary, figure, BYTES_PER_MIB)
                        for figure in ("serverPssBytes", "serverRssBytes", "clientPssBytes", "kernelBytes")
                    ),
                    _median(summary, "serverSockets"),
                ]
            ),
        ),
        Table(
            id="drive",
            title="Whether the generator kept its schedule",
            caption="Late: 99th percentile of starts against the schedule, worst segment. Left: of all processors, least"
            " of the segments. HTTP/3: share of the races that it won. Segments that were not driven are in no other"
            " table.",
            columns=[*where, *right("late p99, ms", "left, %", "HTTP/3, %"), Column("driven")],
            rows=[*rows(_drive_cells), *undriven],
        ),
    ]


def samples(run):
    """A row for each sample of a driven segment, with figures in the units of their names."""
    keys = ("server", "objectBytes", "perSecond", "rttMs", "postQuantum")
    for summary in run.summaries:
        for sample in summary.samples:
            where = {key: summary.cell[key] for key in keys}
            figures = {name: figure(sample) for name, figure in FIGURES.items()}
            yield {"scenario": summary.cell["id"], **where, "requests": sample["requests"], **figures}
