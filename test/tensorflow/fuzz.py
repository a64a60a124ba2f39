#!/usr/bin/env python3
"""Imports sound TensorFlow models in which something at random has been changed: a byte of a
graph or of a checkpoint, a number, a name, an input, a node, or the end of a file. Each import
has to end within ten seconds, and to call the model sound, broken, too large or more than nnc
does. Every tenth model is compiled as well.

    fuzz.py --count 3000            mutations 0 to 2999
    fuzz.py --from 1234 --count 1   one of them again
    fuzz.py --keep DIR              the models that failed, in DIR

NNC_BUILD_DIR says where nnc was built. A mutation's number decides all of it.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import layers_test
import saved_model_test
import writer

sys.path.append(str(pathlib.Path(__file__).parents[1] / "broken"))
import outcome  # noqa: E402

TRANSLATE = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc-translate"
STATUS = re.compile(r"^status: (broken|unsupported|unbound|limit)$", re.MULTILINE)
ALLOWED = {outcome.DONE, outcome.BROKEN, outcome.LACKING, outcome.LIMIT, outcome.USAGE}
BATCH = 20
NUMBERS = [0, 1, -1, 2, 3, 4, 5, 7, 8, 31, 255, 256, 65535, 1 << 20, (1 << 31) - 1, -(1 << 31),
           1 << 40, (1 << 63) - 1, -(1 << 63)]
REALS = [0.0, -0.0, 1.0, -1.0, 1e-38, 3e38, -3e38, float("inf"), float("nan")]


class Graphs(layers_test.LayersTest):
    """Takes the graphs of the tests instead of running them."""

    def __init__(self, name):
        super().__init__(name)
        self.nets = []

    def run_net(self, net, counts=0):
        self.nets.append(net.proto)

    def run_sizes(self, net, shape, x, want):
        self.nets.append(net.proto)

    @classmethod
    def collect(cls):
        for name in sorted(dir(cls)):
            if name.startswith("test_"):
                test = cls(name)
                getattr(test, name)()
                yield from test.nets


def is_list(field):
    """True if a field is repeated; newer versions of protobuf have no label."""
    if hasattr(field, "is_repeated"):
        return field.is_repeated
    return field.label == field.LABEL_REPEATED


def list_fields(message):
    """(message, field) of all there is in a message and below."""
    for field, value in message.ListFields():
        yield message, field
        if field.type != field.TYPE_MESSAGE:
            continue
        if field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].type == field.TYPE_MESSAGE:
                for key in sorted(value):
                    yield from list_fields(value[key])
        else:
            for each in value if is_list(field) else [value]:
                yield from list_fields(each)


def change(random, field, old):
    if isinstance(old, bool):
        return not old
    if isinstance(old, bytes):
        return bytes(random.integers(0, 256, int(random.integers(20)), dtype=np.uint8))
    if isinstance(old, float):
        return REALS[int(random.integers(len(REALS)))]
    if isinstance(old, str):
        return ["", "x", "x:1", "^x", "in0", "Const_1", old + ":7", old[:-1],
                "../x"][int(random.integers(9))]
    if field.type == field.TYPE_ENUM:
        return int(random.integers(0, 26))
    number = NUMBERS[int(random.integers(len(NUMBERS)))]
    bits = 64 if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else 32
    if field.cpp_type in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64):
        return number % (1 << bits)
    return max(-(1 << bits - 1), min((1 << bits - 1) - 1, number))


def mutate(random, proto):
    places = [*list_fields(proto)]
    if not places:
        return
    names = sorted({field.name for _, field in places})
    name = names[int(random.integers(len(names)))]
    places = [place for place in places if place[1].name == name]
    message, field = places[int(random.integers(len(places)))]
    if random.random() < 0.15:
        message.ClearField(name)
    elif is_list(field):
        values = getattr(message, name)
        if field.type == field.TYPE_MESSAGE and field.message_type.GetOptions().map_entry:
            keys = sorted(values)
            del values[keys[int(random.integers(len(keys)))]]
        elif random.random() < 0.3 or field.type == field.TYPE_MESSAGE:
            del values[int(random.integers(len(values)))]
        else:
            i = int(random.integers(len(values)))
            values[i] = change(random, field, values[i])
    elif field.type == field.TYPE_MESSAGE:
        message.ClearField(name)
    else:
        setattr(message, name, change(random, field, getattr(message, name)))


def damage(random, data):
    data = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        at = int(random.integers(max(len(data), 1)))
        how = int(random.integers(4))
        if how == 0 and data:
            data[at] ^= 1 << int(random.integers(8))
        elif how == 1 and data:
            data[at] = int(random.integers(256))
        elif how == 2:
            data[at:at + 4] = data[:4]
        elif random.random() < 0.3:
            del data[at:]
    return bytes(data)


def make(number, nets, folder):
    """Writes a mutation and returns its path."""
    random = np.random.default_rng(number)
    if number % 4 == 0:
        made = saved_model_test.make(folder / "made", shards=1 + number % 3)
        model = made.rename(folder / f"m{number:06}")
        files = sorted(path for path in model.rglob("*") if path.is_file())
        path = files[int(random.integers(len(files)))]
        if path.name == "saved_model.pb" and random.random() < 0.7:
            proto = writer.messages()["SavedModel"].FromString(path.read_bytes())
            mutate(random, proto)
            path.write_bytes(proto.SerializeToString())
        else:
            path.write_bytes(damage(random, path.read_bytes()))
        return model
    proto = writer.messages()["GraphDef"]()
    proto.CopyFrom(nets[int(random.integers(len(nets)))])
    for _ in range(int(random.integers(1, 4))):
        mutate(random, proto)
    data = proto.SerializeToString()
    path = folder / f"m{number:06}.pb"
    path.write_bytes(damage(random, data) if number % 4 == 1 else data)
    return path


def judge(paths, ends):
    """Yields (path, fault) of the models whose import does not end as required."""
    try:
        done = subprocess.run([TRANSLATE, "--import", "--quiet", *paths], capture_output=True,
                              text=True, errors="replace", timeout=10 + 2 * len(paths),
                              preexec_fn=outcome.limit_memory)
        code, said = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        code, said = None, "it took too long"
    if code in (0, 1) and not outcome.CRASH.search(said) and "status: fault" not in said:
        found = STATUS.findall(said)
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
    texts = [graph().proto for graph in (saved_model_test.words, saved_model_test.examples,
                                         saved_model_test.labels)]
    nets, ends, faults = [*Graphs.collect(), *texts], {}, 0
    last = arguments.first + arguments.count
    for first in range(arguments.first, last, BATCH):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            paths = [make(n, nets, folder) for n in range(first, min(first + BATCH, last))]
            found = [*judge(paths, ends)]
            if outcome.NNC.exists():
                some = [p for p in paths if int(p.name[1:7]) % 10 == 0]
                found += [(p, fault) for p in some if (fault := compile_it(p))]
            for path, fault in found:
                faults += 1
                print(f"FAILED {int(path.name[1:7])}: {fault}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    copy = shutil.copytree if path.is_dir() else shutil.copy
                    copy(path, arguments.keep / path.name)
    print(f"{arguments.count} mutations, {faults} failed:",
          ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
