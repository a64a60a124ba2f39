"""Tests that the time of nnc grows linearly with the number of layers. `nnc check` runs on
networks of one kind with a small and a large number of layers, and the processor time for each
layer may grow only slightly. Layers are small, so that only their number matters."""

import pathlib
import resource
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

import nnc

FEW, MANY = 500, 4000
# Time that grows with the square becomes eight times as long for a layer, and n log n 1.3 times.
# The start of the program, which the small network has as well, hides a little of that.
MOST = 2.5
TRIES = 3  # a processor that is busy with other programs, or hot, makes single times longer

random = np.random.default_rng(7)


class Net:
    """An ONNX graph that grows node by node."""

    def __init__(self, *shape):
        self.nodes, self.weights, self.outputs = [], [], []
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]

    def add(self, op, *inputs, results=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if results == 1 else names

    def weight(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def floats(self, *shape):
        return self.weight(random.standard_normal(shape).astype(np.float32))

    def input(self, *shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def output(self, name):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))

    def model(self):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def elementwise(count):
    """A chain of functions, which become few layers with many functions each."""
    net, v = Net(1, 8), "x"
    for i in range(count):
        v = net.add(("Sin", "Tanh", "Abs", "Sigmoid")[i % 4], v)
    net.output(v)
    return net.model()


def sums(count):
    """A chain of layers, every second of which has a constant of its own."""
    net, v = Net(4, 4), "x"
    for _ in range(count // 2):
        v = net.add("Softmax", net.add("MatMul", v, net.floats(4, 4)), axis=0)
    net.output(v)
    return net.model()


def convolutions(count):
    net, v = Net(1, 4, 5, 5), "x"
    for _ in range(count):
        v = net.add("Relu", net.add("Conv", v, net.floats(4, 4, 3, 3), pads=[1] * 4))
    net.output(v)
    return net.model()


def residuals(count):
    """Blocks whose input is added to their result."""
    net, v = Net(1, 4, 5, 5), "x"
    for _ in range(count // 2):
        first = net.add("Relu", net.add("Conv", v, net.floats(4, 4, 1, 1)))
        v = net.add("Add", v, net.add("Conv", first, net.floats(4, 4, 1, 1)))
    net.output(v)
    return net.model()


def fan_out(count):
    """A value that many layers read, whose results are concatenated."""
    net = Net(4, 8)
    parts = [net.add("MatMul", "x", net.floats(8, 2)) for _ in range(count)]
    net.output(net.add("Concat", *parts, axis=1))
    return net.model()


def split(count):
    """A value in many parts, each of which one layer reads."""
    net = Net(count, 4)
    parts = [net.add("Softmax", part, axis=1)
             for part in net.add("Split", "x", results=count, axis=0, num_outputs=count)]
    net.output(net.add("Concat", *parts, axis=0))
    return net.model()


def dense(count):
    """Concats that grow by a layer that reads all values before it, in groups of a hundred."""
    net, v = Net(1, 2), "x"
    for _ in range(count // 20):
        block = v
        for i in range(20):
            part = net.add("MatMul", block, net.floats(2 + 2 * i, 2))
            block = net.add("Concat", block, part, axis=1)
        v = net.add("MatMul", block, net.floats(42, 2))
    net.output(v)
    return net.model()


def outputs(count):
    net = Net(3, 4)
    for _ in range(count):
        net.output(net.add("MatMul", "x", net.floats(4, 2)))
    return net.model()


def inputs(count):
    net, v = Net(3, 4), "x"
    for _ in range(count):
        v = net.add("Add", net.add("Softmax", v), net.input(3, 4))
    net.output(v)
    return net.model()


def sequence(count):
    """A sequence of elements, each of which is computed by a layer of its own."""
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[{count},4] x) => (float[{count},4] y) {{
            s = SplitToSequence<axis=0>(x)
            m = SequenceMap(s) <body = b (float[1,4] a) => (float[1,4] c) {{ c = Relu(a) }}>
            y = ConcatFromSequence<axis=0>(m) }}""")


def unrolled(count):
    """A loop whose iterations differ in the shapes of their results."""
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2,2] x) => (float[n,2] y) {{
            runs = Constant<value_int={count // 4}>()
            s0 = SequenceEmpty()
            v, s = Loop (runs, , x, s0) <body = b (int64 i, bool go, float[2,2] u, seq(float[2,2]) t)
                => (bool go2, float[2,2] w, seq(float[2,2]) t2) {{
                go2 = Identity(go)
                m = MatMul(u, x)  w = Softmax(m)
                t1 = SequenceInsert(t, w)
                first = Constant<value_int=0>()
                e = SequenceAt(t1, first)
                t2 = SequenceInsert(t1, e) }}>
            y = ConcatFromSequence<axis=0>(s) }}""")


def branches(count):
    """Branches that depend on data, each with functions of its own."""
    net, v = Net(1, 4), "x"
    zero, axes = net.weight(np.float32(0)), net.weight(np.array([0, 1]))
    for _ in range(count // 10):
        total = net.add("ReduceSum", v, axes, keepdims=0)
        bodies = {}
        for name, op in (("then_branch", "Sin"), ("else_branch", "Tanh")):
            result = f"{name[0]}{len(net.nodes)}"
            node = helper.make_node(op, [v], [result])
            bodies[name] = helper.make_graph(
                [node], name, [], [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)])
        v = net.add("If", net.add("Greater", total, zero), **bodies)
    net.output(v)
    return net.model()


def quantized(count):
    """Convolutions of 8 bits between quantized values."""
    net, v = Net(1, 4, 4, 4), "x"
    scale, zero = net.weight(np.float32(0.05)), net.weight(np.int8(0))
    v = net.add("QuantizeLinear", v, scale, zero)
    for _ in range(count):
        weights = random.integers(-99, 99, (4, 4, 1, 1)).astype(np.int8)
        v = net.add("QuantizeLinear",
                    net.add("Conv", net.add("DequantizeLinear", v, scale, zero),
                            net.add("DequantizeLinear", net.weight(weights), scale, zero)),
                    scale, zero)
    net.output(net.add("DequantizeLinear", v, scale, zero))
    return net.model()


KINDS = (elementwise, sums, convolutions, residuals, fan_out, split, dense, outputs, inputs, sequence,
         unrolled, branches, quantized)


class Growth(unittest.TestCase):
    """Each test is a kind of network. nnc check runs without compiling the code."""

    def seconds(self, make, layers, target):
        """The processor time for a network with this number of layers."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(make(layers), path)
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            done = subprocess.run([nnc.NNC, "check", "--no-build", path, f"--target={target}"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def check(self, make, target="portable"):
        few = many = float("inf")
        for _ in range(TRIES):
            few = min(few, self.seconds(make, FEW, target) / FEW)
            many = min(many, self.seconds(make, MANY, target) / MANY)
            if many <= MOST * few:
                return
        self.fail(f"{make.__name__}: a layer takes {few * 1e6:.0f} µs among {FEW}, and "
                  f"{many * 1e6:.0f} µs among {MANY}")


    def test_microcontroller(self):
        """Where the order of layers is searched for, too."""
        self.check(split, "cortex-m4")


for kind in KINDS:
    setattr(Growth, f"test_{kind.__name__}", lambda self, kind=kind: self.check(kind))


if __name__ == "__main__":
    unittest.main()
