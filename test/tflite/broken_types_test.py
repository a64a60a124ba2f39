#!/usr/bin/env python3
"""Tests operators whose tensors have types that TFLite's kernels do not support: the message
names the type."""

import unittest

import numpy as np

import flat
import refusals
from outcome import DONE, LACKING

F32, F16 = np.float32, np.float16


class TypesTest(refusals.TestCase):
    def test_arg_max(self):
        for name in ("ARG_MAX", "ARG_MIN"):
            for dtype, code in ((np.int32, DONE), (np.int64, DONE), (np.int16, LACKING),
                                (F16, LACKING), (F32, LACKING), (np.bool_, LACKING)):
                with self.subTest(name=name, dtype=dtype.__name__):
                    net = flat.Net()
                    x = net.input(np.ones((2, 3), F32))
                    net.outputs = [net.op(name, [x, net.const(np.array([1], np.int32))],
                                          [net.tensor(dtype, (2,))], output_type="INT32")]
                    self.check(net, code, rf"{name}.* result of type (FLOAT|BOOL|INT16).*INT64")

    def test_quantize(self):
        for source, to, code in ((np.int8, np.uint8, DONE), (F32, np.int8, DONE),
                                 (np.bool_, np.int8, LACKING), (np.int8, np.bool_, LACKING),
                                 (F32, np.bool_, LACKING)):
            with self.subTest(source=source.__name__, to=to.__name__):
                net = flat.Net()
                scale = () if source == F32 else (0.5, 0)
                x = net.input(np.ones((2, 3), source), *scale)
                net.outputs = [net.op("QUANTIZE", [x], [net.tensor(to, (2, 3), 0.25, 0)])]
                self.check(net, code, r"QUANTIZE.* type BOOL")


if __name__ == "__main__":
    unittest.main(verbosity=2)
