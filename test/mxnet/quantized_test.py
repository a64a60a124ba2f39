#!/usr/bin/env python3
"""Tests the operators of MXNet's quantizer against the arithmetic on integers of its oneDNN backend
in numpy: results may differ by one step where a number lies between two integers, and layers
compute in 8 bits."""

import json
import pathlib
import tempfile
import unittest

import numpy as np

import plain
import running
import symbols


# The steps of int8 and uint8 for the largest number of a range, since MXNet 1.5.
INT8, UINT8 = 127.5, 255.5


def to_int8(x, largest):
    """Integers of int8 for numbers up to `largest`: halves are rounded to even."""
    return np.clip(np.rint(x.astype(np.float64) * (INT8 / largest)), -128, 127).astype(np.int8)


def to_uint8(x, largest, steps=UINT8):
    return np.clip(np.rint(x.astype(np.float64) * (steps / largest)), 0, 255).astype(np.uint8)


class Writer:
    """A net of quantized operators, with the numbers that each result stands for."""

    def __init__(self, seed):
        self.net = symbols.Net()
        self.random = np.random.default_rng(seed)

    def reals(self, *shape):
        return self.random.normal(0, 1, shape).astype(np.float32)

    def quantized_param(self, array, name):
        """(integers, their step, three nodes) of a parameter that was quantized offline."""
        largest = np.float32(np.abs(array).max())
        integers = to_int8(array, largest)
        nodes = [self.net.param(integers, name + "_quantize"),
                 self.net.param(np.float32([-largest]), name + "_quantize_min"),
                 self.net.param(np.float32([largest]), name + "_quantize_max")]
        return integers, largest / INT8, nodes

    def quantize(self, ref, x, largest, unsigned=False):
        made = self.net("_contrib_quantize_v2", ref, out_type="auto" if unsigned else "int8",
                        min_calib_range=0.0 if unsigned else -largest, max_calib_range=largest)
        if unsigned:
            return made, to_uint8(x, largest).astype(np.float64) * largest / UINT8
        return made, to_int8(x, largest).astype(np.float64) * largest / INT8

    def weighted(self, op, data, x, w, b, compute, **attributes):
        """A quantized layer, requantized to the largest of its results."""
        wi, ws, wn = self.quantized_param(w, f"w{len(self.net.params)}")
        bi, bs, bn = self.quantized_param(b, f"b{len(self.net.params)}")
        y = self.net(op, data[0], wn[0], bn[0], data[1], data[2], *wn[1:], *bn[1:],
                     **attributes)
        sums = compute(x, wi.astype(np.float64) * ws, bi.astype(np.float64) * bs)
        largest = float(np.float32(np.abs(sums).max() * 0.9))
        y = self.net("_contrib_requantize", y[0], y[1], y[2], min_calib_range=-largest,
                     max_calib_range=largest)
        return y, to_int8(sums, largest).astype(np.float64) * largest / INT8, largest / INT8


class QuantizedTest(unittest.TestCase):
    def check_steps(self, net, wants):
        """Compares outputs with (numbers, step): most are equal, and all within two steps."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            outputs = running.run(net, folder)
            code, said = running.nnc("explain", folder / "net-symbol.json", *running.shapes(net),
                                     "--json")
            self.assertEqual(code, 0, said)
        for got, (want, step) in zip(outputs, wants, strict=True):
            self.assertEqual(got.shape, want.shape)
            apart = np.abs(got - want) / step
            self.assertLess(apart.max(), 2.01)
            self.assertLess((apart > 0.01).mean(), 0.05)
            self.assertGreater(len(np.unique(want)), 5)
        return json.loads(said)

    def routines(self, report):
        return [way["routine"] for layer in report["layers"] for way in layer["alternatives"]
                if way["chosen"]]

    def test_network(self):
        writer = Writer(1)
        net, r = writer.net, writer.reals
        x = r(2, 4, 9, 9)
        q, x = writer.quantize(net.data(x), x, 2.5)
        y, x, _ = writer.weighted("_contrib_quantized_conv", q, x, r(8, 4, 3, 3), r(8),
                                  lambda x, w, b: plain.conv(x, w, b, (2, 2), (1, 1)),
                                  kernel=(3, 3), stride=(2, 2), pad=(1, 1), num_filter=8)
        y = net("_contrib_quantized_act", y[0], y[1], y[2], act_type="relu")
        x = np.maximum(x, 0)
        y = net("_contrib_quantized_pooling", y[0], y[1], y[2], kernel=(2, 2), pool_type="max")
        x = plain.pool(x, (2, 2))
        y = net("_contrib_quantized_flatten", y[0], y[1], y[2])
        x = x.reshape(2, -1)
        y, x, step = writer.weighted(
            "_contrib_quantized_fully_connected", y, x, r(30, x.shape[1]), r(30),
            lambda x, w, b: x @ w.T + b, num_hidden=30)
        net.output(net("_contrib_dequantize", y[0], y[1], y[2]))
        report = self.check_steps(net, [(x, step)])
        sums = [routine for routine in self.routines(report) if "_i32" in routine]
        self.assertEqual(len(sums), 2, self.routines(report))

    def test_unsigned_data_and_sums(self):
        writer = Writer(2)
        net, r = writer.net, writer.reals
        x = np.abs(r(1, 4, 8, 8))
        q, x = writer.quantize(net.data(x), x, 2.0, unsigned=True)
        a, xa, _ = writer.weighted("_contrib_quantized_conv", q, x, r(6, 4, 1, 1), r(6),
                                   plain.conv, kernel=(1, 1), num_filter=6)
        b, xb, _ = writer.weighted("_contrib_quantized_conv", q, x, r(6, 4, 3, 3), r(6),
                                   lambda x, w, b: plain.conv(x, w, b, None, (1, 1)),
                                   kernel=(3, 3), pad=(1, 1), num_filter=6)
        largest = float(np.float32(np.abs(xa + xb).max()))
        y = net("_contrib_quantized_elemwise_add", a[0], b[0], a[1], a[2], b[1], b[2],
                min_calib_range=-largest, max_calib_range=largest)
        want = to_int8(xa + xb, largest) * largest / INT8
        net.output(net("_contrib_dequantize", y[0], y[1], y[2]))
        wants = [(want, largest / INT8)]
        # The range of the concatenation includes those of both.
        both = net("_contrib_quantized_concat", a[0], b[0], a[1], a[2], b[1], b[2], dim=1,
                   num_args=2)
        bounds = [float(net.nodes[v.node]["attrs"]["max_calib_range"]) for v in (a, b)]
        x = np.concatenate([xa, xb], 1)
        wants.append((to_int8(x, max(bounds)) * max(bounds) / INT8, max(bounds) / INT8))
        net.output(net("_contrib_dequantize", both[0], both[1], both[2]))
        self.check_steps(net, wants)

    def test_ranges_of_inputs(self):
        # A graph that was quantized without calibration computes the range of its data.
        writer = Writer(3)
        net = writer.net
        x = writer.reals(3, 7)
        data = net.data(x)
        for kind in ("int8", "uint8"):
            q = net("_contrib_quantize", data, net("min", data), net("max", data), out_type=kind)
            net.output(net("_contrib_dequantize", q[0], q[1], q[2]))
        largest = np.abs(x).max()
        low, span = x.min(), x.max() - x.min()
        wants = [(to_int8(x, largest) * largest / INT8, largest / INT8),
                 (to_uint8(x - low, span, 255) * (span / 255) + low, span / 255)]
        self.check_steps(net, wants)

    def test_weights_that_are_quantized_while_running(self):
        # Their ranges are computed from parameters, and known when compiling.
        writer = Writer(4)
        net, r = writer.net, writer.reals
        x, w, b = r(30, 16), r(12, 16), r(12)
        q, xq = writer.quantize(net.data(x), x, 2.0)
        made = []
        for array in (w, b):
            p = net.param(array)
            made.append(net("_contrib_quantize", p, net("min", p), net("max", p),
                            out_type="int8"))
        wq, bq = made
        y = net("_contrib_quantized_fully_connected", q[0], wq[0], bq[0], q[1], q[2], wq[1],
                wq[2], bq[1], bq[2], num_hidden=12)
        whole, bias = (to_int8(v, np.abs(v).max()) * (np.abs(v).max() / INT8) for v in (w, b))
        sums = xq @ whole.T + bias
        largest = float(np.float32(np.abs(sums).max()))
        y = net("_contrib_requantize", y[0], y[1], y[2], min_calib_range=-largest,
                max_calib_range=largest)
        net.output(net("_contrib_dequantize", y[0], y[1], y[2]))
        report = self.check_steps(net, [(to_int8(sums, largest) * largest / INT8, largest / INT8)])
        self.assertTrue(any("_i32" in routine for routine in self.routines(report)),
                        self.routines(report))

    def test_fused_operators(self):
        # Their weights are floats, which are folded with the batch normalization and rounded.
        writer = Writer(5)
        net, r = writer.net, writer.reals
        x, w = np.abs(r(1, 4, 8, 8)), r(6, 4, 3, 3)
        gamma, beta, mean, variance = r(6), r(6), r(6), np.abs(r(6)) + np.float32(0.5)
        q, xq = writer.quantize(net.data(x), x, 2.0, unsigned=True)
        inner = symbols.Net()
        y = inner("Convolution", inner.variable("data"), inner.variable("weight"), kernel=(3, 3),
                  pad=(1, 1), num_filter=6, no_bias=True)
        y = inner("BatchNorm", y, *map(inner.variable, ("gamma", "beta", "mean", "variance")),
                  eps=1e-5, fix_gamma=False)
        inner.heads = [inner("Activation", inner("elemwise_add", y, inner.variable("other")),
                             act_type="relu")]
        factors = gamma / np.sqrt(variance + np.float32(1e-5))
        folded = w * factors[:, None, None, None]
        largest = np.abs(folded).max((1, 2, 3), keepdims=True)
        rounded = to_int8(folded, largest).astype(np.float64) * largest / INT8
        other, oq = writer.quantize(net.data(r(1, 6, 8, 8)), net.feeds["in1"], 2.0)
        sums = plain.conv(xq, rounded, beta - factors * mean, None, (1, 1)) + oq
        most = float(np.float32(sums.max() * 0.9))
        y = net("_sg_mkldnn_conv", q[0], w, gamma, beta, mean, variance, other[0], q[1], q[2],
                other[1], other[2], subgraphs=[inner], quantized="true", with_bn="true",
                with_sum="true", with_postsum_act="true", min_calib_range=0.0,
                max_calib_range=most)
        net.output(net("_contrib_dequantize", y[0], y[1], y[2]))
        want = to_uint8(np.maximum(sums, 0), most) * most / UINT8
        report = self.check_steps(net, [(want, most / UINT8)])
        self.assertTrue(any("_i32" in routine for routine in self.routines(report)),
                        self.routines(report))


if __name__ == "__main__":
    unittest.main()
