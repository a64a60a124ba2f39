"""Tests the documents of nnc report, and that pages contain nothing else. report_page_test.py
tests the pages in a browser."""

import json
import re
import sys
import unittest

from onnx import helper

import nnc
from nnc import BROKEN, USAGE, model, value, weights

HOSTILE = '</script><script>alert("1")</script><!--&<img src=x onerror=alert(1)>'


def hostile():
    """A network with names that are markup and script."""
    made = nnc.network()
    for node in made.graph.node:
        node.name = HOSTILE + node.name
    made.graph.input[0].name = made.graph.node[0].input[0] = HOSTILE
    return made


def branches():
    """A network with two paths from x to y, one of them longer, and a sum of both."""
    node = helper.make_node
    return model(
        [node("Conv", ["x", "w"], ["a"], "first", pads=[1] * 4),
         node("Relu", ["a"], ["r"], "relu1"),
         node("Conv", ["r", "v"], ["b"], "second", pads=[1] * 4),
         node("MaxPool", ["b"], ["c"], "pool", kernel_shape=[3, 3], pads=[1] * 4),
         node("Concat", ["r", "c"], ["d"], "both", axis=1),
         node("Softmax", ["d"], ["y"], "soft", axis=1)],
        [value("x", [1, 3, 16, 16])], [value("y", [1, 8, 16, 16])],
        [weights("w", 4, 3, 3, 3), weights("v", 4, 4, 3, 3)])


class Report(nnc.TestCase):
    def report(self, *arguments, builds=False):
        """The documents that a command prints; most tests need no size of the code."""
        quick = [] if builds or "--measure" in arguments else ["--no-build"]
        return json.loads(self.nnc("report", *arguments, "--json", *quick))["reports"]

    def read(self, page):
        """The documents of a page."""
        text = (self.folder / page).read_text()
        (data,) = re.findall(r'<script id="documents" type="application/json">(.*?)</script>',
                             text, re.DOTALL)
        return json.loads(data)

    def test_document(self):
        self.save("branches", branches())
        (said,) = self.report("branches.onnx", "--target=x86-64-v3")
        self.nnc("compile", "branches.onnx", "--target=x86-64-v3", "-o", "out")
        manifest = json.loads((self.folder / "out/manifest.json").read_text())
        for key in ("name", "dtype", "shape", "routine", "layout", "params", "multiply_adds"):
            self.assertEqual([layer[key] for layer in said["layers"]],
                             [layer.get(key, []) for layer in manifest["layers"]])
        self.assertEqual(said["sha256"], manifest["sha256"])
        self.assertEqual(said["arena"]["places"],
                         [{key: place[key] for key in place} for place in manifest["arena"]])
        plan = json.loads(self.nnc("explain", "branches.onnx", "--target=x86-64-v3", "--json"))
        self.assertEqual(said["totals"]["seconds"], plan["seconds"])
        costs = [layer["seconds"] for layer in said["layers"]]
        self.assertNotIn(None, costs)
        # The rest are changes of layout that later passes have saved.
        self.assertLessEqual(sum(costs), plan["seconds"] * (1 + 1e-6))
        self.assertGreater(sum(costs), plan["seconds"] / 2)
        explained = {layer["name"]: layer for layer in plan["layers"]}
        for layer in said["layers"]:
            if layer["name"] in explained:
                mine = [dict(one) for one in layer["alternatives"]]
                for one in mine:
                    del one["over_max_error"]
                self.assertEqual(mine, explained[layer["name"]]["alternatives"])
        self.assertEqual((said["measured"], said["accuracy"]), (None, None))

    def test_graph(self):
        """Each layer is reached from the input and reaches the output, in order."""
        self.save("branches", branches())
        (said,) = self.report("branches.onnx")
        layers = len(said["layers"])
        kinds = {layers + i: port["kind"] for i, port in enumerate(said["ports"])}
        self.assertEqual(sorted(kinds.values()), ["input", "output"])
        for edge in said["edges"]:
            if edge["from"] < layers and edge["to"] < layers:
                self.assertLess(edge["from"], edge["to"])
        for start, ends in (("from", "to"), ("to", "from")):
            first = next(n for n, kind in kinds.items()
                         if kind == ("input" if start == "from" else "output"))
            reached = {first}
            for _ in range(layers + 1):
                reached |= {edge[ends] for edge in said["edges"] if edge[start] in reached}
            self.assertEqual(reached, set(range(layers + 2)))
        into = [edge["to"] for edge in said["edges"]]
        self.assertGreater(max(into.count(node) for node in into), 1, "nothing reads two values")

    def test_state_and_loops(self):
        """A value that is kept is an input and an output, and there are no circles."""
        body = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["going"], "keep"),
             helper.make_node("Tanh", ["h"], ["next"], "step")], "body",
            [value("i", [], nnc.TensorProto.INT64), value("go", [], nnc.TensorProto.BOOL),
             value("h", [1, 4])],
            [value("going", [], nnc.TensorProto.BOOL), value("next", [1, 4])])
        self.save("loop", model(
            [helper.make_node("Loop", ["n", "", "x"], ["y"], "repeat", body=body)],
            [value("n", [], nnc.TensorProto.INT64), value("x", [1, 4])], [value("y", [1, 4])]))
        done = nnc.subprocess.run([nnc.NNC, "report", "loop.onnx", "-o", "a.html", "--json"],
                                  cwd=self.folder, capture_output=True, text=True)
        said = nnc.read_document(["report"], done.stdout)
        self.assertTrue(said["ok"], said["problems"])
        inside = [layer for layer in said["reports"][0]["layers"] if layer["within"]]
        self.assertTrue(inside)

    def test_same_bytes(self):
        """Pages depend on the model and the options, not on the place or the time."""
        for folder in ("a", "b"):
            (self.folder / folder).mkdir()
            (self.folder / folder / "m.onnx").write_bytes(
                (self.folder / "network.onnx").read_bytes())
            self.nnc("report", f"{folder}/m.onnx", "--target=aarch64", "-o", f"{folder}/r.html")
        pages = [(self.folder / folder / "r.html").read_bytes() for folder in "ab"]
        self.assertEqual(*pages)
        self.assertNotIn(str(self.folder).encode(), pages[0])
        self.assertEqual(self.nnc("report", "a/m.onnx", "--target=aarch64", "-o", "-").encode(),
                         pages[0])

    def test_offline(self):
        """A page names no other file and no server."""
        self.nnc("report", "network.onnx")
        text = (self.folder / "report.html").read_text()
        script = text.replace("http://www.w3.org/2000/svg", "")  # a namespace's name
        self.assertEqual(re.findall(r"https?:|//[a-z]+\.[a-z]+/|@import|\bsrc=|url\((?!#)", script),
                         [])
        self.assertIn("default-src 'none'", text)

    def test_hostile_names(self):
        self.save("hostile", hostile())
        (self.folder / "hostile.onnx").rename(self.folder / "<b>&.onnx")
        self.nnc("report", "<b>&.onnx")
        text = (self.folder / "report.html").read_text()
        self.assertEqual(text.count("<script"), 2)
        self.assertEqual(text.count("</script>"), 2)
        self.assertNotIn("<img", text)
        self.assertNotIn("<b>&.onnx", text)
        (said,) = self.read("report.html")
        self.assertEqual(said["model"], "<b>&.onnx")
        self.assertIn(HOSTILE, [port["name"] for port in said["ports"]])

    def test_sizes(self):
        """What the model takes of RAM and flash is what nnc check says."""
        for target in ("x86-64-v3", "cortex-m4"):
            (said,) = self.report("network.onnx", f"--target={target}", builds=True)
            check = json.loads(self.nnc("check", "network.onnx", f"--target={target}", "--json"))
            totals = said["totals"]
            for key in ("arena_bytes", "weight_bytes", "input_bytes", "output_bytes",
                        "state_bytes", "code_bytes", "compiler"):
                self.assertEqual(totals[key], check[key], key)
            self.assertEqual(totals["stack_bytes"], check.get("stack_bytes"))
            self.assertEqual(totals["ram_bytes"],
                             sum(totals[key] or 0 for key in
                                 ("arena_bytes", "input_bytes", "output_bytes", "state_bytes",
                                  "stack_bytes")))
            self.assertEqual(totals["flash_bytes"], totals["code_bytes"] + totals["weight_bytes"])
            for layer in said["layers"]:
                self.assertTrue(layer["code_bytes"] > 0 or "code_of" in layer, layer)
            self.assertLess(sum(layer["code_bytes"] for layer in said["layers"]),
                            2 * totals["code_bytes"])
        (said,) = self.report("network.onnx")
        self.assertEqual({said["totals"][key] for key in
                          ("code_bytes", "flash_bytes", "stack_bytes", "compiler")}, {None})
        self.assertEqual({layer["code_bytes"] for layer in said["layers"]}, {None})

    def test_measure(self):
        (said,) = self.report("network.onnx", "--measure", "--seconds=0.05")
        self.assertEqual(said["measured"]["unit"], "seconds")
        self.assertEqual(len(said["measured"]["layers"]), len(said["layers"]))
        self.assertGreater(said["measured"]["median"], 0)
        (output,) = said["accuracy"]["outputs"]
        self.assertTrue(output["within"])

    def test_measure_without_an_operating_system(self):
        (said,) = self.report("network.onnx", "--measure", "--target=cortex-m4")
        bench = json.loads(self.nnc("bench", "network.onnx", "--target=cortex-m4", "--json"))
        self.assertEqual(said["measured"]["unit"], "instructions")
        self.assertEqual(said["measured"]["layers"],
                         [layer["instructions"] for layer in bench["layers"]])

    def test_two(self):
        """Models, pages and printed documents can be compared with each other."""
        self.save("branches", branches())
        both = self.report("network.onnx", "branches.onnx", "-o", "both.html")
        self.assertEqual([said["name"] for said in both], ["network", "branches"])
        self.assertEqual(self.read("both.html"), both)
        self.nnc("report", "network.onnx", "--target=cortex-m4", "-o", "small.html")
        (self.folder / "large.json").write_text(
            self.nnc("report", "network.onnx", "--target=x86-64-v3", "--json"))
        both = self.report("small.html", "large.json", "-o", "both.html")
        self.assertEqual([said["machine"]["target"] for said in both], ["cortex-m4", "x86-64-v3"])
        # What a page holds stays the same when it is written again.
        self.nnc("report", "small.html", "-o", "again.html")
        self.assertEqual((self.folder / "again.html").read_bytes(),
                         (self.folder / "small.html").read_bytes())

    def test_failures(self):
        self.nnc("report", "network.onnx")
        page = (self.folder / "report.html").read_text()
        for name, text, said in [
                ("other.html", "<!doctype html><p>", "holds no report of nnc"),
                ("cut.html", page[:page.index('"layers"')], "is a damaged report"),
                ("deep.json", '{"nodes":' * 100000, "nested more than 128 levels deep"),
                ("later.html", page.replace('"format":2', '"format":99'),
                 "a report of format 99, expected 2; make it again"),
                ("less.html", page.replace('"edges"', '"ridges"'), "it has no list 'edges'"),
                ("other.json", "{}", "holds no report of nnc")]:
            (self.folder / name).write_text(text)
            self.nnc("report", name, code=USAGE, said=[said])
        (self.folder / "broken.onnx").write_bytes(b"not a model")
        self.nnc("report", "broken.onnx", code=BROKEN)
        self.assertEqual((self.folder / "report.html").read_text(), page, "a page was lost")
        self.nnc("report", "network.onnx", "-o", "./network.onnx", code=USAGE,
                 said=["-o: ./network.onnx is a file that this command reads"])
        self.nnc("report", "network.onnx", "-o", "no/such/folder.html", code=USAGE)
        self.nnc("report", "network.onnx", "-o", "-", "--json", code=USAGE)
        self.nnc("report", "no.onnx", code=USAGE)


if __name__ == "__main__":
    sys.exit(unittest.main())
