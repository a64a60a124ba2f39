#!/usr/bin/env python3
"""Tests TFLite models with one fault: nnc ends with an exit code of the table and a message
that names the file and the fault, in bounded time, without any output files."""

import contextlib
import copy
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np

import flat

sys.path.append(str(pathlib.Path(__file__).parents[1] / "broken"))
import outcome
from outcome import BROKEN, DONE, LACKING, LIMIT

F32 = np.float32


def sound():
    """A convolution and a dense layer of bytes."""
    net = flat.Net()
    x = net.input(np.zeros((1, 6, 5, 3), np.int8), 0.1, 3)
    conv = net.tensor(np.int8, (1, 3, 3, 4), 0.2, -1)
    net.op("CONV_2D", [x, net.const(np.ones((4, 3, 3, 3), np.int8), [0.1] * 4, 0, 0),
                       net.const(np.ones(4, np.int32), [0.01] * 4)], [conv],
           padding="SAME", stride_h=2, stride_w=2, activation="RELU")
    flattened = net.tensor(np.int8, (1, 36), 0.2, -1)
    net.op("RESHAPE", [conv, net.const(np.array([1, -1], np.int32))], [flattened])
    y = net.tensor(np.int8, (1, 2), 0.3, 0)
    net.op("FULLY_CONNECTED", [flattened, net.const(np.ones((2, 36), np.int8), 0.1), -1], [y])
    net.outputs = [y]
    return net.model()


def calls(graphs, each):
    """A chain of `graphs` subgraphs, each of which calls the next one `each` times. The last
    one adds."""
    net = flat.Net()
    net.op("CALL", [net.input(np.zeros(3, F32))], [net.tensor(F32, [3])], subgraph=1)
    net.outputs = [1]
    net.code("ADD")
    for i in range(1, graphs + 1):
        inner = flat.Net(f"g{i}")
        inner.codes = net.codes
        tensors = [inner.tensor(F32, [3]) for _ in range(each + 1)]
        inner.inputs, inner.outputs = tensors[:1], tensors[-1:]
        for a, b in zip(tensors, tensors[1:]):
            if i < graphs:
                inner.op("CALL", [a], [b], subgraph=i + 1)
            else:
                inner.op("ADD", [a, a], [b])
        net.subgraphs.append(inner.graph())
    return net.model()


def change(path, value):
    """Sets the field that a path of keys leads to."""
    def edit(model):
        for key in path[:-1]:
            model = model[key]
        if value is None:
            del model[path[-1]]
        else:
            model[path[-1]] = value
    return edit


MAIN = ("subgraphs", 0)
OPS, TENSORS = (*MAIN, "operators"), (*MAIN, "tensors")
# Tensors of sound(): 0 input, 1 convolution, 2 filters, 3 bias, 4 flattened, 5 shape,
# 6 result, 7 weights.
CASES = {
    "tensor-index": (change((*OPS, 0, "inputs"), [0, 99, 3]), BROKEN, "tensor 99"),
    "negative-index": (change((*OPS, 0, "inputs"), [0, -2, 3]), BROKEN, "tensor -2"),
    "absent-operand": (change((*OPS, 0, "inputs"), [0, -1, 3]), BROKEN, "lacks operand 1"),
    "few-operands": (change((*OPS, 0, "inputs"), [0]), BROKEN, "1 inputs"),
    "more-results": (change((*OPS, 2, "outputs"), [6, 8]), BROKEN, "tensor 8"),
    "largest-index": (change((*OPS, 2, "outputs"), [(1 << 31) - 1]), BROKEN, "tensor 2147483647"),
    "no-results": (change((*OPS, 2, "outputs"), []), BROKEN, "0 outputs"),
    "output-index": (change((*MAIN, "outputs"), [-1]), BROKEN, "tensor -1"),
    "no-outputs": (change((*MAIN, "outputs"), []), BROKEN, "no outputs"),
    "uncomputed": (change((*OPS, 2, "outputs"), [1]), BROKEN, "two operators"),
    "cycle": (change((*OPS, 0, "inputs"), [1, 2, 3]), BROKEN, "no data"),
    "buffer-index": (change((*TENSORS, 2, "buffer"), 77), BROKEN, "buffer 77"),
    "buffer-size": (change((*TENSORS, 2, "buffer"), 2), BROKEN, "holds 16 bytes"),
    "buffer-behind": (change(("buffers", 1), {"offset": 1 << 62, "size": 1 << 62}), BROKEN,
                      "beyond the end"),
    "negative-size": (change((*TENSORS, 0, "shape"), [1, -6, 5, 3]), BROKEN, "negative size"),
    "huge-sizes": (change((*TENSORS, 0, "shape"), [1 << 30] * 4), LIMIT, "up to"),
    "huge-weights": (change((*TENSORS, 7, "shape"), [1 << 30, 1 << 30, 1 << 30]), LIMIT, "up to"),
    "rank": (change((*TENSORS, 0, "shape"), [1, 6, 15]), BROKEN, "4 axes"),
    "many-axes": (change((*TENSORS, 0, "shape"), [1] * 300), LIMIT, "axes"),
    "opcode": (change((*OPS, 0, "opcode"), 9), BROKEN, "operator code"),
    "unknown-operator": (change(("operator_codes", 0), {"builtin_code": 9999}), LACKING, "9999"),
    "custom-operator": (change(("operator_codes", 0), {"deprecated_code": 32, "builtin_code": 32,
                                                       "custom_code": "Mine"}), LACKING, "Mine"),
    "no-options": (lambda m: [m["subgraphs"][0]["operators"][0].pop(k) for k in
                              ("options_type", "options")], BROKEN, "no options"),
    "other-options": (change((*OPS, 0, "options_type"), "Pool"), BROKEN, "no options"),
    "zero-stride": (change((*OPS, 0, "options", "stride_h"), 0), BROKEN, "stride"),
    "negative-stride": (change((*OPS, 0, "options", "stride_w"), -1), BROKEN, "stride"),
    "huge-dilation": (change((*OPS, 0, "options", "dilation_h"), (1 << 31) - 1), BROKEN,
                      "dilation"),
    "wrong-type": (change((*TENSORS, 2, "type"), "BOOL"), LACKING, "multiplies INT8 and BOOL"),
    "string-type": (change((*TENSORS, 2, "type"), "STRING"), LACKING, "STRING"),
    "result-type": (change((*TENSORS, 6, "type"), "STRING"), LACKING, "result of type STRING"),
    "absent-result": (change((*OPS, 1, "outputs"), [-1, 4]), BROKEN, "lacks its first result"),
    "bias-type": (change((*TENSORS, 3, "type"), "FLOAT32"), LACKING, "bias of type FLOAT32"),
    "scale-zero": (change((*TENSORS, 2, "quantization", "scale"), [0.0] * 4), BROKEN,
                   "scale of 0"),
    "scale-count": (change((*TENSORS, 2, "quantization", "scale"), [0.1] * 3), BROKEN, "scales"),
    "scale-axis": (change((*TENSORS, 2, "quantization", "axis"), 9), BROKEN, "axis 9"),
    "zero-point": (change((*TENSORS, 1, "quantization", "zero_point"), [1 << 40]), BROKEN,
                   "zero point of"),
    "result-shape": (change((*TENSORS, 1, "shape"), [1, 3, 3, 5]), BROKEN, "1x3x3x5"),
    "reshape": (change(("buffers", 3, "data"), [7, 0, 0, 0, 7, 0, 0, 0]), BROKEN, "reshapes"),
    "version": (change(("version",), 2), BROKEN, "version 2"),
    "no-subgraphs": (change(("subgraphs",), []), BROKEN, "no subgraph"),
    "no-buffers": (change(("buffers",), None), BROKEN, "no list of buffers"),
    "no-tensors": (change(TENSORS, None), BROKEN, "the subgraph has 0"),
    "variable": (lambda m: m["subgraphs"][0]["tensors"][2].update(is_variable=True, buffer=0),
                 DONE, ""),
}


def queue(**changes):
    """An SVDF of bytes. `changes` replaces tensors by arguments of flat's tensor()."""
    net = flat.Net()
    made = {"x": (np.int8, (1, 3)), "feature": (np.int8, (4, 3)), "time": (np.int16, (4, 2)),
            "bias": (np.int32, (2,)), "state": (np.int16, (1, 8)), **changes}
    inputs = [net.input(np.ones(made["x"][1], made["x"][0]), 0.1, 3)]
    inputs += [net.const(np.ones(made[name][1], made[name][0]), 0.1)
               for name in ("feature", "time", "bias")]
    inputs.append(net.tensor(*made["state"], 0.01, is_variable=not changes.get("fixed")))
    net.outputs = [net.op("SVDF", inputs, [net.tensor(np.int8, (1, 2), 0.1)], rank=2,
                          activation="RELU")]
    return net


def handles(first="a", second="a", dtype=F32):
    """A variable that is assigned under one name and read under another one."""
    net = flat.Net()
    for name in (first, second):
        net.tensors.append({"shape": [], "type": "RESOURCE", "name": f"handle of {name}"})
        net.op("VAR_HANDLE", [], [len(net.tensors) - 1], container="", shared_name=name)
    net.op("ASSIGN_VARIABLE", [0, net.input(np.ones(3, F32))], [])
    net.outputs = [net.op("READ_VARIABLE", [1], [net.tensor(dtype, (3,))])]
    return net


def handle_as_tensor():
    net = handles()
    net.outputs = [0]
    return net


VARIABLES = {
    "sound-queue": (queue(), DONE, ""),
    "queue-size": (queue(state=(np.int16, (1, 7))), BROKEN, "do not fit"),
    "queue-type": (queue(state=(np.float32, (1, 8))), LACKING, "INT16 or INT8 state"),
    "queue-resource": (queue(fixed=True), BROKEN, "needs a variable as operand 4"),
    "bias-size": (queue(bias=(np.int32, (3,))), BROKEN, "bias of 2"),
    "sound-handles": (handles(), DONE, ""),
    "other-handle": (handles("a", "b"), DONE, ""),
    "handle-as-tensor": (handle_as_tensor(), LACKING, "handle of a variable, as a tensor"),
    "handle-type": (handles(dtype=np.int32), LACKING, "another shape or type"),
}


def sparse(**changes):
    """A dense layer with weights of 2 x 4 elements, rows of which are sparse, in blocks of two:
    [[0, 0, 1, 2], [3, 4, 0, 0]]. `changes` replaces fields of the sparsity, or of its level
    `level`, or the shape of the weights."""
    levels = [{"format": "DENSE", "dense_size": 2},
              {"format": "SPARSE_CSR", "segments_type": "Int32Vector",
               "segments": {"values": [0, 1, 2]}, "indices_type": "Uint8Vector",
               "indices": {"values": [1, 0]}},
              {"format": "DENSE", "dense_size": 2}]
    shape = changes.pop("shape", [2, 4])
    if "level" in changes:
        levels[changes.pop("level")].update(changes)
        changes = {}
    net = flat.Net()
    w = net.const(np.arange(1, 5, dtype=F32), sparsity={
        "traversal_order": [0, 1, 2], "block_map": [1], "dimensions": levels, **changes})
    net.tensors[w]["shape"] = shape
    net.outputs = [net.op("FULLY_CONNECTED", [net.input(np.ones((1, 4), F32)), w, -1],
                          [net.tensor(F32, (1, 2))])]
    return net


BILLION = 1 << 30
SPARSE = {
    "sound": (sparse(), DONE, ""),
    "order-short": (sparse(traversal_order=[0, 1]), BROKEN, "2 sparse levels"),
    "order-twice": (sparse(traversal_order=[0, 0, 2]), BROKEN, "order of axes"),
    "order-negative": (sparse(traversal_order=[0, -1, 2]), BROKEN, "order of axes"),
    "order-large": (sparse(traversal_order=[0, 1, BILLION]), BROKEN, "order of axes"),
    "block-before-axis": (sparse(traversal_order=[0, 2, 1]), BROKEN, "order of axes"),
    "no-order": (sparse(traversal_order=[]), BROKEN, "0 sparse levels"),
    "block-axis": (sparse(block_map=[2]), BROKEN, "blocks of 2 along axis 2"),
    "block-negative": (sparse(block_map=[-1]), BROKEN, "along axis -1"),
    "blocks-twice": (sparse(block_map=[1, 1]), BROKEN, "axes"),
    "no-levels": (sparse(dimensions=[]), BROKEN, "0 that are described"),
    "block-size-zero": (sparse(level=2, dense_size=0), BROKEN, "blocks of 0"),
    "block-size-odd": (sparse(level=2, dense_size=3), BROKEN, "blocks of 3"),
    "block-size-negative": (sparse(level=2, dense_size=-2), BROKEN, "blocks of -2"),
    "dense-size": (sparse(level=0, dense_size=3), BROKEN, "3 places for 2"),
    "dense-negative": (sparse(level=0, dense_size=-1), BROKEN, "-1 places"),
    "format": (sparse(level=1, format=7), BROKEN, "unknown kind"),
    "no-segments": (sparse(level=1, segments={}), BROKEN, "segments"),
    "segments-first": (sparse(level=1, segments={"values": [1, 1, 2]}), BROKEN, "segments"),
    "segments-descend": (sparse(level=1, segments={"values": [0, 2, 1]}), BROKEN, "segments"),
    "segments-many": (sparse(level=1, segments={"values": [0, 1, 2, 2]}), BROKEN, "segments"),
    "segments-end": (sparse(level=1, segments={"values": [0, 1, BILLION]}), BROKEN, "segments"),
    "segments-negative": (sparse(level=1, segments={"values": [0, -5, 2]}), BROKEN, "segments"),
    "index-large": (sparse(level=1, indices={"values": [1, 2]}), BROKEN, "index of 2"),
    "index-negative": (sparse(level=1, indices_type="Int32Vector", indices={"values": [1, -1]}),
                       BROKEN, "index of -1"),
    "index-twice": (sparse(level=1, segments={"values": [0, 2, 2]}, indices={"values": [1, 1]}),
                    BROKEN, "index of 1 after 1"),
    "fewer-elements": (sparse(level=1, segments={"values": [0, 1, 1]}, indices={"values": [1]}),
                       BROKEN, "2 sparse elements"),
    "other-shape": (sparse(shape=[4, 2]), BROKEN, "2 places for 4"),
    "other-rank": (sparse(shape=[8]), BROKEN, "axes"),
    "huge": (sparse(shape=[BILLION, BILLION]), LIMIT, "up to"),
    "large": (sparse(shape=[1 << 27, 4], level=0, dense_size=1 << 27), BROKEN,
              "more sparse elements"),
}


def wide(w_type=np.int8, bias_type=np.int64, zeros=(0, 0), bias_size=2, scale=0.1):
    """A dense layer of 16 bits."""
    net = flat.Net()
    net.outputs = [net.op("FULLY_CONNECTED", [
        net.input(np.ones((1, 4), np.int16), scale, zeros[0]),
        net.const(np.ones((2, 4), w_type), 0.1), net.const(np.ones(bias_size, bias_type))],
        [net.tensor(np.int16, (1, 2), 0.1, zeros[1])])]
    return net


def one(name, inputs, y, **options):
    """A net of one operator; inputs are arrays, or ("const", array)."""
    net = flat.Net()
    numbers = [-1 if x is None else net.const(x[1]) if isinstance(x, tuple) else net.input(x)
               for x in inputs]
    net.outputs = [net.op(name, numbers, [net.tensor(*y)], **options)]
    return net


def i32(*values):
    return "const", np.array(values, np.int32)


IMAGE, ROWS = np.ones((1, 3, 4, 2), F32), np.ones((3, 4), F32)
OTHERS = {
    "wide": (wide(), DONE, ""),
    "wide-weights": (wide(np.uint8), LACKING, "weights of type UINT8"),
    "wide-bias": (wide(bias_type=F32), LACKING, "bias of type FLOAT32"),
    "wide-bias-size": (wide(bias_size=3), BROKEN, "bias of 2"),
    "wide-zero": (wide(zeros=(1, 0)), LACKING, "zero points of 0"),
    "wide-result-zero": (wide(zeros=(0, 1)), LACKING, "zero points of 0"),
    "wide-scale": (wide(scale=1e30), LACKING, "factors below 16384"),
    "resize-sizes": (one("RESIZE_BILINEAR", [IMAGE, i32(3)], (F32, (1, 3, 4, 2))), BROKEN,
                     "sizes from 1"),
    "resize-zero": (one("RESIZE_BILINEAR", [IMAGE, i32(0, 4)], (F32, (1, 0, 4, 2))), BROKEN,
                    "sizes from 1"),
    "resize-negative": (one("RESIZE_NEAREST_NEIGHBOR", [IMAGE, i32(-3, 4)], (F32, (1, 3, 4, 2))),
                        BROKEN, "sizes from 1"),
    "resize-huge": (one("RESIZE_BILINEAR", [IMAGE, i32(1 << 30, 1 << 30)], (F32, (1, 1, 1, 2))),
                    BROKEN, "sizes from 1"),
    "resize-large": (one("RESIZE_NEAREST_NEIGHBOR", [IMAGE, i32(1 << 20, 1 << 20)],
                         (F32, (1, 1, 1, 2))), LIMIT, "up to"),
    "resize-rank": (one("RESIZE_BILINEAR", [ROWS, i32(3, 4)], (F32, (3, 4))), BROKEN, "4 axes"),
    "resize-both": (one("RESIZE_BILINEAR", [IMAGE, i32(3, 4)], (F32, (1, 3, 4, 2)),
                        align_corners=True, half_pixel_centers=True), BROKEN, "half pixels"),
    "gather-batches": (one("GATHER", [ROWS, i32(1)], (F32, (3, 1)), axis=1, batch_dims=1), BROKEN,
                       "axes of batches"),
    "gather-nd-depth": (one("GATHER_ND", [ROWS, i32(1, 1, 1)], (F32, (1,))), BROKEN, "indices"),
    "gather-nd-scalar": (one("GATHER_ND", [ROWS, ("const", np.array(1, np.int32))], (F32, (4,))),
                         BROKEN, "indices"),
    "gather-floats": (one("GATHER", [ROWS, ("const", np.ones(2, F32))], (F32, (2, 4)), axis=0),
                      LACKING, "indices of type FLOAT32"),
    "one-hot-depth": (one("ONE_HOT", [i32(1), i32(-4), ("const", np.array(1, F32)),
                                      ("const", np.array(0, F32))], (F32, (1, 4)), axis=-1),
                      BROKEN, "depth"),
    "one-hot-huge": (one("ONE_HOT", [i32(*range(1 << 10)), i32(1 << 30),
                                     ("const", np.array(1, F32)), ("const", np.array(0, F32))],
                         (F32, (1, 4)), axis=-1), LIMIT, "counts 1073741824 places"),
    "update-size": (one("DYNAMIC_UPDATE_SLICE", [ROWS, np.ones((4, 4), F32), i32(0, 0)],
                        (F32, (3, 4))), BROKEN, "3x4"),
    "update-places": (one("DYNAMIC_UPDATE_SLICE", [ROWS, np.ones((1, 4), F32), i32(0)],
                          (F32, (3, 4))), BROKEN, "1 places"),
    "broadcast": (one("BROADCAST_ARGS", [i32(3, 2), i32(4)], (np.int32, (2,))), BROKEN,
                  "do not broadcast"),
    "cumsum-axis": (one("CUMSUM", [ROWS, i32(2)], (F32, (3, 4)), exclusive=False), BROKEN, "axis"),
    "truths": (one("REDUCE_ALL", [ROWS, i32(0)], (F32, (4,)), keep_dims=False), BROKEN, "BOOL"),
    "mirror": (one("MIRROR_PAD", [ROWS, ("const", np.array([[0, 4], [0, 0]], np.int32))],
                   (F32, (7, 4)), mode=1), BROKEN, "by 4"),
    "rnn-weights": (one("RNN", [ROWS, ("const", ROWS.T), ("const", ROWS), ("const", np.ones(3, F32)),
                                ROWS], (F32, (3, 3)), activation="TANH"), BROKEN, "weights"),
    "rnn-state": (one("RNN", [ROWS, ("const", ROWS), ("const", np.ones((3, 3), F32)),
                              ("const", np.ones(3, F32)), ROWS], (F32, (3, 3)),
                      activation="TANH"), BROKEN, "needs a variable"),
    "lstm-few": (one("LSTM", [ROWS, ROWS, ROWS, ROWS, ROWS], (F32, (3, 4)), activation="TANH",
                     kernel=0), BROKEN, "lacks operand"),
    "lstm-plain": (one("LSTM", [ROWS] * 5, (F32, (3, 4)), activation="TANH", kernel=1), BROKEN,
                   "do not fit"),
    "lstm-none": (one("LSTM", [ROWS], (F32, (3, 4)), activation="TANH", kernel=1), BROKEN,
                  "lacks an operand"),
    "lstm-types": (one("UNIDIRECTIONAL_SEQUENCE_LSTM",
                       [np.ones((1, 2, 3), F32), ("const", np.ones((2, 3), np.int8)),
                        *[("const", np.ones((2, 3), F32))] * 3,
                        *[("const", np.ones((2, 2), F32))] * 4, None, None, None,
                        *[("const", np.ones(2, F32))] * 4], (F32, (1, 2, 2)), activation="TANH"),
                   BROKEN, "different element types"),
    "two-ways-rank": (one("BIDIRECTIONAL_SEQUENCE_LSTM", [ROWS], (F32, (3, 4)), activation="TANH"),
                      BROKEN, "3 axes"),
}


class BrokenTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.folder = pathlib.Path(holder)

    def check(self, name, model, code, said):
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory(dir=self.folder)))
            (path,) = flat.save({"net": model}, folder)
            got, message, fault = outcome.compile_model(path)
        self.assertIsNone(fault, message)
        self.assertEqual(got, code, message)
        if got:
            self.assertRegex(message, said)

    def test_sound(self):
        self.check("sound", sound(), DONE, "")

    def test_one_fault(self):
        for name, (edit, code, said) in CASES.items():
            model = copy.deepcopy(sound())
            edit(model)
            with self.subTest(name):
                self.check(name, model, code, said)

    def test_variables(self):
        for name, (net, code, said) in VARIABLES.items():
            with self.subTest(name):
                self.check(name, net.model(), code, said)
        # A handle that no operator gives, and a subgraph that cannot prepare a run.
        model = handles().model()
        model["subgraphs"][0]["operators"][2]["inputs"][0] = 2
        self.check("no-handle", model, LACKING, "VAR_HANDLE")
        model = handles().model()
        model["operator_codes"].append({"deprecated_code": 127, "builtin_code": 129})
        model["subgraphs"][0]["operators"].append({
            "opcode": 3, "inputs": [], "outputs": [], "options_type": "CallOnce",
            "options": {"init_subgraph": 5}})
        self.check("no-subgraph", model, BROKEN, "subgraph 5")
        model["subgraphs"][0]["operators"][-1]["options"]["init_subgraph"] = 0
        self.check("itself", model, BROKEN, "within itself")

    def test_sparse_weights(self):
        for name, (net, code, said) in SPARSE.items():
            with self.subTest(name):
                self.check(name, net.model(), code, said)

    def test_other_operators(self):
        for name, (net, code, said) in OTHERS.items():
            with self.subTest(name):
                self.check(name, net.model(), code, said)

    def test_result_without_operator(self):
        """An operator of one result that states two."""
        model = sound()
        main = model["subgraphs"][0]
        main["tensors"].append({"shape": [1], "name": "more"})
        main["operators"][2]["outputs"].append(8)
        main["outputs"].append(8)
        self.check("results", model, BROKEN, "does not compute result 1")

    def test_scales_far_apart(self):
        """Factors between scales that a float of 64 bits holds, but not one of 32."""
        net = flat.Net()
        x = net.input(np.arange(-100, 100, dtype=np.int8), 3e38, 3)
        for name, options in (("RELU", {}), ("LEAKY_RELU", {"alpha": -3e38}), ("QUANTIZE", {})):
            y = net.tensor(np.int8, (200,), 1e-38, 0)
            net.op(name, [x], [y], **options)
            net.outputs.append(y)
        self.check("scales", net.model(), DONE, "")

    def test_calls(self):
        self.check("chain", calls(20, 1), DONE, "")
        self.check("deep", calls(100, 1), LIMIT, "calls deep")
        # 2^40 operators.
        self.check("twice", calls(40, 2), LIMIT, "operators")
        model = calls(3, 1)
        model["subgraphs"][3]["operators"] = [copy.deepcopy(model["subgraphs"][2]["operators"][0])]
        model["subgraphs"][3]["operators"][0]["options"]["subgraph"] = 1
        self.check("loop", model, BROKEN, "within itself")
        model["subgraphs"][0]["operators"][0]["options"]["subgraph"] = 9
        self.check("nowhere", model, BROKEN, "subgraph 9")

    def test_files(self):
        """Files that are cut off or hold something else."""
        (path,) = flat.save({"net": sound()}, self.folder)
        whole = path.read_bytes()
        for data in (b"", whole[:7], whole[:8], whole[:100], whole[:-200], whole[:8] * 50,
                     b"\xff" * 4 + whole[4:], whole[:8] + b"\xff" * 500):
            path.write_bytes(data)
            code, said, fault = outcome.compile_model(path)
            with self.subTest(len(data)):
                self.assertIsNone(fault, said)
                self.assertEqual(code, BROKEN, said)
        os.unlink(path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
