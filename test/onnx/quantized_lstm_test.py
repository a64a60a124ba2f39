"""DynamicQuantizeLSTM of onnxruntime, which its quantize_dynamic makes of each LSTM, against
onnxruntime on one thread: on several it quantizes the states of each thread's sequences."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

import emitted

random = np.random.default_rng(11)
TARGETS = ("portable", "native")
STEPS, BATCH, INPUTS, UNITS = 7, 3, 5, 6


def uniform(shape, low, high):
    return random.uniform(low, high, shape).astype(np.float32)


def layer(*, directions=1, dtype=np.int8, zero=0, per_channel=False, bias=True, lengths=None,
          first=False, peepholes=False, results=3, steps=STEPS, batch=BATCH, **attributes):
    """A model of one layer."""
    info = np.iinfo(dtype)
    made = {"w": random.integers(info.min + 1, info.max + 1, (directions, INPUTS, 4 * UNITS)),
            "r": random.integers(info.min + 1, info.max + 1, (directions, UNITS, 4 * UNITS))}
    made = {name: array.astype(dtype) for name, array in made.items()}
    shape = (directions, 4 * UNITS) if per_channel else (directions,)
    for name in "wr":
        made[name + "_scale"] = uniform(shape, 0.002, 0.008)
        made[name + "_zero"] = np.full(shape, zero, dtype)
    if bias:
        made["b"] = uniform((directions, 8 * UNITS), -0.4, 0.4)
    if lengths is not None:
        made["lengths"] = np.array(lengths, np.int32)
    if first:
        made["h"] = uniform((directions, batch, UNITS), -0.8, 0.8)
        made["c"] = uniform((directions, batch, UNITS), -0.8, 0.8)
    if peepholes:
        made["p"] = uniform((directions, 3 * UNITS), -0.4, 0.4)
    names = [name if name in made or name == "x" else "" for name in (
        "x", "w", "r", "b", "lengths", "h", "c", "p", "w_scale", "w_zero", "r_scale", "r_zero")]
    outputs = ["y", "last_h", "last_c"][:results]
    node = helper.make_node("DynamicQuantizeLSTM", names, outputs, "lstm",
                            domain="com.microsoft", hidden_size=UNITS, **attributes)
    graph = helper.make_graph(
        [node], "graph", [helper.make_tensor_value_info("x", 1, [steps, batch, INPUTS])],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in made.items()])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


ACTIVATIONS = ["Affine", "Relu", "LeakyRelu", "ThresholdedRelu", "Tanh", "ScaledTanh", "Sigmoid",
               "HardSigmoid", "Elu", "Softsign", "Softplus"]
LAYERS = {
    "plain": {}, "one_scale_a_channel": {"per_channel": True}, "without_bias": {"bias": False},
    "reverse": {"direction": "reverse"},
    "bidirectional": {"direction": "bidirectional", "directions": 2, "per_channel": True},
    "peepholes": {"peepholes": True, "first": True},
    "peepholes_both": {"peepholes": True, "direction": "bidirectional", "directions": 2},
    "clip": {"clip": 0.4, "peepholes": True}, "input_forget": {"input_forget": 1},
    "first_states": {"first": True, "direction": "bidirectional", "directions": 2},
    "lengths": {"lengths": [7, 3, 5]}, "shorter": {"lengths": [4, 1, 2], "first": True},
    "no_steps": {"lengths": [3, 0, 2], "first": True},
    "lengths_reverse": {"lengths": [7, 1, 5], "direction": "reverse"},
    "lengths_both": {"lengths": [2, 6, 5], "direction": "bidirectional", "directions": 2,
                     "first": True, "per_channel": True, "peepholes": True},
    "unsigned": {"dtype": np.uint8, "zero": 128}, "zero_points": {"zero": 5},
    "outputs": {"results": 1}, "one_step": {"steps": 1}, "many_steps": {"steps": 90, "batch": 1},
    **{"activation_" + name.lower(): {
        "activations": [name if name not in ("Affine", "Relu", "LeakyRelu", "ThresholdedRelu",
                                             "Elu", "Softplus") else "Sigmoid", name, "Tanh"],
        "activation_alpha": [0.3, 0.4], "activation_beta": [0.2, 0.6]}
       for name in ACTIVATIONS},
    "activations_both": {"direction": "bidirectional", "directions": 2, "activations": [
        "HardSigmoid", "Tanh", "Softsign", "Sigmoid", "LeakyRelu", "Tanh"],
        "activation_alpha": [0.3, 0.2], "activation_beta": [0.4]}}


def run_onnxruntime(path, x):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # Machines that have AVX2 alone would add pairs of products with saturation.
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return {output.name: value for output, value in zip(session.get_outputs(),
                                                        session.run(None, {"x": x}))}


class QuantizedLstm(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def compare(self, path, shape):
        x = random.standard_normal(shape).astype(np.float32)
        wanted = run_onnxruntime(path, x)
        for target in emitted.in_turn(TARGETS, self.id()):
            # A library is loaded once from a path.
            module = emitted.compile_model(path, tempfile.mkdtemp(dir=self.folder),
                                           target=target)
            module.build()
            actual = module({"x": x})
            for name, want in wanted.items():
                self.assertEqual(actual[name].shape, want.shape, name)
                self.assertGreater(np.abs(want).max(), 5e-4, name)
                # A state near the middle of two steps of its scale may be rounded otherwise,
                # which those behind it show.
                apart = np.abs(actual[name] - want)
                self.assertLess(apart.max(), 5e-3, f"{name} on {target}")
                self.assertLess(np.median(apart), 2e-5, f"{name} on {target}")

    def check(self, form):
        path = self.folder / "model.onnx"
        onnx.save(layer(**form), path)
        self.compare(path, [form.get("steps", STEPS), form.get("batch", BATCH), INPUTS])

    def test_quantize_dynamic(self):
        """What onnxruntime's quantizer makes of LSTMs between other layers."""
        weights = {name: uniform(shape, -0.5, 0.5) for name, shape in (
            ("w", (2, 4 * UNITS, INPUTS)), ("r", (2, 4 * UNITS, UNITS)), ("b", (2, 8 * UNITS)),
            ("k", (UNITS, 4)))}
        nodes = [helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h"], "lstm",
                                  hidden_size=UNITS, direction="bidirectional"),
                 helper.make_node("ReduceSum", ["h", "axes"], ["s"], keepdims=0),
                 helper.make_node("MatMul", ["s", "k"], ["z"], "dense")]
        graph = helper.make_graph(
            nodes, "graph", [helper.make_tensor_value_info("x", 1, [STEPS, BATCH, INPUTS])],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, [BATCH, 4])],
            [numpy_helper.from_array(array, name) for name, array in weights.items()]
            + [numpy_helper.from_array(np.int64([0]), "axes")])
        plain, path = self.folder / "plain.onnx", self.folder / "model.onnx"
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]), plain)
        for per_channel in (False, True):
            with self.subTest(per_channel=per_channel):
                quantization.quantize_dynamic(plain, path, per_channel=per_channel)
                self.assertIn("DynamicQuantizeLSTM",
                              [node.op_type for node in onnx.load(path).graph.node])
                self.compare(path, [STEPS, BATCH, INPUTS])


for name, form in LAYERS.items():
    setattr(QuantizedLstm, "test_" + name, lambda self, form=form: self.check(form))

if __name__ == "__main__":
    sys.exit(unittest.main())
