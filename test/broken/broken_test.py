"""What nnc does with broken models: an exit code of the table, a message that names
the file and the culprit, within ten seconds and bounded memory, no output left."""

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

import models

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
SECONDS = 10
MEMORY = 8 << 30
# What a crash or an assertion leaves on stderr, whatever the exit code.
CRASH = re.compile(r"Assertion|UNREACHABLE|LLVM ERROR|Stack dump|PLEASE submit|"
                   r"terminate called|std::|Sanitizer|runtime error")
SANITIZED = "asan" in os.environ["NNC_BUILD_DIR"]


def limit_memory():
    # AddressSanitizer reserves terabytes of address space.
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(*arguments):
    return subprocess.run([NNC, *arguments], capture_output=True, text=True, errors="replace",
                          timeout=SECONDS, preexec_fn=limit_memory)


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.paths = {case.name: path for case, path in models.write_all(holder.name)}

    def check(self, case):
        path = self.paths[case.name]
        output = path.parent / "out"
        done = run("compile", str(path), "--target=x86-64-v3", "-o", str(output))
        self.judge(case, path, done)
        left = {p.name for p in path.parent.iterdir() if p.suffix not in (".onnx", ".bin")}
        self.assertEqual(left, {"out"} if done.returncode == 0 else set(), "output left behind")
        checked = run("check", str(path))
        self.judge(case, path, checked)

    def judge(self, case, path, done):
        said = done.stderr
        self.assertIn(done.returncode, case.codes, f"exit code; it said:\n{said}")
        self.assertIsNone(CRASH.search(said), f"a crash:\n{said}")
        if done.returncode:
            self.assertIn(path.name, said, "the message does not name the file")
            if case.names:
                self.assertRegex(said, rf"(?<!\w){re.escape(case.names)}(?!\w)",
                                 "the message does not name the culprit")
            self.assertLess(len(said), 4000, "the message is no message but a dump")

    def test_sound(self):
        """The model that the others are made of is sound: they fail for their fault."""
        path = next(iter(self.paths.values())).parent.parent / "sound.onnx"
        path.write_bytes(models.sound().SerializeToString())
        done = run("check", str(path))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_such_file(self):
        done = run("check", "no-such-file.onnx")
        self.assertIn(done.returncode, (2, models.BROKEN))
        self.assertIn("no-such-file.onnx", done.stderr)


def add_case(case):
    setattr(Broken, "test_" + case.name.replace("-", "_"), lambda self: self.check(case))


for each in models.CASES:
    add_case(each)

if __name__ == "__main__":
    sys.exit(unittest.main())
