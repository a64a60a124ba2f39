"""Writes exported programs as torch.export.save of PyTorch 2.13 does, without PyTorch: node by
node, with the results that numpy computes."""

import copy
import json
import zipfile

import numpy as np

DTYPES = {np.dtype(t): n for t, n in [
    (np.uint8, 1), (np.int8, 2), (np.int16, 3), (np.int32, 4), (np.int64, 5), (np.float16, 6),
    (np.float32, 7), (np.float64, 8), (np.bool_, 12)]}
TYPE_NAMES = {n: str(t) for t, n in DTYPES.items()}
# The libraries of operators in tests but for aten.
LIBRARIES = ("audio", "higher_order", "quantized_decomposed", "torchvision")
BFLOAT16 = 13


class Name(str):
    """The name of a tensor of the program."""


class Symbol:
    """A size that the program leaves open: an expression of symbols, and its value."""

    def __init__(self, expression, value):
        self.expression, self.value = expression, value


def meta(shape, dtype, strides=None, offset=0):
    """The metadata of a tensor. Sizes are numbers or Symbols."""
    sizes = [s.value if isinstance(s, Symbol) else s for s in shape]
    if strides is None:
        strides = [int(np.prod(sizes[i + 1:])) for i in range(len(sizes))]

    def number(size):
        if isinstance(size, Symbol):
            return {"as_expr": {"expr_str": size.expression, "hint": {"as_int": size.value}}}
        return {"as_int": int(size)}
    return {"dtype": dtype, "sizes": [number(s) for s in shape], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [number(s) for s in strides],
            "storage_offset": {"as_int": offset}, "layout": 7}


def argument(value):
    """An argument of a node from a number, a text, a Name, a list of these, None, or a
    dictionary, which is taken as it is."""
    if isinstance(value, dict):
        return value
    if value is None:
        return {"as_none": True}
    if isinstance(value, Name):
        return {"as_tensor": {"name": str(value)}}
    if isinstance(value, Graph):
        return {"as_graph": {"name": "graph", "graph": value.finish()}}
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], Name):
            return {"as_tensors": [{"name": str(v)} for v in value]}
        return {"as_ints": [int(v) for v in value]}
    for kind, field in [(bool, "as_bool"), (int, "as_int"), (float, "as_float"),
                        (str, "as_string")]:
        if isinstance(value, kind):
            return {field: value}
    if isinstance(value, np.dtype):
        return {"as_scalar_type": DTYPES[value]}
    raise TypeError(value)


class Graph:
    """A graph of nodes. `values` are the numbers that its tensors hold."""

    def __init__(self):
        self.graph = {"inputs": [], "outputs": [], "nodes": [], "tensor_values": {},
                      "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {},
                      "custom_obj_values": {}, "is_single_tensor_return": False}
        self.values = {}

    def place(self, name, array, shape=None):
        """A tensor of the graph with the numbers `array`."""
        self.graph["tensor_values"][name] = meta(
            array.shape if shape is None else shape, DTYPES[array.dtype])
        self.values[name] = array
        return Name(name)

    def input(self, name, array, shape=None):
        self.graph["inputs"].append(argument(self.place(name, np.asarray(array), shape)))
        return Name(name)

    def op(self, target, arguments, *results, shapes=None):
        """A node; returns the names of its results, which hold these numbers."""
        base = target.split(".")[0] + str(len(self.graph["nodes"]))
        names = [self.place(base + (f"_{i}" if i else ""), np.asarray(r),
                            shapes[i] if shapes else None) for i, r in enumerate(results)]
        given = arguments.items() if isinstance(arguments, dict) else (("", a) for a in arguments)
        if "." in target and target.split(".")[0] not in LIBRARIES:
            target = "aten." + target
        self.graph["nodes"].append({
            "target": "torch.ops." + target,
            "inputs": [{"name": n, "arg": argument(v), "kind": 1} for n, v in given],
            "outputs": [argument(n) for n in names], "metadata": {}, "name": base,
            "is_hop_single_tensor_return": None})
        return names[0] if len(names) == 1 else names

    def output(self, *names):
        self.graph["outputs"] += [argument(n) for n in names]

    def finish(self):
        return self.graph


class Program(Graph):
    """A program and its archive."""

    def __init__(self):
        super().__init__()
        self.input_specs, self.output_specs, self.inputs, self.expected = [], [], {}, {}
        self.weights, self.constants, self.files, self.ranges = {}, {}, {}, {}
        self.out_spec, self.guards = None, []

    def input(self, name, array, shape=None):
        array = np.asarray(array)
        super().input(name, array, shape)
        self.input_specs.append({"user_input": {"arg": argument(Name(name))}})
        self.inputs[name] = array
        return Name(name)

    def weight(self, name, array, kind="parameter", layout=None, dtype=None, file=None,
               persistent=True):
        """A parameter, buffer or constant. `layout` is (strides, offset) in elements, for which
        `file` then has the bytes."""
        array = np.asarray(array)
        dtype = dtype or DTYPES[array.dtype]
        own = "p_" + name.replace(".", "_")
        self.graph["inputs"].append({"as_tensor": {"name": own}})
        self.graph["tensor_values"][own] = meta(array.shape, dtype)
        self.values[own] = array
        field = {"parameter": "parameter_name", "buffer": "buffer_name",
                 "tensor_constant": "tensor_constant_name"}[kind]
        spec = {"arg": {"name": own}, field: name}
        if kind == "buffer":
            spec["persistent"] = persistent
        self.input_specs.append({kind: spec})
        is_constant = kind == "tensor_constant" or not persistent
        entries = self.constants if is_constant else self.weights
        folder = "constants" if is_constant else "weights"
        path = file[0] if file else f"{'tensor' if is_constant else 'weight'}_{len(entries)}"
        strides, offset = layout or (None, 0)
        entries[name] = {"path_name": path, "is_param": kind == "parameter", "use_pickle": False,
                         "tensor_meta": meta(array.shape, dtype, strides, offset)}
        self.files[f"data/{folder}/{path}"] = file[1] if file else array.tobytes()
        return Name(own)

    def output(self, *names, ports=None):
        super().output(*names)
        for i, name in enumerate(names):
            self.output_specs.append({"user_output": {"arg": argument(name)}})
            self.expected[ports[i] if ports else str(name)] = self.values[name]

    def mutate(self, buffer, name):
        """States that `name` is the next value of a buffer."""
        self.graph["outputs"].insert(0, argument(name))
        self.output_specs.insert(0, {"buffer_mutation": {"arg": {"name": name},
                                                         "buffer_name": buffer}})

    def finish(self):
        calls = [{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "",
                                           "out_spec": json.dumps([1, self.out_spec]),
                                           "forward_arg_names": []}}]
        return {"graph_module": {"graph": self.graph, "module_call_graph": calls, "metadata": {},
                                 "signature": {"input_specs": self.input_specs,
                                               "output_specs": self.output_specs}},
                "opset_version": {"aten": 10}, "range_constraints": self.ranges,
                "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"],
                "torch_version": "2.13.0", "guards_code": self.guards}

    def get_files(self):
        """The files of the archive by name; JSON is not yet text."""
        files = {"models/model.json": copy.deepcopy(self.finish()),
                 "data/weights/model_weights_config.json": {"config": self.weights},
                 "data/constants/model_constants_config.json": {"config": self.constants},
                 "archive_format": b"pt2", "archive_version": b"0", "byteorder": b"little"}
        return {**files, **self.files}

    def save(self, path):
        write(path, self.get_files())


def write(path, files, root="model/", compressed=()):
    """Writes an archive of files, which are bytes or values for JSON."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            if not isinstance(content, bytes):
                content = json.dumps(content).encode()
            archive.writestr(root + name, content,
                             zipfile.ZIP_DEFLATED if name in compressed else zipfile.ZIP_STORED)


def leaf():
    return {"type": None, "context": None, "children_spec": []}


def tree(kind, children, keys=None):
    """A node of a pytree with the description that PyTorch writes."""
    return {"type": kind, "context": json.dumps(keys), "children_spec": children}
