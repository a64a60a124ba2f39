"""Tests that the networks are useful for tests: outputs are finite and varied, different inputs
have different labels, and rounding errors do not grow from layer to layer."""

import sys
import unittest

import numpy as np
import onnxruntime

import make
import zoo

SEED, COUNT = 1, 6  # other inputs than the calibration's


class Sane(unittest.TestCase):
    def check(self, name):
        network = zoo.NETWORKS[name]
        path = make.made(name)
        run = make.session(path)
        inputs = zoo.feeds(network, [i.name for i in run.get_inputs()], SEED, COUNT)
        names = [o.name for o in run.get_outputs()]
        outputs = dict(zip(names, run.run(names, inputs)))
        for output, values in outputs.items():
            self.assertTrue(np.isfinite(values).all(), f"{output} is not finite")
            between = (values - values.mean(0)).std()
            self.assertGreater(between, 0.05 * values.std(), f"{output} ignores the input")
        labels = outputs[network.labels or names[0]].reshape(COUNT, -1).argmax(1)
        self.assertGreaterEqual(len(set(labels)), COUNT // 2, f"labels {labels}")
        self.check_rounding(path, names, inputs, outputs)

    def check_rounding(self, path, names, inputs, outputs):
        """Without fusions onnxruntime adds in another order: hardly a difference."""
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        plain = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        for name, other in zip(names, plain.run(names, inputs)):
            error = np.abs(outputs[name] - other).max() / np.abs(other).max()
            self.assertLess(error, 2e-5, f"{name} depends on the order of additions")


def add_case(name):
    setattr(Sane, f"test_{name}", lambda self: self.check(name))


if __name__ == "__main__":
    for name in sys.argv[1:] or zoo.NETWORKS:
        add_case(name)
    unittest.main(argv=sys.argv[:1])
