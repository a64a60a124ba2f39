"""The base of tests of operators: models made of a few nodes, and a comparison of nnc's code
for them with onnxruntime."""

import pathlib
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import emitted


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initializers=None, opset=17):
    tensors = [numpy_helper.from_array(np.asarray(array), name)
               for name, array in (initializers or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                             ir_version=8)


class Compared(unittest.TestCase):
    """A test that compiles models into a folder of its own."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def compile(self, made):
        # A library is loaded once from a path.
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        path = folder / "model.onnx"
        onnx.save(made, path)
        module = emitted.compile_model(path, folder / "out", target="portable")
        module.build()
        return module

    def compare(self, made, inputs, tolerance=1e-5):
        """Runs the model with nnc and onnxruntime; `tolerance` is absolute."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # it warns where ONNX infers other sizes
        session = onnxruntime.InferenceSession(made.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        expected = session.run(None, inputs)
        results = self.compile(made)(inputs)
        for port, wanted in zip(made.graph.output, expected):
            found = results[port.name]
            self.assertEqual((found.shape, found.dtype), (wanted.shape, wanted.dtype), port.name)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance,
                                       err_msg=port.name)
