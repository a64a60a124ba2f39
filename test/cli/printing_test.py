"""Tests --quiet, --verbose and --color, and the progress of long steps on a terminal."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import unicodedata
import unittest

import nnc
from nnc import DIFFERS, USAGE


class Printing(nnc.TestCase):
    def call(self, *arguments, **environment):
        """What nnc prints to stdout and to stderr, and its exit code."""
        done = subprocess.run([nnc.NNC, *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, env={**os.environ, **environment})
        return done.stdout, done.stderr, done.returncode

    def on_terminal(self, *arguments, **environment):
        """What it prints to stderr where that is a terminal."""
        terminal, end = pty.openpty()
        process = subprocess.Popen([nnc.NNC, *map(str, arguments)], cwd=self.folder, stderr=end,
                                   stdout=subprocess.PIPE,
                                   env={**os.environ, "TERM": "xterm", **environment})
        os.close(end)
        parts = []

        def read():
            try:
                while part := os.read(terminal, 4096):
                    parts.append(part)
            except OSError:  # all have closed it
                pass
        reader = threading.Thread(target=read)
        reader.start()
        process.communicate()
        reader.join()
        os.close(terminal)
        return b"".join(parts).decode()

    def slow_compiler(self, seconds):
        compiler = self.folder / "slow"
        compiler.write_text(f'#!/bin/sh\nsleep {seconds}\nexec c++ "$@"\n')
        compiler.chmod(0o755)
        return f"--compiler={compiler}"

    def test_quiet(self):
        nnc.np.save(self.folder / "x.npy", nnc.network_input())
        nnc.np.savez(self.folder / "data.npz", x=nnc.network_input())
        self.save("math", nnc.network())  # a name that is warned of
        for arguments in (["compile", "math.onnx", "-o", "out"], ["check", "network.onnx"],
                          ["run", "network.onnx", "--input=x.npy", "--output-dir=results"],
                          ["verify", "network.onnx"], ["report", "network.onnx", "-o", "r.html"],
                          ["tune", "network.onnx", "--budget=0s", "--cache=none"],
                          ["quantize", "network.onnx", "--calibration=data.npz", "-o", "q.onnx"],
                          ["target-probe", "-o", "own.probe"]):
            self.assertEqual(self.call(*arguments, "--quiet"), ("", "", 0), arguments)
            self.assertNotEqual(self.call(*arguments)[:2], ("", ""), arguments)
        self.assertEqual(self.call("-q", "compile", "math.onnx", "-o", "out"), ("", "", 0))
        for name in "out/model_math.h", "results/y.npy", "r.html", "network.tune", "q.onnx":
            self.assertTrue((self.folder / name).exists(), name)

    def test_quiet_results(self):
        """What is asked for comes all the same, and so do errors."""
        nnc.np.save(self.folder / "x.npy", nnc.network_input())
        for arguments in (["targets"], ["ops"], ["routines"], ["explain", "network.onnx"],
                          ["compile", "network.onnx", "-o", "out", "--json"],
                          ["report", "network.onnx", "-o", "-"], ["completion", "bash"],
                          ["manual"], ["--help"], ["compile", "--help"], ["--version"]):
            self.assertEqual(self.call(*arguments, "-q"), self.call(*arguments), arguments)
        self.assertEqual(self.call("bench", "network.onnx", "--runs=1", "-q")[0].split()[0],
                         "layer")
        out, said, code = self.call("check", "none.onnx", "--quiet")
        self.assertEqual((out, code), ("", USAGE))
        self.assertIn("none.onnx: error: there is no such file", said)
        self.assertEqual(self.call("verify", "network.onnx", "--tolerance=0", "-q"),
                         ("", "", DIFFERS))

    def test_verbose(self):
        arguments = ["compile", "network.onnx", "-o", "out"]
        for command in ([*arguments, "--verbose"], ["-v", *arguments]):
            out, said, _ = self.call(*command)
            self.assertEqual(out, self.call(*arguments)[0])
            time = r"[\d.]+ (us|ms|s)"
            for line in (rf"importing network.onnx: {time}, \d+ operators, [\d.]+ K?i?B of constants",
                         rf"  choose-routines: {time}", rf"  plan-memory: {time}",
                         rf"compiling: {time}, \d+ calls of routines, [\d.]+ K?i?B of arena",
                         rf"writing the code: {time}, \d+ files, [\d.]+ KiB"):
                self.assertRegex(said, rf"(?m)^nnc: {line}$")
        self.assertEqual(self.call(*arguments)[1], "")
        said = self.call("run", "network.onnx", "-v", "--input=none.npy")[1]
        self.assertRegex(said, r"(?m)^nnc: error: cannot read none.npy")
        self.assertIn("--quiet and --verbose exclude each other",
                      self.call("-q", "targets", "--verbose")[1])

    def test_color(self):
        red = "\x1b[31;1m error:\x1b[0m"
        wrong = ["check", "none.onnx"]
        for arguments in (["--color=always", *wrong], [*wrong, "--color", "always"]):
            self.assertIn(red, self.call(*arguments)[1])
            self.assertIn(red, self.call(*arguments, NO_COLOR="1")[1])
        self.assertIn(red, self.call("compile", "--color=always")[1])
        self.assertTrue(self.call("targets", "--color=always")[0].startswith("\x1b[1m"))
        for more in [], ["--color=auto"], ["--color=never"]:
            self.assertNotIn("\x1b", "".join(map(str, self.call(*wrong, *more))))
        self.assertIn(red, self.on_terminal(*wrong))
        self.assertNotIn("m error:", self.on_terminal(*wrong, NO_COLOR="1"))
        self.assertNotIn("m error:", self.on_terminal(*wrong, "--color=never"))
        self.assertNotIn("\x1b", self.on_terminal(*wrong, TERM="dumb"))
        self.assertIn("did you mean 'auto'", self.call("targets", "--color=autoo")[1])

    def test_long_step(self):
        """It shows its time from the third second on, and is gone at the end."""
        shown = self.on_terminal("check", "network.onnx", self.slow_compiler(4))
        self.assertRegex(shown, r"\r\x1b\[K\S*compiling: choose-routines \.\.\.")
        self.assertRegex(shown, r"\r\x1b\[K\S*building, to know the size of the code \.\.\.")
        self.assertRegex(shown, r"building, to know the size of the code, 3 s \.\.\.")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown[-100:])
        for more in (["--quiet"], ["--json"]):
            self.assertEqual(self.on_terminal("check", "network.onnx", "--no-build", *more), "")

    def test_time_left(self):
        shown = self.on_terminal("tune", "network.onnx", "--budget=8s", "--cache=none",
                                 self.slow_compiler(1))
        left = [int(n) for n in re.findall(r"tuning \(about (\d+) s left\): building", shown)]
        self.assertTrue(left, shown)
        self.assertLessEqual(max(left), 8)
        self.assertEqual(left, sorted(left, reverse=True))
        shown = self.on_terminal("tune", "network.onnx", "--budget=1s", "--cache=none",
                                 self.slow_compiler(4))
        self.assertIn("tuning (longer than estimated)", shown)
        self.assertNotIn("about -", shown)
        samples = nnc.np.repeat(nnc.network_input(), 600, axis=0)
        nnc.np.savez(self.folder / "data.npz", x=samples)
        shown = self.on_terminal("quantize", "network.onnx", "--calibration=data.npz", "-o",
                                 "q.onnx")
        self.assertRegex(shown, r"calibrating \(about \d+ s left\): sample \d+ of 600")

    def test_narrow_terminal(self):
        """A line is cut where the terminal ends, also of characters that are two columns wide."""
        self.narrow("network.onnx", "importing network.onnx ")
        self.save("\u4e2d\u6587" * 8, nnc.network())
        self.narrow("\u4e2d\u6587" * 8 + ".onnx", "importing \u4e2d\u6587\u4e2d\u6587\u4e2d\u6587")

    def narrow(self, model, start):
        terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 24, 0, 0))
        subprocess.run([nnc.NNC, "check", model], cwd=self.folder, stderr=end,
                       stdout=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"}, check=True)
        os.close(end)
        shown = os.read(terminal, 65536).decode()
        os.close(terminal)
        lines = re.split(r"\r\x1b\[K", re.sub(r"\x1b\[[\d;]*m", "", shown))
        self.assertIn(start[:23], [line[:23] for line in lines])
        self.assertLessEqual(
            max(sum(1 + (unicodedata.east_asian_width(c) == "W") for c in line)
                for line in lines), 23)

    def test_names(self):
        """Names are printed without what a terminal would obey, and messages have those given."""
        out = self.call("compile", "network.onnx", "-o", "\x1b[31mout", "--name=n")[0]
        self.assertRegex(out, r"^ ?\[31mout: n_run")
        out = self.call("tune", "network.onnx", "--budget=0s", "--cache=none", "-o", "\x1bt")[0]
        self.assertRegex(out, "^ ?t: ")
        out = self.call("compress", "network.onnx", "--sparsity=0.5", "-o", "\x1bc")[0]
        self.assertRegex(out, "(?m)^ ?c: ")
        self.assertNotIn("\x1b", out)
        self.assertIn("cannot write none/nnc.bash: ",
                      self.call("completion", "bash", "-o", "none/nnc.bash")[1])


if __name__ == "__main__":
    sys.exit(unittest.main())
