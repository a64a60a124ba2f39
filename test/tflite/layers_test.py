#!/usr/bin/env python3
"""Tests every operator that nnc reads from TFLite models: integers bit for bit against TFLite's
definition, with both ways of rounding fixed-point products, and floats within 1e-5 of the
largest number.

The definitions are in fixed.py and integers.py. If NNC_LITERT names a folder with the Python
package ai_edge_litert (pip install --no-deps --target=FOLDER ai-edge-litert), or Python finds
it, the definitions are also compared with LiteRT's reference kernels. LiteRT 2.3 rounds most
products twice and those of dense layers once, so it has to agree with one of the two ways.
"""

import json
import shutil
import tempfile
import unittest

import numpy as np

import cases
import integers
import running
from fixed import DOUBLE, LITERT, SINGLE

# LiteRT 2.3 returns -1 throughout for sums of int8 and int16, quantizes the inputs of dense
# layers of floats whose weights are integers, and multiplies sums of dense layers of int16 by
# more than 16 bits, unlike TFLite Micro.
LITERT_DIFFERS = {("SUM", "INT8"), ("SUM", "INT16"), ("FULLY_CONNECTED", "FLOAT32"),
                  ("FULLY_CONNECTED", "INT16")}


def difference(got, want, error):
    """How an array differs from the expected one, or None."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"is {got.dtype} {got.shape}, not {want.dtype} {want.shape}"
    if error == 0 and np.array_equal(got, want):
        return None
    apart = np.abs(got.astype(np.float64) - want.astype(np.float64))
    if apart.size == 0 or 0 < error and apart.max() <= error * np.abs(want).max():
        return None
    at = int(apart.argmax())
    return (f"differs in {np.count_nonzero(apart)} of {apart.size} elements; "
            f"{got.ravel()[at]} for {want.ravel()[at]}")


def describe(net, tensor):
    """The operator that computes an output, for messages."""
    (op,) = [op for op in net.operators if tensor in op["outputs"]]
    first = net.tensors[max(op["inputs"], default=tensor)]
    return f"{net.codes[op['opcode']]} {first['type']} {first['shape']} {op.get('options', '')}"


class LayersTest(unittest.TestCase):
    def check_outputs(self, net, got, rounding):
        self.assertEqual(list(got), net.outputs)
        for tensor, (wants, error) in net.expected.items():
            if rounding not in wants:
                continue
            with self.subTest(describe(net, tensor), rounding=rounding):
                self.assertIsNone(difference(got[tensor], np.asarray(wants[rounding]), error))

    def check(self, make, roundings=(DOUBLE, SINGLE)):
        net = make()
        for rounding in roundings:
            with tempfile.TemporaryDirectory() as folder:
                got = running.run_net(net, folder, f"--tflite-rounding={rounding}",
                                      "--target=portable")
            self.check_outputs(net, got, rounding)
        return net

    def test_convolutions(self):
        self.check_roundings_differ(self.check(cases.convolutions))

    def test_elementwise(self):
        self.check_roundings_differ(self.check(cases.elementwise))

    def test_activations_of_16_bits(self):
        self.check(cases.wides)
        self.check_roundings_differ(self.check(cases.wide_elementwise))

    def test_kernels_of_litert(self):
        """Operators in which LiteRT's kernels differ from TFLite Micro's in more than how
        products round."""
        for make in cases.wide_elementwise, cases.streams:
            net = self.check(make, (LITERT,))
            told = [t for t, (wants, _) in net.expected.items() if LITERT in wants and
                    not np.array_equal(wants[DOUBLE], wants[LITERT])]
            self.assertTrue(told, "the net does not tell the kernels apart")

    def check_roundings_differ(self, net):
        """The net tells the roundings apart, so that the option is tested."""
        self.assertTrue([t for t, (wants, _) in net.expected.items()
                         if not np.array_equal(wants[DOUBLE], wants[SINGLE])])

    def test_pools(self):
        self.check(cases.pools)

    def test_streams(self):
        """Several runs in a row, on the host and without an operating system."""
        net = self.check(cases.streams)
        with tempfile.TemporaryDirectory() as folder:
            got = running.run_net(net, folder, "--target=native")
        self.check_outputs(net, got, DOUBLE)

    @unittest.skipUnless(shutil.which("arm-none-eabi-g++") and shutil.which("qemu-system-arm"),
                         "there is no compiler or emulator for Cortex-M")
    def test_streams_on_a_microcontroller(self):
        for net in (cases.streams(), cases.sounds()):
            with tempfile.TemporaryDirectory() as folder:
                got = running.run_net(net, folder, "--target=cortex-m4",
                                      "--compiler=arm-none-eabi-g++ -O1")
            self.check_outputs(net, got, DOUBLE)

    def test_sounds_on_a_gpu(self):
        net = cases.sounds()
        with tempfile.TemporaryDirectory() as folder:
            got = running.run_net(net, folder, "--target=cuda-sm80", "--emulate")
        self.check_outputs(net, got, DOUBLE)

    def test_plain_operators(self):
        for make in cases.PLAIN:
            self.check(make, (DOUBLE,))

    def test_native(self):
        """The routines of this machine, in a net that has convolutions of bytes."""
        net = cases.convolutions()
        with tempfile.TemporaryDirectory() as folder:
            got = running.run_net(net, folder, "--target=native")
        self.check_outputs(net, got, DOUBLE)

    def test_all_operators_are_here(self):
        code, said = running.nnc("ops", "--frontend=tflite", "--json")
        self.assertEqual(code, running.DONE, said)
        rows = json.loads(said)
        self.assertEqual({row["frontend"] for row in rows}, {"TFLite"})
        used = set().union(*(make().used for make in cases.NETS.values()))
        self.assertFalse({row["name"] for row in rows} - used - cases.ELSEWHERE,
                         "operators without a case; add them to cases.py")

    @unittest.skipUnless(running.HAS_LITERT, "LiteRT is not installed; NNC_LITERT says where")
    def test_definitions_are_those_of_litert(self):
        for name, make in cases.NETS.items():
            net = make()
            with tempfile.TemporaryDirectory() as folder:
                got, lacking = running.litert(net, folder)
            print(f"{name}: LiteRT lacks", sorted({describe(net, t) for t in lacking}))
            for tensor, array in got.items():
                if tensor not in net.expected or self.is_known(net, tensor):
                    continue
                wants, error = net.expected[tensor]
                said = [difference(array, np.asarray(wants[r]), error) for r in wants]
                with self.subTest(describe(net, tensor)):
                    self.assertIn(None, said)

    def is_known(self, net, tensor):
        (op,) = [op for op in net.operators if tensor in op["outputs"]]
        types = {net.tensors[t]["type"] for t in op["inputs"] if t >= 0}
        name = net.codes[op["opcode"]]
        return any((name, kind) in LITERT_DIFFERS and kind in types and "FLOAT32" not in types
                   for kind in ("INT8", "INT16")) or ((name, "FLOAT32") in LITERT_DIFFERS and
                                            types == {"FLOAT32", "INT8"}) or (
            # LiteRT takes states of 8 bits for such of 16.
            name == "SVDF" and "INT8" in types and "INT16" not in types)


class DefinitionTest(unittest.TestCase):
    """Tests the definitions on numbers whose results are known from elsewhere."""

    def test_products_round_once_or_twice(self):
        times, factor = integers.fixed.times, integers.fixed.factor_of(0.25)
        self.assertEqual([times(x, factor, SINGLE) for x in (1, 2, 3, 6, -2, -6)],
                         [0, 1, 1, 2, 0, -1])
        # Twice, halves go away from zero in the last step.
        self.assertEqual([times(x, factor, DOUBLE) for x in (1, 2, 3, 6, -2, -6)],
                         [1, 1, 1, 2, -1, -2])

    def test_functions(self):
        for real in (-7.9, -3.0, -0.5, -0.01, 0.3, 1.0, 6.5):
            a = int(real * 2.0**27)
            self.assertAlmostEqual(integers.fixed.logistic(a) / 2.0**31, 1 / (1 + np.exp(-real)),
                                   6)
            self.assertAlmostEqual(integers.fixed.tanh(a) / 2.0**31, np.tanh(real), 6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
