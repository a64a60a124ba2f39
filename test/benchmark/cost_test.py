"""Tests the rank correlations of scripts/bench --cost, and their estimates from samples."""

import pathlib
import random
import statistics
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
from cost import Candidate, concordance, population_correlation, rank_correlation  # noqa: E402


class Cost(unittest.TestCase):
    def test_small_rankings(self):
        upward, swapped = [(1, 10), (2, 20), (3, 30)], [(1, 20), (2, 10), (3, 30)]
        for correlation in rank_correlation, concordance, population_correlation:
            self.assertAlmostEqual(correlation(upward), 1)
            self.assertAlmostEqual(correlation([(a, -b) for a, b in upward]), -1)
        self.assertAlmostEqual(rank_correlation(swapped), 0.5)
        self.assertAlmostEqual(concordance(swapped), 1 / 3)
        self.assertIsNone(population_correlation([(1, 2), (2, 3)]))
        self.assertIsNone(population_correlation([(1, 2), (1, 3), (1, 4)]))

    def test_samples_of_any_size_tell_the_same_of_all(self):
        source = random.Random(7)
        all_of_them = [(x, x + source.gauss(0, 0.3)) for x in
                       (source.gauss(0, 1) for _ in range(2000))]
        truth = rank_correlation(all_of_them)
        for size in 3, 5, 9:
            samples = [source.sample(all_of_them, size) for _ in range(4000)]
            self.assertAlmostEqual(statistics.mean(map(population_correlation, samples)), truth,
                                   delta=0.01)
            self.assertLess(statistics.mean(map(rank_correlation, samples)), truth - 0.02)

    def test_halves_of_measurements(self):
        one = Candidate("", 1.0, [1.0, 3.0, None, 4.0], True)
        self.assertEqual((one.seconds, one.halves), (3.0, (2.0, 4.0)))
        once = Candidate("", 1.0, [2.0], True)
        self.assertEqual((once.seconds, once.halves), (2.0, (None, 2.0)))


if __name__ == "__main__":
    unittest.main()
