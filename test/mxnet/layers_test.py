#!/usr/bin/env python3
"""Tests every operator that nnc reads from MXNet models against its definition in numpy, within
1e-5 of the largest number, with symbols and parameters in all forms that MXNet wrote."""

import pathlib
import tempfile
import unittest

import cases
import running

# The forms of files in which the nets are written, one after the other.
FORMS = [(10901, "v2"), (800, "legacy"), (905, "v1"), (10200, "v2"), (10600, "v3")]


class LayersTest(unittest.TestCase):
    pass


def make(name, function, version, layout):
    def test(self):
        net = function()
        net.version = version
        with tempfile.TemporaryDirectory() as folder:
            running.check(self, net, pathlib.Path(folder), layout=layout)
    setattr(LayersTest, f"test_{name}", test)


for i, (name, function) in enumerate(cases.NETS.items()):
    make(name, function, *FORMS[i % len(FORMS)])

if __name__ == "__main__":
    unittest.main()
