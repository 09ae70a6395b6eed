"""The figures of recorded runs match those of the laboratory's first analysis, a different program; and what small runs
cannot show is judged by the same rule."""

import json
import math
import re
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np

from . import adoption, adoption_claims, adoption_tables, avoidance, browsers, cost, cost_claims, link, load_pages, misses
from . import paths, plots
from .__main__ import EXPERIMENTS, read
from .estimates import Count, Estimate, Mulberry32, exactly, mean_estimate, percentile_estimate, ratio_of_shares, wilson
from .hypotheses import Hypothesis, any_missed, fixed, format_number, judge
from .load import least_squares, r_squared
from .page import render
from .tables import Column, Row, Table, format_markdown, format_table

FIXTURES = Path(__file__).parent / "fixtures"
# That program rounded the normal quantile to 1.959964, which is 2e-8 off; all else differs only by the order of sums.
TOLERANCE = 1e-7


def _plain(value):
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if hasattr(value, "__dataclass_fields__"):
        value = {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity"
    return value


def _tables(tables):
    return [
        {
            "id": table.id,
            "title": table.title,
            "caption": table.caption,
            "columns": [column.title for column in table.columns],
            "rows": [[row.scenario, *row.cells] for row in table.rows],
        }
        for table in tables
    ]


def _adoption(meta, lines):
    run = adoption.Run(meta, lines)
    return {
        "hypotheses": adoption_claims.hypotheses(run),
        "tables": _tables(adoption_tables.tables(run)),
        **adoption_tables.document(run),
        "told": misses.format_misses(run).split("\n"),
        "missing": adoption_tables.missing_clients(run),
    }


def _cost(meta, lines):
    run = cost.Run(meta, lines)
    [by_hits] = [load_pages.hit_lines(group) for group in run.groups if group[0].cell["objectBytes"] == 1024]
    shapes = []
    for winner, (points, _) in by_hits.items():
        x, y = [x for x, _ in points], [spread[0] for _, spread in points]
        slope, intercept, *_ = least_squares(x, y)
        found = {"slope": slope, "intercept": intercept, "r2": r_squared(x, y)}
        shapes.append({"winner": winner, **{name: float(each[0]) for name, each in found.items()}})
    return {
        "hypotheses": cost_claims.hypotheses(run),
        "tables": _tables(cost.tables(run)),
        "spreads": [
            {"scenario": each.cell["id"], **{name: each.spread(name) for name in cost.FIGURES}} for each in run.summaries
        ],
        "lines": shapes,
    }


def _paths(meta, lines):
    return {"rows": paths.by_row(paths.Run(meta, lines))}


def _link(_meta, lines):
    own = {kind: [line for line in lines if line["kind"] == kind] for kind in ("delay", "loss", "rate", "round-trip", "cpu")}
    texts = [
        # There, a direction is named in each line, not only in its first.
        format_table(table.columns, [[row.scenario, *row.cells] for row in table.rows]).split("\n")
        for table in link.tables(lines)
    ]
    return {
        "texts": texts,
        "outsideUs": [link.spread(line["aboveUs"]) for line in own["delay"]],
        "losses": [link.loss_of(line) for line in own["loss"]],
        "mbps": [link.mbps(line) for line in own["rate"]],
        "tookMs": [link.spread(line["tookMs"]) for line in sorted(own["round-trip"], key=lambda line: not line["cable"])],
        "shares": [line["usedMs"] / line["spanMs"] for line in own["cpu"]],
    }


class Golden(unittest.TestCase):
    def assert_same(self, found, expected, where):
        if isinstance(expected, (int, float)) and not isinstance(expected, bool):
            self.assertIsInstance(found, (int, float), where)
            self.assertLessEqual(abs(found - expected), TOLERANCE * max(1, abs(expected)), where)
        elif isinstance(expected, dict):
            self.assertEqual(set(found), set(expected), where)
            for key, each in expected.items():
                self.assert_same(found[key], each, f"{where}/{key}")
        elif isinstance(expected, list):
            self.assertEqual(len(found), len(expected), where)
            for index, each in enumerate(expected):
                self.assert_same(found[index], each, f"{where}/{index}")
        else:
            self.assertEqual(found, expected, where)

    def test_every_figure(self):
        for name, figures in (
            ("adoption", _adoption),
            ("adoption-made-up", _adoption),
            ("cost", _cost),
            ("link", _link),
            ("paths", _paths),
        ):
            with self.subTest(name):
                expected = json.loads((FIXTURES / name / "expected.json").read_text())
                self.assert_same(_plain(figures(*read(FIXTURES / name))), expected, name)

    def test_a_figure_that_differs_is_found(self):
        with self.assertRaises(AssertionError):
            self.assert_same({"mean": [1.0, 2.0]}, {"mean": [1.0, 2.000001]}, "")


class Records(unittest.TestCase):
    def test_the_documented_notebook_reads_a_record(self):
        document = (Path(__file__).parents[3] / "docs" / "laboratory.md").read_text()
        [notebook] = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
        without_client = notebook.replace('"client", ', "")
        self.assertNotEqual(notebook, without_client)
        for name, code in (
            ("adoption", notebook),
            ("paths", notebook),
            ("cost", without_client),
            ("p1-made-up", without_client),
        ):
            with self.subTest(name):
                with tempfile.NamedTemporaryFile() as record:
                    # With a line that was being written when the run was killed.
                    record.write((FIXTURES / name / "trials.jsonl").read_bytes() + b'{"kind":"turn","scen')
                    record.flush()
                    found = {}
                    exec(code.replace(".photofinish/lab/adoption/trials.jsonl", record.name), found)
                self.assertEqual(len(found["trials"]), sum(len(turn["trials"]) for turn in found["turns"]))

    def test_the_page_names_the_server_if_the_record_does(self):
        for name in ("adoption", "paths"):
            with self.subTest(name):
                meta, lines = read(FIXTURES / name)
                asked = {**meta["asked"], "served": {"caddy": "v0.1", "awake": False}}
                html = render(EXPERIMENTS[name]({**meta, "asked": asked}, lines)[-1])
                self.assertIn("Caddy v0.1", html)
                self.assertIn("may sleep between packets", html)

    def test_a_line_that_was_being_written_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            meta = {"schema": "photofinish.lab/1"}
            (Path(folder) / "meta.json").write_text(json.dumps(meta))
            (Path(folder) / "trials.jsonl").write_text('{"turn":0}\n{"tur')
            self.assertEqual(read(folder), (meta, [{"turn": 0}]))

    def test_what_no_experiment_has_written_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "meta.json").write_text('{"schema":"another"}')
            (Path(folder) / "trials.jsonl").write_text("")
            with self.assertRaisesRegex(ValueError, "not a record of"):
                read(folder)

    def test_what_is_damaged_is_told_by_file_and_line(self):
        with tempfile.TemporaryDirectory() as folder:
            meta, trials = (Path(folder) / name for name in ("meta.json", "trials.jsonl"))
            meta.write_text('{"schema":"photofinish.lab/1"}')
            for damaged in (b'{"turn":', b"\0\0", b"\xff"):
                trials.write_bytes(b'{"turn":0}\n' + damaged + b'\n{"turn":2}\n')
                with self.subTest(damaged), self.assertRaisesRegex(ValueError, f"^{re.escape(str(trials))}, line 2: "):
                    read(folder)
            meta.write_text("{")
            with self.assertRaisesRegex(ValueError, f"^{re.escape(str(meta))}: "):
                read(folder)

    def test_a_folder_without_a_record_is_told_in_words(self):
        with tempfile.TemporaryDirectory() as folder:
            for missing in (Path(folder), Path(folder) / "nowhere", Path(__file__)):
                with self.subTest(missing.name), self.assertRaisesRegex(ValueError, "^no recording in "):
                    read(missing)


class Estimates(unittest.TestCase):
    def test_chance_is_mulberry32_and_goes_on(self):
        random = Mulberry32(1)
        first = [*random.random(2), *random.random(1)]
        self.assertEqual(first, list(Mulberry32(1).random(3)))
        # From the published algorithm.
        self.assertEqual([int(each * 2**32) for each in first], [2693262067, 11749833, 2265367787])

    def test_values_that_agree_are_certain(self):
        for found in (mean_estimate([7, 7], Mulberry32(1)), percentile_estimate([7, 7], 0.95, Mulberry32(1))):
            self.assertEqual(found, exactly(7))

    def test_where_every_trial_agrees_a_share_ends_exactly(self):
        self.assertEqual(wilson(0, 10).low, 0)
        self.assertEqual(wilson(10, 10).high, 1)

    def test_a_ratio_needs_no_hits(self):
        self.assertEqual(ratio_of_shares(Count(0, 10), Count(0, 10))[1:], (0, math.inf))
        some = ratio_of_shares(Count(3, 10), Count(0, 10))
        self.assertEqual((some.value, some.high), (math.inf, math.inf))
        self.assertGreater(some.low, 0)


class Judging(unittest.TestCase):
    def verdict(self, goal, measured, too_few=""):
        return judge(Hypothesis("group", "name", goal=goal, measured=measured), too_few)

    def test_the_favourable_end_decides(self):
        at_most, at_least = ("at most", 2), ("at least", 2)
        self.assertEqual(self.verdict(at_most, Estimate(3, 2, 4)).verdict, "holds")
        self.assertEqual(self.verdict(("below", 2), Estimate(3, 2, 4)).verdict, "MISSED")
        self.assertEqual(self.verdict(at_most, Estimate(1, 0, 2)).verdict, "holds, whole interval")
        self.assertEqual(self.verdict(at_least, Estimate(1, 0, 2)).verdict, "holds")
        self.assertEqual(self.verdict(at_least, Estimate(1, 0, 1.9)).verdict, "MISSED")
        self.assertEqual(self.verdict(None, exactly(1)).verdict, "reported")
        self.assertEqual(self.verdict(at_most, None).verdict, "not measured")

    def test_too_few_trials_show_a_trend_and_miss_nothing(self):
        row = self.verdict(("at most", 2), exactly(3), "10 of 1000 trials")
        self.assertEqual((row.verdict, row.trend, row.reason), ("not judged", "missed", "10 of 1000 trials"))
        self.assertFalse(any_missed([row]))
        self.assertTrue(any_missed([self.verdict(("at most", 2), exactly(3))]))

    def test_numbers_as_people_write_them(self):
        written = {0.0: "0", 1234.5: "1235", 12.345: "12.35", 0.00012: "0", -0.00012: "0", -1.5: "−1.5", math.inf: "∞"}
        self.assertEqual({value: format_number(value) for value in written}, written)
        self.assertEqual([fixed(2.5, 0), fixed(0.125, 2), fixed(-0.0, 1)], ["3", "0.13", "0.0"])


class Misses(unittest.TestCase):
    def test_a_miss_is_told_with_the_link_of_its_own_turn(self):
        meta, lines = read(FIXTURES / "adoption")
        first = next(line for line in lines if line["kind"] == "turn" and line["client"] == "race")
        meta["asked"]["scenarios"] = [each for each in meta["asked"]["scenarios"] if each["id"] == first["scenario"]]

        def turn(number, adopted, late):
            report = {**first["link"]["up"], "lateUs": {"median": 10, "p99": late, "max": late}}
            trials = [{**first["trials"][0], "adopted": each} for each in adopted]
            return {**first, "turn": number, "trials": trials, "link": {"up": report, "down": report}}

        run = adoption.Run(meta, [turn(0, [*["h3"] * 7, "h2", "h3", "h3"], 1230), turn(1, ["h3", "h2"], 98760)])
        words = {miss["number"]: miss["words"] for miss in misses.misses_of_run(run)}
        self.assertEqual([*words], [8, 12])
        self.assertIn("link in this turn: 99 % of packets at most 1.23 ms late", words[8])
        self.assertIn("link in this turn: 99 % of packets at most 98.76 ms late", words[12])


class PathsLink(unittest.TestCase):
    def late(self, p99):
        report = {"lateUs": p99 and {"median": 10, "p99": p99, "max": p99}}
        return {"link": {"up": report, "down": {"lateUs": None}}}

    def test_its_lateness_is_that_of_every_turn_whatever_followed_a_resumption(self):
        meta, lines = read(FIXTURES / "paths")
        of_rows = paths.lateness_words(paths.Run(meta, lines))
        self.assertTrue(of_rows.endswith("of the worst row (of a resumed one, since then)"), of_rows)
        turns = [line for line in lines if line["kind"] == "turn"][:3]
        told = [{**turn, **self.late(p99)} for turn, p99 in zip(turns, (80, 9000, None))]
        end = {"kind": "link", "scenario": turns[0]["scenario"], **self.late(110)}
        of_turns = paths.lateness_words(paths.Run(meta, [*told, end]))
        self.assertEqual(of_turns, "9000 µs at the 99th percentile of the worst turn")


class SecondHandshake(unittest.TestCase):
    def rows(self, tls, tcp, naive=(2.9, 3.1)):
        def values(way):
            parts = {"tls": tls, "tcp": tcp}
            return np.array(parts[way["part"]] if way["kind"] == "part" else naive if way == cost.NAIVE else [1.9, 2.1])

        group = SimpleNamespace(object_bytes=1024, title="T", values=values)
        return [row.measured for row in cost_claims._handshake_rows(group, Mulberry32(1))]

    def test_its_uncertainty_is_in_what_is_left_without_it(self):
        (_, known), (_, vague) = self.rows([1.2] * 4, [0.2] * 4), self.rows([0.7, 0.7, 1.7, 1.7], [0.1, 0.1, 0.3, 0.3])
        self.assertAlmostEqual(known.value, 0)
        self.assertAlmostEqual(vague.value, 0)
        self.assertLess(known.high, cost_claims.P1_NAIVE_EXTRA[1024])
        self.assertGreater(vague.high, cost_claims.P1_NAIVE_EXTRA[1024])
        self.assertLess(vague.low, known.low)

    def test_samples_of_one_segment_are_no_independent_ones(self):
        def values(*segments):
            cell = {"perSecond": 1, "server": "own", "objectBytes": 1024, "way": cost.NAIVE, "postQuantum": True}
            lines = [
                {
                    "drive": {"why": []},
                    "trials": [{"requests": 1, "server": {"userMs": ms, "systemMs": 0}} for ms in segment],
                }
                for segment in segments
            ]
            return list(cost_claims._Group([cost.Summary(cell, lines)]).values(cost.NAIVE))

        self.assertEqual(values([1, 1, 2, 2], [3, 5]), [1.5, 4])
        self.assertEqual(values([1, 2, 3]), [])

    def test_it_needs_no_race(self):
        handshake, without = self.rows([1.2, 1.2], [0.2, 0.2], naive=[])
        self.assertAlmostEqual(handshake.value, 1)
        self.assertIsNone(without)


class Emulator(unittest.TestCase):
    def test_a_burst_is_a_run_of_numbers_that_did_not_arrive(self):
        self.assertEqual(link.mean_burst([]), 0)
        self.assertEqual(link.mean_burst([0, 1, 4, 5, 7]), 5 / 3)
        self.assertEqual(link.mean_burst(range(5)), 5)

    def test_bursts_have_the_stationary_share_of_their_two_states(self):
        self.assertEqual(link.asked_share({"kind": "bursts", "enter": 0.1, "leave": 0.3}), 0.25)
        self.assertEqual(link.asked_share({"kind": "bursts", "enter": 0, "leave": 0}), 0)


def _visit(delay, request, attempts, queries=()):
    protocol, family = request or (None, None)
    return {
        "delayMs": delay,
        "request": request and {"protocol": protocol, "family": family},
        "attempts": [
            {"transport": transport, "family": of, "atMs": at, "answeredMs": None} for transport, of, at in attempts
        ],
        "queries": [{"kind": kind, "atMs": 0, "answeredMs": at} for kind, at in queries],
    }


QUIC_THEN_TCP = [("udp", 4, 5), ("tcp", 4, 255)]


class Browsers(unittest.TestCase):
    def run_of(self, late, *trials):
        meta = json.loads((FIXTURES / "paths" / "meta.json").read_text())
        client = {"name": "b", "title": "B", "kind": "browser", "version": "1"}
        delays = sorted({trial["delayMs"] for trial in trials})
        sweep = {"name": "s", "title": "S", "late": late}
        asked = {"full": False, "trials": 1, "delaysMs": delays, "sweeps": [sweep], "ways": [], "clients": [client]}
        lines = [{"kind": "turn", "sweep": "s", "client": "b", "load": 1, "trials": [trial]} for trial in trials]
        return browsers.Run({**meta, "asked": asked, "found": {"versions": {}, "absent": []}}, lines)

    def cell(self, late, *trials):
        [cell] = self.run_of(late, *trials).cells
        return cell

    def test_a_client_waits_up_to_the_delay_before_the_first_at_which_most_visits_do_not(self):
        h3, h2 = ("h3", 4), ("h2", 4)
        asked = [(0, h3), (50, h3), (50, h3), (50, h2), (100, h3), (100, h2), (250, h3)]
        cell = self.cell("quic", *(_visit(delay, request, QUIC_THEN_TCP) for delay, request in asked))
        self.assertEqual((cell.up_to, cell.mixed), (50, [50, 100]))
        self.assertIsNone(self.cell("quic", _visit(0, h2, QUIC_THEN_TCP)).up_to)

    def test_the_gap_is_between_the_first_attempts_of_both(self):
        attempts = [*QUIC_THEN_TCP, ("tcp", 4, 900)]
        self.assertEqual(self.cell("quic", _visit(0, ("h2", 4), attempts)).gaps, [250])
        self.assertEqual(self.cell("quic", _visit(0, ("h3", 4), attempts[:1])).gaps, [])
        families = [("udp", 4, 0), ("tcp", 6, 10), ("tcp", 4, 310)]
        self.assertEqual(self.cell("ipv6", _visit(0, ("h2", 4), families)).gaps, [300])

    def test_an_answer_is_awaited_if_no_attempt_precedes_it(self):
        late = [("A", 1), ("AAAA", 500)]
        without = self.cell("AAAA", _visit(500, ("h2", 4), [("tcp", 4, 51)], late))
        self.assertEqual((without.up_to, without.gaps), (None, [51]))
        awaited = self.cell("AAAA", _visit(500, ("h2", 6), [("tcp", 6, 502)], late))
        self.assertEqual((awaited.up_to, awaited.gaps), (500, []))
        never = self.cell("AAAA", _visit(500, ("h2", 4), [("tcp", 4, 51)], [("AAAA", None)]))
        self.assertIsNone(never.up_to)

    def test_a_failed_visit_waited_for_nothing_and_stays_in_the_count(self):
        cell = self.cell("quic", _visit(0, None, [("udp", 4, 0)]), _visit(0, ("h3", 4), [("udp", 4, 0)]))
        self.assertEqual((cell.waits[0], cell.failed, cell.visits), ((1, 2), 1, 2))

    def test_its_tables_and_its_page_name_the_client_and_the_delay(self):
        run = self.run_of("quic", _visit(0, ("h3", 4), QUIC_THEN_TCP), _visit(50, ("h2", 4), QUIC_THEN_TCP))
        [table] = browsers.tables(run)
        self.assertEqual(table.rows[0].cells, ["1", "0", "–", "250 (250 to 250)", "2", "0"])
        self.assertIn("<td", render(browsers.page(run, [table])))


class Avoidance(unittest.TestCase):
    H2, H3 = ("h2", 4), ("h3", 4)
    TCP, QUIC = [("tcp", 4, 0)], [("udp", 4, 0), ("tcp", 4, 250)]

    def row(self, way, *visits):
        made = [{"startedMs": 1000 * at, **_visit(0, request, attempts)} for at, request, attempts in visits]
        client = {"name": "b", "title": "B", "kind": "browser", "version": "1"}
        asked = {"ways": [{"name": way, "title": way}], "clients": [client]}
        lines = [{"kind": "avoidance", "way": way, "turn": 0, "clients": [{"client": "b", "visits": made}]}]
        [table] = avoidance.tables(asked, lines)
        return table.rows[0].cells

    def test_quic_returned_between_two_visits_and_the_failing_visit_is_no_try(self):
        visits = [(0, self.H2, self.QUIC), (15, self.H2, self.TCP), (300, self.H2, self.QUIC), (315, self.H3, self.QUIC)]
        self.assertEqual(self.row("broken-once", *visits), ["1", "h2", "15 to 300", "300, 315", "300 to 315", "315"])

    def test_a_client_that_never_tried_again_says_for_how_long(self):
        visits = [(0, self.H2, self.QUIC), (15, self.H2, self.TCP), (600, self.H2, self.TCP)]
        self.assertEqual(self.row("broken-once", *visits), ["1", "h2", "–", "–", "–", "600"])

    def test_after_a_late_handshake_each_visit_has_its_protocol(self):
        visits = [(0, self.H2, self.QUIC), (3, self.H3, []), (5, None, self.QUIC)]
        self.assertEqual(self.row("late-quic", *visits), ["1", "h2", "h3", "–"])


class Markdown(unittest.TestCase):
    def test_a_cell_cannot_end_its_row(self):
        table = Table("t", "T", "", [Column("a"), Column("b", right=True)], [Row("x", ["1|2"])])
        self.assertEqual(format_markdown(table), "**T**\n\n| a | b |\n| --- | ---: |\n| x | 1&#124;2 |\n")


class Plots(unittest.TestCase):
    def test_a_plot_of_its_own_has_its_legend_and_every_colour_in_both_themes(self):
        look = plots.sign("h3", 0)
        estimate = Estimate(50, 40, 60)
        drawing = plots.points("p", "<a & b>", ["0"], ("x", "y"), [(look, [estimate])], ticks=[0, 100], width=200)
        clients = [(plots.legend(look, f"p-{nth}"), f"client <{nth}>") for nth in range(4)]
        text = plots.standalone(drawing, clients)
        root = ElementTree.fromstring(text)
        self.assertEqual(root.findtext("{http://www.w3.org/2000/svg}title"), "<a & b>")
        titles = [each for each in root.findall("{http://www.w3.org/2000/svg}text")]
        self.assertEqual([each.text for each in titles], [f"client <{nth}>" for nth in range(4)])
        # Wider than the plot, the legend is broken into lines, and the plot is below the last.
        self.assertEqual(len({each.get("y") for each in titles}), 4)
        self.assertGreater(float(root.get("height")), drawing.height + 4 * 20)
        used = set(re.findall(r"var\(--pf-(\w+)", text))
        light, dark = (set(re.findall(r"--pf-(\w+):", rules)) for rules in text.split("@media")[:2])
        self.assertLessEqual(used, light & dark)
        self.assertIn("h3", used)


class FullRun(unittest.TestCase):
    def test_a_thousand_trials_on_both_sides_are_judged(self):
        meta, lines = read(FIXTURES / "adoption")
        meta["asked"]["scenarios"] = [each for each in meta["asked"]["scenarios"] if each["id"] == "delay-50"]
        full = {**meta, "asked": {**meta["asked"], "full": True}}
        many = [{**line, "trials": line["trials"] * 100} if line["kind"] == "turn" else line for line in lines]
        rows = adoption_claims.hypotheses(adoption.Run(full, many))
        self.assertNotIn("not judged", {row.verdict for row in rows})
        self.assertTrue(any_missed(rows))
        usual = adoption_claims.hypotheses(adoption.Run(meta, many))
        self.assertEqual({row.reason for row in usual if row.goal}, {"not a --full run"})


if __name__ == "__main__":
    unittest.main()
