#!/usr/bin/env python3
"""Imports and compiles models of one node each, whose operands have element types, ranks, sizes
and constancy at random: each has to end without a crash, an assertion, the text of a verifier or
a fault of nnc.

    operand_types.py --count 4000            models 0 to 3999
    operand_types.py --from 1234 --count 1   one of them again
    operand_types.py --keep DIR              the models that failed, in DIR

The definitions of ONNX say which types an operator takes; some operands get others. A model's
number decides all of it. NNC_BUILD_DIR says where nnc was built.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import mutations

TYPES = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
         "string": 8, "bool": 9, "float16": 10, "double": 11, "uint32": 12, "uint64": 13,
         "bfloat16": 16}
OPSETS = {"": 23, "ai.onnx.ml": 5, "com.microsoft": 1}
ATTRIBUTE = onnx.defs.OpSchema.AttrType
MICROSOFT = ["QGemm", "QLinearAdd", "QLinearMul", "QLinearConcat", "QLinearSigmoid", "QAttention",
             "QLinearAveragePool", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul",
             "MatMulIntegerToFloat", "FusedMatMul", "FusedConv", "MatMulNBits", "GatherND",
             "SkipLayerNormalization", "EmbedLayerNormalization", "QLinearWhere", "NhwcConv"]


def schemas():
    """The definitions by domain and name, except those with graphs."""
    found = [schema for schema in onnx.defs.get_all_schemas() if schema.domain in OPSETS]
    return sorted((schema for schema in found if not any(
        attribute.type == ATTRIBUTE.GRAPH for attribute in schema.attributes.values())),
        key=lambda schema: (schema.domain, schema.name))


class Maker:
    """Makes the model with a given number."""

    def __init__(self, number):
        self.random = np.random.default_rng([55, number])
        self.inputs, self.constants = [], []

    def pick(self, items):
        return items[int(self.random.integers(len(items)))]

    def shape(self, like):
        if like and self.random.random() < 0.6:
            return self.pick(like)
        return [int(self.pick([0, 1, 1, 2, 3, 3, 4, 5])) for _ in range(
            int(self.pick([0, 1, 1, 2, 2, 3, 4, 4, 5])))]

    def operand(self, dtype, shape):
        """The name of a new input or constant."""
        name = f"x{len(self.inputs) + len(self.constants)}"
        if dtype != TensorProto.STRING and self.random.random() < 0.5:
            self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
            return name
        count = int(np.prod(shape))
        values = self.random.integers(-1, 5, count)
        if dtype in (TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32,
                     TensorProto.UINT64, TensorProto.BOOL):
            values = np.abs(values)
        if dtype == TensorProto.BOOL:
            values %= 2
        values = [str(v).encode() for v in values] if dtype == TensorProto.STRING else values
        self.constants.append(helper.make_tensor(name, dtype, shape, list(values)))
        return name

    def attribute(self, name, kind):
        integer = lambda: int(self.pick([-2, -1, 0, 0, 1, 1, 2, 3]))
        some = range(int(self.pick([0, 1, 2, 2, 3, 4])))
        if kind == ATTRIBUTE.INT:
            return integer()
        if kind == ATTRIBUTE.FLOAT:
            return float(self.pick([0.0, 0.5, -1.0, 2.0]))
        if kind == ATTRIBUTE.INTS:
            return helper.make_attribute(name, [integer() for _ in some], attr_type=7)
        if kind == ATTRIBUTE.FLOATS:
            return helper.make_attribute(name, [0.5 for _ in some], attr_type=6)
        if kind == ATTRIBUTE.STRING:
            return self.pick(["NOTSET", "SAME_UPPER", "VALID", "linear", "x"])
        return None

    def make(self, schema):
        """A model of one node with an operator of ONNX."""
        types, shapes, operands = {}, [], []
        for given in schema.inputs:
            names = [text[7:-1] for text in given.types if text.startswith("tensor(")]
            known = [name for name in sorted(names) if name in TYPES]
            count = 1
            if given.option == onnx.defs.OpSchema.FormalParameterOption.Variadic:
                count = int(self.random.integers(1, 4))
            optional = given.option == onnx.defs.OpSchema.FormalParameterOption.Optional
            for _ in range(count):
                if optional and self.random.random() < 0.4:
                    operands.append("")
                    continue
                kind = types.setdefault(given.type_str, self.pick(known or ["float"]))
                if self.random.random() < 0.03:
                    kind = self.pick(sorted(TYPES))
                shapes.append(self.shape(shapes))
                operands.append(self.operand(TYPES[kind], shapes[-1]))
        attributes = {}
        for name, attribute in schema.attributes.items():
            if attribute.required or self.random.random() < 0.4:
                value = self.attribute(name, attribute.type)
                if value is not None:
                    attributes[name] = value
        return self.model(schema.name, schema.domain, operands, attributes,
                          max(1, schema.min_output))

    def make_microsoft(self, name):
        shapes, operands = [], []
        for _ in range(int(self.random.integers(2, 13))):
            if self.random.random() < 0.1:
                operands.append("")
                continue
            shapes.append(self.shape(shapes))
            kind = self.pick(["float", "float", "uint8", "int8", "int32", "int64"])
            operands.append(self.operand(TYPES[kind], shapes[-1]))
        attributes = {key: int(self.random.integers(0, 4)) for key in (
            "axis", "num_heads", "hidden_size", "transB", "K", "N", "bits", "block_size")
            if self.random.random() < 0.4}
        return self.model(name, "com.microsoft", operands, attributes, 1)

    def model(self, op, domain, operands, attributes, results):
        made = [value for value in attributes.values()
                if isinstance(value, onnx.AttributeProto)]
        plain = {name: value for name, value in attributes.items()
                 if not isinstance(value, onnx.AttributeProto)}
        outputs = [f"y{i}" for i in range(results)]
        node = helper.make_node(op, operands, outputs, "node", domain=domain, **plain)
        node.attribute.extend(made)
        graph = helper.make_graph([node], "graph", self.inputs, [
            helper.make_empty_tensor_value_info(name) for name in outputs], self.constants)
        return helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid(name, version) for name, version in OPSETS.items()])


def make(number, known):
    maker = Maker(number)
    if maker.random.random() < 0.12:
        return maker.make_microsoft(maker.pick(MICROSOFT))
    return maker.make(maker.pick(known))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, metavar="N")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    known, ends, faults = schemas(), {}, 0
    with tempfile.TemporaryDirectory() as holder:
        server = mutations.Server(pathlib.Path(holder) / "log")
        for number in range(arguments.first, arguments.first + arguments.count):
            path = pathlib.Path(holder) / f"m{number:06}.onnx"
            made = make(number, known)
            path.write_bytes(made.SerializeToString())
            word, fault = server.run(path)
            ends[word] = ends.get(word, 0) + 1
            if fault:
                faults += 1
                print(f"FAILED {number} ({made.graph.node[0].op_type}): {fault}", flush=True)
                if arguments.keep:
                    shutil.copy(path, arguments.keep)
            path.unlink()
        server.close()
    print(f"{arguments.count} models, {faults} failed:",
          ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    return 1 if faults or ends.get("compiled", 0) < 0.05 * arguments.count else 0


if __name__ == "__main__":
    sys.exit(main())
