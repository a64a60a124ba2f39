"""Networks that onnxruntime's quantizers write, against onnxruntime without optimizations,
which computes QDQ models in floats: equal labels, and the outputs within one unit. On a
target without vector routines everything between convolutions stays in integers of 8 bits."""

import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType

import emitted
from float_nets import Net

random = np.random.default_rng(5)


def make_residual(path):
    """Residual connections, depthwise layers, pooling, concats with different scales, and a
    gate."""
    net = Net(random, [1, 3, 16, 16])
    x = net.add("Relu", net.conv("x", 3, 16, stride=1))
    y = net.add("Relu", net.conv(x, 16, 16, group=16))
    y = net.conv(y, 16, 16, kernel=1)
    x = net.add("Relu", net.add("Add", x, y))
    pooled = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    # Of nine numbers, none lies halfway between two integers, which floats round either way.
    mean = net.add("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
                   count_include_pad=1)
    x = net.add("Concat", pooled, mean, axis=1)
    gate = net.add("GlobalAveragePool", x)
    gate = net.add("Sigmoid", net.conv(gate, 32, 32, kernel=1))
    x = net.add("Mul", x, gate)
    y = net.add("LeakyRelu", net.conv(x, 32, 32, group=4), alpha=0.1)
    x = net.add("Add", x, y)
    features = x
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    w = random.standard_normal((10, 32)) / np.sqrt(32)
    x = net.add("Gemm", x, net.weight(w.astype(np.float32)),
                net.weight(random.standard_normal(10).astype(np.float32)), transB=1)
    net.save(path, features, x)


def make_decoder(path):
    """A transposed convolution, and ops that move elements or are cheap."""
    net = Net(random, [1, 4, 8, 8])
    x = net.add("Relu", net.conv("x", 4, 16, stride=2))
    x = net.conv(x, 16, 8, kernel=3, stride=2, op="ConvTranspose", output_padding=[1, 1])
    bounds = [net.weight(np.float32(b)) for b in (0, 6)]
    x = net.add("Clip", x, *bounds)
    low, high = net.add("Split", x, outputs=2, axis=1)
    low = net.add("Resize", low, "", net.weight(np.float32([1, 1, 2, 2])), mode="nearest")
    low = net.add("MaxPool", low, kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("Concat", high, low, axis=1)
    x = net.add("Pad", x, net.weight(np.int64([0, 0, 1, 1, 0, 0, 1, 1])))
    x = net.add("Transpose", x, perm=[0, 2, 3, 1])
    x = net.add("Transpose", x, perm=[0, 3, 1, 2])
    x = net.add("HardSwish", net.conv(x, 8, 16))
    x = net.add("DepthToSpace", x, blocksize=2)
    x = net.add("Slice", x, net.weight(np.int64([0, 2])), net.weight(np.int64([4, 18])),
                net.weight(np.int64([1, 2])))
    x = net.add("Tanh", net.conv(x, 4, 4))
    net.save(path, x)


def make_transformer(path, tokens=12, width=32, heads=4):
    """One layer of a transformer: attention, layer norms, GELU as erf."""
    net = Net(random, [1, tokens, width])

    def norm(x):
        scale = 1 + random.standard_normal(width) * 0.1
        return net.add("LayerNormalization", x, net.weight(scale.astype(np.float32)),
                       net.weight(np.zeros(width, np.float32)), axis=-1)

    def split(x):
        shape = net.weight(np.int64([1, tokens, heads, width // heads]))
        return net.add("Reshape", x, shape)

    x = norm("x")
    q, k, v = (split(net.linear(x, width, width)) for _ in range(3))
    q = net.add("Transpose", q, perm=[0, 2, 1, 3])
    k = net.add("Transpose", k, perm=[0, 2, 3, 1])
    v = net.add("Transpose", v, perm=[0, 2, 1, 3])
    scores = net.add("MatMul", q, k)
    scores = net.add("Div", scores, net.weight(np.float32(np.sqrt(width // heads))))
    y = net.add("MatMul", net.add("Softmax", scores, axis=-1), v)
    y = net.add("Transpose", y, perm=[0, 2, 1, 3])
    y = net.add("Reshape", y, net.weight(np.int64([1, tokens, width])))
    x = net.add("Add", x, net.linear(y, width, width))
    y = net.linear(norm(x), width, 4 * width)
    erf = net.add("Erf", net.add("Div", y, net.weight(np.float32(np.sqrt(2)))))
    y = net.add("Mul", y, net.add("Add", erf, net.weight(np.float32(1))))
    y = net.add("Mul", y, net.weight(np.float32(0.5)))
    x = net.add("Add", x, net.linear(y, 4 * width, width))
    x = net.add("ReduceMean", norm(x), axes=[1], keepdims=0)
    net.save(path, net.linear(x, width, 10))


NETS = {"residual": (make_residual, (1, 3, 16, 16)), "decoder": (make_decoder, (1, 4, 8, 8)),
        "transformer": (make_transformer, (1, 12, 32))}

FORMS = {
    "u8s8": dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
                 weight_type=QuantType.QInt8, per_channel=False),
    "s8s8_channels": dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8,
                          weight_type=QuantType.QInt8, per_channel=True),
    "u8u8": dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
                 weight_type=QuantType.QUInt8, per_channel=False),
    "s8_symmetric": dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8,
                         weight_type=QuantType.QInt8, per_channel=True,
                         extra_options={"ActivationSymmetric": True}),
    # Weights of 7 bits, because onnxruntime saturates sums of two products on AVX2.
    "operators": dict(quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8,
                      weight_type=QuantType.QInt8, per_channel=True, reduce_range=True),
}


class Samples(CalibrationDataReader):
    def __init__(self, shape):
        self.rest = [random.standard_normal(shape).astype(np.float32) for _ in range(8)]

    def get_next(self):
        return {"x": self.rest.pop()} if self.rest else None


def get_units(model):
    """The scale of each output that a DequantizeLinear computes, by name."""
    scales = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    makers = {name: node for node in model.graph.node for name in node.output}
    return {o.name: float(scales[makers[o.name].input[1]]) for o in model.graph.output
            if makers[o.name].op_type == "DequantizeLinear"}


class Quantizers(unittest.TestCase):
    def compare(self, path, shape, target="portable", atol=None):
        """Runs a model on some inputs; returns the module."""
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(path), options,
                                               providers=["CPUExecutionProvider"])
        units = get_units(onnx.load(path))
        module = emitted.compile_model(path, path.with_suffix(""), target=target)
        module.build()
        differing = total = 0
        for _ in range(4):
            feeds = {"x": random.standard_normal(shape).astype(np.float32)}
            outputs = [o.name for o in session.get_outputs()]
            actual = module(feeds)
            for name, want in zip(outputs, session.run(outputs, feeds)):
                self.assertGreater(len(np.unique(want)), 5, name)
                unit = units.get(name, atol)
                self.assertIsNotNone(unit, f"{name} is not quantized")
                apart = np.abs(actual[name] - want) / unit
                self.assertLessEqual(apart.max(), 1.01, name)
                differing, total = differing + (apart > 0.5).sum(), total + apart.size
                if want.shape == (1, 10):
                    top = np.sort(want[0])
                    if top[-1] - top[-2] > 2 * unit:
                        self.assertEqual(want.argmax(), actual[name].argmax())
        self.assertLessEqual(differing, 0.01 * total)
        return module

    def check(self, net, form):
        make, shape = NETS[net]
        with tempfile.TemporaryDirectory() as folder:
            floats, path = (pathlib.Path(folder) / f"{name}.onnx" for name in ("floats", net))
            make(floats)
            quantization.quantize_static(str(floats), str(path), Samples(shape),
                                         **FORMS[form])
            module = self.compare(path, shape, atol=0.02)
            twin = emitted.compile_model(floats, floats.with_suffix(""), target="portable")
            return module.manifest, twin.manifest

    def test_residual(self):
        for form in FORMS:
            with self.subTest(form=form):
                manifest, twin = self.check("residual", form)
                # Padding of other values than 0 is a copy of the image.
                share = 0.42 if form == "s8s8_channels" else 0.35
                self.assertLessEqual(manifest["arena_bytes"], share * twin["arena_bytes"])
                # Of a few thousand weights, each filter has a bias and a scale of four bytes.
                # Weights around another zero point than 0 or 128 have 16 bits.
                share = 0.6 if form == "u8u8" else 0.35
                self.assertLessEqual(manifest["weight_bytes"], share * twin["weight_bytes"])
                for layer in manifest["layers"]:
                    self.assertNotRegex(layer["routine"], "_f32_|adapt", layer["name"])

    def test_decoder(self):
        for form in ("u8s8", "s8s8_channels", "s8_symmetric"):
            with self.subTest(form=form):
                self.check("decoder", form)

    def test_transformer(self):
        for form in ("u8s8", "s8s8_channels", "operators"):
            with self.subTest(form=form):
                self.check("transformer", form)

    def test_dynamic(self):
        """Scales of activations are computed at run time."""
        for net in ("residual", "transformer"):
            make, shape = NETS[net]
            with self.subTest(net=net), tempfile.TemporaryDirectory() as folder:
                floats, path = (pathlib.Path(folder) / f"{name}.onnx"
                                for name in ("floats", net))
                make(floats)
                quantization.quantize_dynamic(str(floats), str(path), reduce_range=True)
                self.compare(path, shape, atol=0.05)


if __name__ == "__main__":
    sys.exit(unittest.main())
