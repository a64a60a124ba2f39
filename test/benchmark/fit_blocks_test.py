"""Tests the fit of the cost model of GPUs, by samples whose times the model itself makes."""

import itertools
import math
import pathlib
import random
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import fit_blocks  # noqa: E402
import timed_routines  # noqa: E402

TARGET = "cuda-sm90"
PRODUCTS = [(128, 768, 768), (128, 3072, 768), (4096, 768, 3072), (197, 2304, 768),
            (12544, 256, 64), (3136, 128, 512), (784, 1024, 256), (196, 2048, 512), (49, 160, 960)]


def sample(routine, params, kind, shape, work, weight_bytes, activation_bytes):
    return fit_blocks.Sample("a card", "1.0", "2026-01-02", kind, routine, params,
                             " ".join(f"{name}={value}" for name, value in shape.items()), work,
                             weight_bytes, activation_bytes, 1.0)


def made_samples():
    """Products and attention by every candidate of their routines in halves."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        lines = [line for table in timed_routines.write_tables(folder, "matmul,attention")
                 for line in table.read_text().splitlines()]
    for line in lines:
        kind, _, routine, element, _, rest = re.split(r", ", line[len("NNC_TIMED("):], maxsplit=5)
        values = re.search(r"\), \(([\d, ]*)\),", line)[1]
        params = " ".join(re.findall(r"\d+", values))
        if element != "f16" or kind == "matrices":
            continue
        if kind == "attention":
            for n, tokens in itertools.product((1, 32), (128, 512)):
                shape = {"n": n, "heads": 12, "queries": tokens, "keys": tokens, "dim": 64,
                         "value_dim": 64}
                size = n * 12 * tokens * 64 * 2
                found.append(sample(routine, params, kind, shape, n * 12 * tokens ** 2 * 128,
                                    2 * size, 2 * size))
        else:
            for m, n, k in PRODUCTS:
                found.append(sample(routine, params, kind, {"batch": 1, "m": m, "n": n, "k": k},
                                    m * n * k, 2 * n * k, 2 * (m * k + m * n)))
    return found


class Fit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.program = fit_blocks.build_estimator(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def setUp(self):
        if not self.program:
            self.skipTest("there is no clang++-19")

    def measured(self, truth, noise):
        """Samples with the times that the model has for these constants, and noise."""
        samples = made_samples()
        with fit_blocks.Estimator(TARGET, samples, self.program) as estimator:
            times = estimator.estimate(truth)
        draw = random.Random(1)
        for one, time in zip(samples, times, strict=True):
            if time is not None:
                one.measured_ns = time * math.exp(draw.gauss(0, noise))
        return [one for one, time in zip(samples, times, strict=True) if time is not None]

    def test_recovers_constants(self):
        truth = {"tile_share": 0.6, "step_cycles": 160, "tile_ends_cycles": 1700,
                 "attention_share": 0.25, "launch_ns": 1400}
        samples = self.measured(truth, 0.02)
        self.assertGreater(len(samples), 200)
        start = fit_blocks.read_constants(TARGET)
        with fit_blocks.Estimator(TARGET, samples, self.program) as estimator:
            before = fit_blocks.mean_error(samples, estimator.estimate({}))
            found, error = fit_blocks.fit(estimator, samples, start, list(truth), rounds=7)
        self.assertGreater(before, 3 * error)
        self.assertLess(error, 0.03)
        for name, value in truth.items():
            self.assertAlmostEqual(found[name] / value, 1, delta=0.1, msg=name)

    def test_keeps_constants_of_exact_samples(self):
        start = fit_blocks.read_constants(TARGET)
        samples = self.measured({}, 0)
        names = ["tile_share", "launch_ns", "level2_rate"]
        with fit_blocks.Estimator(TARGET, samples, self.program) as estimator:
            found, error = fit_blocks.fit(estimator, samples, start, names, rounds=3)
        self.assertLess(error, 1e-5)
        for name in names:
            self.assertAlmostEqual(found[name], start[name], msg=name)

    def test_estimates_of_unknown_routines(self):
        known = sample("softmax_f16_rows_sm75", "", "softmax",
                       {"outer": 12, "size": 128, "inner": 1}, 0, 0, 6144)
        unknown = sample("softmax_of_tomorrow", "", "softmax", {}, 0, 0, 6144)
        with fit_blocks.Estimator(TARGET, [known, unknown], self.program) as estimator:
            first, second = estimator.estimate({})
            slow, _ = estimator.estimate({"launch_ns": 2750.0})
        self.assertIsNone(second)
        self.assertAlmostEqual(slow - first, 2000, delta=0.1)

    def test_lists_decide_which_routine_applies(self):
        transpose = {"rank": 3, "dims": [1, 64, 3136, 0], "src_strides": [200704, 3136, 1, 0],
                     "dst_strides": [200704, 1, 64, 0]}
        rows = {**transpose, "dst_strides": transpose["src_strides"]}
        samples = [sample(routine, "", "copy", {name: fit_blocks.text_of(value)
                                                for name, value in shape.items()},
                          200704, 0, 802816)
                   for shape in (transpose, rows)
                   for routine in ("copy_f16_transposed_sm75", "copy_f16_sm75")]
        with fit_blocks.Estimator(TARGET, samples, self.program) as estimator:
            tiles, elements, none, runs = estimator.estimate({})
        self.assertIsNone(none)
        self.assertLess(tiles, elements)
        self.assertEqual(tiles, runs)


class Tables(unittest.TestCase):
    def test_block_costs(self):
        text = fit_blocks.BLOCKS.read_text()
        self.assertEqual(fit_blocks.with_block_costs(text, {}), text)
        new = fit_blocks.with_block_costs(text, {"tile_share": 0.5})
        self.assertIn("NNC_BLOCK_COST(tile_share, 0.5,", new)
        self.assertEqual(len(new.splitlines()), len(text.splitlines()))

    def test_targets(self):
        text = fit_blocks.TARGETS.read_text()
        new = fit_blocks.with_target(text, TARGET, {"launch_ns": 812.4, "level2_rate": 5000})
        self.assertEqual(len([1 for a, b in zip(text.splitlines(), new.splitlines(), strict=True)
                              if a != b]), 2)
        self.assertIn("LAUNCH(812)", new)
        with self.assertRaises(SystemExit):
            fit_blocks.with_target(text, "x86-64-v3", {})

    def test_samples(self):
        rows = [sample("softmax_f16_rows_sm75", "", "softmax", {"outer": 12, "size": 128}, 0, 0,
                       6144)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "gpu", "one.csv")
            fit_blocks.write_samples(path, rows)
            self.assertEqual(fit_blocks.read_samples(path), rows)

    def test_results(self):
        results = {"stub": False, "card": "a card", "driver": "1.0", "date": "2026-01-02",
                   "times": [{"routine": "attention_f16_sm75", "kind": "attention", "type": "f16",
                              "params": "64 128", "shape": {"n": 1, "q_strides": [1, 2, 3, 0],
                                                            "k_strides": [[4, 5], [0, 6], [0, 0]],
                                                            "scale": 0.125, "mask": [0, 0]},
                              "multiply_adds": 8, "weight_bytes": 4, "activation_bytes": 2,
                              "median_ns": 1234.5, "runs": 9}]}
        one, = fit_blocks.samples_of(results)
        self.assertEqual((one.shape, one.params, one.measured_ns),
                         ("n=1 q_strides=1:2:3 k_strides=4:5:0:6 scale=0.125 mask=0", "64 128",
                          1234.5))
        with self.assertRaises(SystemExit):
            fit_blocks.samples_of({**results, "stub": True})


if __name__ == "__main__":
    unittest.main()
