#!/usr/bin/env python3
"""Imports sound TFLite models in which something at random has been changed: a byte, a
number, a name, an operand, a whole table, or the end of the file. Each import has to end
within ten seconds, and to call the model sound, broken, too large or more than nnc does.
Every tenth model is compiled as well.

    fuzz.py --count 3000            mutations 0 to 2999
    fuzz.py --from 1234 --count 1   one of them again
    fuzz.py --keep DIR              the models that failed, in DIR

NNC_BUILD_DIR says where nnc was built; without nnc there, models are imported only. A
mutation's number decides all of it.
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

import cases
import flat

sys.path.append(str(pathlib.Path(__file__).parents[1] / "broken"))
import outcome

TRANSLATE = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc-translate"
STATUS = re.compile(r"^status: (broken|unsupported|unbound|limit)$", re.MULTILINE)
ALLOWED = {outcome.DONE, outcome.BROKEN, outcome.LACKING, outcome.LIMIT, outcome.USAGE}
BATCH = 40

SMALL = [0, 1, -1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 127, 128, 255]
LARGE = [256, 4096, 65535, 65536, 1 << 20, 1 << 30, (1 << 31) - 1, -(1 << 31), -2, -128]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-38, 1e-45, 3e38, -3e38, 1e30, 2.0**-31, 2.0**31]
# Fields of other types than int.
UNSIGNED = {"buffer", "opcode", "subgraph", "tensor", "version"}
BYTES = {"deprecated_code", "weights_format", "mode"}
FLOATS = {"scale", "min", "max", "alpha", "beta", "bias"}


class Mutator:
    def __init__(self, random, model):
        self.random, self.model = random, model

    def pick(self, items):
        return items[int(self.random.integers(len(items)))]

    def places(self, value, name=""):
        """(container, key, name of the field) of all there is, but for single bytes of
        buffers."""
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in entries:
            field = key if isinstance(key, str) else name
            yield value, key, field
            if isinstance(child, (dict, list)) and field != "data":
                yield from self.places(child, field)

    def mutate(self):
        places = [p for p in self.places(self.model) if p[2] != "options_type" or
                  self.random.random() < 0.3]
        fields = sorted({field for _, _, field in places})
        field = self.pick(fields)
        holder, key, _ = self.pick([p for p in places if p[2] == field])
        self.change(holder, key, field)

    def change(self, holder, key, field):
        old = holder[key]
        if isinstance(holder, dict) and self.random.random() < 0.15 and field != "options_type":
            del holder[key]
            if field == "options":
                holder.pop("options_type")
        elif field == "options_type":
            holder[key] = self.pick(sorted(set(flat.OPTIONS.values())))
        elif isinstance(old, list):
            self.change_list(old, field)
        elif isinstance(old, dict):
            same = [h[k] for h, k, f in self.places(self.model)
                    if f == field and isinstance(h[k], dict)]
            holder[key] = copy.deepcopy(self.pick(same)) if field != "options" else {}
        else:
            holder[key] = self.scalar(field, old)

    def change_list(self, items, field):
        how = self.pick(["delete", "repeat", "swap", "clear", "cut", "add", "fill"])
        if not items:
            if field != "data":
                return
            how = "add"
        i, j = (int(self.random.integers(len(items))) if items else 0 for _ in range(2))
        if how == "delete":
            del items[i]
        elif how == "repeat":
            items.insert(j, copy.deepcopy(items[i]))
        elif how == "swap":
            items[i], items[j] = items[j], items[i]
        elif how == "clear":
            items.clear()
        elif how == "cut":
            del items[i:]
        elif isinstance(items[0] if items else 0, (dict, list, str)):
            items.append(copy.deepcopy(items[i]))
        else:
            new = self.scalar(field, items[i] if items else 0)
            items[i:i + 1] = [new] * (4 if how == "fill" else 2)

    def scalar(self, field, old):
        if isinstance(old, bool):
            return not old
        if field in ("data", "custom_options"):
            return int(self.random.integers(256))
        if field == "type" or field in ("output_type", "from", "to"):
            return self.pick(sorted(flat.TYPES.values()) + ["STRING", "BFLOAT16", "INT2", "UINT4",
                                                            "COMPLEX64", "VARIANT"])
        if field in FLOATS:
            return self.pick(REALS)
        if isinstance(old, str):
            return {"padding": "VALID" if old == "SAME" else "SAME",
                    "activation": self.pick(["NONE", "RELU", "RELU6", "TANH", "SIGN_BIT"])}.get(
                        field, self.pick(["", "x", "t0", "a" * 300, "\n", "../x"]))
        if self.random.random() < 0.3:
            value = int(old) + self.pick([-1, 1])
        else:
            value = self.pick(SMALL if self.random.random() < 0.6 else LARGE)
        if field in UNSIGNED:
            return value % (1 << 32)
        return max(-128, min(127, value)) if field in BYTES else value


def damage(random, data):
    """The bytes of a file after changing, removing or moving some of them."""
    data = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        how = int(random.integers(5))
        at, other = (int(random.integers(max(len(data) - 8, 1))) for _ in range(2))
        if how == 0:
            data[at] ^= 1 << int(random.integers(8))
        elif how == 1:
            data[at] = int(random.integers(256))
        elif how == 2:  # A number or an offset.
            at &= ~3
            value = int(random.choice(SMALL + LARGE)) & 0xFFFFFFFF
            data[at:at + 4] = value.to_bytes(4, "little")
        elif how == 3:
            at, other = at & ~3, other & ~3
            data[at:at + 4], data[other:other + 4] = data[other:other + 4], data[at:at + 4]
        elif random.random() < 0.3:
            del data[at:]
    return bytes(data)


def seeds():
    for make in cases.NETS.values():
        yield from flat.one_by_one(make())


def write(models, numbers, folder):
    """Writes mutations with these numbers; returns their paths."""
    made = {}
    for number in numbers:
        random = np.random.default_rng(number)
        model = copy.deepcopy(models[int(random.integers(len(models)))])
        if number % 3:
            for _ in range(int(random.integers(1, 4))):
                Mutator(random, model).mutate()
        made[f"m{number:06}"] = model
    try:
        flat.save(made, folder)
    except subprocess.CalledProcessError:  # flatc refuses one of them.
        for name, model in made.items():
            try:
                flat.save({name: model}, folder)
            except subprocess.CalledProcessError:
                (folder / f"{name}.json").unlink(missing_ok=True)
    paths = sorted(folder.glob("m*.tflite"))
    for path in paths:
        number = int(path.stem[1:])
        if number % 3 == 0:
            path.write_bytes(damage(np.random.default_rng([number, 1]), path.read_bytes()))
    return paths


def translate(paths, seconds):
    """Imports the models. Returns (exit code or None, output)."""
    options = ["--single-rounding"] if len(paths) > 1 else []
    try:
        done = subprocess.run([TRANSLATE, "--import", "--quiet", *options, *paths],
                              capture_output=True, text=True, errors="replace",
                              timeout=seconds, preexec_fn=outcome.limit_memory)
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
    models, ends, faults, written = [*seeds()], {}, 0, 0
    for first in range(arguments.first, arguments.first + arguments.count, BATCH):
        numbers = range(first, min(first + BATCH, arguments.first + arguments.count))
        with tempfile.TemporaryDirectory() as folder:
            paths = write(models, numbers, pathlib.Path(folder))
            written += len(paths)
            found = [*judge(paths, ends)]
            if outcome.NNC.exists():
                some = [p for p in paths if int(p.stem[1:]) % 10 == 0]
                found += [(p, fault) for p in some if (fault := compile_it(p))]
            for path, fault in found:
                faults += 1
                print(f"FAILED {int(path.stem[1:])}: {fault}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, arguments.keep)
    print(f"{written} mutations, {faults} failed:",
          ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    return 1 if faults or written < 0.8 * arguments.count else 0


if __name__ == "__main__":
    sys.exit(main())
