#!/usr/bin/env python3
"""Tests TFLite_Detection_PostProcess against a reference in numpy: the fast and the regular
form, with floats and with quantized operands, on this machine, in an emulated microcontroller
and on an emulated GPU."""

import pathlib
import shutil
import tempfile
import unittest

import numpy as np

import flat
import running
from running import BROKEN, DONE
from signals import flexbuffer

F32 = np.float32
HAS_BOARD = all(map(shutil.which, ("arm-none-eabi-g++", "qemu-system-arm")))
NAME = "TFLite_Detection_PostProcess"
OPTIONS = {"max_detections": 6, "max_classes_per_detection": 1, "num_classes": 3,
           "nms_score_threshold": 0.25, "nms_iou_threshold": 0.4, "y_scale": 10.0,
           "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}


def decode(boxes, anchors, options):
    """The top, left, bottom and right of each box."""
    scales = [options[f"{name}_scale"] for name in "yxhw"]
    boxes, anchors = boxes[0].astype(float), anchors.astype(float)
    centre = (boxes[:, :2] / scales[:2] * anchors[:, 2:] + anchors[:, :2]).astype(F32)
    half = (0.5 * np.exp(boxes[:, 2:4] / scales[2:]) * anchors[:, 2:]).astype(F32)
    return np.concatenate([centre - half, centre + half], 1)


def overlap(a, b):
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), F32(0))
    both = sides[0] * sides[1]
    return both / (areas[0] + areas[1] - both) if min(areas) > 0 else F32(0)


def select(boxes, scores, most, options):
    order = [i for i in np.argsort(-scores, kind="stable")
             if scores[i] >= F32(options["nms_score_threshold"])]
    kept = []
    while order and len(kept) < most:
        kept.append(order.pop(0))
        order = [i for i in order
                 if not overlap(boxes[kept[-1]], boxes[i]) > F32(options["nms_iou_threshold"])]
    return kept


def detect(boxes, scores, anchors, options):
    decoded, found = decode(boxes, anchors, options), []
    scores = scores[0][:, scores.shape[2] - options["num_classes"]:]
    most, each = options["max_detections"], options["max_classes_per_detection"]
    if options.get("use_regular_nms"):
        for c in range(scores.shape[1]):
            count = min(options.get("detections_per_class", 100), most)
            found += [(decoded[i], c, scores[i, c])
                      for i in select(decoded, scores[:, c], count, options)]
        found = sorted(found, key=lambda f: -f[2])[:most]
        count = len(found)
    else:
        kept = select(decoded, scores.max(1), most, options)
        for i in kept:
            best = np.argsort(-scores[i], kind="stable")[:each]
            found += [(decoded[i], c, scores[i, c]) for c in best]
            # Places of classes that there are not stay free.
            found += [None] * (each - len(best))
        count = len(kept)
    results = [np.zeros((1, most * each, 4), F32), np.zeros((1, most * each), F32),
               np.zeros((1, most * each), F32), np.array([count], F32)]
    for i, detection in enumerate(found):
        for result, part in zip(results, detection or ()):
            result[0, i] = part
    return results


def network(count=40, dtype=F32, seed=0, stated=True, options=None, columns=4):
    """The operator with random boxes around few positions, many of which overlap."""
    options = {**OPTIONS, **(options or {})}
    rng = np.random.default_rng(seed)
    reals = [rng.normal(0, 2, (1, count, columns)), rng.random((1, count, columns)) ** 2,
             np.concatenate([rng.choice([0.2, 0.5, 0.8], (count, 2)),
                             rng.uniform(0.1, 0.4, (count, 2))], 1)]
    net, tensors, known = flat.Net(), [], []
    for i, (real, scale) in enumerate(zip(reals, (0.06, 1 / 256, 1 / 200))):
        real = real.astype(F32)
        zero = {"uint8": 128 if i == 0 else 0, "int8": 0 if i == 0 else -128}.get(
            np.dtype(dtype).name, 0)
        if dtype != F32:
            info = np.iinfo(dtype)
            stored = np.clip(np.round(real / scale) + zero, info.min, info.max).astype(dtype)
            real = (stored.astype(np.int32) - zero).astype(F32) * F32(scale)
            tensors.append((net.const if i == 2 else net.input)(stored, scale, zero))
        else:
            tensors.append(net.const(real) if i == 2 else net.input(real))
        known.append(real)
    most = options["max_detections"] * options["max_classes_per_detection"]
    shapes = ([1, most, 4], [1, most], [1, most], [1])
    # Files state the shapes, none, or others.
    net.outputs = [net.tensor(F32, shape if stated else [most]) for shape in shapes]
    net.custom(NAME, tensors, net.outputs, flexbuffer(options))
    return net, dict(zip(net.outputs, detect(*known, options)))


class Detection(unittest.TestCase):
    def check(self, made, *options):
        net, expected = made
        with tempfile.TemporaryDirectory() as folder:
            got = running.run_net(net, folder, *options)
        for tensor, values in expected.items():
            np.testing.assert_allclose(got[tensor], values, rtol=1e-5, atol=1e-6)
        return expected[net.outputs[3]][0]

    def test_forms(self):
        counts = set()
        for seed, (dtype, options) in enumerate((
                (F32, {}), (F32, {"max_classes_per_detection": 2}),
                (F32, {"use_regular_nms": True}), (np.uint8, {}),
                (F32, {"use_regular_nms": True, "detections_per_class": 1}),
                (np.int8, {"use_regular_nms": True, "max_detections": 9}),
                (np.uint8, {"max_classes_per_detection": 5, "num_classes": 4}),
                (F32, {"nms_score_threshold": 2.0}), (F32, {"max_detections": 40}),
                (np.int8, {"nms_iou_threshold": 1.0, "max_detections": 50}))):
            with self.subTest(dtype=dtype, **options):
                made = network(dtype=dtype, seed=seed, stated=seed % 2 == 0, options=options)
                counts.add(self.check(made, "--target=portable"))
        # Some find nothing, some are full.
        self.assertIn(0, counts)
        self.assertGreater(len(counts), 3)

    @unittest.skipUnless(HAS_BOARD, "needs a compiler and an emulator of Arm boards")
    def test_board(self):
        for dtype, options in ((F32, {"use_regular_nms": True}), (np.int8, {})):
            self.check(network(dtype=dtype, options=options), "--target=cortex-m4",
                       "--compiler=arm-none-eabi-g++ -O1")

    def test_gpu(self):
        for dtype, options in ((F32, {"use_regular_nms": True}), (np.int8, {}),
                               (np.uint8, {"max_classes_per_detection": 2})):
            made = network(dtype=dtype, seed=3, options=options)
            self.assertGreater(self.check(made, "--target=cuda-sm80", "--emulate"), 1)

    def test_verify(self):
        """nnc's own evaluation calls the same function."""
        with tempfile.TemporaryDirectory() as folder:
            (path,) = flat.save({"net": network()[0].model()}, folder)
            code, said = running.nnc("verify", path, "--compiler", running.COMPILER)
            self.assertEqual(code, DONE, said)

    def test_broken(self):
        whole = flexbuffer(OPTIONS)
        rng = np.random.default_rng(1)
        cases = {"": b"", "short": whole[:-7], "numbers": bytes(range(64))}
        for name in OPTIONS:
            cases[f"without {name}"] = flexbuffer({k: v for k, v in OPTIONS.items() if k != name})
        for name, value in (("max_detections", 0), ("max_detections", 2000000000),
                            ("num_classes", 5), ("num_classes", -1), ("y_scale", 0.0),
                            ("h_scale", float("nan")), ("max_classes_per_detection", 0)):
            cases[f"{name} = {value}"] = flexbuffer({**OPTIONS, name: value})
        for i in range(20):
            changed = np.frombuffer(whole, np.uint8).copy()
            changed[rng.integers(0, len(whole), 3)] = rng.integers(0, 256, 3)
            cases[f"mutated {i}"] = changed.tobytes()
        models = {}
        for i, options in enumerate(cases.values()):
            net = network()[0]
            net.operators[0]["custom_options"] = list(options)
            models[f"m{i}"] = net.model()
        with tempfile.TemporaryDirectory() as folder:
            paths = flat.save(models, folder)
            for name, path in zip(cases, paths):
                code, said = running.nnc("check", "--no-build", path)
                allowed = (DONE, BROKEN, running.LIMIT) if "mutated" in name else (BROKEN,)
                self.assertIn(code, allowed, f"{name}: {said}")
                if code:
                    self.assertIn(NAME, said)


if __name__ == "__main__":
    unittest.main()
