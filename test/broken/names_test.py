"""Tests names that are meant to deceive readers of messages or emitted code."""

import pathlib
import sys
import tempfile
import unittest

import models
import outcome

# An override that reverses what follows, its isolating kin, a zero-width space, a
# soft hyphen, a line separator, the terminal's control sequence introducer, a tag.
DECEPTIVE = "\u202e\u2066\u200b\u00ad\u2028\u009b\U000e0041\u061c\ufeff"
LONG = "n" * 100000


class Names(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.path = self.folder / "names.onnx"

    def save(self, name, op="Relu"):
        nodes = [models.node("Neg", [name], [name + "~t"], name + "~t"),
                 models.node("MatMul", [name + "~t", name + "~t"], [name + "~m"], name + "~m"),
                 models.node(op, [name + "~m"], [name + "~y"], name)]
        made = models.model(nodes, [models.value(name, [4, 4])],
                            [models.value(name + "~y", [4, 4])])
        self.path.write_bytes(made.SerializeToString())

    def emitted(self):
        """All text that nnc writes into code for the model."""
        ended, said = outcome.run("compile", str(self.path), "--target=portable", "--name=named",
                                  "-o", str(self.folder / "out"))
        self.assertEqual(ended, outcome.DONE, said)
        return {p.name: p.read_text() for p in (self.folder / "out").iterdir()
                if p.suffix in (".h", ".c", ".cpp", ".txt")}

    def test_deceptive_code(self):
        self.save("x*/" + DECEPTIVE + "\n#error\r")
        for name, text in self.emitted().items():
            for c in DECEPTIVE + "\r":
                self.assertNotIn(c, text, f"U+{ord(c):04X} in {name}")
            self.assertNotIn("#error", [line.strip() for line in text.splitlines()])
        self.assertIn("<U+202E>", text + "".join(self.emitted_header()))

    def emitted_header(self):
        return (self.folder / "out" / "named.h").read_text()

    def test_deceptive_messages(self):
        self.save("x" + DECEPTIVE, op="Frobnicate")
        ended, said = outcome.run("check", str(self.path))
        self.assertEqual(ended, outcome.BROKEN)
        self.assertIn("x<U+202E><U+2066><U+200B><U+00AD>", said)
        for c in DECEPTIVE:
            self.assertNotIn(c, said)

    def test_ordinary(self):
        """Letters of any language stay as they are."""
        self.save("Gr\u00f6\u00dfe_\u65e5\u672c_\u05d0")
        self.emitted()
        self.assertIn("Gr\u00f6\u00dfe_\u65e5\u672c_\u05d0", self.emitted_header())

    def test_long_code(self):
        """Comments of the header hold the model's names; C has its own."""
        self.save(LONG)
        self.emitted()
        comments = [line[line.find("/*"):] for line in self.emitted_header().splitlines()
                    if "/*" in line]
        self.assertTrue(any("nnn..." in comment for comment in comments))
        for comment in comments:
            self.assertLess(len(comment), 1000)

    def test_long_messages(self):
        for made in (lambda: self.save(LONG, op="Frobnicate"),
                     lambda: self.save("a b" * 50000, op="Frobnicate"),
                     lambda: self.save("x", op=LONG), lambda: self.broken_input(LONG)):
            made()
            ended, said = outcome.run("check", str(self.path))
            self.assertIn(ended, (outcome.BROKEN, outcome.LACKING), said[:500])
            for line in said.splitlines():
                self.assertLess(len(line), 2000, line[:200])
            self.assertIn("...", said)

    def broken_input(self, name):
        made = models.model([models.node("Add", ["x", name], ["y"])])
        self.path.write_bytes(made.SerializeToString())


if __name__ == "__main__":
    sys.exit(unittest.main())
