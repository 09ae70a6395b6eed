"""`report DIR`: prints the results of the experiment recorded in the folder, and writes them there as HTML, JSON and
CSV, its tables as Markdown and its plots as SVG."""

import argparse
import json
import math
import shutil
import sys
from dataclasses import asdict, is_dataclass
from pathlib import Path

import pandas as pd

from . import adoption, adoption_claims, adoption_page, adoption_tables, avoidance, browsers, cost, cost_claims, link
from . import load_pages, misses, p1, p1_claims, paths, plots
from .hypotheses import any_missed, format_hypotheses
from .page import render
from .tables import format_markdown, format_result_table


SCHEMA = "photofinish.lab/1"


def _parse(content, where):
    try:
        return json.loads(content.decode())
    except json.JSONDecodeError as error:
        # Its own line counts from the start of this content.
        raise ValueError(f"{where}: {error.msg} (character {error.pos + 1})") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{where}: {error.reason} (byte {error.start + 1})") from error


def read(folder):
    """The meta document and the complete lines of a record. Raises ValueError for content that no experiment has
    written, with file and line, and if there is none."""
    meta_file, trials_file = (Path(folder) / name for name in ("meta.json", "trials.jsonl"))
    try:
        content, trials = meta_file.read_bytes(), trials_file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"no recording in {folder}") from None
    meta = _parse(content, meta_file)
    if meta.get("schema") != SCHEMA:
        raise ValueError(f"{folder}: not a record of {SCHEMA}")
    whole, _, _torn = trials.rpartition(b"\n")
    numbered = enumerate(whole.split(b"\n"), 1)
    return meta, [_parse(line, f"{trials_file}, line {number}") for number, line in numbered if line]


def _plain(value):
    """For JSON, which has neither infinity nor NaN: None represents an end that an interval does not have."""
    if is_dataclass(value):
        value = asdict(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _adoption(meta, lines):
    run = adoption.Run(meta, lines)
    rows = adoption_claims.hypotheses(run)
    *paper, own_link = adoption_tables.tables(run)
    missing = adoption_tables.missing_clients(run)
    text = [
        *(format_result_table(table) for table in paper if table.rows),
        adoption_tables.CITATION,
        *(["\n".join([adoption_tables.MISSING_TITLE, *missing])] if missing else []),
        format_result_table(own_link),
        misses.format_misses(run),
    ]
    tables = {"tables": [*paper, own_link], **adoption_tables.document(run)}
    figures = pd.json_normalize(_plain(tables["figures"]))
    frames = {"figures": figures, "trials": adoption_tables.trials(run)}
    return rows, text, tables, frames, adoption_page.page(run, rows)


def _cost(meta, lines):
    run = cost.Run(meta, lines)
    rows = cost_claims.hypotheses(run)
    tables = cost.tables(run)
    samples = pd.DataFrame(cost.samples(run))
    return rows, [*map(format_result_table, tables)], {"tables": tables}, {"samples": samples}, load_pages.cost_page(run, rows)


def _p1(meta, lines):
    run = p1.Run(meta, lines)
    rows = p1_claims.hypotheses(run)
    tables = p1.tables(run)
    frames = {"turns": pd.DataFrame(p1.turns(run))}
    return rows, [*map(format_result_table, tables)], {"tables": tables}, frames, load_pages.p1_page(run, rows)


def _paths(meta, lines):
    run = paths.Run(meta, lines)
    by_row = paths.by_row(run)
    rows = [row for own in by_row.values() for row in own]
    absent = [f"not measured: {line['title']}: {line['why']}" for line in run.absent.values()]
    return rows, absent, {"rows": by_row}, {}, paths.page(run, by_row)


def _browsers(meta, lines):
    run = browsers.Run(meta, lines)
    tables = [*browsers.tables(run), *avoidance.tables(run.asked, lines)]
    figures = browsers.figures(run)
    frames = {"figures": pd.DataFrame(figures)}
    text = [*map(format_result_table, tables)]
    return [], text, {"tables": tables, "figures": figures}, frames, browsers.page(run, tables)


def _link(meta, lines):
    tables = link.tables(lines)
    return [], [*map(format_result_table, tables)], {"tables": tables}, {}, link.page(meta, tables)


EXPERIMENTS = {"adoption": _adoption, "browsers": _browsers, "cost": _cost, "link": _link, "p1": _p1, "paths": _paths}


def report(folder):
    """Prints and writes the results of the record in the folder; returns its hypotheses."""
    meta, lines = read(folder)
    rows, text, document, frames, page = EXPERIMENTS[meta["experiment"]](meta, lines)
    print("\n\n".join([*text, *([format_hypotheses(rows)] if rows else [])]))
    if rows:
        frames["hypotheses"] = pd.json_normalize([_plain(row) for row in rows])
    files = {f"{name}.csv": frame.to_csv(index=False) for name, frame in frames.items()}
    if "tables" in document:
        files["tables.md"] = "\n".join(map(format_markdown, document["tables"]))
    whole = {"schema": "photofinish.lab-report/1", "meta": meta, "hypotheses": rows, **document}
    files["report.json"] = json.dumps(_plain(whole), indent=1, ensure_ascii=False) + "\n"
    files["report.html"] = render(page)
    for figure in (each for section in page.sections for each in section.figures):
        for drawing in figure.drawings:
            files[f"plots/{drawing.name}.svg"] = plots.standalone(drawing, figure.legend)
    # Those of an earlier report may be of clients that are not in this one.
    shutil.rmtree(folder / "plots", ignore_errors=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    print("\n" + "\n".join(str(folder / name) for name in files))
    return rows


def main():
    parser = argparse.ArgumentParser(prog="npm run lab -- report", description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path, help="with meta.json and trials.jsonl")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a hypothesis is missed")
    options = parser.parse_args()
    try:
        rows = report(options.folder)
    except (OSError, ValueError) as error:
        parser.exit(1, f"{error}\n")
    sys.exit(1 if options.strict and any_missed(rows) else 0)


if __name__ == "__main__":
    main()
