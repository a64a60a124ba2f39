"""Networks with products of two matrices, in all the orders and sizes that layers give them, and
with convolutions in groups, of images and transposed, on blocks of a GPU's threads: in halves, bf16,
tf32 and floats, emulated by the CPU and compiled by nvcc.

    products_test.py         each network in half of the precisions
    products_test.py --all   each in all of them"""

import json
import pathlib
import sys
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import nnc  # noqa: E402
import toolkit  # noqa: E402
from blocks_test import Maker  # noqa: E402
from nnc import value  # noqa: E402


ALL = "--all" in sys.argv
if ALL:
    sys.argv.remove("--all")


def sample(model, precisions):
    """Every second precision for a model, beginning with another one for the next model."""
    return precisions if ALL else precisions[list(MODELS).index(model) % 2::2]


def pairs():
    """Products of two tensors that the network computes: of whole chunks and of odd sizes, a
    batch, one matrix for a whole batch, and the sums of a long row."""
    m = Maker(11)
    left = m.dense("x", 128, 192)
    right = m.dense("x", 128, 128)
    turned = m.add("Transpose", left, perm=[0, 2, 1])
    batch = m.add("MatMul", turned, right)  # 3 x 192 x 128, sums over 400 rows
    scores = m.add("MatMul", left, m.add("Transpose", m.dense("x", 128, 192), perm=[0, 2, 1]))
    odd = m.add("MatMul", m.add("Relu", scores), m.dense("x", 128, 67))
    shared = m.add("MatMul", left, "v")  # one matrix for all samples
    gram = m.add("MatMul", "g", m.add("Transpose", "g", perm=[1, 0]))
    return m.model([value("x", [3, 400, 128]), value("v", [192, 200]), value("g", [64, 8192])],
                   [value(batch, [3, 192, 128]), value(odd, [3, 400, 67]),
                    value(shared, [3, 400, 200]), value(gram, [64, 64])])


def turned():
    """Products of a constant matrix and a tensor that is stored by terms."""
    m = Maker(12)
    tokens = m.add("Transpose", m.add("Reshape", m.conv("x", 32, 128), m.keep(np.int64([1, 128, 900]))),
                   perm=[0, 2, 1])
    y = m.dense(tokens, 128, 264)
    return m.model([value("x", [1, 32, 30, 30])], [value(y, [1, 900, 264])])


def grouped():
    """Convolutions in groups: of 4, 32 and 24 channels, with a stride and a dilation."""
    m = Maker(13)

    def groups(x, channels, count, **attributes):
        w = m.constant(channels, channels // count, 3, 3, scale=(9 * channels / count) ** -0.5)
        return m.add("Conv", x, w, m.constant(channels), group=count, **attributes)

    first = m.add("Relu", m.conv("x", 32, 128, taps=1))
    narrow = m.add("Relu", groups(first, 128, 32, pads=[1] * 4))
    wide = groups(m.add("Add", narrow, first), 128, 4, pads=[1, 0, 1, 2], strides=[2, 2])
    odd = groups(m.conv(wide, 128, 96, taps=1), 96, 4, pads=[2] * 4, dilations=[2, 2])
    y = m.conv(m.add("Relu", odd), 96, 40, taps=1)
    return m.model([value("x", [1, 32, 28, 28])], [value(y, [1, 40, 14, 14])])


def image():
    """First layers of images of three channels and of one."""
    m = Maker(14)
    colors = m.add("Relu", m.conv("x", 3, 64, taps=7, strides=[2, 2]))
    gray = m.conv("g", 1, 32, strides=[2, 2], pads=[0, 0, 1, 1])
    y = m.conv(colors, 64, 40, taps=1)
    z = m.conv(gray, 32, 16, taps=1)
    return m.model([value("x", [1, 3, 90, 94]), value("g", [2, 1, 64, 64])],
                   [value(y, [1, 40, 45, 47]), value(z, [2, 16, 32, 32])])


def upward():
    """Transposed convolutions of stride 2, with windows of 2 x 2 and 4 x 4."""
    m = Maker(15)
    x = m.add("Relu", m.conv("x", 32, 128, taps=1))
    two = m.add("ConvTranspose", x, m.constant(128, 96, 2, 2, scale=0.09), m.constant(96),
                strides=[2, 2])
    four = m.add("ConvTranspose", m.add("Relu", two), m.constant(96, 40, 4, 4, scale=0.05),
                 m.constant(40), strides=[2, 2], pads=[1] * 4)
    return m.model([value("x", [1, 32, 14, 15])], [value(four, [1, 40, 56, 60])])


def steep():
    """Transposed convolutions of strides 3 and 4, with windows of the stride and larger ones."""
    m = Maker(16)
    x = m.add("Relu", m.conv("x", 32, 128, taps=1))
    three = m.add("ConvTranspose", x, m.constant(128, 64, 3, 5, scale=0.09), m.constant(64),
                  strides=[3, 3], pads=[0, 1, 0, 1])
    four = m.add("ConvTranspose", m.add("Relu", three), m.constant(64, 40, 4, 4, scale=0.1),
                 m.constant(40), strides=[4, 4])
    return m.model([value("x", [1, 32, 10, 9])], [value(four, [1, 40, 120, 108])])


MODELS = {"pairs": pairs, "turned": turned, "grouped": grouped, "image": image, "upward": upward,
          "steep": steep}


# Models, and the part of a routine's name that each is for.
PARTS = [("pairs", "_plain_whole_"), ("grouped", "_grouped_"), ("image", "_pixels_"),
         ("upward", "_phases_"), ("steep", "_phases3_"), ("steep", "_phases4_")]


# Targets with each precision that they have.
PRECISIONS = [("cuda-sm75", "f32"), ("cuda-sm80", "f32"), ("cuda-sm75", "f16"),
              ("cuda-sm80", "f16"), ("cuda-sm80", "bf16"), ("cuda-sm80", "tf32")]


class Products(nnc.TestCase):
    def setUp(self):
        super().setUp()
        for name, make in MODELS.items():
            self.save(name, make())

    def routines(self, name, *options):
        said = json.loads(self.nnc("explain", f"{name}.onnx", "--json", *options))
        return [each["routine"] for layer in said["layers"]
                for each in layer["alternatives"] if each["chosen"]]

    def test_chosen(self):
        """No product is left to the portable routine."""
        for name in MODELS:
            for target, precision in PRECISIONS:
                with self.subTest(name=name, target=target, precision=precision):
                    found = self.routines(name, f"--target={target}", f"--precision={precision}")
                    self.assertFalse([each for each in found if "matmul" in each and
                                      ("portable" in each or "units" in each)])
                    for model, part in PARTS:
                        # Narrow groups of floats may be faster without zeros between them.
                        if name == model and (precision in ("f16", "bf16") or name == "pairs" or
                                              (precision == "f32" and name != "grouped")):
                            self.assertTrue([each for each in found if part in each])
                    if name in ("pairs", "turned") or precision != "tf32":
                        self.assertEqual(precision == "tf32",
                                         any("_tf32_" in each for each in found))

    def test_verify(self):
        for name in MODELS:
            for target, precision in sample(name, PRECISIONS):
                with self.subTest(name=name, target=target, precision=precision):
                    self.nnc("verify", f"{name}.onnx", f"--target={target}", "--emulate",
                             f"--precision={precision}")

    def test_errors(self):
        """Floats that are rounded to tf32 are off by less than bf16, and by more than floats."""
        rms = {}
        for precision in "f32", "tf32", "bf16":
            said = json.loads(self.nnc("verify", "turned.onnx", "--target=cuda-sm80", "--emulate",
                                       f"--precision={precision}", "--tolerance=1", "--json"))
            rms[precision] = said["cases"][0]["outputs"][0]["rms_error"]
        self.assertLess(10 * rms["f32"], rms["tf32"])
        self.assertLess(2 * rms["tf32"], rms["bf16"])

    def test_sizes(self):
        """Sizes from 1 on, at which a change of layout moves nothing, and sizes of which some are
        whole chunks and others are not."""
        m = Maker(11)
        self.save("map", m.model([value("x", [1, 8, "h", "w"])],
                                 [value(m.conv("x", 8, 32), [1, 32, "h", "w"])]))
        m = Maker(12)
        y = m.add("MatMul", "x", m.add("Transpose", "x", perm=[0, 2, 1]))
        self.save("square", m.model([value("x", [2, "n", 24])], [value(y, [2, "n", "n"])]))
        for name, shape, points in (("map", "1x8x1..24x1..24", ([1, 1], [24, 24], [1, 7], [5, 1])),
                                    ("square", "2x1..64x24", ([1], [64], [37]))):
            for options in [], ["--precision=f16"]:
                folder = f"{name}{len(options)}"
                self.nnc("compile", f"{name}.onnx", f"--shape=x={shape}", "--target=cuda-sm80",
                         "-o", folder, *options)
                for point in points:
                    fixed = [1, 8, *point] if name == "map" else [2, *point, 24]
                    x = np.random.default_rng(sum(point)).standard_normal(fixed)
                    np.save(self.folder / "x.npy", np.float32(x))
                    results = []
                    for source in [folder, "--emulate"], [f"{name}.onnx", "--shape=x=" + "x".join(
                            map(str, fixed))]:
                        self.nnc("run", *source, "--input=x.npy", "--output-dir=result")
                        results.append(np.load(next((self.folder / "result").glob("*.npy"))))
                    with self.subTest(name=name, options=options, point=point):
                        np.testing.assert_allclose(*results, rtol=2e-2 if options else 1e-4,
                                                   atol=2e-2 if options else 1e-5)


@unittest.skipUnless(toolkit.find("nvcc"), toolkit.WHY_SKIPPED)
class Nvcc(nnc.TestCase):
    def test_compiles(self):
        """Without a warning, for two architectures."""
        for name, make in MODELS.items():
            self.save(name, make())
            for precision in sample(name, ["f32", "f16", "bf16", "tf32"]):
                with self.subTest(name=name, precision=precision):
                    to = name + precision
                    first = "sm75" if precision in ("f32", "f16") else "sm80"
                    self.nnc("compile", f"{name}.onnx", f"--target=cuda-{first},cuda-sm90", "-o",
                             to, "--name=network", f"--precision={precision}")
                    folder = self.folder / to
                    manifest = json.loads((folder / "manifest.json").read_text())
                    _, said = toolkit.compile_module(folder, manifest)
                    self.assertEqual(said, "", name)


if __name__ == "__main__":
    unittest.main()
