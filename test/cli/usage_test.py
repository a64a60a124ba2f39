"""Help, tables, and what nnc says when it cannot do what it is asked to."""

import json
import sys
import unittest

from onnx import TensorProto, helper

import nnc
from nnc import BROKEN, COMMANDS, LACKING, USAGE, model, value, weights


class Usage(nnc.TestCase):
    def test_help(self):
        text = self.nnc("--help", said=["^Exit codes: 0 done"])
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
            self.nnc(command, "--help", said=[f"^Usage: nnc {command}", "^Exit codes: 0 done"])

    def test_no_command(self):
        self.nnc(code=USAGE, said=["^Usage: nnc", "^  compile "])

    def test_unknown_command(self):
        self.nnc("foo", "model.onnx", code=USAGE,
                 said=[rf"^nnc: error: there is no command 'foo'; choose one of "
                       rf"{', '.join(COMMANDS)}; see nnc --help$"])

    def test_unknown_option(self):
        for command in COMMANDS:
            folder = ["-o", "out"] if command == "compile" else []
            self.nnc(command, "network.onnx", *folder, "--foo", code=USAGE,
                     said=[rf"^nnc: error: .*--foo.*; see nnc {command} --help$"])

    def test_missing_arguments(self):
        for command in ("compile", "check", "run", "verify", "bench", "tune", "explain"):
            self.nnc(command, code=USAGE, said=["MODEL is required"])
        self.nnc("compile", "network.onnx", code=USAGE, said=["--output is required"])

    def test_missing_file(self):
        for command in ("check", "run", "verify", "bench", "tune", "explain"):
            self.nnc(command, "no.onnx", code=USAGE, said=["no.onnx: error: there is no such file"])

    def test_values_of_options(self):
        for option, problem in [("--shape=x=1xfour", "not of the form INPUT=1x3x48x320"),
                                ("--shape=1x3x8x8", "not of the form"),
                                ("--weights=paper", "not in {embed,array,file}"),
                                ("--threads=maybe", "is not on, off or a number")]:
            self.nnc("check", "network.onnx", option, code=USAGE,
                     said=[rf"^nnc: error: {option.split('=')[0]}: .*{problem}.*nnc check --help$"])
        self.nnc("bench", "network.onnx", "--runs=0", code=USAGE, said=["--runs: .* 0 "])

    def test_shape(self):
        self.save("open", model([helper.make_node("Relu", ["x"], ["y"], "relu1")],
                                [value("x", ["N", 3])], [value("y", ["N", 3])]))
        self.nnc("check", "open.onnx", code=USAGE, said=["open.onnx: .*pass --shape x="])
        self.nnc("check", "open.onnx", "--shape", "x=2x4", code=USAGE, said=["'x'.*2x4"])
        self.nnc("check", "open.onnx", "--shape", "z=2x3", code=USAGE, said=["'z'.*'x'"])
        self.nnc("check", "open.onnx", "--shape", "x=2x3", "--no-build", said=["x: 2x3 of f32"])

    def test_unknown_target(self):
        self.nnc("check", "network.onnx", "--target=sparc", code=USAGE,
                 said=["there is no target 'sparc'; choose one of native, aarch64, .*x86-64-v3"])

    def test_unknown_family(self):
        self.nnc("routines", "--family=foo", code=USAGE, said=["'foo'; choose one of .*conv2d"])

    def test_broken_model(self):
        (self.folder / "broken.onnx").write_bytes(b"not a model")
        for command in ("check", "run", "verify", "bench", "tune", "explain"):
            self.nnc(command, "broken.onnx", code=BROKEN, said=["^broken.onnx: error: "])


class Check(nnc.TestCase):
    def test_sizes(self):
        self.nnc("check", "network.onnx", said=[
            "^network.onnx: nothing wrong, for native$", "input +x: 1x3x8x8 of f32",
            "output +y: 1x10 of f32", "arena .*bytes", "weights .*bytes", "code .*bytes"])
        said = json.loads(self.nnc("check", "network.onnx", "--target=x86-64-v3", "--no-build",
                                   "--json"))
        self.assertTrue(said["ok"])
        self.assertEqual(said["target"], "x86-64-v3")
        self.assertGreater(said["source_bytes"], 0)
        self.assertGreaterEqual(said["arena_bytes"], said["lower_bound_bytes"])

    def test_every_problem_in_one_run(self):
        node = helper.make_node
        self.save("problems", model(
            [node("NonMaxSuppression", ["x", "x"], ["a"], "boxes"),
             node("Magic", ["x"], ["b"], "magic", domain="com.example"),
             node("Conv", ["x", "w"], ["c"], "volume")],
            [value("x", [1, 1, 4, 4, 4])],
            [value("a", ["n", 3], TensorProto.INT64), value("b", [1]), value("c", [1, 1, 4, 4, 4])], [weights("w", 1, 1, 1, 1, 1)],
            domains=["com.example"]))
        problems = {"boxes": "NonMaxSuppression", "magic": "com.example.Magic",
                    "volume": "3 spatial axes"}
        self.nnc("check", "problems.onnx", code=LACKING, said=[
            rf"^problems.onnx: error: node '{name}': .*{text}" for name, text in problems.items()])
        done = json.loads(self.nnc("check", "problems.onnx", "--json", code=LACKING))
        self.assertEqual(done["exit_code"], LACKING)
        self.assertEqual({p["node"] for p in done["problems"]}, set(problems))


class Explain(nnc.TestCase):
    def test_layers(self):
        self.nnc("explain", "network.onnx", "--target=x86-64-v3", said=["conv1", "conv2d_f32_"])
        said = json.loads(self.nnc("explain", "network.onnx", "--layer=conv1", "--json"))
        self.assertIn("conv1", json.dumps(said))
        self.nnc("explain", "network.onnx", "--dot", said=["^digraph "])

    def test_explain_with_other_constants(self):
        def estimates():
            said = json.loads(self.nnc("explain", "network.onnx", "--target=x86-64-v3", "--all",
                                       "--layer=conv1", "--json", *options))
            return {(one["routine"], *one["params"]): one["estimate_seconds"]
                    for one in said["layers"][0]["alternatives"]}
        options = []
        usual = estimates()
        file = self.folder / "costs.inc"
        options = ["--costs=costs.inc"]
        file.write_text("NNC_COST(avx2, peak_share, 0.01)\n")
        slow = estimates()
        self.assertEqual(usual.keys(), slow.keys())
        changed = {call[0].rsplit("_", 1)[1] for call in usual if usual[call] != slow[call]}
        self.assertEqual(changed, {"avx2"})
        file.write_text("NNC_COST(avx2, peek_share, 1)\n")
        self.nnc("explain", "network.onnx", *options, code=USAGE,
                 said=[r"costs.inc: line 1: expected NNC_COST\(.*found '.*peek_share"])
        self.nnc("explain", "network.onnx", "--costs=none.inc", code=USAGE, said=["none.inc: "])


class Tables(nnc.TestCase):
    def test_ops(self):
        self.nnc("ops", said=["^operator +opsets +limits$", "^Conv +1 to "])
        names = {op["name"] for op in json.loads(self.nnc("ops", "--json"))}
        self.assertLessEqual({"Conv", "MatMul", "Softmax"}, names)

    def test_targets(self):
        self.nnc("targets", said=["^target +triple ", "^native ", "^aarch64 .*qemu-aarch64$"])
        rows = {row["name"]: row for row in json.loads(self.nnc("targets", "--json"))}
        self.assertIn("avx2", rows["x86-64-v3"]["isas"])

    def test_routines(self):
        self.nnc("routines", said=["^family +routine ", "^conv2d "])
        of_family = json.loads(self.nnc("routines", "--family=softmax", "--json"))
        self.assertEqual({routine["family"] for routine in of_family}, {"softmax"})


if __name__ == "__main__":
    sys.exit(unittest.main())
