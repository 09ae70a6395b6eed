"""The plots of a page as SVG, inline and as files: colours of the page's theme, text as text, and clients distinguished
by shape and fill first, by colour second."""

import io
import math
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass
from html import escape

# Its cache of fonts belongs to the environment; otherwise it is put into the user's home.
os.environ.setdefault("MPLCONFIGDIR", os.path.join(sys.prefix, "matplotlib"))

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.ticker import FixedLocator, NullLocator

from .estimates import median
from .hypotheses import format_number, significant

# The palette in the light theme; in the drawing each colour is replaced by the custom property of that name.
INK, MUTED, LINE, PAPER = "#14181d", "#5b616a", "#dfe2e6", "#ffffff"
PROPERTIES = {
    INK: "ink",
    MUTED: "muted",
    LINE: "line",
    PAPER: "paper",
    "#007a5a": "h3",
    "#0062a3": "h2",
    "#b35900": "h1",
    "#63676e": "unknown",
}
PAINT = {name: colour for colour, name in PROPERTIES.items()}
# The same in the dark theme.
DARK = {
    "ink": "#eceef1",
    "muted": "#a3a8b0",
    "line": "#30353c",
    "paper": "#15181c",
    "h3": "#3ddcab",
    "h2": "#6bb8f5",
    "h1": "#ffb057",
    "unknown": "#a3a8b0",
}


def _properties(colours):
    return f":root {{ {' '.join(f'--pf-{name}: {colour};' for name, colour in colours.items())} }}"


# CSS for whatever contains a drawing.
PALETTE = f"{_properties(PAINT)} @media screen and (prefers-color-scheme: dark) {{ {_properties(DARK)} }}"
SHAPES = "os^DvP<>hpX*"
PX = 1 / 96

plt.rcParams.update(
    {
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 8.25,
        "text.color": MUTED,
        "axes.labelcolor": MUTED,
        "axes.edgecolor": MUTED,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "axes.grid.axis": "y",
        "grid.color": LINE,
        "grid.linewidth": 1,
        "axes.axisbelow": True,
    }
)


@dataclass(frozen=True)
class Drawing:
    """An SVG element; its size is in CSS pixels, and its name is that of its file."""

    name: str
    description: str
    width: float
    height: float
    markup: str


def sign(mark, nth):
    """The style of the nth client of a kind: `mark` is a colour of the palette, h3 solid, all others hollow."""
    paint = PAINT[mark]
    return {
        "marker": SHAPES[nth % len(SHAPES)],
        "color": paint,
        "markerfacecolor": paint if mark == "h3" else PAPER,
        "markeredgecolor": paint,
        "markersize": 6.5,
        "markeredgewidth": 1.3,
    }


MARKS = {"ours": "h3", "peer": "h2", "browser": "h1"}
# A cross represents no measured client: published figures.
PUBLISHED = {**sign("unknown", 0), "marker": "x"}


def signs(clients):
    """The sign of each client by name, including `paper`; a client is its name and its kind."""
    seen, found = Counter(), {"paper": PUBLISHED}
    for name, kind in clients:
        found[name] = sign(MARKS[kind], seen[kind])
        seen[kind] += 1
    return found


def legend(look, name):
    """A sign as a small drawing for a legend."""
    figure, axes = plt.subplots(figsize=(14 * PX, 14 * PX))
    axes.set_axis_off()
    axes.plot([0], [0], linestyle="", **look)
    return svg(figure, name, "").markup.replace('role="img" aria-label=""', 'aria-hidden="true"', 1)


def svg(figure, name, description):
    """The drawing with a text alternative; its inner ids begin with its name."""
    width, height = figure.get_size_inches() / PX
    plt.rcParams["svg.hashsalt"] = name
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(figure)
    drawing = text.getvalue()
    drawing = drawing[drawing.index("<svg ") :]
    drawing = re.sub(r'(id="|url\(#|href="#)', rf"\1{name}-", drawing)
    for colour, own in PROPERTIES.items():
        drawing = drawing.replace(f": {colour}", f": var(--pf-{own}, {colour})")
    markup = drawing.replace("<svg ", f'<svg class="plot" role="img" aria-label="{escape(description)}" ', 1)
    return Drawing(name, description, float(width), float(height), markup)


def standalone(drawing, legend):
    """The drawing as a file for a document: with its legend, which a page has beside it, a background, and the colours
    of both themes. `legend` are small drawings with their names."""
    margin, line = 12, 22
    x, y, signs = margin, margin, []
    for look, name in legend:
        # Nothing here measures text: a generous width of a character of this size.
        width = 20 + 7 * len(name)
        if x > margin and x + width > drawing.width:
            x, y = margin, y + line
        small = look.replace("<svg ", f'<svg x="{x}" y="{y}" ', 1)
        signs.append(f'{small}<text x="{x + 20}" y="{y + 11}">{escape(name)}</text>')
        x += width + 16
    top = y + line if legend else margin
    inner = drawing.markup.replace("<svg ", f'<svg x="{margin}" y="{top}" ', 1)
    size = f"{drawing.width + 2 * margin:g}", f"{top + drawing.height + margin:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{size[0]}"'
        f' height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" font-family="system-ui, sans-serif" font-size="12"'
        f' fill="var(--pf-ink)">\n<title>{escape(drawing.description)}</title>\n<style>{PALETTE}</style>\n'
        '<rect width="100%" height="100%" fill="var(--pf-paper)"/>\n'
        + "".join(f"{each}\n" for each in [*signs, inner])
        + "</svg>\n"
    )


def _axes(width, height):
    figure, axes = plt.subplots(figsize=(width * PX, height * PX), layout="constrained")
    axes.grid(True)
    return figure, axes


def points(name, description, settings, labels, series, *, ticks, unit="", reference=None, width=1056):
    """Estimates with their intervals for a few settings, side by side within a setting so that none hides another; a
    value beyond the last tick is an arrow with its figure. `series` are signs with an estimate or None for each
    setting, `labels` those of both axes."""
    figure, axes = _axes(width, 316)
    apart = min(15 / width * len(settings), 0.86 / max(1, len(series)))
    top = ticks[-1]
    for nth, (look, found) in enumerate(series):
        for setting, point in enumerate(found):
            if point is None or math.isnan(point.value):
                continue
            x = setting + apart * (nth - (len(series) - 1) / 2)
            if point.value > top:
                axes.plot([x], [top], marker=6, color=look["color"], clip_on=False)
                text = format_number(significant(point.value))
                axes.annotate(text, (x, top), (0, 8), textcoords="offset points", ha="center")
                continue
            ends = [[point.value - max(point.low, ticks[0])], [min(point.high, top) - point.value]]
            axes.errorbar([x], [point.value], [[max(0, end[0])] for end in ends], capsize=3, linestyle="", clip_on=False, **look)
    for setting, value in enumerate(reference or []):
        if value <= top:
            axes.hlines(value, setting - 0.48, setting + 0.48, color=INK, linestyle="--", linewidth=1.3)
    axes.set_xticks(range(len(settings)), settings)
    axes.set_yticks(ticks, [f"{format_number(tick)} {unit}".strip() for tick in ticks])
    axes.set_xlim(-0.5, len(settings) - 0.5)
    axes.set_ylim(ticks[0], top)
    axes.set_xlabel(labels[0])
    axes.set_title(labels[1], loc="left", fontsize=8.25, pad=16)
    return svg(figure, name, description)


def strips(name, description, rows, start, end, label, *, width=1056):
    """The distribution of times, one strip per client on a common logarithmic axis: it contains every trial, the median
    is marked and labelled, failed trials are counted at the end. A row is a title, a sign, the times of trials that did
    not fail, how many failed, and a mean if only that is known."""
    figure, axes = _axes(width, 52 + 23 * len(rows))
    axes.grid(False)
    axes.grid(True, axis="x")
    axes.set_xscale("log")
    axes.set_xlim(start, end)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    step = (end / start) ** (1 / 400)
    for y, (_, look, values, failed, mean) in enumerate(rows):
        axes.axhline(y, color=LINE, linewidth=1, zorder=0)
        if mean is not None:
            axes.plot([min(max(mean, start), end)], [y], linestyle="", **look)
            told = f"mean {format_number(mean)} ms"
        elif len(values) + failed == 0:
            told = "not told"
        else:
            bins = Counter(math.floor(math.log(min(max(value, start), end) / start, step)) for value in values)
            for bin, count in bins.items():
                # Heights are proportional to the square root, so that one trial in a thousand is visible.
                half = max(0.07, 0.41 * math.sqrt(count / max(bins.values())))
                axes.vlines(start * step ** (bin + 0.5), y - half, y + half, color=look["color"], linewidth=1.5)
            middle = median([*values, *[math.inf] * failed])
            if middle < math.inf:
                axes.vlines(max(middle, start), y - 0.47, y + 0.47, color=INK, linewidth=1.6)
            told = "most failed" if middle == math.inf else f"{format_number(significant(middle))} ms"
            told += f", {failed} failed" if failed else ""
        axes.annotate(told, (1, y), (8, 0), ("axes fraction", "data"), textcoords="offset points", va="center", color=INK)
    ticks = [tick for power in range(-1, 5) for tick in (10**power, 5 * 10**power) if start <= tick <= end]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([format_number(tick) for tick in ticks])
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"{label}, logarithmic; upright line and figure: median")
    return svg(figure, name, description)


def lines(name, description, series, labels, *, width=516):
    """Lines with a whisker from the 10th to the 90th percentile at each point. `series` are a title, a sign, points (x,
    (median, p10, p90)) and a dashed least-squares line (slope, intercept), or None to connect the points instead."""
    figure, axes = _axes(width, 300)
    every = sorted({x for _, _, found, _ in series for x, _ in found})
    apart = (every[-1] - min(0, every[0])) / 90 if every else 0
    for nth, (title, look, found, fit) in enumerate(series):
        if not found:
            continue
        aside = apart * (nth - (len(series) - 1) / 2)
        x = [at + aside for at, _ in found]
        y = [spread[0] for _, spread in found]
        ends = [[spread[0] - spread[1] for _, spread in found], [spread[2] - spread[0] for _, spread in found]]
        axes.errorbar(x, y, ends, capsize=3, linestyle="", label=title, **look)
        if fit is None:
            axes.plot(x, y, color=look["color"], linewidth=1.3)
        else:
            slope, intercept = fit
            axes.plot(x, [intercept + slope * at for at, _ in found], "--", color=look["color"], linewidth=1.3)
    axes.set_xticks(every, [format_number(value) for value in every])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(labels[0])
    axes.set_title(labels[1], loc="left", fontsize=8.25)
    if every:
        figure.legend(loc="outside upper left", ncols=3, frameon=False)
    return svg(figure, name, description)
