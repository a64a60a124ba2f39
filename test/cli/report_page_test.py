"""Tests the pages of nnc report in a browser. NNC_SHOTS names a folder for screenshots."""

import importlib.util
import os
import pathlib
import struct
import sys
import unittest
import zlib

from onnx import helper

import chromium
import nnc
from report_test import HOSTILE, branches, hostile

# All nodes with their texts stand inside of their boxes, and no two boxes meet.
OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll(".node")].map(node => {
    const box = node.querySelector(".box").getBBox(), wrong = [];
    for (const text of node.querySelectorAll("text")) {
      const inner = text.getBBox();
      if (inner.x < box.x || inner.x + inner.width > box.x + box.width + 1 ||
          inner.y < box.y || inner.y + inner.height > box.y + box.height + 1)
        wrong.push(text.textContent);
    }
    const texts = [...node.querySelectorAll("text")].map(text => text.getBBox());
    for (const a of texts) for (const b of texts)
      if (a !== b && a.x < b.x + b.width && b.x < a.x + a.width &&
          a.y + 3 < b.y + b.height && b.y + 3 < a.y + a.height) wrong.push("two texts");
    return {x: box.x, y: box.y, width: box.width, height: box.height, wrong};
  });
  let meets = 0;
  for (const a of boxes) for (const b of boxes)
    if (a !== b && a.x < b.x + b.width && b.x < a.x + a.width &&
        a.y < b.y + b.height && b.y < a.y + a.height) ++meets;
  return {count: boxes.length, meets, wrong: boxes.flatMap(box => box.wrong)};
})()"""


# Texts of cards that are cut, and, beside a details' column, views that scroll sideways.
CUT = """(() => [...document.querySelectorAll(".card .value, .card .more"),
  ...(innerWidth > 1000 ? [...document.querySelectorAll("main, .panel, aside, .scroll")] : [])]
  .filter(one => one.offsetWidth && one.scrollWidth > one.clientWidth + 1)
  .map(one => `${one.className || one.tagName}: ${one.textContent.slice(0, 40)}`))()"""

# Waits for the frame after the next one: a view learns its new width only once the browser has
# laid the page out, and then draws anew.
SETTLED = "new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))"


def text(selector):
    return f"document.querySelector('{selector}').textContent"


def read_png(png):
    """The width and the height of a screenshot, and the red, green and blue bytes of each row."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in (2, 6)
    data, at = b"", 8
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at:at + 8])
        data += png[at + 8:at + 8 + size] if name == b"IDAT" else b""
        at += size + 12
    step = 3 if kind == 2 else 4
    raw, rows = zlib.decompress(data), []
    above = bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        row = bytearray(raw[start + 1:start + 1 + width * step])
        for x, byte in enumerate(row):
            left = row[x - step] if x >= step else 0
            up, corner = above[x], above[x - step] if x >= step else 0
            guess = left + up - corner
            near = min((left, up, corner), key=lambda one: abs(guess - one))
            row[x] = (byte + (0, left, up, (left + up) // 2, near)[raw[start]]) & 255
        rows.append(bytes(row))
        above = row
    return width, height, [[tuple(row[x:x + 3]) for x in range(0, width * step, step)]
                           for row in rows]


@unittest.skipUnless(chromium.find(), "there is no chromium; scripts/setup --browser installs it")
class Page(nnc.TestCase):
    def setUp(self):
        super().setUp()
        self.shots = os.environ.get("NNC_SHOTS")

    def open(self, file, **how):
        page = chromium.Page(chromium.find(), **how)
        self.addCleanup(page.__exit__)
        self.seconds = page.open(self.folder / file)
        self.addCleanup(lambda: self.assertEqual(page.errors, []))
        return page

    def shoot(self, page, name):
        """A picture whose colours are not all the same."""
        file = pathlib.Path(self.shots) / f"{name}.png" if self.shots else None
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
        return page.shoot(file)

    def check_views(self, page):
        views = page.run("[...document.querySelectorAll('[role=tab]')].map(tab => tab.id)")
        for view in views:
            page.click(f"#{view}")
            shown = page.run("[...document.querySelectorAll('[role=tabpanel]')]"
                             ".filter(panel => panel.offsetHeight).map(panel => panel.id)")
            self.assertEqual(shown, [view.replace("tab-", "panel-")])
        return views

    def test_resnet50(self):
        """The bars: 1.5 MB, a second, two clicks to the peak and to the slowest layer."""
        onnx = importlib.util.find_spec("onnx").submodule_search_locations[0]
        light = pathlib.Path(onnx) / "backend/test/data/light/light_resnet50.onnx"
        if not light.exists():
            self.skipTest("this onnx package has no light_resnet50.onnx")
        self.nnc("report", light, "--target=x86-64-v3", "-o", "resnet50.html")
        self.assertLessEqual((self.folder / "resnet50.html").stat().st_size, 1_500_000)
        page = self.open("resnet50.html", width=1440, height=900)
        # The machine that tests may be busy.
        self.assertLessEqual(min(self.seconds, *(page.open(self.folder / "resnet50.html")
                                                 for _ in range(2))), 1)
        said = page.run(OVERLAPS)
        self.assertEqual((said["meets"], said["wrong"]), (0, []))
        self.assertEqual(said["count"], page.run("app.model.layers.length") + 2)
        self.assertEqual(set(page.requests), {(self.folder / "resnet50.html").as_uri()})

        slowest = page.run("app.model.layers.reduce((a, b) => b.cost > a.cost ? b : a).name")
        page.click("#cards button:nth-of-type(1)")
        self.assertEqual(page.run(text("#details h2")), slowest)
        self.assertIn("slowest layer", page.run(text("#details")))
        self.shoot(page, "resnet50-graph-light")
        page.click("#cards button:nth-of-type(2)")
        peak = page.run("app.model.layers[app.model.arena.peak.layer].name")
        self.assertEqual(page.run(text("#details h2")), peak)
        self.assertIn("At the peak", page.run(text("#panel-memory h2:not(.print)")))
        self.shoot(page, "resnet50-memory-light")
        for view in self.check_views(page)[2:]:
            page.click(f"#{view}")
            self.shoot(page, f"resnet50-{view[4:]}-light")
        page.set_dark(True)
        for view in self.check_views(page):
            page.click(f"#{view}")
            self.shoot(page, f"resnet50-{view[4:]}-dark")

    def test_colours(self):
        """The system chooses light or dark, and the button changes it."""
        self.nnc("report", "network.onnx")
        for dark in (False, True):
            page = self.open("report.html", width=500, height=400, dark=dark)
            for now in (dark, not dark):
                width, height, pixels = read_png(self.shoot(page, f"network-{now}"))
                self.assertEqual((width, height), (500, 400))
                seen = [sum(pixel) / 3 for row in pixels for pixel in row]
                mean = sum(seen) / len(seen)
                self.assertTrue(mean < 80 if now else mean > 200, mean)
                self.assertGreater(max(seen) - min(seen), 150, "nothing can be read")
                page.click("#theme")

    def test_keys(self):
        self.save("branches", branches())
        self.nnc("report", "branches.onnx")
        page = self.open("report.html")
        page.key("/")
        self.assertEqual(page.run("document.activeElement.id"), "search")
        page.call("Input.insertText", text="pool")
        self.assertRegex(page.run(text("#found li[aria-selected=true]")), "^layer_pool")
        page.key("Enter")
        self.assertEqual(page.run(text("#details h2")), "layer_pool")
        before = page.run("app.model.nodes[app.model.nodes[app.selected].reads[0].from].name")
        page.run("document.querySelector('.node.selected').focus()")
        page.key("ArrowUp")
        self.assertEqual(page.run(text("#details h2")), before)
        page.key("ArrowDown")
        self.assertEqual(page.run(text("#details h2")), "layer_pool")
        self.assertEqual(page.run("document.activeElement.dataset.number"),
                         str(page.run("app.selected")))
        page.key("Escape")
        self.assertIn("No layer is selected", page.run(text("#details")))
        page.run("document.getElementById('tab-graph').focus()")
        for view in ("memory", "layers"):
            page.key("ArrowRight")
            self.assertEqual(page.run("document.activeElement.id"), f"tab-{view}")
        page.run("document.querySelector('#panel-layers tbody tr').focus()")
        page.key("ArrowDown")
        self.assertEqual(page.run("app.selected"), 1)
        nameless = page.run(
            "[...document.querySelectorAll('button, input, select, [tabindex=\"0\"]')].filter("
            "e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.title)).length")
        self.assertEqual(nameless, 0)

    def test_widths(self):
        """Nothing is wider than the window, from a telephone to a large screen."""
        self.save("branches", branches())
        self.nnc("report", "branches.onnx", "network.onnx")
        page = self.open("report.html")
        for width, height in ((400, 800), (800, 600), (1024, 768), (1280, 800), (1400, 900),
                              (1920, 1080), (3840, 2160)):
            page.resize(width, height)
            for view in self.check_views(page):
                page.click(f"#{view}")
                page.run(SETTLED)
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width,
                                     f"{view} at {width}")
                self.assertEqual(page.run(CUT), [], f"{view} at {width}")
            page.click("#tab-graph")
            self.shoot(page, f"branches-{width}")
        self.assertEqual(page.run(OVERLAPS)["meets"], 0)
        self.assertEqual(page.print()[:5], b"%PDF-")

    def test_many_layers(self):
        """The memory of hundreds of layers is as wide as the window."""
        nodes, last = [], "x"
        for i in range(300):
            nodes.append(helper.make_node("Softmax", [last], [f"v{i}"], f"softmax{i}", axis=i % 2))
            last = f"v{i}"
        nodes[-1].output[0] = "y"
        self.save("deep", nnc.model(nodes, [nnc.value("x", [4, 8])], [nnc.value("y", [4, 8])]))
        self.nnc("report", "deep.onnx", "--no-build", "--target=portable")
        page = self.open("report.html")
        page.click("#tab-memory")
        for width in 1024, 1280, 1400:
            page.resize(width, 800)
            page.run(SETTLED)
            self.assertEqual(page.run(CUT), [], width)
            self.assertGreater(page.run("document.querySelector('#panel-memory .chart')"
                                        ".clientWidth"), 400)
        page.run("(() => { const view = document.querySelector('#panel-memory .scroll');"
                 " view.style.width = `${view.clientWidth - 3}px`; })()")
        page.run(SETTLED)
        self.assertEqual(page.run(CUT), [], "3 pixels narrower")

    def test_what_layers_are(self):
        """Kernel, stride, padding and roles of weights, and what all takes of memory."""
        self.save("branches", branches())
        self.nnc("report", "branches.onnx", "--target=cortex-m4")
        page = self.open("report.html", width=1400, height=900)
        first = page.run("app.model.layers.find(layer => layer.model_name === 'first').number")
        page.run(f"app.select({first})")
        details = page.run(text("#details"))
        for words in ("computes3 × 3 convolution, padding 1, ReLU, 32-bit floats", "kernel3 × 3", "stride1",
                      "padding1 on each side", "numbers32-bit floats", "code"):
            self.assertIn(words, details)
        self.assertRegex(details, "Weightsweights")
        node = page.run(f"document.querySelector('.node[data-number=\"{first}\"]').textContent")
        self.assertIn("3 × 3 convolution, padding 1,", node)
        page.click("#tab-layers")
        self.assertIn("3 × 3stride 1padding 1 on each side", page.run(text("#panel-layers")))
        page.click("#tab-sizes")
        totals = page.run("app.model.totals")
        sizes = page.run(text("#panel-sizes"))
        for name in ("ram_bytes", "flash_bytes", "stack_bytes", "code_bytes", "input_bytes"):
            self.assertIn(f"{totals[name]}", sizes)
        self.shoot(page, "branches-sizes")

    def test_two(self):
        self.nnc("report", "network.onnx", "--target=cortex-m4", "-o", "a.html")
        self.nnc("report", "network.onnx", "--target=x86-64-v3", "-o", "b.html")
        self.nnc("report", "a.html", "b.html")
        page = self.open("report.html")
        self.shoot(page, "two")
        layers = page.run("app.models.map(model => model.layers.map(layer => layer.name))")
        rows = page.run("[...document.querySelectorAll('#pairs tbody .name')]"
                        ".map(name => name.textContent)")
        self.assertEqual(sorted(rows), sorted(set(layers[0]) | set(layers[1])))
        self.assertIn("cortex-m4", page.run(text("#subtitle")))
        page.click("#switch button:nth-of-type(2)")
        self.assertIn("x86-64-v3", page.run(text("#subtitle")))
        page.run("document.querySelector('#pairs tbody tr').click()")
        self.assertEqual(page.run(text("#details h2")), rows[0])

    def test_hostile_names(self):
        """Names are shown as they are, and no part of them runs."""
        self.save("hostile", hostile())
        self.nnc("report", "hostile.onnx", "hostile.onnx")
        page = self.open("report.html")
        page.run("window.alert = () => { window.fooled = true; }")
        for view in self.check_views(page):
            page.click(f"#{view}")
        page.run("app.model.nodes.forEach(node => app.select(node.number))")
        self.assertEqual(page.run("document.querySelectorAll('img').length"), 0)
        self.assertEqual(page.run("document.querySelectorAll('script').length"), 2)
        self.assertFalse(page.run("Boolean(window.fooled)"))
        self.assertIn(HOSTILE, page.run("app.model.ports[0].name"))
        page.run("app.select(app.model.ports[0].number)")
        self.assertEqual(page.run(text("#details h2")), HOSTILE)


if __name__ == "__main__":
    sys.exit(unittest.main())
