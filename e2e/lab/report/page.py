"""The HTML page of a report: one self-contained file, for light and dark themes and for print."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import plots
from .hypotheses import COLUMNS, cells_of

HOW = "How this was measured, and what may be wrong with it: docs/laboratory.md."
JUDGING = (
    'A hypothesis holds if the favourable end of the 95 % interval meets it; "whole interval" says that the unfavourable'
    " end does too."
)


def conditions(meta, *own):
    machine = meta["machine"]
    system = f"{machine['cpu']}, {machine['cores']} cores, {machine['memoryGiB']} GiB, {machine['system']}"
    begun = datetime.fromtimestamp(meta["startedAtMs"] / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return [("Begun", begun), ("Machine", system), *own, ("Seed", str(meta["seed"])), ("Build", meta["build"][:12])]


def versions_of(*found):
    merged = {name: version for versions in found for name, version in versions.items()}
    return "Versions", ", ".join(f"{name} {version}" for name, version in merged.items())


def served(asked):
    """What earlier records lack: the server's version, and whether processors may have slept between packets."""
    found = asked.get("served")
    if found is None:
        return []
    awake = "kept out of idle states" if found["awake"] else "may sleep between packets: times contain their waking up"
    return [("Server", f"Caddy {found['caddy']}"), ("Processors", awake)]


SIGNS = {"holds": "✓", "holds, whole interval": "✓", "MISSED": "✗", "not judged": "○", "not measured": "–", "reported": ""}


@dataclass(frozen=True)
class Figure:
    title: str
    note: str
    drawings: list
    # Small drawings with their names.
    legend: list = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    title: str
    texts: list = field(default_factory=list)
    figures: list = field(default_factory=list)
    # Groups with their rows.
    hypotheses: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    # Dictionaries of a title and lines.
    lists: list = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    title: str
    lead: str
    # Names and values.
    conditions: list
    rows: list
    sections: list
    footer: list

    @property
    def counts(self):
        """How many hypotheses hold, are missed, and cannot be judged: the page's headline."""
        kinds = {"holds": "hold", "MISSED": "missed", "not judged": "not judged", "not measured": "not measured"}
        return [
            (sum(row.verdict.startswith(verdict) for row in self.rows), f"{SIGNS[verdict]} {words}")
            for verdict, words in kinds.items()
        ]


def _groups(rows):
    return [(scenario, list(own)) for scenario, own in groupby(rows, key=lambda row: row.scenario)]


def render(page):
    """The document; its policy forbids it to run or load anything, in case an escape is missing."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["groupby_order"] = _groups
    template = environment.get_template("page.html.j2")
    return template.render(page=page, palette=plots.PALETTE, columns=COLUMNS, cells_of=cells_of, verdict_signs=SIGNS)
