"""Turns graph inputs that a static compiler has to know into constants.

ONNX's node tests give all inputs at run time, including those that decide the size of the
output. nnc compiles for fixed shapes. Such inputs are therefore written into the model with the
values of the test.
"""

from onnx import numpy_helper

# Operands that say where things lie or how large they get, by op and position.
FIXED = {
    "AffineGrid": [1], "BlackmanWindow": [0], "CenterCropPad": [1], "Col2Im": [1, 2], "Compress": [1], "ConstantOfShape": [0], "CumProd": [1], "CumSum": [1],
    "DFT": [1, 2], "Dropout": [1, 2], "Expand": [1], "HammingWindow": [0], "HannWindow": [0], "MaxUnpool": [2], "MelWeightMatrix": [0, 1, 2, 3, 4], "NonZero": [0], "OneHot": [1],
    "Pad": [1, 3], "Range": [0, 1, 2], "ReduceL1": [1], "ReduceL2": [1], "ReduceLogSum": [1],
    "ReduceLogSumExp": [1], "ReduceMax": [1], "ReduceMean": [1], "ReduceMin": [1],
    "ReduceProd": [1], "ReduceSum": [1], "ReduceSumSquare": [1], "Reshape": [1],
    "Resize": [1, 2, 3], "STFT": [1, 3], "Slice": [1, 2, 3, 4], "Split": [1], "Squeeze": [1], "Tile": [1],
    "TopK": [1], "Trilu": [1], "Unsqueeze": [1], "Upsample": [1],
}
# Their output depends on the shape of the input alone, not on its elements.
SHAPE_ONLY = {"Shape", "Size"}


def read_by(node):
    """The names that the node or its subgraphs read."""
    names = set(filter(None, node.input))
    for attribute in node.attribute:
        for inner in attribute.g.node:
            names |= read_by(inner)
    return names


def fixed_values(graph):
    """The values that must be known at compile time, each with an operator that requires it."""
    wanted = {}
    for node in reversed(graph.node):
        behind = [wanted[name] for name in node.output if name in wanted]
        if behind and node.op_type not in SHAPE_ONLY:
            wanted |= dict.fromkeys(read_by(node), behind[0])
        operands = FIXED.get(node.op_type, [])
        wanted |= {node.input[i]: node.op_type for i in operands
                   if i < len(node.input) and node.input[i]}
    return wanted


def freeze(model, arrays, more=()):
    """A copy of the model in which the inputs that must be known, and those in `more`, are
    initializers. Returns the copy and the arrays of the other inputs, by name."""
    frozen = type(model)()
    frozen.CopyFrom(model)
    graph = frozen.graph
    known = {*fixed_values(graph), *more} & set(arrays)
    kept = [i for i in graph.input if i.name not in known]
    del graph.input[:]
    graph.input.extend(kept)
    graph.initializer.extend(numpy_helper.from_array(arrays[name], name)
                             for name in sorted(known))
    return frozen, {name: array for name, array in arrays.items() if name not in known}
