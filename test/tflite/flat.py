"""Makes .tflite files without TensorFlow. A model is a dict of the fields in
frontends/tflite/schema.fbs, which flatc writes as a flatbuffer."""

import json
import pathlib
import re
import subprocess

import numpy as np

FRONTEND = pathlib.Path(__file__).resolve().parents[2] / "frontends" / "tflite"
SCHEMA = FRONTEND / "schema.fbs"
TYPES = {"float32": "FLOAT32", "float16": "FLOAT16", "float64": "FLOAT64", "bool": "BOOL",
         **{name: name.upper() for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32",
                                            "int64", "uint64", "int4")}}
# The options of an operator: a member of the schema's union. Operators that are not here
# have none.
OPTIONS = {
    "CONV_2D": "ConvOptions", "DEPTHWISE_CONV_2D": "Depthwise", "AVERAGE_POOL_2D": "Pool",
    "MAX_POOL_2D": "Pool", "FULLY_CONNECTED": "FullyConnected", "SOFTMAX": "Softmax",
    "CONCATENATION": "Concatenation", "ADD": "Add", "MUL": "Mul", "SUB": "Sub", "DIV": "Div",
    "CALL": "Call", "RESHAPE": "Reshape", "SPACE_TO_DEPTH": "SpaceToDepth",
    "DEPTH_TO_SPACE": "DepthToSpace", "GATHER": "Gather", "SQUEEZE": "Squeeze",
    "STRIDED_SLICE": "StridedSlice", "SPLIT": "Split", "SPLIT_V": "SplitV", "CAST": "Cast",
    "ARG_MAX": "ArgMax", "ARG_MIN": "ArgMin", "TRANSPOSE_CONV": "TransposeConv",
    "SHAPE": "Shape", "PACK": "Pack", "UNPACK": "Unpack", "LEAKY_RELU": "LeakyRelu",
    "MIRROR_PAD": "MirrorPad", "BATCH_MATMUL": "BatchMatMul", "GELU": "Gelu",
    "L2_NORMALIZATION": "L2Norm", "CUMSUM": "Cumsum", "ONE_HOT": "OneHot",
    "REVERSE_SEQUENCE": "ReverseSequence",
    "RESIZE_BILINEAR": "ResizeBilinear", "RESIZE_NEAREST_NEIGHBOR": "ResizeNearest",
    "L2_POOL_2D": "Pool", "LSTM": "StepLstm", "RNN": "StepRnn",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "Rnn", "BIDIRECTIONAL_SEQUENCE_LSTM": "TwoWayLstm",
    "BIDIRECTIONAL_SEQUENCE_RNN": "TwoWayRnn",
    "SVDF": "Svdf", "UNIDIRECTIONAL_SEQUENCE_LSTM": "Lstm", "VAR_HANDLE": "VarHandle",
    "CALL_ONCE": "CallOnce", "IF": "If", "WHILE": "While",
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD",
                     "REDUCE_ALL", "REDUCE_ANY"), "Reducer"),
}


def op_codes():
    """TFLite's number of each operator that the frontend names."""
    text = "".join((FRONTEND / name).read_text() for name in ("Ops.inc", "UnsupportedOps.inc"))
    return {name: int(code) for name, code in
            re.findall(r"^NNC_TFLITE_(?:OP|NAME)\((\w+), (\d+)", text, re.MULTILINE)}


CODES = op_codes()


def describe_code(name):
    """An entry of the list of operators of a model. "CUSTOM name" is a custom operator."""
    if name.startswith("CUSTOM "):
        return {"deprecated_code": 32, "builtin_code": 32, "version": 1,
                "custom_code": name.split(" ", 1)[1]}
    return {"deprecated_code": min(CODES[name], 127), "builtin_code": CODES[name], "version": 1}


class Net:
    """A model with one main subgraph that is built operator by operator. Tensors are named by
    their numbers. `feeds` has the values of the inputs. If the net runs several times, their
    first axis is the number of the run."""

    steps = 0

    def __init__(self, name="main"):
        self.name = name
        self.tensors, self.operators, self.inputs, self.outputs = [], [], [], []
        self.buffers, self.codes, self.feeds, self.subgraphs = [{}], [], {}, []
        self.used = set()

    def tensor(self, dtype, shape, scale=None, zero=0, axis=0, buffer=0, **more):
        """A tensor; scale and zero are numbers, or lists with one for each index of axis."""
        made = {"shape": [int(size) for size in shape], "type": TYPES[np.dtype(dtype).name],
                "buffer": buffer, "name": f"t{len(self.tensors)}", **more}
        if scale is not None:
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            made["quantization"] = {
                "scale": [float(s) for s in scales],
                "zero_point": np.broadcast_to(np.atleast_1d(zero), scales.shape).tolist(),
                "axis": axis}
        self.tensors.append(made)
        return len(self.tensors) - 1

    def input(self, values, scale=None, zero=0):
        values = np.asarray(values)
        number = self.tensor(values.dtype, values.shape, scale, zero)
        self.inputs.append(number)
        self.feeds[number] = values
        return number

    def const(self, values, scale=None, zero=0, axis=0, **more):
        values = np.asarray(values)
        self.buffers.append({"data": list(values.tobytes())})
        return self.tensor(values.dtype, values.shape, scale, zero, axis,
                           len(self.buffers) - 1, **more)

    def op(self, name, inputs, outputs, **options):
        """An operator; returns its first output."""
        made = {"opcode": self.code(name), "inputs": list(inputs), "outputs": list(outputs)}
        if name in OPTIONS:
            made.update(options_type=OPTIONS[name], options=options)
        self.operators.append(made)
        self.used.add(name)
        return outputs[0] if outputs else None

    def custom(self, name, inputs, outputs, options=b""):
        """A custom operator of that name; returns its first output."""
        self.operators.append({"opcode": self.code(f"CUSTOM {name}"), "inputs": list(inputs),
                               "outputs": list(outputs), "custom_options": list(options)})
        self.used.add(name)
        return outputs[0]

    def code(self, name):
        if name not in self.codes:
            self.codes.append(name)
        return self.codes.index(name)

    def graph(self):
        return {"tensors": self.tensors, "inputs": self.inputs, "outputs": self.outputs,
                "operators": self.operators, "name": self.name}

    def model(self):
        codes = [describe_code(name) for name in self.codes]
        return {"version": 3, "operator_codes": codes,
                "subgraphs": [self.graph(), *self.subgraphs], "buffers": self.buffers}


def one_by_one(net):
    """A model for each operator of a net, in order."""
    whole = net.model()
    for op in net.operators:
        main = {**net.graph(), "operators": [{**op, "opcode": 0}], "outputs": op["outputs"],
                "inputs": [t for t in net.inputs if t in op["inputs"]]}
        made = {**whole, "operator_codes": [whole["operator_codes"][op["opcode"]]],
                "subgraphs": [main]}
        if net.codes[op["opcode"]] in ("CALL", "IF", "WHILE"):  # Subgraphs need more codes.
            made.update(operator_codes=whole["operator_codes"],
                        subgraphs=[{**main, "operators": [op]}, *net.subgraphs])
        yield made


def save(models, folder):
    """Writes models, given by name, to NAME.tflite in the folder. Returns the paths."""
    folder = pathlib.Path(folder)
    sources = []
    for name, model in models.items():
        sources.append(folder / f"{name}.json")
        sources[-1].write_text(json.dumps(model))
    subprocess.run(["flatc", "--binary", "-o", folder, SCHEMA, *sources], check=True,
                   capture_output=True, text=True)
    for source in sources:
        source.unlink()
    return [folder / f"{name}.tflite" for name in models]


def load(path, folder):
    """The fields of the model at `path`, in the form that save() takes."""
    subprocess.run(["flatc", "--json", "--strict-json", "--raw-binary", "-o", folder, SCHEMA,
                    "--", path], check=True, capture_output=True)
    source = pathlib.Path(folder) / f"{pathlib.Path(path).stem}.json"
    model = json.loads(source.read_text(errors="replace"))
    source.unlink()
    return model
