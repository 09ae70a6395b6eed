"""The tables of a `p1` run, and every turn as rows."""

from .figures import BYTES_PER_MIB, spread_text
from .load import driven_text
from .p1 import FIGURES, WINNERS
from .tables import NONE, Column, Row, Table, right


def _title(way):
    if way["kind"] == "six":
        return "race of six"
    if way["kind"] == "middlebox":
        return "race, SCTP dropped"
    winner, share = way["winner"], way["hitShare"]
    if share == 1 and winner != "half":
        return f"{winner.upper()} alone"
    return f"race, {WINNERS[winner]}" if share == 0 else f"{100 * share:g} % hits, {WINNERS[winner]}"


def _driven_text(summary):
    # The reasons contain figures, which differ from turn to turn.
    return driven_text("turns", summary.turns, summary.driven, most_reasons=2)


def _winners_text(summary):
    counts = {}
    for turn in summary.driven:
        for each in turn["load"]["winners"]:
            counts[each["transport"]] = counts.get(each["transport"], 0) + each["all"]
    total = sum(counts.values())
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
            ["all", NONE, f"NOT DRIVEN: {load['why']}"],
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
            rows=[*rows(lambda summary: [_winners_text(summary), _driven_text(summary)]), *undriven],
        ),
    ]


def turns(run):
    """A row for each driven turn, with figures in the units of their names."""
    for summary in run.summaries:
        where = {key: summary.cell[key] for key in ("objectBytes", "security", "perSecond")}
        for turn in summary.driven:
            figures = {name: figure(turn) for name, figure in FIGURES.items()}
            yield {"scenario": summary.cell["id"], **where, "round": turn["turn"], **figures}
