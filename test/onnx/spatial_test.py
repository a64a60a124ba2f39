"""Pools, regions, resizes, transforms and random numbers: corners that ONNX's node tests leave
out, against onnxruntime, or numpy and ONNX's reference where it does not follow ONNX."""

import itertools
import sys
import unittest

import numpy as np
import onnx.reference
from onnx import TensorProto, helper

import emitted
from compared import Compared, model, value


class Spatial(Compared):
    def collect(self):
        self.nodes, self.names, self.inputs, self.constants = [], [], {}, {}

    def add(self, op, operands, count=1, **attributes):
        names = [f"y{len(self.names) + i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, operands, names, **attributes))
        self.names += names

    def made(self, opset=17, kinds=None):
        kinds = kinds or {}
        return model(self.nodes,
                     [value(n, a.shape, helper.np_dtype_to_tensor_dtype(a.dtype))
                      for n, a in self.inputs.items()],
                     [value(n, None, kinds.get(n, TensorProto.FLOAT)) for n in self.names],
                     self.constants, opset)

    def test_places_of_maxima(self):
        """One to three axes, both orders, pads, gaps and ceil_mode; elements that are equal."""
        random = np.random.default_rng(30)
        self.collect()
        kinds = {}
        for axes, order, ceil in itertools.product((1, 2, 3), (0, 1), (0, 1)):
            name = f"x{axes}"
            self.inputs[name] = random.integers(-9, 9, (2, 3, *(7, 6, 5)[:axes])).astype(np.float32)
            for attributes in (dict(strides=[2] * axes),
                               dict(strides=[2] * axes, pads=[1] * 2 * axes),
                               dict(dilations=[2] * axes)):
                self.add("MaxPool", [name], 2, kernel_shape=[2] * axes, storage_order=order,
                         ceil_mode=ceil, **attributes)
                kinds[self.names[-1]] = TensorProto.INT64
        self.compare(self.made(kinds=kinds), self.inputs, 0)

    def test_norms_of_windows(self):
        """onnxruntime has LpPool without gaps in all versions, and with them in the last."""
        random = np.random.default_rng(31)
        self.collect()
        for axes, p in itertools.product((1, 2, 3), (1, 2, 3)):
            name = f"x{axes}"
            self.inputs[name] = random.standard_normal((2, 3, *(8, 7, 5)[:axes])).astype(np.float32)
            self.add("GlobalLpPool", [name], p=p)
            for attributes in (dict(strides=[2] * axes, pads=[1] * 2 * axes),
                               dict(strides=[1, 2, 1][:axes]), dict(auto_pad="SAME_UPPER")):
                self.add("LpPool", [name], p=p, kernel_shape=[3, 2, 2][:axes], **attributes)
        self.compare(self.made(), self.inputs, 1e-4)

    def test_norms_with_ceil_mode(self):
        x = np.random.default_rng(32).standard_normal((1, 2, 6, 7)).astype(np.float32)
        node = helper.make_node("LpPool", ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 2],
                                ceil_mode=1, dilations=[1, 2], p=2)
        made = model([node], [value("x", x.shape)], [value("y", None)], opset=18)
        padded = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1))) ** 2
        windows = np.stack([padded[:, :, i:i + 5:2, 2 * j:2 * j + 6:2] for i in range(3)
                            for j in range(2)]).sum(0)[:, :, :3, :3]
        found = self.compile(made)({"x": x})["y"]
        self.assertEqual(found.shape, windows.shape)
        np.testing.assert_allclose(found, np.sqrt(windows), atol=1e-5)

    def test_transposed_convolutions_of_the_same_size(self):
        """SAME padding, also where the taps do not reach the size times the stride."""
        self.collect()
        random = np.random.default_rng(33)
        self.inputs["x"] = random.standard_normal((1, 2, 4, 5)).astype(np.float32)
        for mode, (kernel, strides, more) in itertools.product(
                ("SAME_UPPER", "SAME_LOWER"),
                (((2, 1), (3, 4), (0, 0)), ((3, 2), (2, 5), (1, 2)), ((2, 4), (3, 3), (2, 1)))):
            name = f"w{len(self.names)}"
            self.constants[name] = random.standard_normal((2, 3, *kernel)).astype(np.float32)
            self.add("ConvTranspose", ["x", name], kernel_shape=kernel, strides=strides,
                     auto_pad=mode, output_padding=more)
        self.compare(self.made(), self.inputs, 1e-5)

    def test_regions(self):
        """RoiAlign of both kinds and MaxRoiPool, of regions that leave the image."""
        random = np.random.default_rng(33)
        self.collect()
        x = random.standard_normal((2, 3, 9, 7)).astype(np.float32)
        corners = random.uniform(-4, 20, (5, 2))
        rois = np.hstack([corners, corners + random.uniform(1, 14, (5, 2))]).astype(np.float32)
        images = np.array([0, 1, 1, 0, 1])
        self.inputs = {"x": x, "r": rois, "i": images,
                       "m": np.hstack([images[:, None], rois]).astype(np.float32)}
        for mode, samples, where in itertools.product(
                ("avg", "max"), (0, 1, 3), ("half_pixel", "output_half_pixel")):
            self.add("RoiAlign", ["x", "r", "i"], mode=mode, sampling_ratio=samples,
                     spatial_scale=0.5, output_height=3, output_width=2,
                     coordinate_transformation_mode=where)
        self.add("MaxRoiPool", ["x", "m"], pooled_shape=[3, 2], spatial_scale=0.5)
        self.compare(self.made(), self.inputs, 1e-4)

    def test_deformed_convolutions(self):
        """Groups, groups of offsets, strides, gaps, masks; against ONNX's reference."""
        random = np.random.default_rng(34)
        for groups, parts, masked, attributes in [
                (1, 1, False, {}), (2, 1, True, dict(strides=[2, 1], pads=[1, 0, 2, 1])),
                (1, 2, True, dict(dilations=[2, 1], pads=[1] * 4)), (2, 4, False, {})]:
            with self.subTest(groups=groups, parts=parts, **attributes):
                x = random.standard_normal((2, 4, 7, 6)).astype(np.float32)
                w = random.standard_normal((6, 4 // groups, 3, 2)).astype(np.float32)
                pads = attributes.get("pads", [0] * 4)
                size = [(x.shape[2 + i] + pads[i] + pads[2 + i]
                         - attributes.get("dilations", [1, 1])[i] * (w.shape[2 + i] - 1) - 1)
                        // attributes.get("strides", [1, 1])[i] + 1 for i in range(2)]
                inputs = {"x": x, "o": random.uniform(-3, 3, (2, parts * 12, *size)).astype(
                    np.float32)}
                if masked:
                    inputs["m"] = random.uniform(0, 1, (2, parts * 6, *size)).astype(np.float32)
                constants = {"w": w, "b": random.standard_normal(6).astype(np.float32)}
                node = helper.make_node("DeformConv",
                                        ["x", "w", "o", "b", *(["m"] if masked else [])], ["y"],
                                        group=groups, offset_group=parts, **attributes)
                made = model([node], [value(n, a.shape) for n, a in inputs.items()],
                             [value("y", None)], constants, opset=19)
                expected = onnx.reference.ReferenceEvaluator(made).run(None, inputs)[0]
                found = self.compile(made)(inputs)["y"]
                self.assertEqual(found.shape, expected.shape)
                np.testing.assert_allclose(found, expected, atol=1e-4)

    def test_resizes(self):
        """Crops, filters against aliasing and more than two axes. ONNX's reference is the judge:
        onnxruntime's filters leave out what lies outside an image in any case."""
        random = np.random.default_rng(35)
        self.collect()
        self.inputs = {"x": random.standard_normal((1, 2, 9, 7)).astype(np.float32),
                       "v": random.standard_normal((1, 2, 3, 4, 5)).astype(np.float32)}
        self.constants = {
            "roi": np.float32([0, 0, 0.2, -0.1, 1, 1, 0.9, 0.7]), "none": np.float32([]),
            "small": np.int64([1, 2, 4, 3]), "mixed": np.int64([1, 2, 4, 12]),
            "volume": np.int64([1, 2, 5, 3, 8]), "all": np.int64([2, 3, 4, 5, 6])}
        for mode in ("nearest", "linear", "cubic"):
            for sizes in ("small", "mixed"):
                self.add("Resize", ["x", "roi", "", sizes], mode=mode, extrapolation_value=7.5,
                         coordinate_transformation_mode="tf_crop_and_resize")
        for mode, outside, where, sizes in itertools.product(
                ("linear", "cubic"), (0, 1), ("half_pixel", "align_corners", "asymmetric"),
                ("small", "mixed")):
            self.add("Resize", ["x", "none", "", sizes], mode=mode, antialias=1,
                     exclude_outside=outside, coordinate_transformation_mode=where)
        for mode, sizes in itertools.product(("nearest", "linear", "cubic"), ("volume", "all")):
            self.add("Resize", ["v", "none", "", sizes], mode=mode)
        made = self.made(opset=19)
        expected = onnx.reference.ReferenceEvaluator(made).run(None, self.inputs)
        results = self.compile(made)(self.inputs)
        for name, wanted, node in zip(self.names, expected, made.graph.node):
            self.assertEqual(results[name].shape, wanted.shape, node)
            np.testing.assert_allclose(results[name], wanted, atol=1e-4, err_msg=str(node))

    def test_transforms(self):
        """Every axis, lengths that are primes, shorter and longer than the signal, against numpy."""
        random = np.random.default_rng(36)
        self.collect()
        real = random.standard_normal((3, 12, 10, 1)).astype(np.float32)
        pair = random.standard_normal((3, 12, 10, 2)).astype(np.float32)
        self.inputs = {"r": real, "c": pair}
        numbers = {"r": real[..., 0].astype(complex), "c": pair[..., 0] + 1j * pair[..., 1]}
        expected = []
        for axis, length in itertools.product((0, 1, 2), (None, 1, 7, 8, 30)):
            self.constants[f"a{axis}"] = np.array(axis, np.int64)
            self.constants[f"n{length}"] = np.array(length or 0, np.int64)
            known = ["" if length is None else f"n{length}", f"a{axis}"]
            for source, inverse in itertools.product("rc", (0, 1)):
                self.add("DFT", [source, *known], inverse=inverse)
                done = (np.fft.ifft if inverse else np.fft.fft)(numbers[source], length, axis)
                expected.append(np.stack([done.real, done.imag], -1))
            self.add("DFT", ["r", *known], onesided=1)
            done = np.fft.rfft(real[..., 0], length, axis)
            expected.append(np.stack([done.real, done.imag], -1))
            if length != 1:
                self.add("DFT", ["c", *known], onesided=1, inverse=1)
                expected.append(np.fft.irfft(numbers["c"], length, axis)[..., None])
        made = self.made(opset=20)
        results = self.compile(made)(self.inputs)
        for name, wanted, node in zip(self.names, expected, made.graph.node):
            self.assertEqual(results[name].shape, wanted.shape, node)
            np.testing.assert_allclose(results[name], wanted, atol=2e-5, err_msg=str(node))

    def test_spectrograms(self):
        """Frames that overlap, with windows, then mel bands."""
        random = np.random.default_rng(37)
        x = random.standard_normal((2, 400, 1)).astype(np.float32)
        constants = {"step": np.int64(30), "length": np.int64(100), "bands": np.int64(8),
                     "rate": np.int64(8000), "low": np.float32(0), "high": np.float32(4000)}
        node = helper.make_node
        nodes = [node("HannWindow", ["length"], ["w"]),
                 node("STFT", ["x", "step", "w", "length"], ["s"]),
                 node("STFT", ["x", "step", "", "length"], ["all"], onesided=0),
                 node("ReduceSumSquare", ["s"], ["p"], axes=[-1], keepdims=0),
                 node("MelWeightMatrix", ["bands", "length", "rate", "low", "high"], ["m"]),
                 node("MatMul", ["p", "m"], ["y"])]
        made = model(nodes, [value("x", x.shape)], [value(n, None) for n in ("s", "all", "y")],
                     constants)
        self.compare(made, {"x": x}, 2e-3)

    def test_determinants(self):
        random = np.random.default_rng(38)
        self.collect()
        for n in (1, 2, 3, 7):
            self.inputs[f"x{n}"] = random.standard_normal((2, 3, n, n)).astype(np.float32)
            self.add("Det", [f"x{n}"])
        self.inputs["single"] = np.float32([[0, 2], [3, 4]])
        self.add("Det", ["single"])
        self.compare(self.made(), self.inputs, 1e-4)

    def test_random_numbers(self):
        """What a seed gives is the same in each run and build; nodes differ; moments are right."""
        self.collect()
        logs = np.log(np.float32([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-9]]))
        self.inputs = {"x": np.zeros((100, 100), np.float32), "p": logs}
        self.add("RandomNormal", [], shape=[100, 100], mean=2.0, scale=3.0)
        self.add("RandomNormalLike", ["x"], seed=7.0)
        self.add("RandomUniform", [], shape=[100, 100], low=-1.0, high=3.0)
        self.add("RandomUniformLike", ["x"])
        self.add("Multinomial", ["p"], sample_size=10000)
        made = self.made(kinds={self.names[4]: TensorProto.INT32})
        module = self.compile(made)
        first, again, other = module(self.inputs), module(self.inputs), self.compile(made)(
            self.inputs)
        for name in self.names:
            np.testing.assert_array_equal(first[name], again[name])
            np.testing.assert_array_equal(first[name], other[name])
        a, b, c, d, samples = (first[name] for name in self.names)
        for found, mean, deviation in ((a, 2, 3), (b, 0, 1), (c, 1, 4 / 12 ** 0.5),
                                       (d, 0.5, 1 / 12 ** 0.5)):
            self.assertLess(abs(found.mean() - mean), 0.05 * deviation)
            self.assertLess(abs(found.std() - deviation), 0.05 * deviation)
        self.assertTrue(-1 <= c.min() and c.max() < 3 and 0 <= d.min() and d.max() < 1)
        self.assertLess(abs(np.corrcoef(c.ravel(), d.ravel())[0, 1]), 0.05)
        shares = np.stack([(samples == i).mean(1) for i in range(3)], 1)
        np.testing.assert_allclose(shares, [[0.1, 0.2, 0.7], [0.5, 0.5, 0]], atol=0.02)

    def test_refusals(self):
        """Each says what is wrong."""
        def refuse(expected, op, shapes, constants=None, opset=20, **attributes):
            names = [f"x{i}" for i in range(len(shapes))]
            node = helper.make_node(op, [*names, *(constants or {})], ["y"], **attributes)
            made = model([node], [value(n, s) for n, s in zip(names, shapes)],
                         [value("y", None)], constants, opset)
            with self.subTest(op), self.assertRaisesRegex(emitted.Failure, expected):
                self.compile(made)

        refuse("needs 1 or 2 parts", "DFT", [(2, 8, 3)])
        refuse("is onesided with 2 parts", "DFT", [(2, 8, 2)], onesided=1)
        refuse("needs square matrices", "Det", [(2, 3)])
        refuse("p=0", "LpPool", [(1, 2, 5)], kernel_shape=[2], p=0)
        refuse("a window of 4 elements for frames of 5", "STFT", [(1, 20, 1)],
               {"s": np.int64(2), "w": np.ones(4, np.float32), "l": np.int64(5)})


if __name__ == "__main__":
    sys.exit(unittest.main())
