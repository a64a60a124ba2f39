#!/usr/bin/env python3
"""Tests what nnc says of MXNet models that are damaged, or that need what it lacks."""

import json
import pathlib
import struct
import tempfile
import unittest

import numpy as np

import running
import symbols


def small():
    """A convolution and a softmax, with one sample as its shape."""
    net = symbols.Net()
    random = np.random.default_rng(1)
    x = random.normal(0, 1, (1, 3, 5, 5)).astype(np.float32)
    w = random.normal(0, 1, (4, 3, 3, 3)).astype(np.float32)
    y = net("Convolution", net.data(x, "data", shape="(1, 3, 5, 5)"), net.param(w, "w"),
            name="conv", kernel=(3, 3), num_filter=4, no_bias=True)
    net.output(net("SoftmaxOutput", net("Flatten", y, name="flat"), net.variable("label"),
                   name="softmax"))
    return net


class BrokenTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.net = small()
        self.path = self.net.save(self.folder)
        self.params = self.folder / "net-0000.params"

    def check(self, code, *said, options=()):
        """nnc check ends with this code and these texts."""
        got, text = running.nnc("check", self.path, *options, timeout=60)
        self.assertEqual(got, code, text)
        for each in said:
            self.assertIn(each, text)

    def change(self, change):
        """Changes the symbol as a Python value."""
        symbol = json.loads(self.path.read_text())
        change(symbol)
        self.path.write_text(json.dumps(symbol))

    def attribute(self, node, key, text):
        def change(symbol):
            (found,) = [n for n in symbol["nodes"] if n["name"] == node]
            found["attrs"][key] = text
        self.change(change)

    def test_sound(self):
        self.check(running.DONE, "softmax_output: 1x36 of f32")

    # Subgraphs.

    def write_loop(self, **changed):
        """A _foreach of 40 runs over a matrix, with other attributes."""
        net, inner = symbols.Net(), symbols.Net()
        y = inner("elemwise_add", inner.variable("x"), inner.variable("state"), name="sum")
        inner.heads = [y, y]
        attributes = {"in_data_locs": [0], "in_state_locs": [1], "remain_locs": [],
                      "num_out_data": 1, "num_outputs": 2, **changed}
        net.output(net("_foreach", net.data(np.zeros((40, 3)), "data", shape="(40, 3)"),
                       net.param(np.float32([1, 2, 3]), "first"), name="loop",
                       subgraphs=[inner], **attributes)[1])
        self.path = net.save(self.folder)

    def change_subgraph(self, change):
        self.change(lambda symbol: change(symbol["nodes"][-1]))

    def test_sound_loop(self):
        self.write_loop()
        self.check(running.DONE, "loop_output1: 3 of f32")

    def test_loop_without_body(self):
        self.write_loop()
        self.change_subgraph(lambda node: node.pop("subgraphs"))
        self.check(running.BROKEN, "node 'loop'", "has 0 subgraphs")

    def test_subgraph_that_is_none(self):
        self.write_loop()
        self.change_subgraph(lambda node: node["subgraphs"][0].pop("heads"))
        self.check(running.BROKEN, "node 'loop'", "has a subgraph that lacks its 'nodes' or its "
                   "'heads'")

    def test_subgraph_with_a_cycle(self):
        self.write_loop()
        self.change_subgraph(lambda node: node["subgraphs"][0]["nodes"][2].update(
            inputs=[[2, 0, 0], [1, 0, 0]]))
        self.check(running.BROKEN, "node 'sum'", "computed from its own result")

    def test_places_of_a_loop(self):
        self.write_loop(in_state_locs=[7])
        self.check(running.BROKEN, "has in_state_locs 7 for 2 values")
        self.write_loop(in_state_locs=[0])
        self.check(running.BROKEN, "to other places of its body")
        self.write_loop(num_out_data=2)
        self.check(running.BROKEN, "has a body of 2 results; it needs 2 to collect and 1 to carry")

    def test_value_that_changes_its_shape(self):
        self.write_loop()
        self.change_subgraph(lambda node: node["subgraphs"][0]["nodes"].append(
            {"op": "Flatten", "name": "flat", "inputs": [[2, 0, 0]]}))
        self.change_subgraph(lambda node: node["subgraphs"][0].update(
            heads=[[2, 0, 0], [3, 0, 0]]))
        self.check(running.LACKING, "node 'loop'", "carries a value of shape 3, which has shape 3x1")

    # The two files.

    def test_no_parameters(self):
        self.params.unlink()
        self.check(running.USAGE, "without its parameters", "--weights")

    def test_parameters_of_another_name(self):
        other = self.folder / "other.params"
        self.params.rename(other)
        self.check(running.DONE, options=["--weights", other])

    def test_parameters_of_another_network(self):
        self.params.write_bytes(symbols.params_bytes({"arg:other": self.net.params["arg:w"]}))
        self.check(running.BROKEN, "node 'w': is a parameter of the Convolution",
                   "net-0000.params' does not have it")

    def test_several_files_of_parameters(self):
        (self.folder / "net-0012.params").write_bytes(self.params.read_bytes())
        self.check(running.USAGE, "has 2 files of parameters", "net-0000.params to "
                   "net-0012.params", "--weights")

    def test_files_the_wrong_way_round(self):
        code, said = running.nnc("check", self.params, "--weights", self.path)
        self.assertEqual(code, running.USAGE)
        self.assertIn("file of parameters of MXNet; pass the symbol", said)

    def test_symbol_as_parameters(self):
        self.check(running.BROKEN, "is JSON, not a file of parameters",
                   options=["--weights", self.path])

    def test_other_files_as_parameters(self):
        for data, said in ((b"PK\x03\x04" + bytes(40), "zip archive, as MXNet 2"),
                           (b"\x08\x07" + bytes(40), "is not a file of parameters of MXNet"),
                           (b"", "ends too early")):
            self.params.write_bytes(data)
            self.check(running.BROKEN, said)

    def test_parameters_that_end_early(self):
        data = self.params.read_bytes()
        for length in range(8, len(data) - 1, 37):
            self.params.write_bytes(data[:length])
            self.check(running.BROKEN, "net-0000.params")

    def test_sizes_that_overflow(self):
        for sizes in ((1 << 62, 4), (-1, 3), (1 << 40, 1 << 40)):
            array = struct.pack("<IiI2q", symbols.V2, 0, 2, *sizes) + struct.pack("<iii", 1, 0, 0)
            self.params.write_bytes(symbols.params_bytes({"arg:w": array}))
            self.check(running.BROKEN, "damaged")
        self.params.write_bytes(struct.pack("<QQQ", symbols.LIST_MAGIC, 0, 1 << 60) + bytes(64))
        self.check(running.BROKEN, "more than fit into it")
        self.params.write_bytes(symbols.params_bytes(
            {"arg:w": struct.pack("<I", 1 << 31) + bytes(64)}))
        self.check(running.BROKEN, "axes: it is damaged")

    def test_sparse_parameters(self):
        rows = struct.pack("<Ii", symbols.V2, 1) + symbols.shape_bytes((1, 2)) + \
            symbols.shape_bytes((4, 2)) + struct.pack("<iii", 1, 0, 0) + \
            struct.pack("<i", 6) + symbols.shape_bytes((1,)) + bytes(8) + bytes(8)
        self.params.write_bytes(symbols.params_bytes(
            {"arg:w": self.net.params["arg:w"], "arg:rows": rows}))
        self.check(running.LACKING, "rows", "sparse parameter (row_sparse)", "tostype")

    def test_types_that_nnc_lacks(self):
        self.params.write_bytes(symbols.params_bytes(
            {"arg:w": self.net.params["arg:w"].astype(np.uint32)}))
        self.check(running.LACKING, "type uint32")
        array = symbols.array_bytes(self.net.params["arg:w"], "v2")
        at = array.index(struct.pack("<iii", 1, 0, 0)) + 8
        self.params.write_bytes(symbols.params_bytes(
            {"arg:w": array[:at] + struct.pack("<i", 77) + array[at + 4:]}))
        self.check(running.BROKEN, "type 77")

    def test_names(self):
        w = self.net.params["arg:w"]
        self.params.write_bytes(symbols.params_bytes({"arg:w": w, "aux:w": w}))
        self.check(running.BROKEN, "two arrays 'w'")
        data = bytearray(symbols.params_bytes({"arg:w": w}))
        data[-1] = 0xFF
        self.params.write_bytes(data)
        self.check(running.BROKEN, "not UTF-8")

    # The graph.

    def test_damaged_json(self):
        text = self.path.read_text()
        self.path.write_text(text[:len(text) // 2])
        self.check(running.BROKEN, "is not valid JSON")
        self.path.write_text('{"nodes": [{"op": ' + "[" * 100000)
        self.check(running.BROKEN, "nested more than")
        self.path.write_text('{"nodes": [{"op": "null", "name": "x", "inputs": []}]}')
        self.check(running.BROKEN, "lacks its 'nodes' or its 'heads'")
        self.path.write_text('{"nodes": [{"op": "null"}], "heads": [[0, 0, 0]]}')
        self.check(running.BROKEN, "node0", "lacks its operator, its name")

    def test_entries_beyond_the_graph(self):
        for entry in ([7, 0, 0], [-1, 0, 0], [1 << 40, 0, 0], [0, -1, 0]):
            with self.subTest(entry):
                self.path = self.net.save(self.folder)
                self.change(lambda s: s["heads"].append(entry))
                self.check(running.BROKEN, "among its heads")
        for entry in ([0], "x", [0, "1"], [0.5, 0], [0, 0, 0, 0]):
            self.path = self.net.save(self.folder)
            self.change(lambda s: s["nodes"][-1]["inputs"].append(entry))
            self.check(running.BROKEN, "softmax", "that are not lists")
        self.path = self.net.save(self.folder)
        self.change(lambda s: s["nodes"][-1]["inputs"][0].__setitem__(1, 5))
        self.check(running.BROKEN, "reads result 5 of 'flat', which has 1")
        self.path = self.net.save(self.folder)
        self.change(lambda s: s["heads"][0].__setitem__(1, 3))
        self.check(running.BROKEN, "the model's outputs have its result 3")

    def test_cycle(self):
        conv = [i for i, n in enumerate(self.net.nodes) if n["name"] == "conv"][0]
        self.change(lambda s: s["nodes"][conv]["inputs"][0].__setitem__(0, conv + 1))
        self.check(running.BROKEN, "flat", "computed from its own result")

    def test_many_nodes(self):
        def change(symbol):
            symbol["nodes"] += [symbol["nodes"][0]] * 50
        self.change(change)
        self.check(running.LIMIT, "more than 20; --limit nodes=N", options=["--limit", "nodes=20"])

    def test_deep_graph(self):
        net = symbols.Net()
        x = net.data(np.float32([1, -2]))
        for i in range(20000):
            x = net("identity", x, name=f"i{i}")
        net.output(x)
        self.path = net.save(self.folder, "deep")
        self.check(running.DONE, options=running.shapes(net))

    # Operators and their attributes.

    def test_operators_that_nnc_lacks(self):
        def change(symbol):
            for node in symbol["nodes"]:
                if node["name"] in ("conv", "flat"):
                    node["op"] = "_contrib_Proposal"
        self.change(change)
        self.check(running.LACKING, "_contrib_Proposal is not supported (2 operators)",
                   "nnc ops --frontend=mxnet")

    def test_attributes_of_another_form(self):
        for key, text, said in (("kernel", "(3, x)", "kernel='(3, x)', which is not a tuple"),
                                ("kernel", "(3, 3", "is not a tuple"),
                                ("no_bias", "maybe", "is not True or False"),
                                ("num_group", "one", "is not an integer"),
                                ("stride", "(0, 1)", "numbers of at least 1"),
                                ("stride", "(1, 1, 1)", "needs 2 numbers"),
                                ("layout", "CHWN", "has the layout 'CHWN'"),
                                ("num_filter", "5", "has 5 filters and a weight"),
                                ("kernel", "(2, 2)", "states a kernel of 2x2")):
            with self.subTest(text):
                self.path = self.net.save(self.folder)
                self.attribute("conv", key, text)
                self.check(running.BROKEN, "Convolution", said)

    def test_shapes_that_do_not_fit(self):
        self.change(lambda s: s["nodes"][0]["attrs"].__setitem__("__shape__", "(1, 2, 5, 5)"))
        self.check(running.BROKEN, "Convolution")

    def test_shape_is_open(self):
        self.change(lambda s: s["nodes"][0]["attrs"].clear())
        code, said = running.nnc("check", self.path)
        self.assertNotEqual(code, running.DONE)
        self.assertIn("--shape", said)
        self.check(running.DONE, options=["--shape", "data=1x3x5x5"])

    def test_all_problems_at_once(self):
        self.net("Convolution", symbols.Ref(0), self.net.param(np.zeros((1, 3, 2, 2), np.float32)),
                 name="bad", kernel="?")
        self.net.output(symbols.Ref(len(self.net.nodes) - 1))
        self.net.output(self.net("NoSuchOperator", symbols.Ref(0), name="odd"))
        self.path = self.net.save(self.folder)
        self.check(running.BROKEN, "kernel='?'", "NoSuchOperator is not supported")


if __name__ == "__main__":
    unittest.main()
