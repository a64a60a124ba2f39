"""Tests the tables of cost constants, and how scripts/benchmark/fit_costs.py uses samples."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import fit_costs  # noqa: E402

TABLE = """// Costs.
//
// Samples: none yet.
NNC_COST(avx2, first, 2)
NNC_COST(avx2, second, -0.5)
"""


def sample(layer, name, measured, estimated, isa="avx2", chip="znver3"):
    return fit_costs.Sample(chip, "2026-01-02", isa, "net", layer, f"conv2d_{name}_{isa}", "6 2",
                            "NCHW8c -> NCHW8c", measured, estimated)


class Tables(unittest.TestCase):
    def test_every_table_has_every_field_once_in_order(self):
        text = (fit_costs.TABLES / "fields.inc").read_text()
        fields = re.findall(r'^NNC_COST_FIELD\((\w+), "([^"]+)",\s+("[^"]+"(?:\s+"[^"]+")*)\)$',
                            text, re.M)
        names = [name for name, _, _ in fields]
        self.assertEqual(text.count("NNC_COST_FIELD("), len(names) + 1)  # the head names it
        self.assertGreater(len(names), 50)
        tables = [p for p in fit_costs.TABLES.glob("*.inc")
                  if p.name not in fit_costs.NO_TABLES]
        listed = re.findall(r"^NNC_COST_TABLE\((\w+)\)$",
                            (fit_costs.TABLES / "tables.inc").read_text(), re.M)
        self.assertEqual(listed, sorted(path.stem for path in tables))
        self.assertGreaterEqual(len(tables), 6)
        for path in tables:
            with self.subTest(path.name):
                lines = fit_costs.LINE.findall(path.read_text())
                self.assertEqual([name for _, name, _ in lines], names)
                self.assertEqual({isa for isa, _, _ in lines}, {path.stem})

    def test_heads_say_what_the_committed_samples_say(self):
        self.assertEqual(list(fit_costs.outdated(fit_costs.all_samples())), [])


class Accuracy(unittest.TestCase):
    def test_known_error_and_correlation(self):
        # Each estimate is a tenth too long, and all orders are right.
        exact = [sample("a", str(i), 1000 * i, 1100 * i) for i in range(1, 6)]
        error, correlation = fit_costs.accuracy(exact)
        self.assertAlmostEqual(error, 0.1)
        self.assertAlmostEqual(correlation, 1)
        # Times 1, 2, 3 estimated as 2, 1, 3: Spearman's correlation is 0.5.
        swapped = [sample("b", str(m), 1000 * m, 1000 * e) for m, e in [(1, 2), (2, 1), (3, 3)]]
        error, correlation = fit_costs.accuracy(swapped)
        self.assertAlmostEqual(error, 0.5)
        self.assertAlmostEqual(correlation, 0.5)
        # Layers are ranked by themselves, and their correlations are averaged.
        self.assertAlmostEqual(fit_costs.accuracy(exact + swapped)[1], 0.75)

    def test_layers_with_too_few_candidates_have_no_correlation(self):
        self.assertIsNone(fit_costs.accuracy([sample("a", "x", 10, 20)])[1])

    def test_samples_survive_their_file(self):
        samples = [sample("a", "x", 10, 20), sample("b", "y", 30, 40, "sse4")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "chip.csv"
            fit_costs.write_samples(path, reversed(samples))
            self.assertEqual(fit_costs.read_samples(path), samples)


class Heads(unittest.TestCase):
    def test_head_counts_the_samples_of_its_instruction_set(self):
        samples = [sample("a", str(i), 1000 * i, 1100 * i) for i in range(1, 6)]
        other = [sample("a", "x", 10, 90, "sse4")]
        text = fit_costs.with_head(TABLE, fit_costs.head_of("avx2", samples + other))
        self.assertIn("znver3: 5 calls, last measured 2026-01-02", text)
        self.assertIn("median error 10 %, rank correlation 1.00", text)
        self.assertTrue(text.startswith("// Costs.\n//\n// Samples"))
        self.assertTrue(text.endswith(TABLE[TABLE.index("NNC_COST("):]))
        again = fit_costs.with_head(text, fit_costs.head_of("avx2", samples + other))
        self.assertEqual(again, text)

    def test_samples_of_avx512vnni_count_for_avx512(self):
        lines = fit_costs.head_of("avx512", [sample("a", "x", 10, 20, "avx512vnni")])
        self.assertIn("1 calls", lines[1])
        self.assertIn("none", fit_costs.head_of("neon", [sample("a", "x", 10, 20)])[0])


class Fit(unittest.TestCase):
    def test_constants_are_replaced_by_name(self):
        text = fit_costs.with_constants(TABLE, {"second": 0.25})
        self.assertEqual(fit_costs.read_constants(text), {"first": 2, "second": 0.25})
        with self.assertRaises(SystemExit):
            fit_costs.with_constants(TABLE, {"third": 1})

    def test_search_finds_a_minimum(self):
        found, least = fit_costs.search(
            {"a": 2.0, "b": 0.0}, lambda v: abs(v["a"] - 3) + abs(v["b"] + 0.5), rounds=8)
        self.assertAlmostEqual(found["a"], 3, delta=0.05)
        self.assertAlmostEqual(found["b"], -0.5, delta=0.05)
        self.assertLess(least, 0.1)

    def test_search_keeps_values_that_are_best(self):
        best = {"a": 2.0}
        self.assertEqual(fit_costs.search(best, lambda v: (v["a"] - 2) ** 2), (best, 0))

    def test_only_measured_calls_become_samples_and_equal_ones_count_once(self):
        one = {"routine": "conv2d_f32_nchw8c_direct_avx2", "params": [1, 6, 2],
               "layouts": "NCHW8c -> NCHW8c", "seconds": 2e-6, "estimate_seconds": 1e-6,
               "measured": True}
        estimated = {**one, "params": [1, 5, 2], "measured": False}
        explained = {"layers": [{"name": name, "alternatives": [one, estimated]}
                                for name in ("conv1", "conv2")]}
        samples = fit_costs.samples_of("net", explained, "znver3", "2026-01-02")
        self.assertEqual([(s.isa, s.layer, s.params, s.measured_ns, s.estimated_ns)
                          for s in samples], [("avx2", "conv1", "1 6 2", 2000, 1000)])


if __name__ == "__main__":
    unittest.main()
