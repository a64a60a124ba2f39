"""Tests that plans of quantized networks with all forms of their products cost at most as much
as plans with integers alone or with floats alone.

Twelve networks, quantized by onnxruntime, are compiled for six targets. All costs are estimates
of nnc, so that nothing depends on the machine.
"""

import pathlib
import re
import subprocess
import tempfile
import unittest
import zlib

import numpy as np

import emitted
import float_nets
from quantized_nets_test import FORMS, Samples

TARGETS = ["x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64", "armv7", "cortex-m4"]
NETWORKS = [(net, form) for net, form in zip(sorted(float_nets.FAMILIES),
                                             ["channels", "operators", "symmetric"] * 12)][:12]
TOOLS = pathlib.Path(emitted.NNC).parent

# What comes before routines are chosen, as compiler/pipelines/Pipeline.cpp has it.
LAYERS = ("nnc-qnn-fuse{{target={0}}},nnc-qnn-legalize{{target={0}}},"
          "func.func(nnc-qnn-canonicalize,nnc-simplify),nnc-drop-unread,"
          "func.func(nnc-recompose,nnc-simplify,nnc-legalize),nnc-tabulate{{target={0}}},"
          "func.func(nnc-form-layers),nnc-fuse-layers{{target={0}}}")


def optimize(source, passes, made):
    subprocess.run([TOOLS / "nnc-opt", source, f"--pass-pipeline=builtin.module({passes})",
                    "--split-input-file", "-o", made], check=True)


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        modules = []
        for net, form in NETWORKS:
            random = np.random.default_rng(zlib.crc32(net.encode()))
            floats, path = folder / "floats.onnx", folder / f"{net}.onnx"
            made = float_nets.FAMILIES[net](random, floats)
            FORMS[form](floats, path, Samples(made, random))
            modules.append(subprocess.run(
                [TOOLS / "nnc-translate", "--import", "--complete", path], check=True,
                stdout=subprocess.PIPE, text=True).stdout)
        (folder / "imported.mlir").write_text("\n// -----\n".join(modules))

    def find_costs(self, target, products):
        """The estimated nanoseconds of each network, and how many layers multiply floats."""
        folder = pathlib.Path(self.folder.name)
        optimize(folder / f"{target}.mlir",
                 f"nnc-choose-routines{{target={target} products={products}}}",
                 folder / "planned.mlir")
        parts = (folder / "planned.mlir").read_text().split("// -----")
        self.assertEqual(len(parts), len(NETWORKS))
        return [(sum(map(int, re.findall(r"\bns = (\d+)", part))),
                 len(re.findall(r"nn\.(?:conv|matmul) .*qnn\.of_floats.*xf32>$", part, re.M)))
                for part in parts]

    def test_hybrid_plans_cost_least(self):
        mixed = 0
        for target in TARGETS:
            folder = pathlib.Path(self.folder.name)
            optimize(folder / "imported.mlir", LAYERS.format(target), folder / f"{target}.mlir")
            best, integers, floats = (self.find_costs(target, products)
                                      for products in ("any", "integers", "floats"))
            for name, one, other, third in zip(NETWORKS, best, integers, floats):
                with self.subTest(target=target, network=name):
                    # Candidates within a thousandth of each other cost the same to the search,
                    # and costs are told in nanoseconds.
                    self.assertLessEqual(one[0], 1.001 * min(other[0], third[0]) + 1)
                    self.assertEqual(other[1], 0)
                mixed += 1.01 * one[0] < min(other[0], third[0])
        self.assertGreater(mixed, 0, "no plan has both integers and floats")


if __name__ == "__main__":
    unittest.main()
