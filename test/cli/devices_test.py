"""Networks that the search divides between two devices, run on the host.

The target test-two-devices has a second device, the shadow: the host under another name,
four times as fast on paper, to which data has to be copied."""

import json
import unittest

from onnx import helper

import nnc
from nnc import model, value, weights


def chain():
    """Two large convolutions in a chain, then a small dense head."""
    node = helper.make_node
    return model([node("Conv", ["x", "w"], ["a"], "first", pads=[1] * 4),
                  node("Relu", ["a"], ["b"]),
                  node("Conv", ["b", "v"], ["c"], "second", pads=[1] * 4),
                  node("GlobalAveragePool", ["c"], ["d"], "pool"),
                  node("Flatten", ["d"], ["e"]),
                  node("Gemm", ["e", "k"], ["y"], "head", transB=1)],
                 [value("x", [1, 16, 24, 24])], [value("y", [1, 4])],
                 [weights("w", 32, 16, 3, 3), weights("v", 32, 32, 3, 3), weights("k", 4, 32)])


def diamond():
    """Two convolutions of one value, whose sum and the value itself are results."""
    node = helper.make_node
    return model([node("Tanh", ["x"], ["t"], "start"),
                  node("Conv", ["t", "w"], ["a"], "left", pads=[1] * 4),
                  node("Conv", ["t", "v"], ["b"], "right", pads=[1] * 4),
                  node("Add", ["a", "b"], ["y"], "sum")],
                 [value("x", [1, 24, 20, 20])],
                 [value("y", [1, 24, 20, 20]), value("t", [1, 24, 20, 20])],
                 [weights("w", 24, 24, 3, 3), weights("v", 24, 24, 3, 3)])


def small():
    """A network too small to be worth a transfer."""
    return model([helper.make_node("Relu", ["x"], ["y"], "only")],
                 [value("x", [1, 8])], [value("y", [1, 8])], [])


def branch():
    """A convolution in one of two branches, which data choose."""
    node = helper.make_node
    inner = [helper.make_graph([node("Conv", ["x", "w"], ["p"], "large", pads=[1] * 4)], "then",
                               [], [value("p", [1, 24, 20, 20])]),
             helper.make_graph([node("Neg", ["x"], ["q"], "other")], "else",
                               [], [value("q", [1, 24, 20, 20])])]
    return model([node("ReduceMax", ["x"], ["m"], "most", keepdims=0),
                  node("Greater", ["m", "zero"], ["c"], "test"),
                  node("If", ["c"], ["y"], "if", then_branch=inner[0], else_branch=inner[1])],
                 [value("x", [1, 24, 20, 20])], [value("y", [1, 24, 20, 20])],
                 [weights("w", 24, 24, 3, 3), weights("zero", 1)])


class Devices(nnc.TestCase):
    TARGET = "--target=test-two-devices"

    def places(self, name):
        """The device of each layer's result, by the layer's name."""
        said = json.loads(self.nnc("explain", f"{name}.onnx", self.TARGET, "--json"))
        return {layer["model_name"]: "shadow" if candidate["layouts"].endswith("on shadow")
                else "host" for layer in said["layers"] for candidate in layer["alternatives"]
                if candidate["chosen"]}

    def test_networks(self):
        for made, elsewhere, here in ((chain, {"first", "second"}, set()),
                                      (diamond, {"left", "right"}, set()),
                                      (small, set(), {"only"}), (branch, {"if/large"}, set())):
            with self.subTest(made.__name__):
                self.save(made.__name__, made())
                places = self.places(made.__name__)
                self.assertLessEqual(elsewhere, {n for n, p in places.items() if p == "shadow"})
                self.assertLessEqual(here, {n for n, p in places.items() if p == "host"})
                said = self.nnc("verify", f"{made.__name__}.onnx", self.TARGET)
                self.assertRegex(said, "same: ")
                self.nnc("compile", f"{made.__name__}.onnx", self.TARGET,
                         "-o", f"out_{made.__name__}")
                out = self.folder / f"out_{made.__name__}"
                code = "".join(file.read_text() for file in out.glob("*.cpp"))
                self.assertEqual("memcpy" in code, bool(elsewhere))


if __name__ == "__main__":
    unittest.main()
