"""Networks of many families, quantized in several ways by onnxruntime's quantizers, against
onnxruntime without optimizations, which computes QDQ models in floats.

    quantized_nets_test.py [--target T] [--sample K/N] [NET/FORM...]

Equal bits where every operator computes on integers as it is defined; else outputs within
one unit of their scale, with at most one percent of them apart, and equal labels.

Values that lie halfway between two integers are rounded either way, by the order in which
floats are added, and layers behind may amplify that. So an output may also be that close to
what onnxruntime computes with optimizations, in integers. Activations of 16 bits are as fine
as float32's own rounding errors of sums: they are within eight of their units, which are an
8-bit unit's 256th.
"""

import argparse
import pathlib
import sys
import tempfile
import unittest
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType

import emitted
import float_nets

RUNS = 4


def static(form=QuantFormat.QDQ, activations=QuantType.QUInt8, weights=QuantType.QInt8,
           **how):
    def quantize(source, path, samples):
        quantization.quantize_static(str(source), str(path), samples, quant_format=form,
                                     activation_type=activations, weight_type=weights, **how)
    return quantize


def dynamic(source, path, samples):
    quantization.quantize_dynamic(str(source), str(path), per_channel=True, reduce_range=True)


FORMS = {
    "channels": static(activations=QuantType.QInt8, per_channel=True),
    "asymmetric": static(weights=QuantType.QUInt8),
    # Weights of 7 bits, because onnxruntime saturates sums of two products on AVX2.
    "operators": static(QuantFormat.QOperator, per_channel=True, reduce_range=True),
    "dynamic": dynamic,
    "symmetric": static(activations=QuantType.QInt8, reduce_range=True,
                        extra_options={"ActivationSymmetric": True}),
    "wide": static(activations=QuantType.QUInt16, per_channel=True),
}

# These have integer results that ONNX or onnxruntime's documentation of its own operators
# defines, or only move elements.
DEFINED = {"QGemm", "QLinearAdd", "QLinearConcat", "QLinearGlobalAveragePool", "QLinearConv",
           "QLinearMatMul", "QuantizeLinear", "DequantizeLinear", "MaxPool",
           "Flatten", "Reshape", "Transpose", "Split", "Slice", "Gather", "Squeeze", "Dropout"}


class Samples(CalibrationDataReader):
    def __init__(self, net, random):
        self.rest = [net.feeds(random) for _ in range(8)]

    def get_next(self):
        return self.rest.pop() if self.rest else None


def get_units(model, wants):
    """The scale of each output: that of its DequantizeLinear or, if it has none, the scale that
    a quantizer to 8 bits would choose."""
    scales = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    makers = {name: node for node in model.graph.node for name in node.output}
    return {o.name: float(scales[makers[o.name].input[1]])
            if makers[o.name].op_type == "DequantizeLinear" else
            float(np.ptp(wants[o.name])) / 255 for o in model.graph.output}


def is_defined(model):
    return (any(node.op_type.startswith("QLinear") for node in model.graph.node) and
            all(node.op_type in DEFINED for node in model.graph.node))


def run(path, feeds, level):
    """The outputs of all runs by name."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(str(path), options,
                                           providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    runs = [session.run(names, feed) for feed in feeds]
    return {name: np.stack([one[i] for one in runs]) for i, name in enumerate(names)}


class Nets(unittest.TestCase):
    target = "native"

    def compare(self, path, feeds, bound):
        plain, optimized = (run(path, feeds, level) for level in (
            onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
            onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL))
        module = emitted.compile_model(path, path.with_suffix(""), target=self.target)
        module.build()
        actual = [module(feed) for feed in feeds]
        model = onnx.load(path)
        units = get_units(model, plain)
        for name, want in plain.items():
            got = np.stack([outputs[name] for outputs in actual])
            self.assertGreater(len(np.unique(want)), 5, f"{name} is constant")
            if is_defined(model):
                np.testing.assert_array_equal(got, want, name)
            judged = [self.judge(got, judge[name], units[name], bound)
                      for judge in (plain, optimized)]
            self.assertIn(None, judged, f"{name}: {'; with optimizations '.join(map(str, judged))}")

    def judge(self, got, want, unit, bound):
        """What is wrong, in words."""
        apart = np.abs(got - want) / unit
        share = (apart > bound - 0.5).mean()
        if apart.max() > bound + 0.01 or share > 0.01:
            return f"{apart.max():.2f} units apart at most, {share:.2%} apart"
        if want.shape[1:] == (1, 10):
            for one, other in zip(want[:, 0], got[:, 0]):
                top = np.sort(one)
                if top[-1] - top[-2] > 2 * bound * unit and one.argmax() != other.argmax():
                    return "another label"
        return None

    def check(self, net, form):
        random = np.random.default_rng(zlib.crc32(net.encode()))
        with tempfile.TemporaryDirectory() as folder:
            floats, path = (pathlib.Path(folder) / f"{name}.onnx" for name in ("floats", net))
            made = float_nets.FAMILIES[net](random, floats)
            FORMS[form](floats, path, Samples(made, random))
            self.compare(path, [made.feeds(random) for _ in range(RUNS)],
                         8 if form == "wide" else 1)


def add_test(net, form):
    setattr(Nets, f"test_{net}_{form}", lambda self: self.check(net, form))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", metavar="NET/FORM")
    parser.add_argument("--target", default=Nets.target, help="one that this machine runs")
    parser.add_argument("--sample", default="1/1", metavar="K/N", help="each Nth, from the Kth")
    arguments = parser.parse_args()
    Nets.target = arguments.target
    # Neighbours in this order have other networks and other forms.
    nets, forms = list(float_nets.FAMILIES), list(FORMS)
    pairs = [(net, forms[(i + shift) % len(forms)]) for shift in range(len(forms))
             for i, net in enumerate(nets)]
    if arguments.pairs:
        pairs = [tuple(pair.split("/")) for pair in arguments.pairs]
    first, step = map(int, arguments.sample.split("/"))
    for net, form in pairs[first - 1::step]:
        add_test(net, form)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
