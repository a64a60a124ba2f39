"""Writes networks of Caffe: the text of a .prototxt, and .caffemodel files from the published
description of protobuf's encoding, without protobuf."""

import struct

import numpy as np


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A field of bytes, of a text, or of an integer."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def blob(array, form="shape"):
    """A BlobProto: with a shape as today, with four sizes as in old files ("legacy"), of
    doubles ("double"), or with a field for each element ("unpacked")."""
    array = np.asarray(array, np.float32)
    floats = array.astype("<f4").tobytes()
    if form == "legacy":
        shape = (1,) * (4 - array.ndim) + array.shape
        return b"".join(field(i + 1, int(s)) for i, s in enumerate(shape)) + field(5, floats)
    shape = field(7, field(1, b"".join(varint(int(s)) for s in array.shape)))
    if form == "double":
        return shape + field(8, array.astype("<f8").tobytes())
    if form == "unpacked":
        return shape + b"".join(varint(5 << 3 | 5) + struct.pack("<f", v) for v in array.flat)
    return shape + field(5, floats)


def caffemodel(layers, form="shape", version=2, before=b""):
    """A NetParameter of {name: arrays} of layers, in the format of a version. `before` are
    fields in front of the layers."""
    out = field(1, "net") + before
    for name, arrays in layers.items():
        blobs = [blob(array, form) for array in arrays]
        if version == 2:
            out += field(100, field(1, name) + b"".join(field(7, b) for b in blobs))
        elif version == 1:
            out += field(2, field(4, name) + b"".join(field(6, b) for b in blobs))
        else:
            inner = field(1, name) + b"".join(field(50, b) for b in blobs)
            out += field(2, field(1, inner))
    return out


class Raw(str):
    """A word of the text format that is no string, such as that of an enumeration."""


def text_of(fields, indent="  "):
    """The text of a message's fields: {name: value, list of values or fields}."""
    lines = []
    for name, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict):
                lines += [f"{indent}{name} {{", text_of(value, indent + "  "), f"{indent}}}"]
                continue
            if isinstance(value, bool):
                value = str(value).lower()
            elif isinstance(value, str) and not isinstance(value, Raw):
                value = f'"{value}"'
            elif isinstance(value, float):
                value = repr(value)
            lines.append(f"{indent}{name}: {value}")
    return "\n".join(lines)


class Net:
    """A network that is written layer by layer, and what it computes by reference.py."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.layers, self.blobs = [], {}
        self.feeds, self.values = {}, {}
        self.read = set()

    def input(self, *shape, name=None, value=None):
        name = name or f"in{len(self.feeds)}"
        array = self.random.standard_normal(shape) if value is None else value
        self.feeds[name] = self.values[name] = np.asarray(array, np.float32)
        self.layers.append({"name": name, "type": "Input", "top": name, "input_param": {
            "shape": {"dim": list(self.feeds[name].shape)}}})
        return name

    def weights(self, *shape, scale=None):
        """Random weights that keep the size of what they are multiplied with."""
        fan = np.prod(shape[1:]) if len(shape) > 1 else 1
        return (self.random.standard_normal(shape) * (scale or fan ** -0.5)).astype(np.float32)

    def add(self, kind, bottoms, params=None, blobs=(), tops=1, name=None, in_place=False,
            extra=None):
        """Adds a layer, with the parameters (name of the message, its fields), and returns the
        names of its tops: one, or a list. Its values follow from reference.py."""
        import reference
        name = name or f"{kind.lower()}{len(self.layers)}"
        bottoms = [bottoms] if isinstance(bottoms, str) else list(bottoms)
        names = bottoms[:1] if in_place else [name] if tops == 1 else [
            f"{name}_{i}" for i in range(tops)]
        layer = {"name": name, "type": kind, "bottom": bottoms, "top": names, **(extra or {})}
        message, fields = params or ("", {})
        if message:
            layer[message] = fields
        self.layers.append(layer)
        self.read.update(bottoms)
        if len(blobs):
            self.blobs[name] = [np.asarray(b, np.float32) for b in blobs]
        given = [self.values[b].astype(np.float64) for b in bottoms]
        results = reference.compute(kind, given, fields, [
            b.astype(np.float64) for b in self.blobs.get(name, [])], len(names))
        for top, value in zip(names, results):
            self.values[top] = value
            if in_place:
                self.read.discard(top)
        return names[0] if tops == 1 else names

    @property
    def outputs(self):
        return sorted(set(self.values) - self.read - set(self.feeds))

    def text(self, key="layer"):
        return 'name: "net"\n' + "\n".join(
            f"{key} {{\n{text_of(layer)}\n}}" for layer in self.layers) + "\n"

    def save(self, folder, name="net", form="shape"):
        """Writes the text and, if there are any, the weights; returns the path of the text."""
        path = folder / f"{name}.prototxt"
        path.write_text(self.text())
        if self.blobs:
            (folder / f"{name}.caffemodel").write_bytes(caffemodel(self.blobs, form))
        return path
