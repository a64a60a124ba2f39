"""--precision=bf16 on processors: layers compute with bfloat16 by tiles of AMX, beside layers of
floats. The code runs with arrays in place of tiles, so that machines without AMX can run it."""

import json
import pathlib
import unittest

import numpy as np
from onnx import helper, numpy_helper

import nnc

TARGET = "--target=x86-64-v4-amx"


def host_has(feature):
    info = pathlib.Path("/proc/cpuinfo")
    return info.exists() and f" {feature} " in info.read_text().replace("\n", " ")


def network():
    """Convolutions with a residual, pools and dense layers: x [1, 64, 28, 28] to y [1, 40]."""
    node = helper.make_node
    return nnc.model(
        [node("Conv", ["x", "w"], ["a"], "conv1", pads=[1] * 4),
         node("Relu", ["a"], ["b"], "relu1"),
         node("MaxPool", ["b"], ["c"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
         node("Conv", ["c", "v"], ["d"], "conv2", pads=[1] * 4),
         node("Add", ["d", "c"], ["e"], "add2"),
         node("Relu", ["e"], ["f"], "relu2"),
         node("Conv", ["f", "u"], ["g"], "conv3"),
         node("GlobalAveragePool", ["g"], ["p"], "pool3"),
         node("Flatten", ["p"], ["q"], "flatten"),
         node("Gemm", ["q", "k"], ["y"], "dense", transB=1)],
        [nnc.value("x", [1, 64, 28, 28])], [nnc.value("y", [1, 40])],
        [nnc.weights("w", 64, 64, 3, 3), nnc.weights("v", 64, 64, 3, 3),
         nnc.weights("u", 200, 64, 1, 1), nnc.weights("k", 40, 200)])


def product():
    """Products with constant matrices and a layer norm: x [50, 130] to y [50, 70]."""
    node = helper.make_node
    return nnc.model(
        [node("MatMul", ["x", "w"], ["a"], "product1"),
         node("Add", ["a", "bias"], ["b"], "bias1"),
         node("LayerNormalization", ["b", "scale"], ["c"], "norm1"),
         node("MatMul", ["c", "v"], ["d"], "product2"),
         node("Relu", ["d"], ["y"], "relu2")],
        [nnc.value("x", [50, 130])], [nnc.value("y", [50, 70])],
        [nnc.weights("w", 130, 330), nnc.weights("bias", 330), nnc.weights("scale", 330),
         nnc.weights("v", 330, 70)])


class Precision(nnc.TestCase):
    def compile(self, folder, *options):
        self.nnc("compile", "network.onnx", TARGET, "-o", folder, *options)
        manifest = json.loads((self.folder / folder / "manifest.json").read_text())
        return manifest, [layer["routine"] for layer in manifest["layers"]]

    def test_other_targets_are_named(self):
        self.nnc("compile", "network.onnx", "--target=x86-64-v4-vnni", "--precision=bf16",
                 "-o", "code", code=nnc.USAGE,
                 said=["has no arithmetic on bf16, .*; there is for .*x86-64-v4-amx"])

    def test_floats_have_no_tiles(self):
        self.save("network", network())
        _, routines = self.compile("code")
        self.assertEqual([name for name in routines if "amx" in name], [])
        self.assertNotIn("amx", (self.folder / "code/network.cpp").read_text().split("#if")[1])

    @unittest.skipUnless(host_has("avx512_vnni"), "the other layers need AVX-512 and VNNI")
    def check(self, made, wanted, *options, most=1e-2):
        """Compiles a model, whose routines must be among others `wanted`, and compares it with
        the same model in floats."""
        self.save("network", made)
        shape = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
        x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        self.nnc("run", "network.onnx", "--input=x.npy", "--output-dir=floats")
        manifest, routines = self.compile("code", "--precision=bf16", *options)
        self.assertLessEqual(set(wanted), set(routines))
        text = (self.folder / "code/network.cpp").read_text()
        self.assertIn("return NETWORK_NO_TILES;", text)
        # What needs AMX is left out, and tiles are arrays.
        path = self.folder / "code/manifest.json"
        manifest["isa"] = [name for name in manifest["isa"]
                           if not name.startswith("amx") and name != "avx512bf16"]
        manifest["flags"] = [flag for flag in manifest["flags"] if not flag.startswith("-mamx")
                             and flag != "-mavx512bf16"]
        path.write_text(json.dumps(manifest))
        self.nnc("run", "code", "--input=x.npy", "--output-dir=bfloats",
                 "--compiler=clang++-19 -O1 -DNNC_PLAIN_TILES",
                 *(["--threads=3"] if "--threads=on" in options else []))
        want = np.load(self.folder / "floats/y.npy")
        error = np.load(self.folder / "bfloats/y.npy") - want
        share = np.sqrt(np.mean(error ** 2) / np.mean(want ** 2))
        self.assertLess(share, most)
        self.assertGreater(share, 1e-4, "floats are rounded")

    def test_error_is_bounded(self):
        """With --max-error layers stay in floats, the more the less it is."""
        self.save("network", network())
        counts = []
        for bound in "1e-6", "4e-3", "1":
            _, routines = self.compile("code", "--precision=bf16", f"--max-error={bound}")
            counts.append(sum("amxbf16" in name for name in routines))
            said = json.loads(self.nnc("explain", "network.onnx", TARGET, "--precision=bf16",
                                       "--json", f"--max-error={bound}"))
            chosen = [one for layer in said["layers"] for one in layer["alternatives"]
                      if one["chosen"]]
            error = np.sqrt(sum(one["error"] ** 2 for one in chosen))
            self.assertLessEqual(error, float(bound))
            if counts[-1] > 0:
                self.assertGreater(error, 1e-3, "the rounding of a bf16 counts")
        self.assertEqual(counts[0], 0)
        self.assertTrue(counts[0] < counts[1] < counts[2], counts)
        _, routines = self.compile("code", "--precision=bf16")
        self.assertEqual(sum("amxbf16" in name for name in routines), counts[2])
        self.check(network(), ["conv2d_bf16_nchw16c_amxbf16"], "--max-error=4e-3", most=4e-3)

    def test_images(self):
        self.check(network(), ["conv2d_bf16_nchw16c_amxbf16", "max_pool2d_bf16_nchw16c_amxbf16"])

    def test_first_layer(self):
        """An image of three channels, which the layer rounds as it copies it, and layers of few
        channels."""
        node = helper.make_node
        self.check(nnc.model(
            [node("Conv", ["x", "w"], ["a"], "conv1", pads=[3] * 4, strides=[2, 2]),
             node("Relu", ["a"], ["b"], "relu1"),
             node("Conv", ["b", "v"], ["c"], "conv2", pads=[1] * 4),
             node("Relu", ["c"], ["d"], "relu2"),
             node("Conv", ["d", "u"], ["y"], "conv3", pads=[1] * 4)],
            [nnc.value("x", [1, 3, 91, 83])], [nnc.value("y", [1, 40, 46, 42])],
            [nnc.weights("w", 24, 3, 7, 7), nnc.weights("v", 64, 24, 3, 3),
             nnc.weights("u", 40, 64, 3, 3)]),
            ["conv2d_f32_bf16_nchw16c_first_amxbf16", "conv2d_bf16_nchw16c_few_amxbf16",
             "conv2d_bf16_nchw16c_amxbf16"])

    def test_between_products(self):
        """Depthwise convolutions and resizing between products read and store bf16, too."""
        node = helper.make_node
        self.check(nnc.model(
            [node("Conv", ["x", "w"], ["a"], "conv1", pads=[1] * 4),
             node("Relu", ["a"], ["b"], "relu1"),
             node("Conv", ["b", "d"], ["c"], "depthwise", pads=[1] * 4, group=200),
             node("Relu", ["c"], ["e"], "relu2"),
             node("Conv", ["e", "v"], ["f"], "conv2"),
             node("Resize", ["f", "", "scales"], ["g"], "resize", mode="linear"),
             node("Conv", ["g", "u"], ["y"], "conv3")],
            [nnc.value("x", [1, 64, 40, 40])], [nnc.value("y", [1, 40, 80, 80])],
            [nnc.weights("w", 200, 64, 3, 3), nnc.weights("d", 200, 1, 3, 3),
             nnc.weights("v", 128, 200, 1, 1), nnc.weights("u", 40, 128, 1, 1),
             numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")]),
            ["conv2d_bf16_nchw16c_depthwise_amxbf16", "resize_bf16_nchw16c_amxbf16"])

    def test_attention(self):
        """Four heads of 32 elements of 150 tokens."""
        node = helper.make_node
        nodes = []
        for name, perm in ("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]):
            nodes += [node("MatMul", ["x", f"w{name}"], [f"{name}1"], f"{name}_product"),
                      node("Reshape", [f"{name}1", "heads"], [f"{name}2"], f"{name}_heads"),
                      node("Transpose", [f"{name}2"], [name], f"{name}_turn", perm=perm)]
        nodes += [node("MatMul", ["q", "k"], ["s"], "scores"),
                  node("Mul", ["s", "scale"], ["t"], "scaled"),
                  node("Softmax", ["t"], ["p"], "softmax", axis=-1),
                  node("MatMul", ["p", "v"], ["c"], "context"),
                  node("Transpose", ["c"], ["d"], "context_turn", perm=[0, 2, 1, 3]),
                  node("Reshape", ["d", "joined"], ["e"], "join"),
                  node("MatMul", ["e", "wo"], ["y"], "out")]
        self.check(nnc.model(
            nodes, [nnc.value("x", [1, 150, 128])], [nnc.value("y", [1, 150, 128])],
            [*(nnc.weights(f"w{name}", 128, 128) for name in "qkvo"),
             numpy_helper.from_array(np.array([1, 150, 4, 32]), "heads"),
             numpy_helper.from_array(np.array([1, 150, 128]), "joined"),
             numpy_helper.from_array(np.array(0.17, np.float32), "scale")]),
            ["matmul_bf16_nk16n_amxbf16", "attention_bf16_amxbf16"], "--threads=on")

    def test_products_on_threads(self):
        self.check(product(), ["matmul_bf16_nk16n_amxbf16"], "--threads=on")


if __name__ == "__main__":
    unittest.main()
