"""Writes MXNet models: the JSON of symbols as MXNet 0.8 to 1.9 save them, and files of
parameters in each of the formats of arrays."""

import json
import pathlib
import struct
import sys

import numpy as np

LIST_MAGIC, V1, V2, V3 = 0x112, 0xF993FAC8, 0xF993FAC9, 0xF993FACA
TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16",
         "uint16", "uint32", "uint64"]


def shape_bytes(shape):
    return struct.pack(f"<I{len(shape)}q", len(shape), *shape)


def array_bytes(array, layout):
    """An array as nd.save writes it: layout "legacy", "v1", "v2" or "v3"."""
    array = np.asarray(array)
    if layout == "legacy":
        head = struct.pack(f"<I{array.ndim}I", array.ndim, *array.shape)
    elif layout == "v1":
        head = struct.pack("<I", V1) + shape_bytes(array.shape)
    else:
        head = struct.pack("<Ii", V2 if layout == "v2" else V3, 0) + shape_bytes(array.shape)
    place = struct.pack("<iii", 1, 0, TYPES.index(array.dtype.name))
    return head + place + array.tobytes()


def params_bytes(arrays, layout="v2"):
    """A file of named arrays: {name: array, or bytes of one}."""
    data = struct.pack("<QQQ", LIST_MAGIC, 0, len(arrays))
    for array in arrays.values():
        data += array if isinstance(array, bytes) else array_bytes(array, layout)
    data += struct.pack("<Q", len(arrays))
    for name in arrays:
        data += struct.pack("<Q", len(name.encode())) + name.encode()
    return data


class Ref:
    """A result of a node."""

    def __init__(self, node, index=0):
        self.node, self.index = node, index

    def __getitem__(self, index):
        return Ref(self.node, index)


class Net:
    """A network that is being written, with values of its inputs and what its outputs should
    be."""

    def __init__(self, version=10901):
        self.nodes, self.params, self.feeds, self.heads = [], {}, {}, []
        self.expected = []
        self.version = version

    def node(self, op, name, inputs=(), attributes=None):
        self.nodes.append({"op": op, "name": name, "attrs": dict(attributes or {}),
                           "inputs": [[r.node, r.index, 0] for r in inputs]})
        return Ref(len(self.nodes) - 1)

    def data(self, array, name=None, **hidden):
        name = name or f"in{len(self.feeds)}"
        self.feeds[name] = np.asarray(array)
        return self.node("null", name, attributes={f"__{k}__": v for k, v in hidden.items()})

    def param(self, array, name=None, kind="arg:"):
        name = name or f"p{len(self.params)}"
        self.params[kind + name] = np.asarray(array)
        return self.node("null", name)

    def variable(self, name):
        """An input that has no value, such as a label."""
        return self.node("null", name)

    def __call__(self, op, *inputs, name=None, subgraphs=(), **attributes):
        """A node of the operator `op`. Arrays become parameters. `subgraphs` are nets whose
        variables stand for values that the operator gives them."""
        refs = [i if isinstance(i, Ref) else self.param(i) for i in inputs]
        texts = {key: value if isinstance(value, str) else str(value)
                 for key, value in attributes.items()}
        made = self.node(op, name or f"{op.lower().strip('_')}{len(self.nodes)}", refs, texts)
        if subgraphs:
            self.nodes[made.node]["subgraphs"] = [json.loads(net.json()) for net in subgraphs]
        return made

    def output(self, ref, want=None, error=1e-5):
        self.heads.append(ref)
        self.expected.append((want, error))
        return ref

    def json(self):
        """The symbol, in the form of the version."""
        old = self.version < 900
        nodes = []
        for node in self.nodes:
            new = {"op": node["op"], "name": node["name"], "inputs": node["inputs"]}
            if old:
                new["param"] = {k: v for k, v in node["attrs"].items() if not k.startswith("__")}
                hidden = {k: v for k, v in node["attrs"].items() if k.startswith("__")}
                new["inputs"] = [entry[:2] for entry in node["inputs"]]
                new["backward_source_id"] = -1
                if hidden:
                    new["attr"] = hidden
            elif node["attrs"]:
                new["attr" if self.version < 1100 else "attrs"] = node["attrs"]
            if "subgraphs" in node:
                new["subgraphs"] = node["subgraphs"]
            nodes.append(new)
        heads = [[r.node, r.index] + ([] if old else [0]) for r in self.heads]
        whole = {"nodes": nodes,
                 "arg_nodes": [i for i, n in enumerate(self.nodes) if n["op"] == "null"],
                 "heads": heads}
        if not old:
            whole["node_row_ptr"] = list(range(len(nodes) + 1))
            whole["attrs"] = {"mxnet_version": ["int", self.version]}
        return json.dumps(whole, indent=2)

    def save(self, folder, prefix="net", layout="v2", prefixes=True):
        """Writes both files, and returns the path of the symbol."""
        params = self.params if prefixes else {k[4:]: v for k, v in self.params.items()}
        path = folder / f"{prefix}-symbol.json"
        path.write_text(self.json())
        (folder / f"{prefix}-0000.params").write_bytes(params_bytes(params, layout))
        return path


def main():
    """Writes a file of parameters: symbols.py FILE NAME=2x3... with the elements 0, 1, 2, ..."""
    arrays = {}
    for argument in sys.argv[2:]:
        name, shape = argument.split("=")
        sizes = [int(size) for size in shape.split("x")]
        arrays[name] = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    pathlib.Path(sys.argv[1]).write_bytes(params_bytes(arrays))


if __name__ == "__main__":
    main()
