"""Runs nnc, and makes small models for the tests of its command line."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from exit_codes import (BROKEN, DIFFERS, DONE, ENVIRONMENT, LACKING, LIMIT,  # noqa: E402
                        NO_GPU, OWN_FAULT, USAGE)

ROOT = pathlib.Path(__file__).resolve().parents[2]
NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
COMMANDS = ("compile", "check", "run", "verify", "bench", "tune", "quantize",
            "compress", "explain", "report", "ops", "target-probe", "targets", "routines",
            "completion", "manual")


SCHEMA = json.loads((ROOT / "compiler/tools/output.schema.json").read_text())


def read_document(arguments, text):
    """The document that a command with --json has printed. It must match output.schema.json."""
    command = next((word for word in arguments if word in COMMANDS), None)
    kind = f"#/$defs/{command}" if command else "#/$defs/failure"
    said = json.loads(text)
    jsonschema.validate(said, SCHEMA | {"$ref": kind})
    return said


def options_of_help(text):
    """The names of the options and arguments that a help text lists. Arguments have no dash."""
    options = [name for names in re.findall(r"^  (--?[\w-]+(?:,--[\w-]+)?)(?= |$)", text,
                                            re.MULTILINE) for name in names.split(",")]
    arguments = re.search(r"^Positionals:\n((?:  .*\n)*)", text, re.MULTILINE)
    return options, re.findall(r"^  (\S+)", arguments[1], re.MULTILINE) if arguments else []


def convolutions(batch=1):
    """Convolutions for which Winograd's methods, which need much memory, are the fastest."""
    channels = [3, 16, 16, 24, 32]
    nodes, last = [], "x"
    for i in range(4):
        nodes += [helper.make_node("Conv", [last, f"w{i}"], [f"c{i}"], pads=[1, 1, 1, 1]),
                  helper.make_node("Relu", [f"c{i}"], [f"r{i}"])]
        last = f"r{i}"
    nodes += [helper.make_node("GlobalAveragePool", [last], ["p"]),
              helper.make_node("Flatten", ["p"], ["f"]),
              helper.make_node("Gemm", ["f", "w4"], ["y"], transB=1)]
    return model(nodes, [value("x", [batch, 3, 24, 24])], [value("y", [batch, 10])],
                 [*(weights(f"w{i}", channels[i + 1], channels[i], 3, 3) for i in range(4)),
                  weights("w4", 10, 32)])


def host_targets():
    """The names of the targets whose code this machine runs, with `native` first. The routines
    that `native` chooses depend on the machine; those of the other targets are the same on
    every machine."""
    listed = subprocess.run([NNC, "targets", "--json"], check=True, capture_output=True, text=True)
    native, *rows = json.loads(listed.stdout)
    return ["native", *(row["name"] for row in rows
                        if not row["board"] and not row["architectures"]
                        and row["triple"] in ("", native["triple"])
                        and set(row["isas"]) <= set(native["isas"]))]


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def weights(name, *shape):
    values = np.random.default_rng(len(name)).standard_normal(shape)
    return numpy_helper.from_array(values.astype(np.float32), name)


def model(nodes, inputs, outputs, initializers=(), domains=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def network():
    """A convolution, pooling, a dense head: x [1, 3, 8, 8] to y [1, 10]."""
    node = helper.make_node
    return model(
        [node("Conv", ["x", "w", "b"], ["c"], "conv1", pads=[1] * 4),
         node("Relu", ["c"], ["r"], "relu1"),
         node("GlobalAveragePool", ["r"], ["p"], "pool1"),
         node("Flatten", ["p"], ["f"], "flatten1"),
         node("Gemm", ["f", "k"], ["y"], "dense1", transB=1)],
        [value("x", [1, 3, 8, 8])], [value("y", [1, 10])],
        [weights("w", 4, 3, 3, 3), weights("b", 4), weights("k", 10, 4)])


def network_input(seed=0):
    return np.random.default_rng(seed).standard_normal((1, 3, 8, 8)).astype(np.float32)


class TestCase(unittest.TestCase):
    """A test with a folder of its own, which contains network.onnx."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.save("network", network())

    def save(self, name, made):
        path = self.folder / f"{name}.onnx"
        onnx.save(made, path)
        return path

    def nnc(self, *arguments, code=DONE, said=(), **how):
        """The output of nnc on stdout. `said` are expressions that it must match; if nnc has to
        fail with `code`, they must match stderr."""
        done = subprocess.run([NNC, *map(str, arguments)], cwd=self.folder, timeout=120,
                              capture_output=True, text=True, **how)
        text = done.stderr if code else done.stdout
        self.assertEqual(done.returncode, code, f"nnc {arguments}: {done.stderr}")
        self.assertNotIn("\x1b", done.stdout + done.stderr, "colours in a pipe")
        if "--json" in arguments and code != ENVIRONMENT:
            read_document(arguments, done.stdout)
        for expression in said:
            self.assertRegex(text, re.compile(expression, re.MULTILINE))
        return done.stdout

    def run_passes(self, name, passes, folder):
        """Writes the code of a model by the passes that --print-pipeline spells for it."""
        tools = NNC.parent
        module = subprocess.run(
            [tools / "nnc-translate", "--import", "--complete", "--name=net", name],
            cwd=self.folder, check=True, capture_output=True).stdout
        program = subprocess.run(
            [tools / "nnc-opt", "--mlir-print-debuginfo", f"--pass-pipeline={passes}"],
            cwd=self.folder, check=True, capture_output=True, input=module).stdout
        (self.folder / "program.mlir").write_bytes(program)
        subprocess.run([tools / "nnc-codegen", "program.mlir", "-o", folder], check=True,
                       cwd=self.folder, capture_output=True)

    def names(self, folder="."):
        return sorted(p.name for p in (self.folder / folder).iterdir())
