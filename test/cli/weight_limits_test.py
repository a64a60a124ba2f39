"""Tests --max-latency and --max-flash, which store weights in as few bytes as time and code
size allow."""

import json
import re
import shutil
import subprocess
import unittest

import numpy as np
from onnx import helper, numpy_helper

import nnc
from nnc import LIMIT, USAGE, model, value

ON = "--target=cortex-m4"


class Limits(nnc.TestCase):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(7)
        shapes = {"first": (24, 16, 3, 3), "second": (32, 24, 1, 1), "third": (16, 32, 3, 3)}
        nodes, constants, read = [], [], "x"
        for (name, shape), kinds in zip(shapes.items(), (12, 200, 30)):
            table = random.standard_normal(kinds).astype(np.float32)
            constants.append(numpy_helper.from_array(
                table[random.integers(0, kinds, shape)], f"{name}_w"))
            nodes.append(helper.make_node("Conv", [read, f"{name}_w"], [name], name,
                                          pads=[shape[2] // 2] * 4))
            read = name
        self.save("net", model(nodes, [value("x", [1, 16, 12, 10])],
                               [value(read, [1, 16, 12, 10])], constants))

    def compile(self, *options):
        said = json.loads(self.nnc("compile", "net.onnx", ON, "-o", "out", "--json", *options))
        shutil.rmtree(self.folder / "out")
        return said

    def explain(self, *options):
        return json.loads(self.nnc("explain", "net.onnx", ON, "--json", *options))

    def test_latency(self):
        """More time lets weights take fewer bytes, down to the fewest that there are."""
        front = self.explain("--pareto")["weights_front"]
        self.assertGreater(len(front), 2)
        fastest, smallest = front[0], front[-1]
        sizes = []
        for point in front:
            # The search counts a decoder's time with a quarter more.
            for share in 1.0001, 1.26:
                latency = f"--max-latency={1e6 * point['estimate_seconds'] * share}us"
                found = self.compile(latency)["weight_bytes"]
                seconds = self.explain(latency)["seconds"]
                self.assertLessEqual(seconds, point["estimate_seconds"] * share)
            self.assertLessEqual(found, point["weight_bytes"])
            sizes.append(found)
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(sizes[-1], smallest["weight_bytes"])
        self.assertLess(sizes[-1], 0.5 * fastest["weight_bytes"])
        # Any time suffices for the smallest weights, and each command says the same.
        self.assertEqual(self.compile("--max-latency=1000s")["weight_bytes"], sizes[-1])

    def test_clock(self):
        """Half of the clock takes twice the time."""
        (fastest, *_, last) = self.explain("--pareto")["weights_front"]
        between = (fastest["estimate_seconds"] + last["estimate_seconds"]) / 2
        whole = self.compile(f"--max-latency={1e6 * between}us")
        half = self.compile(f"--max-latency={2e6 * between}us", "--mhz=84")
        self.assertEqual(half["weight_bytes"], whole["weight_bytes"])
        self.assertLess(whole["weight_bytes"], fastest["weight_bytes"])
        said = self.explain("--mhz=84", f"--max-latency={2e6 * between}us")
        self.assertLessEqual(said["seconds"], 2 * between)
        self.assertGreater(said["seconds"], between)

    def test_impossible_latency(self):
        seconds = self.explain()["seconds"]
        self.nnc("compile", "net.onnx", ON, "-o", "out", f"--max-latency={0.9e6 * seconds}us",
                 code=LIMIT, said=[rf"is estimated to take {1e3 * seconds:.3g} ms",
                                   "--max-latency; allow more"])
        self.assertFalse((self.folder / "out").exists())
        self.nnc("compile", "net.onnx", ON, "-o", "out", "--max-latency=5", code=USAGE,
                 said=["is no time"])
        self.nnc("compile", "net.onnx", ON, "-o", "out", "--max-latency=1s",
                 "--max-weights=10", code=LIMIT, said=["--max-weights"])
        self.nnc("compile", "net.onnx", ON, "-o", "out", "--max-latency=1s",
                 "--shape=x=1x16x12x10", "--shape=x=1x16x12x12", code=USAGE,
                 said=["--max-latency takes one shape"])

    def test_flash(self):
        """The bytes of code, constants and weights keep to the limit, as long as they can."""
        check = json.loads(self.nnc("check", "net.onnx", ON, "--json"))
        whole, code = check["flash_bytes"], check["code_bytes"]
        self.assertEqual(self.compile(f"--max-flash={whole}")["flash_bytes"], whole)
        least = self.explain("--pareto")["weights_front"][-1]["weight_bytes"]
        for limit in whole - 1, (whole + code + least) // 2, code + least + 3000:
            said = self.compile(f"--max-flash={limit}")
            self.assertLessEqual(said["flash_bytes"], limit)
            self.assertLess(said["weight_bytes"], check["weight_bytes"])
            again = json.loads(self.nnc("check", "net.onnx", ON, "--json",
                                        f"--max-flash={limit}"))
            self.assertEqual(again["flash_bytes"], said["flash_bytes"])
            self.assertEqual(again["weight_bytes"], said["weight_bytes"])
        self.nnc("compile", "net.onnx", ON, "-o", "out", f"--max-flash={whole - 1}",
                 said=[rf"^  flash: \d+ bytes: .*; fits into the {whole - 1} of --max-flash"])
        shutil.rmtree(self.folder / "out")
        # What fits into flash has time, too.
        seconds = self.explain(f"--max-weights={least}")["seconds"]
        for latency in "1000s", f"{1.01e6 * seconds}us":
            said = self.compile(f"--max-flash={whole - 1000}", f"--max-latency={latency}")
            self.assertLessEqual(said["flash_bytes"], whole - 1000)
        # The bytes that the message names suffice, also where the code alone takes more than the
        # limit.
        for limit in 1024, code + 100:
            done = subprocess.run([nnc.NNC, "compile", "net.onnx", ON, "-o", "out",
                                   f"--max-flash={limit}"], cwd=self.folder, capture_output=True,
                                  text=True)
            self.assertEqual(done.returncode, LIMIT)
            self.assertIn("--optimize=size", done.stderr)
            (need,) = re.findall(r"needs (\d+) bytes", done.stderr)
            self.assertLess(int(need), code + least + 3500)
            self.assertLessEqual(self.compile(f"--max-flash={need}")["flash_bytes"], int(need))
        self.assertFalse((self.folder / "out").exists())
        self.nnc("compile", "net.onnx", ON, "-o", "out", "--compiler=c++", code=USAGE,
                 said=["add --library or --max-flash"])


if __name__ == "__main__":
    unittest.main()
