"""The accuracy of the emulated link: a record of `link`, by its own report and as programs at its ends see it, and the
link's behaviour during the trials of `adoption`, configured and measured losses and how late its packets were."""

from .estimates import percentile, wilson
from .hypotheses import fixed
from .page import HOW, Page, Section, conditions
from .tables import NONE, Column, Row, Table, right

WAYS = {"up": "client to server", "down": "server to client"}


def spread(values):
    return {"median": percentile(values, 0.5), "p99": percentile(values, 0.99), "max": percentile(values, 1)}


def _spread_cells(found, scale=1, digits=3):
    return [NONE] * 3 if found is None else [fixed(found[key] / scale, digits) for key in ("median", "p99", "max")]


def asked_share(loss):
    """The long-run loss rate; for bursts, their stationary share."""
    if loss["kind"] == "independent":
        return loss["share"]
    both = loss["enter"] + loss["leave"]
    return loss["enter"] / both if both else 0


def _independent_ones(loss, packets):
    """The effective sample size of a two-state chain for its share: the correlation from one packet to the next is 1 -
    enter - leave."""
    if loss["kind"] == "independent":
        return packets
    correlation = 1 - loss["enter"] - loss["leave"]
    return packets * (1 - correlation) / (1 + correlation)


def mean_burst(missed):
    """The mean run length of the numbers that did not arrive."""
    numbers = set(missed)
    bursts = sum(number - 1 not in numbers for number in numbers)
    return len(numbers) / bursts if bursts else 0


def loss_of(line):
    """The share that the link lost with its interval, losses of the machine, and the mean burst."""
    lost, delivered = line["link"]["lost"], line["link"]["delivered"]
    reached = lost + delivered
    of = _independent_ones(line["asked"], reached)
    missing = len(line["missed"]) - lost
    bursts = line["asked"]["kind"] == "bursts"
    return {
        "got": wilson(lost / reached * of, of),
        # If above zero, a busy machine's sockets lost them, and the bursts cannot be determined.
        "missing": missing,
        "burst": mean_burst(line["missed"]) if bursts and missing <= 0 else None,
    }


def _delays(lines):
    def cells(line):
        shortest = line["link"]["shortestUs"]
        return [
            str(line["askedMs"]),
            str(line["link"]["delivered"]),
            NONE if shortest is None else fixed(shortest / 1000, 3),
            *_spread_cells(line["link"]["lateUs"], 1000),
            *_spread_cells(spread(line["aboveUs"]), 1000),
        ]

    return Table(
        id="delay",
        title="Delay one way, ms",
        caption="Above what was asked: by the link itself, and between two programs.",
        columns=[
            Column("direction"),
            *right("delay asked, ms", "packets", "shortest stay, ms", "link late: median", "p99", "max"),
            *right("from outside: median", "p99", "max"),
        ],
        rows=[Row(WAYS[line["direction"]], cells(line)) for line in lines if line["kind"] == "delay"],
    )


def _percent(share):
    return fixed(100 * share, 2)


def _losses(lines):
    def cells(line):
        found, bursts = loss_of(line), line["asked"]["kind"] == "bursts"
        return [
            "in bursts" if bursts else "independent",
            _percent(asked_share(line["asked"])),
            str(line["sent"]),
            _percent(found["got"].value),
            f"{_percent(found['got'].low)} to {_percent(found['got'].high)}",
            fixed(1 / line["asked"]["leave"], 2) if bursts else NONE,
            NONE if found["burst"] is None else fixed(found["burst"], 2),
            str(found["missing"]),
        ]

    return Table(
        id="loss",
        title="Loss",
        caption="Missing: sent, not lost by the link, and not arrived either.",
        columns=[
            Column("direction"),
            Column("losses"),
            *right("asked, %", "sent", "got, %", "95 % interval", "burst asked", "got", "missing"),
        ],
        rows=[Row(WAYS[line["direction"]], cells(line)) for line in lines if line["kind"] == "loss"],
    )


def mbps(line):
    """Between the first and the last arrival."""
    return (line["packets"] - 1) * line["packetBits"] / line["tookUs"]


def _rates(lines):
    return Table(
        id="rate",
        title="Rate",
        caption="Of datagrams that are sent faster than that.",
        columns=[Column("direction"), *right("rate asked, Mbit/s", "got")],
        rows=[
            Row(WAYS[line["direction"]], [str(line["askedMbps"]), fixed(mbps(line), 3)])
            for line in lines
            if line["kind"] == "rate"
        ],
    )


def _round_trips(lines):
    own = [line for line in lines if line["kind"] == "round-trip"]
    bare = {line["by"]: spread(line["tookMs"])["median"] for line in own if line["cable"]}

    def cells(line):
        took = spread(line["tookMs"])
        above = took["median"] - line["askedMs"]
        cable = bare.get(line["by"])
        return [
            str(line["askedMs"]),
            *_spread_cells(took),
            fixed(above, 3),
            NONE if cable is None else fixed(above - cable, 3),
        ]

    return Table(
        id="round-trips",
        title="Round trips between two programs, ms",
        caption="A bare cable is the same without the link: what sockets and processes alone take.",
        columns=[
            Column("round trip by"),
            *right("asked, ms", "median", "p99", "max", "median above asked", "and above a bare cable"),
        ],
        rows=[Row(line["by"], cells(line)) for line in own if not line["cable"]],
    )


def _forwarder(lines):
    return Table(
        id="forwarder",
        title="The forwarder",
        caption="Its processor time.",
        columns=right("packets a second", "of a core, %"),
        rows=[
            Row(str(line["packetsPerSecond"]), [fixed(100 * line["usedMs"] / line["spanMs"], 1)])
            for line in lines
            if line["kind"] == "cpu"
        ],
    )


def tables(lines):
    return [make(lines) for make in (_delays, _losses, _rates, _round_trips, _forwarder)]


def page(meta, tables):
    netem = meta["found"]["netem"]
    return Page(
        title="How exact the emulated link is",
        lead="Delay, loss and rate asked and got, by the link itself and as programs at its ends see them.",
        conditions=conditions(meta, ("The kernel's netem", "there" if netem is None else netem)),
        rows=[],
        sections=[Section("Tables", tables=tables)],
        footer=[HOW],
    )


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
        _accuracy_of(scenario, run.links_of(scenario["id"]), direction)
        for scenario in run.asked["scenarios"]
        for direction in ("up", "down")
    ]


def link_table(rows):
    """The emulator's behaviour in the meantime."""

    def cells(row):
        got = row["gotLoss"]
        return [
            WAYS[row["direction"]],
            str(row["packets"]),
            fixed(row["askedDelayMs"], 1),
            NONE if row["shortestMs"] is None else fixed(row["shortestMs"], 2),
            _percent(row["askedLoss"]),
            *([NONE] * 2 if got is None else [_percent(got["value"]), f"{_percent(got['low'])} to {_percent(got['high'])}"]),
            *_spread_cells(row["lateUs"], 1000, 2),
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


def lateness_words(link):
    """The link's lateness during a turn, as text."""

    def worst(which):
        late = [link[way]["lateUs"] for way in ("up", "down")]
        return f"{fixed(max(each[which] if each else 0 for each in late) / 1000, 2)} ms"

    return f"link in this turn: 99 % of packets at most {worst('p99')} late, the latest {worst('max')}"
