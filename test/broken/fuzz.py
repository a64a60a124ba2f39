#!/usr/bin/env python3
"""Compiles sound models in which something at random has been changed: a byte, a dim,
a name, a type, a whole node. Each run has to end as outcome.py says, and with an exit
code that puts no blame on nnc.

    fuzz.py --count 3000            mutations 0 to 2999
    fuzz.py --from 1234 --count 1   one of them again
    fuzz.py --networks              mutations of whole networks, not of node tests
    fuzz.py --keep DIR              the models that failed, in DIR

NNC_BUILD_DIR says where nnc was built. A mutation's number decides all of it.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor as Field

import models
import outcome

sys.path.append(str(pathlib.Path(__file__).parents[1] / "onnx"))
import constants
import node_tests

ALLOWED = {outcome.DONE, outcome.USAGE, outcome.BROKEN, outcome.LACKING, outcome.LIMIT}

INTEGERS = [0, 1, -1, 2, 3, 7, 8, 9, 10, 11, 16, 255, 4096, 65537, -(1 << 31), (1 << 31) - 1, 1 << 31,
            1 << 40, -(1 << 63), (1 << 63) - 1]
REALS = [0.0, -1.0, 0.5, 1e-30, 3e38, float("inf"), float("-inf"), float("nan")]
STRINGS = ["", "x", "?", "NOTSET", "SAME_UPPER", "../up.bin", "/etc/passwd", "link.bin", ".",
           "0", "-1", "4611686018427387904", "ai.onnx", "com.example", "\n", "a" * 300]
WHOLE = {Field.CPPTYPE_INT32: 32, Field.CPPTYPE_INT64: 64, Field.CPPTYPE_UINT32: 32,
         Field.CPPTYPE_UINT64: 64}
UNSIGNED = {Field.CPPTYPE_UINT32, Field.CPPTYPE_UINT64}
REAL = {Field.CPPTYPE_FLOAT, Field.CPPTYPE_DOUBLE}


# What operators look at; the rest is refused before they do.
LIKELY = ("onnx.AttributeProto.", "onnx.TensorShapeProto.", "onnx.TensorProto.dims",
          "onnx.TensorProto.data_type", "onnx.TensorProto.raw_data", "onnx.NodeProto.input",
          "onnx.NodeProto.op_type", "onnx.TypeProto.Tensor.elem_type")


# -- what is mutated ------------------------------------------------------------------


def node_test_models():
    """Models of one operator, with what says how large things are as constants."""
    supported = node_tests.supported_ops()
    for case in node_tests.load_cases():
        if node_tests.out_of_scope(case, supported):
            continue
        names = [port.name for port in case.model.graph.input]
        arrays = dict(zip(names, map(node_tests.to_array, node_tests.get_data(case)[0][0])))
        yield constants.freeze(case.model, arrays)[0]


def networks():
    cache = pathlib.Path(os.environ["NNC_CACHE"])
    for pattern in ("ocr-*/*cls*.onnx", "networks/*/squeezenet1_1.onnx"):
        for path in sorted(cache.glob(pattern)):
            network = onnx.load(path)
            for port in network.graph.input:
                dims = port.type.tensor_type.shape.dim
                for dim, size in zip(dims, (1, 3, 48, 192)):
                    dim.dim_value = dim.dim_value or size
            yield network


# -- mutations of a message -----------------------------------------------------------


def messages(message):
    """The message and all below it."""
    yield message
    for field, held in message.ListFields():
        if field.cpp_type == Field.CPPTYPE_MESSAGE:
            for child in held if field.is_repeated else [held]:
                yield from messages(child)


class Mutator:
    def __init__(self, random, model):
        self.random = random
        self.model = model

    def pick(self, items):
        return items[int(self.random.integers(len(items)))]

    def mutate(self):
        """Changes one field: first which, then where, for most fields are names."""
        places = {}
        for message in messages(self.model):
            for field, _ in message.ListFields():
                places.setdefault(field.full_name, []).append((message, field))
            unset = [f for f in message.DESCRIPTOR.fields if not self.holds(message, f)]
            if unset:
                places.setdefault("unset", []).append((message, self.pick(unset)))
        likely = sorted(name for name in places if name.startswith(LIKELY))
        names = likely if likely and self.random.random() < 0.7 else sorted(places)
        self.change(*self.pick(places[self.pick(names)]))

    @staticmethod
    def holds(message, field):
        return any(field is held for held, _ in message.ListFields())

    def change(self, message, field):
        if field.is_repeated:
            self.change_list(getattr(message, field.name), field)
        elif self.random.random() < 0.2 and self.holds(message, field):
            message.ClearField(field.name)
        elif field.cpp_type == Field.CPPTYPE_MESSAGE:
            getattr(message, field.name).CopyFrom(self.other(field.message_type))
        else:
            setattr(message, field.name, self.scalar(field, getattr(message, field.name)))

    def change_list(self, items, field):
        how = self.pick(["delete", "repeat", "swap", "clear", "alter", "alter", "add"])
        is_message = field.cpp_type == Field.CPPTYPE_MESSAGE
        i, j = (int(self.random.integers(len(items))) if items else 0 for _ in range(2))
        if how == "add" or not items:
            if is_message:
                items.add().CopyFrom(self.other(field.message_type))
            else:
                items.append(self.scalar(field, None))
        elif how == "delete":
            del items[i]
        elif how == "repeat" and len(items) < 1 << 12:
            items.extend([items[i]])
        elif how == "clear":
            del items[:]
        elif is_message:  # "swap", and the only alteration of a whole message
            first, second = type(items[i])(), type(items[j])()
            first.CopyFrom(items[i]), second.CopyFrom(items[j])
            items[i].CopyFrom(second), items[j].CopyFrom(first)
        elif how == "swap":
            items[i], items[j] = items[j], items[i]
        else:
            items[i] = self.scalar(field, items[i])

    def other(self, kind):
        """A message of that kind from elsewhere in the model, or an empty one."""
        made = message_factory.GetMessageClass(kind)()
        found = [m for m in messages(self.model) if m.DESCRIPTOR is kind]
        if found:
            made.CopyFrom(self.pick(found))
        return made

    def scalar(self, field, old):
        kind = field.cpp_type
        if kind in WHOLE:
            value = self.pick(INTEGERS) if old is None or self.random.random() < 0.7 else (
                old + self.pick([-1, 1]))
            value &= (1 << WHOLE[kind]) - 1
            top = 1 << (WHOLE[kind] - 1)
            return value if kind in UNSIGNED or value < top else value - 2 * top
        if kind in REAL:
            return self.pick(REALS)
        if kind == Field.CPPTYPE_ENUM:
            return self.pick([v.number for v in field.enum_type.values])
        if kind == Field.CPPTYPE_BOOL:
            return not old
        if field.type == Field.TYPE_BYTES:
            return self.data(bytes(old or b""))
        return self.pick(STRINGS + self.names())

    def names(self):
        """Names of values, so that what is read by whom changes."""
        graph = self.model.graph
        found = {n for node in graph.node for n in [*node.input, *node.output, node.op_type]}
        return 3 * sorted(found | {i.name for i in graph.initializer})

    def data(self, old):
        """Elements of a tensor, or a string attribute."""
        how = self.pick(["integer", "integer", "cut", "grow", "word"])
        if how == "integer" and len(old) >= 8:
            at = int(self.random.integers(len(old) // 8)) * 8
            return old[:at] + self.pick(INTEGERS).to_bytes(8, "little", signed=True) + old[at + 8:]
        if how == "cut":
            return old[:int(self.random.integers(len(old) + 1))]
        if how == "word":
            return self.pick(STRINGS).encode()
        return old + bytes(8)


def mutate_bytes(random, data):
    data = bytearray(data)
    for _ in range(int(random.integers(1, 5))):
        at = int(random.integers(len(data)))
        how = int(random.integers(4))
        if how == 0:
            data[at] ^= 1 << int(random.integers(8))
        elif how == 1:
            data[at] = int(random.integers(256))
        elif how == 2:
            del data[at:at + int(random.integers(1, 9))]
        else:
            data[at:at] = random.bytes(int(random.integers(1, 9)))
        data = data or bytearray(1)
    return bytes(data)


# -- one case -------------------------------------------------------------------------


def write_case(seeds, number, path):
    random = np.random.default_rng([8, number])
    model = onnx.ModelProto()
    model.CopyFrom(seeds[int(random.integers(len(seeds)))])
    for _ in range(int(random.geometric(0.7))):
        Mutator(random, model).mutate()
    data = model.SerializeToString()
    path.write_bytes(mutate_bytes(random, data) if random.random() < 0.15 else data)
    (path.parent / "weights.bin").write_bytes(bytes(4096))
    os.symlink("/etc/hostname", path.parent / "link.bin")


def run_case(seeds, number, keep):
    """(exit code, fault or None with what nnc said)"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"mutation-{number}.onnx"
        write_case(seeds, number, path)
        try:
            code, said, fault = outcome.compile_model(path)
        except subprocess.TimeoutExpired:
            code, said, fault = None, "", f"it takes more than {outcome.SECONDS} s"
        if code is not None and code not in ALLOWED:
            fault = fault or f"exit code {code}"
        if fault and keep:
            shutil.copy(path, keep)
        return code, f"{fault}\n{said[:2000]}" if fault else None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, metavar="N")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    seeds = [*networks()] if arguments.networks else [*models.sound_ones(), *node_test_models()]
    numbers = range(arguments.first, arguments.first + arguments.count)
    codes, faults = {}, 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda n: run_case(seeds, n, arguments.keep), numbers)
        for number, (code, fault) in zip(numbers, results):
            codes[code] = codes.get(code, 0) + 1
            if fault:
                faults += 1
                print(f"FAILED {number}: {fault}", flush=True)
    ends = ", ".join(f"{count} with {code}" for code, count in sorted(codes.items(), key=str))
    print(f"{arguments.count} mutations, {faults} failed; exit codes: {ends}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
