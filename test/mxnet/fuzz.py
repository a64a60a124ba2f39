#!/usr/bin/env python3
"""Imports sound MXNet models in which something at random has been changed: an entry, a text or a
whole node of the symbol, bytes of the symbol or of the file of parameters, or the end of a file.
Each import has to end within ten seconds, and to call the model sound, broken, too large, without
shapes, or more than nnc does. Every tenth model is compiled as well.

    fuzz.py --count 3000            mutations 0 to 2999
    fuzz.py --from 1234 --count 1   one of them again
    fuzz.py --keep DIR              the models that failed, in DIR

NNC_BUILD_DIR says where nnc was built; without nnc there, models are imported only. A mutation's
number decides all of it.
"""

import argparse
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import cases
import symbols

sys.path.append(str(pathlib.Path(__file__).parents[1] / "broken"))
import outcome

TRANSLATE = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc-translate"
STATUS = re.compile(r"^status: (broken|unsupported|unbound|limit)$", re.MULTILINE)
ALLOWED = {outcome.DONE, outcome.BROKEN, outcome.LACKING, outcome.LIMIT, outcome.USAGE}
BATCH = 40

NUMBERS = [0, 1, -1, 2, 3, 4, 5, 7, 8, 31, 64, 255, 256, 65536, 1 << 30, (1 << 31) - 1, -(1 << 31),
           1 << 40, (1 << 63) - 1]
TEXTS = ["", "x", "None", "True", "0", "1", "-1", "1e9", "nan", "inf", "-inf", "()", "(0,)", "(,)",
         "(1, 2", "[1, 2]", "(3, 3)", "(0, -1)", "(-2,)", "(-3, -3)", "(-4, -1, 2)", "(1, 1, 1, 1)",
         "(99999999999, 2)", "1.5", "9" * 40, "(" * 50, "a" * 300, "\n", "\u00e9", "(None, 2)"]


class Mutator:
    def __init__(self, random, symbol):
        self.random, self.symbol = random, symbol

    def pick(self, items):
        return items[int(self.random.integers(len(items)))]

    def places(self, value):
        """(container, key) of all there is."""
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            if isinstance(child, (dict, list)):
                yield from self.places(child)

    def mutate(self):
        node = self.pick(self.symbol["nodes"]) if self.symbol.get("nodes") else {}
        attributes = node.get("attrs") if isinstance(node, dict) else None
        attributes = attributes if isinstance(attributes, dict) else None
        how = self.random.random()
        if how < 0.5 and attributes:
            key = self.pick(sorted(attributes))
            if self.random.random() < 0.15:
                del attributes[key]
            else:
                attributes[key] = self.text(str(attributes[key]))
            return
        places = [*self.places(self.symbol)]
        if not places:
            return
        holder, key = self.pick(places)
        old = holder[key]
        if isinstance(holder, dict) and self.random.random() < 0.1:
            del holder[key]
        elif isinstance(old, str):
            names = [n["op"] for n in self.symbol.get("nodes") or []
                     if isinstance(n, dict) and isinstance(n.get("op"), str)]
            holder[key] = self.pick(names) if key == "op" and names else self.text(old)
        elif isinstance(old, int):
            holder[key] = old + self.pick([-1, 1]) if self.random.random() < 0.5 \
                else self.pick(NUMBERS)
        elif isinstance(old, list) and old:
            self.change_list(old)
        else:
            holder[key] = self.pick([None, 0, "x", [], {}])

    def text(self, old):
        """Another text, or the old one with another number in it."""
        numbers = [*re.finditer(r"-?\d+", old)]
        if numbers and self.random.random() < 0.6:
            at = self.pick(numbers)
            return old[:at.start()] + str(self.pick(NUMBERS)) + old[at.end():]
        return self.pick(TEXTS)

    def change_list(self, items):
        i, j = (int(self.random.integers(len(items))) for _ in range(2))
        how = self.pick(["delete", "repeat", "swap", "clear", "cut"])
        if how == "delete":
            del items[i]
        elif how == "repeat":
            items.insert(j, copy.deepcopy(items[i]))
        elif how == "swap":
            items[i], items[j] = items[j], items[i]
        elif how == "clear":
            items.clear()
        else:
            del items[i:]


def damage(random, data):
    """The bytes of a file after changing, removing or repeating some of them."""
    data = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        if not data:
            break
        how, at = int(random.integers(5)), int(random.integers(max(len(data) - 8, 1)))
        if how == 0:
            data[at] ^= 1 << int(random.integers(8))
        elif how == 1:
            data[at] = int(random.integers(256))
        elif how == 2:
            value = int(random.choice(NUMBERS)) & 0xFFFFFFFF
            data[at:at + 4] = value.to_bytes(4, "little")
        elif how == 3:
            value = int(random.choice(NUMBERS)) & 0xFFFFFFFFFFFFFFFF
            data[at:at + 8] = value.to_bytes(8, "little")
        elif random.random() < 0.3:
            del data[at:]
    return bytes(data)


def damage_heads(random, data, length):
    """Damages bytes where heads of arrays and names are likely: at the ends of the file."""
    cut = min(len(data) // 2, length)
    if random.random() < 0.5:
        return damage(random, data[:cut]) + data[cut:]
    return data[:-cut] + damage(random, data[-cut:])


def seeds():
    """(symbol, bytes of parameters) of each operator of the nets on its own, whose inputs state
    their shapes."""
    for index, make in enumerate(cases.NETS.values()):
        net = make()
        layout = ["v2", "legacy", "v1", "v3"][index % 4]
        for node in net.nodes:
            if node["name"] in net.feeds:
                node["attrs"]["__shape__"] = str(net.feeds[node["name"]].shape)
        heads = net.heads
        for head in heads:
            net.heads = [head]
            symbol = json.loads(net.json())
            needed, rest = set(), [head.node]
            while rest:
                number = rest.pop()
                if number not in needed:
                    needed.add(number)
                    rest += [i for i, *_ in symbol["nodes"][number]["inputs"]]
            places = {old: new for new, old in enumerate(sorted(needed))}
            symbol["nodes"] = [symbol["nodes"][i] for i in sorted(needed)]
            for node in symbol["nodes"]:
                node["inputs"] = [[places[i], *more] for i, *more in node["inputs"]]
            symbol["heads"] = [[places[head.node], head.index, 0]]
            names = {node["name"] for node in symbol["nodes"]}
            params = {k: v for k, v in net.params.items() if k[4:] in names}
            yield symbol, symbols.params_bytes(params, layout)


def write(models, numbers, folder):
    """Writes mutations with these numbers; returns the paths of the symbols."""
    paths = []
    for number in numbers:
        random = np.random.default_rng(number)
        symbol, params = models[int(random.integers(len(models)))]
        symbol = copy.deepcopy(symbol)
        if number % 3:
            mutator = Mutator(random, symbol)
            for _ in range(int(random.integers(1, 4))):
                if isinstance(symbol.get("nodes"), list):
                    mutator.mutate()
        text = json.dumps(symbol).encode()
        if number % 3 == 0:
            if random.random() < 0.3:
                text = damage(random, text)
            else:
                params = damage_heads(random, params, 64)
        path = folder / f"m{number:06}-symbol.json"
        path.write_bytes(text)
        (folder / f"m{number:06}-0000.params").write_bytes(params)
        paths.append(path)
    return paths


def translate(paths, seconds):
    """Imports the models. Returns (exit code or None, output)."""
    try:
        done = subprocess.run([TRANSLATE, "--import", "--quiet", *paths], capture_output=True,
                              text=True, errors="replace", timeout=seconds,
                              preexec_fn=outcome.limit_memory)
    except subprocess.TimeoutExpired:
        return None, "it took too long"
    return done.returncode, done.stderr


def judge(paths, ends):
    """Yields (path, fault) of the models whose import does not end as required."""
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
    models, ends, faults = [*seeds()], {}, 0
    for first in range(arguments.first, arguments.first + arguments.count, BATCH):
        numbers = range(first, min(first + BATCH, arguments.first + arguments.count))
        with tempfile.TemporaryDirectory() as folder:
            paths = write(models, numbers, pathlib.Path(folder))
            found = [*judge(paths, ends)]
            if outcome.NNC.exists():
                some = [p for p in paths if int(p.name[1:7]) % 10 == 0]
                found += [(p, fault) for p in some if (fault := compile_it(p))]
            for path, fault in found:
                faults += 1
                print(f"FAILED {int(path.name[1:7])}: {fault}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    for each in path.parent.glob(f"{path.name[:7]}*"):
                        shutil.copy(each, arguments.keep)
    print(f"{arguments.count} mutations, {faults} failed:",
          ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
