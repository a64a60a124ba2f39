"""Writes models as TensorFlow does: graphs of nodes, and SavedModels with checkpoints.

The messages are those of frontends/tensorflow/tensorflow.proto, whose descriptor protoc makes;
the table of a checkpoint's index and its CRCs are written from their published descriptions.
"""

import functools
import pathlib
import struct
import subprocess
import tempfile

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "frontends/tensorflow/tensorflow.proto"
TYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
         "complex64": 8, "int64": 9, "bool": 10, "uint16": 17, "float16": 19, "resource": 20,
         "variant": 21}


@functools.cache
def messages():
    """The message classes of the schema, by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "schema")
        subprocess.run(["protoc", f"--descriptor_set_out={path}", "-I", SCHEMA.parent, SCHEMA],
                       check=True)
        found = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(found.file[0])
    package = found.file[0].package
    return {m.name: message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"{package}.{m.name}")) for m in found.file[0].message_type}


class Type(str):
    """An attribute that is a type, by its name."""


class Function(str):
    """An attribute that is a function, by its name."""


class Shape(tuple):
    """An attribute that is a shape; -1 for open sizes."""


def fill_shape(proto, shape):
    if shape is None:
        proto.unknown_rank = True
        return
    proto.SetInParent()
    for size in shape:
        proto.dim.add().size = size


def fill_tensor(proto, array):
    array = np.asarray(array)
    proto.dtype = TYPES[array.dtype.name]
    fill_shape(proto.tensor_shape, array.shape)
    proto.tensor_content = array.tobytes()


def fill_attribute(proto, value):
    if isinstance(value, Type):
        proto.type = TYPES[value]
    elif isinstance(value, Function):
        proto.func.name = value
    elif isinstance(value, Shape):
        fill_shape(proto.shape, value)
    elif isinstance(value, np.ndarray):
        fill_tensor(proto.tensor, value)
    elif isinstance(value, bool):
        proto.b = value
    elif isinstance(value, int):
        proto.i = value
    elif isinstance(value, float):
        proto.f = value
    elif isinstance(value, str):
        proto.s = value.encode()
    else:
        proto.list.SetInParent()
        for entry in value:
            if isinstance(entry, Type):
                proto.list.type.append(TYPES[entry])
            elif isinstance(entry, str):
                proto.list.s.append(entry.encode())
            elif isinstance(entry, Shape):
                fill_shape(proto.list.shape.add(), entry)
            else:
                getattr(proto.list, "f" if isinstance(entry, float) else "i").append(entry)


class Nodes:
    """A list of nodes, of the main graph or of a function."""

    def __init__(self, nodes):
        self.nodes, self.count = nodes, 0

    def node(self, op, *inputs, name=None, **attributes):
        """Adds a node and returns its name. Arrays among the inputs become constants."""
        node = self.nodes.add()
        self.count += 1
        node.name = name or f"{op}_{self.count}"
        node.op = op
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        node.input.extend(names)
        for key, value in attributes.items():
            fill_attribute(node.attr[key], value)
        return node.name

    def constant(self, array, name=None):
        array = np.asarray(array)
        if array.dtype == np.int64 and not name:
            array = array.astype(np.int32)
        return self.node("Const", name=name, value=array, dtype=Type(array.dtype.name))

    def placeholder(self, name, dtype, shape):
        return self.node("Placeholder", name=name, dtype=Type(dtype), shape=Shape(shape))


class Graph(Nodes):
    """A main graph with functions."""

    def __init__(self):
        self.proto = messages()["GraphDef"]()
        super().__init__(self.proto.node)

    def function(self, name, inputs, outputs, effects=()):
        """Adds a function with the arguments `inputs` and results {name: reference}. Returns
        its nodes."""
        proto = self.proto.library.function.add()
        proto.signature.name = name
        for argument in inputs:
            proto.signature.input_arg.add().name = argument
        for result, reference in outputs.items():
            proto.signature.output_arg.add().name = result
            proto.ret[result] = reference
        for effect in effects:
            proto.control_ret[effect] = effect
        return Nodes(proto.node_def)

    def save(self, path):
        path = pathlib.Path(path)
        path.write_bytes(self.proto.SerializeToString())
        return path


def crc32c(data):
    """The masked CRC-32C that tables and checkpoints store."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def block(entries):
    """A block of a table from sorted (key, value), with shared prefixes and restarts."""
    out, restarts, last = b"", [], b""
    for i, (key, value) in enumerate(entries):
        shared = 0
        if i % 4 == 0:
            restarts.append(len(out))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        out += varint(shared) + varint(len(key) - shared) + varint(len(value))
        out += key[shared:] + value
        last = key
    restarts = restarts or [0]
    return out + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def table(entries, compression=0):
    """The bytes of a sorted table with two data blocks."""
    entries = sorted(entries.items())
    out = b""

    def add(data):
        nonlocal out
        handle = varint(len(out)) + varint(len(data))
        kind = bytes([compression])
        out += data + kind + struct.pack("<I", crc32c(data + kind))
        return handle

    half = len(entries) // 2 + 1
    parts = [part for part in (entries[:half], entries[half:]) if part]
    index = [(part[-1][0], add(block(part))) for part in parts]
    compression = 0
    meta = add(block([]))
    footer = meta + add(block(index))
    return out + footer.ljust(40, b"\0") + struct.pack("<Q", 0xdb4775248b80fb57)


def checkpoint(folder, values, shards=1):
    """Writes {key: array} as a checkpoint in `folder`; tensors go to shards in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    data, entries = [b""] * shards, {}
    header = messages()["BundleHeaderProto"](num_shards=shards)
    entries[b""] = header.SerializeToString()
    for i, (key, array) in enumerate(values.items()):
        array = np.asarray(array)
        entry = messages()["BundleEntryProto"]()
        entry.dtype = TYPES[array.dtype.name]
        fill_shape(entry.shape, array.shape)
        entry.shard_id, entry.offset = i % shards, len(data[i % shards])
        entry.size, entry.crc32c = array.nbytes, crc32c(array.tobytes())
        data[i % shards] += array.tobytes()
        entries[key if isinstance(key, bytes) else key.encode()] = entry.SerializeToString()
    (folder / "variables.index").write_bytes(table(entries))
    for i, each in enumerate(data):
        (folder / f"variables.data-{i:05}-of-{shards:05}").write_bytes(each)


def saved_model(folder, graph, signatures, variables=None, shards=1):
    """Writes a SavedModel. `signatures` are {name: (inputs, outputs)}, with inputs {name:
    (reference, dtype, shape)} and outputs {name: reference}."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    saved = messages()["SavedModel"](saved_model_schema_version=1)
    meta = saved.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.meta_info_def.tensorflow_version = "2.21.0"
    meta.graph_def.CopyFrom(graph.proto)
    for name, (inputs, outputs) in signatures.items():
        signature = meta.signature_def[name]
        for key, (reference, dtype, shape) in inputs.items():
            signature.inputs[key].name = reference
            signature.inputs[key].dtype = TYPES[dtype]
            fill_shape(signature.inputs[key].tensor_shape, shape)
        for key, reference in outputs.items():
            signature.outputs[key].name = reference
    (folder / "saved_model.pb").write_bytes(saved.SerializeToString())
    if variables is not None:
        checkpoint(folder / "variables", variables, shards)
    return folder


def restore(graph, variables, slices=None):
    """Adds the function and the call by which TensorFlow 2 restores {node: key}, or the slices
    {node: slice} of the tensors."""
    names = [f"arg{i}" for i in range(len(variables))]
    inner = graph.function("restore", ["prefix", *names], {"out": "prefix"})
    parts = [(slices or {}).get(name, "") for name in variables]
    for name, texts in (("keys", variables.values()), ("parts", parts)):
        node = inner.nodes.add()
        node.name, node.op = name, "Const"
        tensor = node.attr["value"].tensor
        tensor.dtype = TYPES["string"]
        tensor.string_val.extend(text.encode() for text in texts)
    inner.node("RestoreV2", "prefix", "keys:output:0", "parts:output:0", name="RestoreV2")
    for i, name in enumerate(names):
        inner.node("Identity", f"RestoreV2:tensors:{i}", name=f"Identity_{name}")
        inner.node("AssignVariableOp", name, f"Identity_{name}:output:0", name=f"Assign_{name}")
    graph.placeholder("saver_filename", "string", ())
    graph.node("StatefulPartitionedCall", "saver_filename", *variables, name="restore_call",
               f=Function("restore"))
