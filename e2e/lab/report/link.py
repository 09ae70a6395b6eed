"""The link's behaviour during trials: configured and measured losses, and how late its packets were."""

from .estimates import wilson
from .hypotheses import fixed
from .tables import NONE, Column, Row, Table, right


def _accuracy_of(scenario, reports, direction):
    """The reports of several turns combined: counts added, lateness of the worst."""
    own = [report[direction] for report in reports]
    lost = sum(report["lost"] for report in own)
    packets = lost + sum(report["delivered"] for report in own)
    late = [report["lateUs"] for report in own if report["lateUs"] is not None]
    medians = sorted(each["median"] for each in late)
    shortest = [report["shortestUs"] for report in own if report["shortestUs"] is not None]
    return {
        "scenario": scenario["id"],
        "direction": direction,
        "packets": packets,
        "askedDelayMs": scenario["delayMs"] / 2,
        # The least time that any packet took; None without packets.
        "shortestMs": min(shortest) / 1000 if shortest else None,
        "askedLoss": scenario["loss"] if direction == "down" else 0,
        "gotLoss": wilson(lost, packets)._asdict() if packets else None,
        "overflowed": sum(report["overflowed"] for report in own),
        # Later than configured: the median turn's median, the worst turn's 99th percentile, the worst packet.
        "lateUs": {
            "median": medians[(len(medians) - 1) // 2],
            "p99": max(each["p99"] for each in late),
            "max": max(each["max"] for each in late),
        }
        if late
        else None,
    }


def accuracy(run):
    """Both directions of every scenario."""
    return [
        _accuracy_of(scenario, [report for _, report in run.links_of(scenario["id"])], direction)
        for scenario in run.asked["scenarios"]
        for direction in ("up", "down")
    ]


def _percent(share):
    return fixed(100 * share, 2)


def link_table(rows):
    """The emulator's behaviour in the meantime."""

    def cells(row):
        got, late = row["gotLoss"], row["lateUs"]
        return [
            "client to server" if row["direction"] == "up" else "server to client",
            str(row["packets"]),
            fixed(row["askedDelayMs"], 1),
            NONE if row["shortestMs"] is None else fixed(row["shortestMs"], 2),
            _percent(row["askedLoss"]),
            *([NONE] * 2 if got is None else [_percent(got["value"]), f"{_percent(got['low'])} to {_percent(got['high'])}"]),
            *([NONE] * 3 if late is None else [fixed(late[key] / 1000, 2) for key in ("median", "p99", "max")]),
        ]

    return Table(
        id="link",
        title="The link while the trials ran",
        caption="Late: how much later than asked packets were delivered, ms; the median turn, the worst turn, the worst"
        " packet. Loss in percent.",
        columns=[
            Column("cell"),
            Column("direction"),
            *right("packets", "delay asked, ms", "shortest got", "loss asked", "got", "95 %"),
            *right("late: median", "p99", "max"),
        ],
        rows=[Row(row["scenario"], cells(row)) for row in rows],
    )


def lateness_words(run, scenario, client, index):
    """The link's lateness, as text, during a client's trial with that index. Turns are of equal length if the trials
    divide evenly among them; otherwise the worst of all its turns is given, since the turn is not known."""
    turns = [report for name, report in run.links_of(scenario) if name == client]
    trials = len(run.trials_of(scenario, client))
    if not turns:
        return "the link reported nothing"
    even = trials % len(turns) == 0
    among = [turns[index * len(turns) // trials]] if even else turns

    def worst(which):
        late = [report[way]["lateUs"] for report in among for way in ("up", "down")]
        return f"{fixed(max(each[which] if each else 0 for each in late) / 1000, 2)} ms"

    when = "in this turn" if even else "in the worst of its turns"
    return f"link {when}: 99 % of packets at most {worst('p99')} late, the latest {worst('max')}"
