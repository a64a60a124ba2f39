"""Float models with random weights, their results by onnxruntime, and the base of the tests that
quantize them."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
# Models that run once are built as fast as can be; small ones are evaluated in less time.
QUICK = "--compiler=c++ -O1"


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


class Network:
    """A float model of named nodes, whose weights are random."""

    def __init__(self, *shape, opset=17, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.shape, self.opset = [], {}, list(shape), opset

    def constant(self, array):
        name = f"w{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def weights(self, *shape):
        fan = np.prod(shape[1:]) if len(shape) > 1 else 4
        values = self.random.standard_normal(shape) / np.sqrt(fan)
        return self.constant(values.astype(np.float32))

    def add(self, op, *inputs, name=None, **attributes):
        name = name or f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def conv(self, x, inputs, outputs, kernel=3, group=1, bias=True):
        operands = [x, self.weights(outputs, inputs // group, kernel, kernel)]
        if bias:
            operands.append(self.weights(outputs))
        return self.add("Conv", *operands, group=group, pads=[kernel // 2] * 4)

    def model(self, *outputs):
        graph = helper.make_graph(
            self.nodes, "graph", [value("x", self.shape)],
            [helper.make_empty_tensor_value_info(name) for name in outputs],
            [numpy_helper.from_array(a, name) for name, a in self.constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=8)
        helper.set_model_props(model, {"labels": "a b"})
        model = onnx.shape_inference.infer_shapes(model) # of the outputs
        del model.graph.value_info[:]
        return model


def everything(opset=17):
    """Each kind of layer once or twice; the output is scores of 5 classes."""
    net = Network(1, 3, 12, 12, opset=opset)
    a = net.add("Relu", net.conv("x", 3, 8))
    b = net.add("Clip", net.conv(a, 8, 8, group=8, bias=False),
                net.constant(np.float32(0)), net.constant(np.float32(2)))
    c = net.add("Relu", net.add("Add", net.conv(b, 8, 8, 1), a))
    d = net.add("MaxPool", c, kernel_shape=[2, 2], strides=[2, 2])
    e = net.add("AveragePool", c, kernel_shape=[2, 2], strides=[2, 2])
    f = net.add("Concat", d, e, net.conv(d, 8, 4, 1), axis=1)
    g = net.add("ConvTranspose", f, net.weights(20, 6, 2, 2), net.weights(6), strides=[2, 2])
    h = net.add("Mul", net.conv(g, 6, 6), net.conv(g, 6, 6))
    i = net.add("Transpose", h, perm=[0, 2, 3, 1])
    j = net.add("MatMul", i, net.weights(6, 7))
    k = net.add("Relu", net.add("Add", j, net.weights(7)))
    l = net.add("Transpose", k, perm=[0, 3, 1, 2])
    m = net.add("Flatten", net.add("GlobalAveragePool", l))
    n = net.add("Gemm", m, net.weights(5, 7), net.weights(5), transB=1)
    return net.model(n)


def samples(model, count=6, seed=1):
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    random = np.random.default_rng(seed)
    return random.standard_normal((count, *shape)).astype(np.float32)


def run(model, x, names=None, integers=False):
    """The results of onnxruntime, node by node as ONNX defines them. With `integers` it uses
    its integer kernels, whose sums saturate on machines with only AVX2."""
    options = onnxruntime.SessionOptions()
    if not integers:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    results = [session.run(names, {"x": each}) for each in x]
    return [np.stack(each) for each in zip(*results)]


def observe(model, names, x):
    """The values of tensors of a model, by onnxruntime."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    known = {output.name for output in copy.graph.output}
    copy.graph.output.extend(helper.make_empty_tensor_value_info(name)
                             for name in names if name not in known)
    return dict(zip(names, run(copy, x, list(names))))


def decibels(expected, actual):
    noise = np.square(expected.astype(np.float64) - actual).sum()
    return 10 * np.log10(np.square(expected.astype(np.float64)).sum() / max(noise, 1e-300))


def constant(model, name):
    (found,) = [t for t in model.graph.initializer if t.name == name]
    return numpy_helper.to_array(found)


def ops(model):
    return [node.op_type for node in model.graph.node]


class TestCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def quantize(self, model, x, *options, native=False):
        """The quantized model and the report; the model is built if `native`."""
        onnx.save(model, self.folder / "float.onnx")
        np.savez(self.folder / "samples.npz", x=x)
        done = subprocess.run(
            [NNC, "quantize", "float.onnx", "--calibration=samples.npz", "-o", "int8.onnx",
             "--json", *([QUICK] if native else []), *options], cwd=self.folder,
            env=os.environ if native else {**os.environ, "CXX": "none"},
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        quantized = onnx.load(self.folder / "int8.onnx")
        onnx.checker.check_model(quantized, full_check=True)
        return quantized, json.loads(done.stdout)
