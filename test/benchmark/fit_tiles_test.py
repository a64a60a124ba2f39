"""Tests fit_tiles.py: constants from which samples were made are found again."""

import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import fit_blocks  # noqa: E402
import fit_tiles  # noqa: E402

CONV = "n=1 c={c} h={h} w={h} k={k} kh={r} kw={r} sh=1 sw=1 dh=1 dw=1 pt={p} pl={p} oh={h} " \
       "ow={h} groups=1 fill=0"
MATMUL = "batch=1 m={m} n={n} k={k} a_batch_stride=0 b_batch_stride=0 transpose_a=0 transpose_b=0"


def make_samples():
    """Layers of all routines, without times."""
    for bytes_of, name in ((1, "i32"), (2, "bf16")):
        isa = "amxint8" if bytes_of == 1 else "amxbf16"
        for c, h, k, r in ((64, 56, 64, 3), (256, 14, 256, 3), (1024, 14, 256, 1)):
            shape = CONV.format(c=c, h=h, k=k, r=r, p=r // 2)
            yield fit_tiles.Sample(f"conv2d_{name}_nchw16c_{isa}", 128, shape,
                                   c * h * h * k * r * r, 1)
        yield fit_tiles.Sample(f"conv2d_{name}_nchw16c_few_{isa}", 128,
                               CONV.format(c=16, h=56, k=64, r=3, p=1), 16 * 56 * 56 * 64 * 9, 1)
        for m, n, k in ((128, 768, 768), (128, 3072, 768), (40, 6625, 120)):
            yield fit_tiles.Sample(f"matmul_{name}_nk16n_{isa}", 128,
                                   MATMUL.format(m=m, n=n, k=k), m * n * k, 1)


@unittest.skipUnless(shutil.which("clang++-19"), "clang++-19 is missing")
class Fit(unittest.TestCase):
    def test_constants_are_found(self):
        samples, start = list(make_samples()), fit_tiles.read_constants()
        with (tempfile.TemporaryDirectory() as folder,
              fit_tiles.Estimator(samples, folder) as estimator):
            others = {"tile_product_cycles": 20.0, "tile_result_cycles": 3.0}
            for sample, cycles in zip(samples, estimator.estimate({**start, **others})):
                sample.measured_ns = cycles
            before = fit_blocks.mean_error(samples, estimator.estimate(start))
            found, error = fit_blocks.fit(estimator, samples, start, list(others))
        self.assertGreater(before, 0.05)
        self.assertLess(error, 0.01)
        self.assertAlmostEqual(found["tile_product_cycles"], 20, delta=0.5)

    def test_table(self):
        text = fit_tiles.TABLE.read_text()
        changed = fit_tiles.with_constants(text, {"tile_copy_cycles": 5.5})
        self.assertIn("NNC_MATRIX_TILE_COST(tile_copy_cycles, 5.5, ", changed)
        self.assertEqual(changed.replace("5.5", "4", 1), text)


if __name__ == "__main__":
    unittest.main()
