"""A run of `cost`: cells from segments, the samples of all driven segments of a cell pooled, as P1 reports them."""

from dataclasses import dataclass

import numpy as np

from .estimates import median, percentile
from .load import cached, kernel_bytes

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
        """Samples without a request carry no information."""
        return [sample for segment in self.driven for sample in segment["trials"] if sample["requests"] > 0]

    def values(self, figure):
        found = map(FIGURES[figure], self.samples)
        return np.array([value for value in found if value is not None], float)

    def spread(self, figure):
        """Median, 10th and 90th percentile; None without samples."""
        values = self.values(figure)
        return (median(values), percentile(values, 0.1), percentile(values, 0.9)) if len(values) else None


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


def group_title(cell):
    return f"{SERVERS[cell['server']]}, {cell['objectBytes'] / 1024:g} KiB"
