"""Made-up turns of `p1` whose machine is up to half again as slow in some rounds: what is compared within rounds does not
show that."""

import copy
import unittest
from pathlib import Path

from . import p1, p1_claims
from .__main__ import read
from .estimates import Mulberry32
from .hypotheses import any_missed
from .load_pages import p1_page
from .page import render
from .tables import NONE

FIXTURE = Path(__file__).parent / "fixtures" / "p1-made-up"


class P1(unittest.TestCase):
    def setUp(self):
        self.meta, self.lines = read(FIXTURE)
        self.run_of_four = p1.Run(self.meta, self.lines)

    def row(self, beginning, run=None):
        [found] = [row for row in p1_claims.hypotheses(run or self.run_of_four) if row.name.startswith(beginning)]
        return found

    def assert_exact(self, row, value):
        for end in row.measured:
            self.assertAlmostEqual(end, value, 4, row.name)

    def test_slow_rounds_cancel_out(self):
        self.assert_exact(self.row("race above the dearer"), 30)
        self.assert_exact(self.row("race above TCP"), 160)
        self.assert_exact(self.row("taken away at 80 % hits, TCP wins"), 100 * (1 - 0.132 / 0.26))
        self.assert_exact(self.row("R², TCP wins"), 1)
        self.assert_exact(self.row("server CPU, six candidates"), 50)
        self.assert_exact(self.row("server CPU, race behind a middlebox"), 0)

    def test_the_dearer_protocol_is_named(self):
        self.assertEqual(self.row("race above the dearer").note, "dearer: SCTP; 4 rounds")

    def test_a_race_cheaper_than_its_part_says_nothing_about_the_claim(self):
        lines = copy.deepcopy(self.lines)
        for line in lines:
            if line["scenario"].endswith("sctp-hit100"):
                line["trials"][0]["serverMs"] *= 2
        row = self.row("race above the dearer", p1.Run(self.meta, lines))
        self.assert_exact(row, -35)
        self.assertEqual((row.goal, row.verdict), (None, "reported"))
        self.assertIn("says nothing", row.note)

    def test_memory_is_compared_with_both(self):
        self.assert_exact(self.row("server memory, race above TCP"), 5)
        self.assertLess(self.row("server memory, race above SCTP").measured.high, 0)
        self.assertEqual(self.row("server memory, race above TCP").goal, None, "P1's limit is TLS's")

    def test_a_round_in_which_a_cell_was_not_driven_is_left_out_of_its_comparisons(self):
        self.assertTrue(self.row("R², TCP wins").note.startswith("3 rounds;"))
        self.assertEqual(self.row("race above TCP").note, "4 rounds")

    def test_what_was_driven_in_fewer_than_half_of_the_rounds_is_not_compared(self):
        def alone_driven_in(rounds):
            lines = copy.deepcopy(self.lines)
            for line in lines:
                if line["scenario"].endswith("tcp-hit100") and line["turn"] not in rounds:
                    line["drive"]["why"] = ["starts late"]
            return self.row("race above TCP", p1.Run(self.meta, lines))

        first, second = sorted({line["turn"] for line in self.lines})[:2]
        self.assertEqual(alone_driven_in({first, second}).note, "2 rounds")
        one = alone_driven_in({first})
        self.assertEqual((one.measured, one.verdict, one.note), (None, "not measured", p1_claims.UNMEASURED))

    def test_a_cell_off_the_line_is_told(self):
        lines = copy.deepcopy(self.lines)
        for line in lines:
            if line["scenario"].endswith("tcp-hit20"):
                line["trials"][0]["serverMs"] *= 1.5
        row = self.row("R², TCP wins", p1.Run(self.meta, lines))
        self.assertLess(row.measured.high, p1_claims.MIN_R2)
        self.assertEqual(row.trend, "missed")

    def test_noise_of_the_turns_does_not_bend_a_line(self):
        def with_noise(share):
            random = Mulberry32(3)
            lines = copy.deepcopy(self.lines)
            for line in lines:
                line["drive"]["why"] = []
                [noise] = random.random(1) - 0.5
                line["trials"][0]["serverMs"] *= 1 + share * noise
            return self.row("R², TCP wins", p1.Run(self.meta, lines))

        some, much = with_noise(0.7), with_noise(4)
        noisy = float(some.note.split("; ")[1].split()[0])
        self.assertLess(noisy, p1_claims.MIN_R2)
        self.assertGreater(some.measured.value, p1_claims.MIN_R2)
        self.assertEqual((some.trend, some.reason), ("holds", "12 of 60 seconds a cell"))
        self.assertEqual((much.verdict, much.reason), ("not judged", "the cells differ no more than their noise"))

    def test_too_few_seconds_miss_nothing_and_enough_do(self):
        claims = p1_claims.hypotheses(self.run_of_four)
        self.assertEqual({row.verdict for row in claims if row.goal}, {"not judged"})
        lines = copy.deepcopy(self.lines)
        for line in lines:
            if line["scenario"].endswith("tcp-hit0"):
                line["trials"][0]["serverMs"] *= 1.5
        judged = p1.Run({**self.meta, "asked": {**self.meta["asked"], "seconds": 60}}, lines)
        self.assertEqual(self.row("race above the dearer", judged).verdict, "MISSED")
        self.assertTrue(any_missed(p1_claims.hypotheses(judged)))

    def test_without_a_turn_nothing_is_measured(self):
        nothing = p1.Run(self.meta, [])
        claims = p1_claims.hypotheses(nothing)
        self.assertEqual({row.verdict for row in claims}, {"not measured"})
        processor = p1.tables(nothing)[0]
        self.assertEqual({cell for row in processor.rows for cell in row.cells[1:]}, {NONE})
        self.assertIn("not measured", render(p1_page(nothing, claims)))

    def test_loads_that_were_left_out_are_named(self):
        drive = p1.tables(self.run_of_four)[-1]
        [left_out] = [row.cells[-1] for row in drive.rows if row.scenario == "1 KiB, plain, 1000/s"]
        self.assertEqual(left_out, "not measured: starts late: p99 31 ms")
        self.assertTrue(any("3 of 4 turns" in cell for row in drive.rows for cell in row.cells))


if __name__ == "__main__":
    unittest.main()
