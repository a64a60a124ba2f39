"""Models of many small nodes whose results are all outputs. A model is compiled and run once,
and compared with ONNX's reference evaluator or with known values."""

import pathlib
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import emitted


class Graph:
    """Nodes whose operands are inputs, constants, or results of earlier nodes. One that
    declares states the shapes of its outputs where these are known."""

    def __init__(self, opset=18, declares=False):
        self.opset, self.declares = opset, declares
        self.nodes, self.feeds, self.constants, self.expected = [], {}, {}, {}

    def input(self, array):
        name = f"x{len(self.feeds)}"
        self.feeds[name] = np.asarray(array)
        return name

    def constant(self, array):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def add(self, op, *operands, expected=None, **attributes):
        """A node. Its result is an output, which is to be `expected` or else what the
        reference evaluator says; returns its name."""
        name = f"y{len(self.nodes)}_{op}"
        self.nodes.append(helper.make_node(op, operands, [name], name, **attributes))
        self.expected[name] = expected
        return name

    def hidden(self, op, *operands, **attributes):
        """A node whose result is no output."""
        name = self.add(op, *operands, **attributes)
        del self.expected[name]
        return name

    def model(self):
        inputs = [helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in self.feeds.items()]
        outputs = [self.declare(name, value) for name, value in self.expected.items()]
        constants = [numpy_helper.from_array(a, name) for name, a in self.constants.items()]
        graph = helper.make_graph(self.nodes, "graph", inputs, outputs, constants)
        return helper.make_model(graph, ir_version=9,
                                 opset_imports=[helper.make_opsetid("", self.opset)])

    def declare(self, name, value):
        if value is None or not self.declares:
            return helper.make_empty_tensor_value_info(name)
        value = np.asarray(value)
        return helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)

    def run(self, *, target="native", options=()):
        """What the emitted code computes, by name of output."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "graph.onnx"
            onnx.save(self.model(), path)
            if not emitted.is_native(target):
                return emitted.run_in_emulator(path, path.parent / "out", self.feeds,
                                               target=target, options=options)
            module = emitted.compile_model(path, path.parent / "out", target=target,
                                           options=options)
            module.build()
            return module(self.feeds)

    def check(self, *, rtol=0.0, atol=0.0, **how):
        """Runs the model; every output must have the expected type, shape and values, to
        the tolerances, NaN where that is expected."""
        unknown = [name for name, value in self.expected.items() if value is None]
        if unknown:
            with np.errstate(all="ignore"):
                known = ReferenceEvaluator(self.model()).run(unknown, self.feeds)
            self.expected |= dict(zip(unknown, known))
        actual = self.run(**how)
        for name, value in self.expected.items():
            value = np.asarray(value)
            assert actual[name].dtype == value.dtype, (name, actual[name].dtype, value.dtype)
            assert actual[name].shape == value.shape, (name, actual[name].shape, value.shape)
            np.testing.assert_allclose(actual[name], value, rtol=rtol, atol=atol,
                                       err_msg=name)
