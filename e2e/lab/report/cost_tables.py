"""The tables of a `cost` run, and every sample as rows."""

from .cost import FIGURES, SERVERS, WINNERS, group_title
from .figures import BYTES_PER_MIB, figure_text, spread_text
from .hypotheses import fixed, format_number
from .load import driven_text
from .tables import NONE, Column, Row, Table, right


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
            ["all", NONE, NONE, NONE, f"NOT DRIVEN: {load['why']}"],
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
