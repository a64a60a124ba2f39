#!/usr/bin/env python3
"""Imports sound exported programs in which something at random has been changed: a number, a text,
a node, a whole object of the JSON, or bytes of the archive. Each import has to end within ten
seconds, and to call the program sound, broken, too large or more than nnc does. Every twentieth is
compiled as well.

    fuzz.py --count 3000            mutations 0 to 2999
    fuzz.py --from 1234 --count 1   one of them again
    fuzz.py --keep DIR              the programs that failed, in DIR

NNC_BUILD_DIR says where nnc was built; without nnc there, programs are imported only. A mutation's
number decides all of it.
"""

import argparse
import copy
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import archives
from samples import SAMPLES

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "broken"))
import outcome  # noqa: E402

TRANSLATE = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc-translate"
STATUS = re.compile(r"^status: (broken|unsupported|unbound|limit)$", re.MULTILINE)
ALLOWED = {outcome.DONE, outcome.BROKEN, outcome.LACKING, outcome.LIMIT, outcome.USAGE}
BATCH = 40
NUMBERS = [0, 1, -1, 2, 3, 4, 5, 7, 8, 12, 13, 28, 31, 64, 127, 255, 256, 4096, 1 << 20, 1 << 31,
           (1 << 31) - 1, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63)]
REALS = [0.0, -1.0, 0.5, 1e-45, 3e38, 1e300, "Infinity", "-Infinity", "NaN"]
TEXTS = ["", "x", "a" * 300, "\n", "../x", "mean", "Symbol('s77')", "FloorDiv(Symbol('s77'), 0)",
         "Mul(Integer(9223372036854775807), Integer(2))", "((((((((", "-" * 200 + "1", "2**64",
         "Pow(Integer(2), Integer(62))", "amax", "floor"]


def places(value):
    """(container, key) of all there is in JSON."""
    if not isinstance(value, (dict, list)):
        return
    for key, child in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        yield from places(child)


class Mutator:
    def __init__(self, random, files, targets):
        self.random, self.files, self.targets = random, files, targets

    def pick(self, items):
        return items[int(self.random.integers(len(items)))]

    def mutate(self):
        documents = [f for f in self.files.values() if isinstance(f, dict)]
        document = documents[0] if self.random.random() < 0.8 else self.pick(documents)
        found = [*places(document)]
        if not found:
            return
        # Fields that are rare are as likely as sizes, of which there are many.
        fields = sorted({str(key) for _, key in found})
        field = self.pick(fields)
        holder, key = self.pick([p for p in found if str(p[1]) == field])
        self.change(holder, key, found)

    def change(self, holder, key, found):
        old = holder[key]
        how = self.random.random()
        if how < 0.12:
            del holder[key]
        elif how < 0.25:
            other, place = self.pick(found)
            holder[key] = copy.deepcopy(other[place])
        elif key == "target":
            holder[key] = self.pick(self.targets)
        elif isinstance(old, bool):
            holder[key] = not old
        elif isinstance(old, int):
            holder[key] = old + self.pick([-1, 1]) if how < 0.5 else self.pick(NUMBERS)
        elif isinstance(old, float):
            holder[key] = self.pick(REALS)
        elif isinstance(old, str):
            same = [h[k] for h, k in found if k == key and isinstance(h[k], str)]
            holder[key] = self.pick(same) if how < 0.7 else self.pick(TEXTS)
        elif isinstance(old, list) and old:
            self.change_list(old)
        elif isinstance(old, dict) and len(old) == 1 and how < 0.7:
            holder[key] = self.pick([{"as_int": self.pick(NUMBERS)}, {"as_none": True},
                                     {"as_float": self.pick(REALS)}, {"as_bool": True},
                                     {"as_ints": [self.pick(NUMBERS) for _ in range(3)]},
                                     {"as_string": self.pick(TEXTS)}, {"as_tensors": []}])
        else:
            holder[key] = self.pick([None, {}, [], 3, "x"])

    def change_list(self, items):
        how = int(self.random.integers(5))
        i, j = (int(self.random.integers(len(items))) for _ in range(2))
        if how == 0:
            del items[i]
        elif how == 1:
            items.insert(j, copy.deepcopy(items[i]))
        elif how == 2:
            items[i], items[j] = items[j], items[i]
        elif how == 3:
            del items[i:]
        else:
            items.append(copy.deepcopy(items[i]))


def damage(random, data):
    """The bytes of an archive after changing or removing some of them."""
    data = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        # Half of the changes are in the list of files at the end.
        first = max(len(data) - 1200, 0) if random.random() < 0.5 else 0
        at = int(random.integers(first, max(len(data), first + 1)))
        how = int(random.integers(4))
        if how == 0:
            data[at] ^= 1 << int(random.integers(8))
        elif how == 1:
            data[at] = int(random.integers(256))
        elif how == 2:
            value = int(random.choice(NUMBERS[:20])) & 0xFFFFFFFF
            data[at:at + 4] = value.to_bytes(4, "little")
        elif random.random() < 0.3:
            del data[at:]
        if not data:
            break
    return bytes(data)


def find_targets(files):
    """The operators of programs, and some that are unknown."""
    found = {holder[key] for f in files for document in f.values() if isinstance(document, dict)
             for holder, key in places(document)
             if key == "target" and isinstance(holder[key], str)}
    listed = subprocess.run([outcome.NNC, "ops", "--frontend=pytorch", "--json"],
                            capture_output=True, text=True).stdout if outcome.NNC.exists() else ""
    names = re.findall(r'"name": "([^"]+)"', listed)
    more = {"torch.ops." + ("" if n.startswith(("quantized", "higher")) else "aten.") + n
            for n in names}
    return sorted(found | more | {"", "torch.ops.aten.nothing.default", "x"})


def write(seeds, targets, numbers, folder):
    """Writes mutations with these numbers; returns their paths."""
    paths = []
    for number in numbers:
        random = np.random.default_rng(number)
        files = copy.deepcopy(seeds[int(random.integers(len(seeds)))])
        if number % 4:
            for _ in range(int(random.integers(1, 4))):
                Mutator(random, files, targets).mutate()
        path = folder / f"m{number:06}.pt2"
        archives.write(path, files)
        if number % 4 == 0:
            path.write_bytes(damage(random, path.read_bytes()))
        paths.append(path)
    return paths


def translate(paths, seconds):
    """Imports the programs. Returns (exit code or None, output)."""
    try:
        done = subprocess.run([TRANSLATE, "--import", "--quiet", *paths], capture_output=True,
                              text=True, errors="replace", timeout=seconds,
                              preexec_fn=outcome.limit_memory)
    except subprocess.TimeoutExpired:
        return None, "it took too long"
    return done.returncode, done.stderr


def judge(paths, ends):
    """Yields (path, fault) of the programs whose import does not end as required."""
    code, said = translate(paths, 10 + 2 * len(paths))
    found = STATUS.findall(said)
    if code in (0, 1) and not outcome.CRASH.search(said) and "status: fault" not in said:
        for status in found:
            ends[status] = ends.get(status, 0) + 1
        ends["sound"] = ends.get("sound", 0) + len(paths) - len(found)
        return
    for path in paths if len(paths) > 1 else []:
        yield from judge([path], ends)
    if len(paths) == 1:
        yield paths[0], f"exit code {code}: {said[-1500:]}"


def compile_it(path):
    try:
        code, said, fault = outcome.compile_model(path)
    except subprocess.TimeoutExpired:
        return "compiling took too long"
    shutil.rmtree(path.parent / "out", ignore_errors=True)
    if code not in ALLOWED:
        fault = fault or f"exit code {code}"
    return f"{fault}\n{said[:1500]}" if fault else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400, metavar="N")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    seeds = [make().get_files() for make in SAMPLES.values()]
    targets, ends, faults = find_targets(seeds), {}, 0
    for first in range(arguments.first, arguments.first + arguments.count, BATCH):
        numbers = range(first, min(first + BATCH, arguments.first + arguments.count))
        with tempfile.TemporaryDirectory() as folder:
            paths = write(seeds, targets, numbers, pathlib.Path(folder))
            found = [*judge(paths, ends)]
            if outcome.NNC.exists():
                some = [p for p in paths if int(p.stem[1:]) % 20 == 1]
                found += [(p, fault) for p in some if (fault := compile_it(p))]
            for path, fault in found:
                faults += 1
                print(f"FAILED {int(path.stem[1:])}: {fault}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, arguments.keep)
    print(f"{arguments.count} mutations, {faults} failed:",
          ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
