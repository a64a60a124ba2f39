"""The base of tests of models that nnc has to reject with a message that names the fault, or to
compile."""

import pathlib
import sys
import tempfile
import unittest

import flat

sys.path.append(str(pathlib.Path(__file__).parents[1] / "broken"))
import outcome


class TestCase(unittest.TestCase):
    def check(self, net, code, said):
        """nnc ends with `code` on the net, and a message that matches `said` if it fails."""
        with tempfile.TemporaryDirectory() as folder:
            (path,) = flat.save({"net": net.model()}, folder)
            got, message, fault = outcome.compile_model(path)
        self.assertIsNone(fault, message)
        self.assertEqual(got, code, message)
        if got:
            self.assertRegex(message, said)
