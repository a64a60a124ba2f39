"""The documents that --json prints, on success and on failure, against their schema."""

import subprocess
import sys
import unittest

from onnx import TensorProto, helper

import nnc
from nnc import BROKEN, DIFFERS, LACKING, LIMIT, USAGE, model, value


class Json(nnc.TestCase):
    """With --json there is a document on stdout whatever happens, and nothing else."""

    def document(self, *arguments, code=0):
        """What a command prints, which `nnc` compares with the schema."""
        done = subprocess.run([nnc.NNC, *arguments, "--json"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        self.assertEqual(done.stderr, "")
        said = nnc.read_document(arguments, done.stdout)
        if isinstance(said, dict):
            self.assertEqual((said["ok"], said["exit_code"]), (code == 0, code))
        return said

    def test_failures(self):
        (self.folder / "broken.onnx").write_bytes(b"not a model")
        self.save("lacking", model(
            [helper.make_node("Lacking", ["x"], ["y"], "boxes", domain="com.example")],
            [value("x", [1, 3, 4])], [value("y", ["n", 3], TensorProto.INT64)],
            domains=["com.example"]))
        self.save("shapes", model([helper.make_node("Add", ["x", "z"], ["y"], "sum")],
                                  [value("x", [2, 3]), value("z", [2, 4])], [value("y", [2, 3])]))
        for command in ("compile", "check", "run", "verify", "bench", "tune", "explain"):
            out = ["-o", "out"] if command == "compile" else []
            for file, code, has in [
                    ("broken", BROKEN, {"file": "broken.onnx"}), ("no", USAGE, {"file": "no.onnx"}),
                    ("lacking", LACKING, {"node": "boxes", "op": "com.example.Lacking"}),
                    ("shapes", BROKEN, {"node": "sum", "op": "Add", "severity": "error"})]:
                said = self.document(command, f"{file}.onnx", *out, code=code)
                (problem,) = said["problems"]
                self.assertEqual({key: problem[key] for key in has}, has)
                self.assertTrue(problem["message"])

    def test_usage(self):
        for arguments in (["compile", "network.onnx"], ["frobnicate"], ["check", "a", "--foo"],
                          ["routines", "--family=foo"], ["targets", "--foo"], ["ops", "foo"],
                          ["target-probe", "--target=sparc"], [],
                          ["run", "network.onnx", "--input=a=b"],
                          ["compile", "network.onnx", "-o", "network.onnx"]):
            said = self.document(*arguments, code=USAGE)
            self.assertGreater(len(said["problems"]), 0, arguments)
        said = self.document("compile", "--name=int", "--weights=no", code=USAGE)
        self.assertEqual(len(said["problems"]), 4)

    def test_success(self):
        for command, keys in [("compile", {"folder", "name", "weight_bytes"}),
                              ("check", {"name", "source_bytes"}),
                              ("verify", {"cases", "tolerance"})]:
            more = {"compile": ["-o", "out"], "check": ["--no-build"], "verify": []}[command]
            said = self.document(command, "network.onnx", *more, code=0)
            self.assertLessEqual(keys, set(said))
            self.assertEqual(said["problems"], [])
        self.save("math", nnc.network())
        said = self.document("compile", "math.onnx", "-o", "named", code=0)
        (problem,) = said["problems"]
        self.assertEqual((said["name"], problem["severity"]), ("model_math", "warning"))
        said = self.document("verify", "network.onnx", "--tolerance=0", code=DIFFERS)
        self.assertIn("cases", said)

    def test_run(self):
        nnc.np.save(self.folder / "x.npy", nnc.network_input())
        said = self.document("run", "network.onnx", "--input=x=x.npy", "--output-dir=out", code=0)
        self.assertEqual(said["outputs"], [{"name": "y", "field": "y", "dtype": "f32",
                                            "shape": [1, 10], "file": "out/y.npy"}])

    def test_every_command(self):
        """Every command that succeeds, and one that fails; keys are in the README of the tools."""
        text = (nnc.ROOT / "compiler/tools/README.md").read_text()
        self.save("tiny", model([helper.make_node("Softmax", ["x"], ["y"], "softmax1")],
                                [value("x", [8, 64])], [value("y", [8, 64])]))
        nnc.np.save(self.folder / "x.npy", nnc.network_input())
        nnc.np.savez(self.folder / "data.npz", x=nnc.network_input())
        arguments = {
            "compile": ["network.onnx", "-o", "out"], "check": ["network.onnx", "--pool=a:1M"],
            "run": ["network.onnx", "--input=x.npy"], "verify": ["network.onnx"],
            "bench": ["network.onnx", "--runs=1"], "explain": ["network.onnx"],
            "report": ["network.onnx", "-o", "r.html"],
            "tune": ["tiny.onnx", "-o", "a.tune", "--cache=none"],
            "quantize": ["network.onnx", "--calibration=data.npz", "-o", "q.onnx"],
            "compress": ["network.onnx", "--clusters=4", "-o", "c.onnx"],
            "target-probe": ["-o", "a.probe"], "ops": [], "targets": [], "routines": []}
        self.assertEqual(set(arguments), set(nnc.COMMANDS) - {"completion", "manual"})
        for command, given in arguments.items():
            with self.subTest(command):
                said = self.document(command, *given)
                (row,) = [line for line in text.splitlines()
                          if line.startswith(f"| `{command}` |")]
                keys = set(said[0] if isinstance(said, list) else said)
                for key in keys - {"ok", "exit_code", "problems"}:
                    self.assertIn(f"`{key}`", row)
                self.assertTrue(self.document(command, *given, "--foo", code=USAGE)["problems"])

    def test_bare(self):
        """Targets without an operating system, and a quantized model."""
        nnc.np.savez(self.folder / "data.npz", x=nnc.network_input())
        nnc.np.save(self.folder / "x.npy", nnc.network_input())
        self.document("quantize", "network.onnx", "--calibration=data.npz", "-o", "q.onnx")
        for command, *more in (["check"], ["run", "--input=x.npy"], ["verify"], ["bench"]):
            self.document(command, "q.onnx", "--target=cortex-m4", *more)
        self.document("check", "q.onnx", "--target=cortex-m4", "--max-ram=16", code=LIMIT)

    def test_parts_of_problems(self):
        """What was expected and found, and what to do, have keys of their own."""
        nodes = [helper.make_node("Softmax", ["x"], ["y"], "soft", axis=5)]
        self.save("axis", model(nodes, [value("x", [2, 3])], [value("y", [2, 3])]))
        self.save("open", model(nodes, [value("x", ["n", 3])], [value("y", ["n", 3])]))
        newest = model(nodes, [value("x", [2, 3])], [value("y", [2, 3])])
        newest.opset_import[0].version = 999
        self.save("newest", newest)
        for arguments, code, has in [
                (["axis.onnx"], BROKEN, {"op": "Softmax", "expected": "an axis from -2 to 1",
                                         "found": "5", "hint": ""}),
                (["axis.onnx", "--shape=x=2x4"], USAGE,
                 {"node": "x", "expected": "2x3", "found": "2x4"}),
                (["open.onnx"], USAGE, {"node": "x", "found": "?x3"}),
                (["newest.onnx"], LACKING, {"found": "operator set 999"}),
                (["network.onnx", "--max-ram=16"], LIMIT,
                 {"file": "network.onnx", "expected": "at most 16 bytes"})]:
            said = self.document("check", *arguments, code=code)
            problems = [{key: problem[key] for key in has} for problem in said["problems"]]
            self.assertIn(has, problems)
        hints = [p["hint"] for p in self.document("check", "open.onnx", code=USAGE)["problems"]]
        self.assertTrue(any("1..8" in hint for hint in hints), hints)


if __name__ == "__main__":
    sys.exit(unittest.main())
