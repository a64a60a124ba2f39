#!/usr/bin/env python3
"""Tests archives of PyTorch with one fault: nnc ends with an exit code of the table and a message
that names the file and the fault, in bounded time, without any output files."""

import json
import os
import pathlib
import sys
import tempfile
import unittest
import zipfile

import numpy as np

import archives
from archives import Graph, Name, Program

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "broken"))
import outcome  # noqa: E402
from outcome import BROKEN, DONE, LACKING, LIMIT  # noqa: E402

F32 = np.float32
MODEL, WEIGHTS = "models/model.json", "data/weights/model_weights_config.json"
GRAPH = (MODEL, "graph_module", "graph")
NODES, VALUES = (*GRAPH, "nodes"), (*GRAPH, "tensor_values")
SIGNATURE = (MODEL, "graph_module", "signature")
META = (WEIGHTS, "config", "w", "tensor_meta")


def sound():
    """x * w + x, the third row of it, and a buffer that counts."""
    p = Program()
    x = p.input("x", np.ones((3, 4), F32))
    w = p.weight("w", np.full((3, 4), 2, F32))
    count = p.weight("count", np.array(0, np.int64), "buffer")
    y = p.op("mul.Tensor", {"self": x, "other": w}, np.full((3, 4), 2, F32))
    z = p.op("add.Tensor", {"self": y, "other": x}, np.full((3, 4), 3, F32))
    row = p.op("select.int", {"self": z, "dim": 0, "index": 2}, np.full(4, 3, F32))
    flat = p.op("view.default", {"self": z, "size": [-1]}, np.full(12, 3, F32))
    p.op("add_.Tensor", {"self": count, "other": 1}, np.array(1, np.int64))
    p.output(row, flat)
    return p


def change(path, value):
    """Sets the field that a path of keys leads to; None removes it."""
    def edit(files):
        holder = files
        for key in path[:-1]:
            holder = holder[key]
        if value is None:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value
    return edit


def rename(old, new):
    def edit(files):
        files[new] = files.pop(old)
    return edit


def add(name, content=b""):
    return change((name,), content)


def keep(*names):
    """Only these files, which are empty."""
    def edit(files):
        files.clear()
        files.update({n: b"" for n in names})
    return edit


def numbered(*values):
    return [{"as_int": v} for v in values]


def symbolic(expression, *values):
    """Sizes, the first of which is an expression."""
    return [{"as_expr": {"expr_str": expression, "hint": {"as_int": 3}}}, *numbered(*values)]


def nest(depth):
    """A condition in a branch in a branch and so on."""
    def edit(files):
        def make(level):
            g = Graph()
            x, c = g.input("x", np.ones(3, F32)), g.input("c", np.array(True))
            if level:
                y = g.op("higher_order.cond", [c, make(level - 1), make(level - 1), [x, c]],
                         np.ones(3, F32)) if level < 3 else g.op(
                             "higher_order.map_impl", [make(level - 1), [x], [c]], np.ones(3, F32))
            else:
                y = g.op("neg.default", {"self": x}, np.ones(3, F32))
            g.output(y)
            return g
        files[MODEL]["graph_module"]["graph"]["nodes"] += [
            {"target": "torch.ops.higher_order.cond", "metadata": {}, "name": "deep",
             "inputs": [{"name": "", "arg": archives.argument(a)} for a in
                        (Name("view3"), make(depth), make(depth), [Name("view3"), Name("view3")])],
             "outputs": [{"as_tensor": {"name": "deep"}}]}]
    return edit


HUGE = 1 << 40
CASES = {
    "sound": (add("extra"), DONE, ""),
    # Other files of PyTorch.
    "script": (keep("code/a.py", "data.pkl", "constants.pkl"), LACKING, "TorchScript"),
    "mobile": (keep("bytecode.pkl", "data.pkl"), LACKING, "TorchScript"),
    "state-dict": (keep("data.pkl", "data/0", "version"), LACKING, "state dict"),
    "inductor": (keep("data/aotinductor/model/a.so", "archive_format"), LACKING, "AOTInductor"),
    "no-program": (keep("archive_format"), LACKING, "without an exported program"),
    "old": (keep("serialized_exported_program.json", "serialized_state_dict.pt"), LACKING,
            "pickles"),
    "pickled-weights": (add("data/weights/model.pt"), LACKING, "pickles"),
    "pickled-constants": (add("data/constants/model.pt"), LACKING, "pickles"),
    "two-programs": (lambda f: (rename(MODEL, "models/a.json")(f), add("models/b.json")(f)),
                     LACKING, "several programs"),
    "byte-order": (add("byteorder", b"big"), LACKING, "byte order"),
    # The program's JSON.
    "no-json": (add(MODEL, b"{"), BROKEN, "no sound JSON"),
    "nested-json": (add(MODEL, b"[" * 100000), BROKEN, "no sound JSON"),
    "json-list": (add(MODEL, b"[]"), BROKEN, "no version"),
    "no-version": (change((MODEL, "schema_version"), None), BROKEN, "no version"),
    "version-text": (change((MODEL, "schema_version", "major"), "8"), BROKEN, "no version"),
    "version": (change((MODEL, "schema_version", "major"), 9), LACKING, "schema version 9"),
    "no-graph": (change((MODEL, "graph_module"), None), BROKEN, "without a graph"),
    "no-nodes": (change(NODES, None), BROKEN, "without a graph"),
    "nodes-number": (change(NODES, [3]), BROKEN, "no object"),
    "no-target": (change((*NODES, 0, "target"), None), LACKING, "is not supported"),
    "unknown": (change((*NODES, 0, "target"), "torch.ops.aten.nothing.default"), LACKING,
                "nothing.default is not supported"),
    "no-inputs": (change((*NODES, 0, "inputs"), None), BROKEN, "'self'"),
    "no-argument": (change((*NODES, 0, "inputs", 0), {}), BROKEN, "'self'"),
    "argument-kind": (change((*NODES, 2, "inputs", 1, "arg"), {"as_string": "x"}), BROKEN, "'dim'"),
    "unknown-tensor": (change((*NODES, 0, "inputs", 0, "arg"), {"as_tensor": {"name": "no"}}),
                       BROKEN, "reads 'no'"),
    "later-tensor": (change((*NODES, 0, "inputs", 0, "arg"), {"as_tensor": {"name": "view3"}}),
                     BROKEN, "reads 'view3'"),
    "itself": (change((*NODES, 0, "inputs", 0, "arg"), {"as_tensor": {"name": "mul0"}}), BROKEN,
               "reads 'mul0'"),
    "twice": (change((*NODES, 1, "outputs", 0, "as_tensor", "name"), "mul0"), BROKEN,
              "another node"),
    "no-outputs": (change((*NODES, 0, "outputs"), []), BROKEN, "reads 'mul0'"),
    "index": (change((*NODES, 2, "inputs", 2, "arg"), {"as_int": 3}), BROKEN, "index 3"),
    "axis": (change((*NODES, 2, "inputs", 1, "arg"), {"as_int": -3}), BROKEN, "axis -3"),
    "shape": (change((*NODES, 3, "inputs", 1, "arg"), {"as_ints": [5, -1]}), BROKEN, "shape 5x-1"),
    "stated-shape": (change((*VALUES, "add1", "sizes"), numbered(3, 5)), BROKEN, "states 3x5"),
    "stated-expression": (change((*VALUES, "add1", "sizes"), symbolic("3 +* s77", 4)), BROKEN,
                          "'3 +* s77', which is no expression of the sizes of inputs"),
    "stated-symbol": (change((*VALUES, "add1", "sizes"), symbolic("s999", 4)), BROKEN,
                      "'s999', which is no expression of the sizes of inputs"),
    "input-expression": (change((*VALUES, "x", "sizes"), symbolic("Mul(s77, ", 4)), BROKEN,
                         "'Mul(s77, ' is no expression"),
    "stated-type": (change((*VALUES, "add1", "dtype"), 8), BROKEN, "torch.float64"),
    "input-type": (change((*VALUES, "x", "dtype"), 10), LACKING, "torch.complex64"),
    "input-huge": (change((*VALUES, "x", "sizes"), numbered(HUGE, 4)), LIMIT, "input 'x'"),
    "input-negative": (change((*VALUES, "x", "sizes"), numbered(-3, 4)), BROKEN, "no sound size"),
    "no-signature": (change(SIGNATURE, None), BROKEN, "without a graph or a signature"),
    "unknown-input": (change((*SIGNATURE, "input_specs", 0), {"x": 1}), BROKEN, "unknown kind"),
    "unknown-output": (change((*SIGNATURE, "output_specs", 0), {"loss_output": {}}), LACKING,
                       "training"),
    "output-tensor": (change((*SIGNATURE, "output_specs", 0, "user_output", "arg", "as_tensor",
                              "name"), "no"), BROKEN, "reads 'no'"),
    "no-results": (change((*SIGNATURE, "output_specs"), []), BROKEN, "has no outputs"),
    "input-changed": (change((*NODES, 4, "inputs", 0, "arg"), {"as_tensor": {"name": "x"}}),
                      LACKING, "changes in place"),
    "mutation-name": (change((*SIGNATURE, "output_specs", 0), {"user_input_mutation": {
        "arg": {"name": "add1"}, "user_input_name": "x"}}), LACKING, "changes in place"),
    "condition-shape": (nest(2), BROKEN, "one condition"),
    # Its tensors.
    "no-weights": (change((WEIGHTS,), None), BROKEN, "has no elements"),
    "weights-list": (add(WEIGHTS, {"config": []}), BROKEN, "lists no tensors"),
    "no-weight": (change((WEIGHTS, "config", "w"), None), BROKEN, "has no elements"),
    "weight-pickle": (change((WEIGHTS, "config", "w", "use_pickle"), True), LACKING, "subclass"),
    "no-meta": (change(META, None), BROKEN, "no sound type"),
    "no-file": (change((WEIGHTS, "config", "w", "path_name"), "weight_9"), BROKEN, "weight_9"),
    "climbing-file": (change((WEIGHTS, "config", "w", "path_name"), "../weights/weight_0"), BROKEN,
                      "archive lacks"),
    "weight-type": (change((*META, "dtype"), 99), LACKING, "number 99"),
    "sparse": (change((*META, "layout"), 1), LACKING, "sparse"),
    "weight-short": (change((*META, "sizes"), numbered(3, 5)), BROKEN, "beyond the 12"),
    "weight-offset": (change((*META, "storage_offset"), {"as_int": 1}), BROKEN, "beyond the 12"),
    "offset-huge": (change((*META, "storage_offset"), {"as_int": (1 << 63) - 1}), BROKEN,
                    "beyond the 12"),
    "offset-negative": (change((*META, "storage_offset"), {"as_int": -1}), BROKEN, "no sound"),
    "stride-huge": (change((*META, "strides"), numbered(1 << 62, 1 << 62)), BROKEN,
                    "beyond the 12"),
    "stride-negative": (change((*META, "strides"), numbered(-4, 1)), BROKEN, "no sound"),
    "strides-few": (change((*META, "strides"), numbered(1)), BROKEN, "no sound"),
    "weight-huge": (change((*META, "sizes"), numbered(HUGE, 4)), LIMIT, "has 0 to"),
    "repeated-huge": (lambda f: (change((*META, "sizes"), numbered(1 << 15, 1 << 15))(f),
                                 change((*META, "strides"), numbered(0, 0))(f)), LIMIT, "256 MiB"),
    "weight-shape": (lambda f: (change((*META, "sizes"), numbered(4, 3))(f),
                                change((*META, "strides"), numbered(3, 1))(f)), BROKEN,
                     "states 3x4"),
}
# Conditions are nested by JSON, whose depth the reader bounds.
DEEP = 40


class BrokenTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def judge(self, path, code, fault):
        ended, said, problem = outcome.compile_model(path)
        self.assertIsNone(problem, said)
        self.assertEqual(ended, code, said)
        self.assertIn(fault, said)

    def test_cases(self):
        for name, (edit, code, fault) in CASES.items():
            with self.subTest(name):
                files = sound().get_files()
                edit(files)
                path = self.folder / name / "m.pt2"
                path.parent.mkdir()
                archives.write(path, files)
                self.judge(path, code, fault)

    def test_nested_graphs(self):
        files = sound().get_files()
        nest(3)(files)
        text = json.dumps(files[MODEL])
        inner = '{"graph":' * DEEP + "1" + "}" * DEEP
        files[MODEL] = (text[:-1] + ', "more": ' + inner + "}").encode()
        path = self.folder / "m.pt2"
        archives.write(path, files)
        ended, said, problem = outcome.compile_model(path)
        self.assertIsNone(problem, said)
        self.assertEqual(ended, BROKEN, said)

    def test_compressed_weights(self):
        path = self.folder / "m.pt2"
        archives.write(path, sound().get_files(), compressed={"data/weights/weight_0"})
        self.judge(path, LACKING, "weight_0' that is compressed")

    def test_cut_off(self):
        path = self.folder / "m.pt2"
        archives.write(path, sound().get_files())
        whole = path.read_bytes()
        for count in 1, 2, 10, 21, 22, 40, 100:
            path.write_bytes(whole[:-count])
            self.judge(path, BROKEN, "as a whole")

    def test_compressed_program(self):
        path = self.folder / "m.pt2"
        archives.write(path, sound().get_files(), compressed={MODEL})
        self.judge(path, LACKING, "model.json' that is compressed")

    def test_flipped_bit(self):
        path = self.folder / "m.pt2"
        sound().save(path)
        data = bytearray(path.read_bytes())
        at = data.index(np.full(12, 2, F32).tobytes())
        data[at] ^= 1
        path.write_bytes(data)
        self.judge(path, BROKEN, "CRC")

    def test_cut_off(self):
        path = self.folder / "m.pt2"
        sound().save(path)
        path.write_bytes(path.read_bytes()[:-40])
        self.judge(path, BROKEN, "list of files")

    def test_climbing_name(self):
        path = self.folder / "m.pt2"
        sound().save(path)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("../evil", b"")
        self.judge(path, BROKEN, "outside of the archive")

    def test_other_zip(self):
        path = self.folder / "m.pt2"
        archives.write(path, {"a.txt": b"text"})
        self.judge(path, LACKING, "a zip archive")

    def test_raw_pickle(self):
        path = self.folder / "m.pt"
        path.write_bytes(b"\x80\x02}q\x00.")
        self.judge(path, LACKING, "torch.export.save")

    def test_all_unknown_operators_in_one_run(self):
        files = sound().get_files()
        for i in (0, 1):
            change((*NODES, i, "target"), "torch.ops.aten.nothing.default")(files)
        change((*NODES, 2, "target"), "torch.ops.mine.other.default")(files)
        path = self.folder / "m.pt2"
        archives.write(path, files)
        ended, said, problem = outcome.compile_model(path)
        self.assertIsNone(problem, said)
        self.assertEqual(ended, LACKING, said)
        self.assertIn("nothing.default is not supported (2 nodes)", said)
        self.assertIn("mine.other.default is not supported", said)


if __name__ == "__main__":
    os.environ.setdefault("NNC_BUILD_DIR", "build")
    unittest.main()
