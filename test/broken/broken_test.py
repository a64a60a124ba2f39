"""Tests how nnc ends on broken models: with an exit code of the table and a message that names
the file and the culprit, within ten seconds and bounded memory, and without any output files."""

import re
import sys
import tempfile
import unittest

import models
import outcome


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.paths = {case.name: path for case, path in models.write_all(holder.name)}

    def check(self, case):
        path = self.paths[case.name]
        self.judge(case, *outcome.compile_model(path))
        code, said = outcome.run("check", str(path))
        self.judge(case, code, said, outcome.find_fault(path, code, said))

    def judge(self, case, code, said, fault):
        self.assertIsNone(fault, f"it said:\n{said}")
        self.assertIn(code, case.codes, f"exit code; it said:\n{said}")
        if code and case.names:
            self.assertRegex(said, rf"(?<!\w){re.escape(case.names)}(?!\w)",
                             "the message does not name the culprit")

    def test_sound(self):
        """The model that the others are made of is sound: they fail for their fault."""
        path = next(iter(self.paths.values())).parent.parent / "sound.onnx"
        path.write_bytes(models.sound().SerializeToString())
        code, said = outcome.run("check", str(path))
        self.assertEqual(code, outcome.DONE, said)

    def test_no_such_file(self):
        code, said = outcome.run("check", "no-such-file.onnx")
        self.assertEqual(code, outcome.USAGE)
        self.assertIn("no-such-file.onnx", said)


def add_case(case):
    setattr(Broken, "test_" + case.name.replace("-", "_"), lambda self: self.check(case))


for each in models.CASES:
    add_case(each)

if __name__ == "__main__":
    sys.exit(unittest.main())
