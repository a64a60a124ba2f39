#!/usr/bin/env python3
"""Tests models in which the type of one tensor is changed: they compile, or nnc reports what is
broken or missing, with the name of a layer and in TFLite's terms.

    types_test.py --all     every type; otherwise a quarter of the types for each tensor
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zlib

import cases
import flat
import running

TRANSLATE = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc-translate"
OTHERS = [*sorted(set(flat.TYPES.values())), "BFLOAT16", "INT2", "UINT4", "STRING", "COMPLEX64"]
# Words of MLIR's, which no message to a user has.
FOREIGN = re.compile(r"tensor<|!quant|'(nn|qnn|func)\.|operand #|result #|please report")


EVERY = 1 if "--all" in sys.argv else 4
# One of so many models that are sound all the same is compiled.
COMPILED = 8


def is_picked(name, share):
    return zlib.crc32(name.encode()) % share == 0


def seeds():
    """(name, model) for the first form of each operator in the nets of cases.py."""
    seen = set()
    for make in cases.NETS.values():
        net = make()
        for op, model in zip(net.operators, flat.one_by_one(net)):
            kinds = tuple(net.tensors[t]["type"] for t in (*op["inputs"], *op["outputs"])
                          if t >= 0)
            key = net.codes[op["opcode"]], kinds
            if key not in seen:
                seen.add(key)
                yield key[0], model


def sweep(name, model):
    """(name, model) with another type for one tensor: for each tensor of the operator, and each
    other type that is picked."""
    (op,) = model["subgraphs"][0]["operators"]
    tensors = model["subgraphs"][0]["tensors"]
    for place, t in enumerate([*op["inputs"], *op["outputs"]]):
        for other in OTHERS:
            if (t < 0 or tensors[t]["type"] in (other, "RESOURCE") or
                    not is_picked(f"{name} {tensors[t]['type']} {place} {other}", EVERY)):
                continue
            main = {**model["subgraphs"][0], "tensors": [
                {**tensor, "type": other} if i == t else tensor
                for i, tensor in enumerate(tensors)]}
            yield (f"{name}-{place}-{other}",
                   {**model, "subgraphs": [main, *model["subgraphs"][1:]]})


def chunks(said):
    """(status, messages) of each import that failed."""
    end = 0
    for found in re.finditer(r"^status: (\w+)$", said, re.MULTILINE):
        yield found[1], said[end:found.start()]
        end = found.end()


class TypesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def translate(self, paths):
        """The messages of importing models; a crash is that of one of them."""
        done = subprocess.run([TRANSLATE, "--import", "--quiet", *paths], capture_output=True,
                              text=True, errors="replace", timeout=600)
        if done.returncode in (0, 1):
            return done.stderr
        if len(paths) == 1:
            self.fail(f"{paths[0].stem}: exit code {done.returncode}: {done.stderr[-1500:]}")
        half = len(paths) // 2
        return self.translate(paths[:half]) + self.translate(paths[half:])

    def check_import(self, models):
        """The paths of those models that are sound, and how the others end."""
        paths = flat.save(models, self.folder)
        ends, refused = collections.Counter(), set()
        for status, messages in chunks(self.translate(paths)):
            ends[status] += 1
            names = set(re.findall(r"([^/\s]+)\.tflite", messages))
            refused |= names
            with self.subTest("; ".join(names)):
                self.assertIn(status, ("broken", "unsupported", "limit"), messages)
                self.assertEqual(len(names), 1, messages)
                self.assertNotRegex(messages, FOREIGN)
        return [path for path in paths if path.stem not in refused], ends

    def test_types_of_operators(self):
        """Operands and results of each operator get other types. Some of the models that are
        sound all the same are compiled."""
        ends, compiled = collections.Counter(), 0
        seen = set()
        for name, model in seeds():
            models = dict(sweep(name, model))
            if not models:
                continue
            sound, more = self.check_import(models)
            ends += more
            for path in sound:
                # Of an operator, a place and a type, the first.
                if path.stem not in seen and is_picked(path.stem, COMPILED):
                    compiled += 1
                    self.check_compiling(path)
                seen.add(path.stem)
            for path in models:
                (self.folder / f"{path}.tflite").unlink()
        print(f"{sum(ends.values())} refused: {dict(ends)}; {len(seen)} sound, "
              f"{compiled} of which were compiled")
        self.assertGreater(sum(ends.values()), 1000 // EVERY)

    def check_compiling(self, path):
        code, said = running.nnc("check", "--no-build", path, "--target=portable")
        with self.subTest(path.stem):
            self.assertIn(code, (running.DONE, running.BROKEN, running.LACKING, running.LIMIT),
                          said)
            self.assertNotRegex(said, FOREIGN)


if __name__ == "__main__":
    unittest.main(argv=[arg for arg in sys.argv if arg != "--all"], verbosity=2)
