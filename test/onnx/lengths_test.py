"""Tests operators whose results have data-dependent sizes, and networks with them, against
onnxruntime."""

import pathlib
import tempfile
import unittest

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import emitted
from sized_net import Net, random

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
MOST = 2**63 - 1


def sparse(*shape, share=0.3):
    values = random.normal(0, 1, shape).astype(np.float32)
    return np.where(random.random(shape) < share, values, 0).astype(np.float32)


def positions():
    """NonZero of tensors of one to three axes."""
    net = Net(x=(FLOAT, [3, 4, 5]), y=(FLOAT, [7]), z=(BOOL, [2, 9]))
    net.outputs = [net.add("NonZero", name) for name in "xyz"]
    return net, {}, [
        {"x": sparse(3, 4, 5), "y": sparse(7), "z": random.random((2, 9)) < 0.5},
        {"x": np.zeros((3, 4, 5), np.float32), "y": np.ones(7, np.float32),
         "z": np.zeros((2, 9), bool)},
        {"x": np.full((3, 4, 5), np.nan, np.float32), "y": np.float32([0] * 6 + [-0.5]),
         "z": np.ones((2, 9), bool)}]


def masked():
    """Rows that a mask selects go through layers and back to their positions."""
    net = Net(x=(FLOAT, [12, 8]))
    score = net.add("ReduceSum", "x", net.constant(np.int64([1])), keepdims=0)
    picked = net.add("NonZero", net.add("Greater", score, net.constant(np.float32(0.5))))
    rows = net.add("Squeeze", picked, net.constant(np.int64([0])))
    chosen = net.add("Gather", "x", rows)
    hidden = net.add("Relu", net.add("Gemm", chosen, net.weight(8, 16), net.weight(16)))
    result = net.add("Softmax", net.add("MatMul", hidden, net.weight(16, 8)))
    places = net.add("Transpose", picked, perm=[1, 0])
    net.outputs = [result, net.add("ScatterND", "x", places, result),
                   net.add("ReduceMax", net.add("Concat", hidden, net.weight(1, 16), axis=0),
                           net.constant(np.int64([0]))),
                   net.add("ReduceSum", hidden, net.constant(np.int64([0])), keepdims=0),
                   net.add("Shape", hidden)]
    inputs = [{"x": random.normal(0, 1, (12, 8)).astype(np.float32)} for _ in range(3)]
    return net, {}, inputs + [{"x": np.full((12, 8), sign, np.float32)} for sign in (-1, 1)]


def scattered():
    """Elements of y are written to the positions that a mask selects, as PyTorch writes
    masked_scatter."""
    net = Net(x=(FLOAT, [4, 8]), y=(FLOAT, [32]))
    zero = net.constant(np.int64([0]))
    places = net.add("Transpose", net.add("NonZero", net.add(
        "Greater", "x", net.constant(np.float32(0)))), perm=[1, 0])
    count = net.add("Gather", net.add("Shape", places), zero)
    net.outputs = [net.add("ScatterND", "x", places, net.add("Slice", "y", zero, count, zero))]
    draw = lambda n: random.normal(0, 1, n).astype(np.float32)
    return net, {}, [{"x": x, "y": draw(32)} for x in (
        draw((4, 8)), np.ones((4, 8), np.float32), -np.ones((4, 8), np.float32))]


def compressed():
    net = Net(x=(FLOAT, [4, 6, 3]), rows=(BOOL, [4]), columns=(BOOL, [5]), flat=(BOOL, [30]))
    net.outputs = [net.add("Compress", "x", "rows", axis=0),
                   net.add("Compress", "x", "columns", axis=-2),
                   net.add("Compress", "x", "flat")]
    return net, {}, [{"x": sparse(4, 6, 3, share=1), "rows": random.random(4) < share,
                      "columns": random.random(5) < share, "flat": random.random(30) < share}
                     for share in (0.5, 0, 1)]


def distinct():
    """Unique of all elements and along axes, in both orders, with all results."""
    net = Net(x=(FLOAT, [6, 5]), y=(INT64, [9]), z=(FLOAT, [4, 3, 2]))
    net.outputs = [*net.add("Unique", "x", results=4), *net.add("Unique", "y", sorted=0, results=4),
                   *net.add("Unique", "z", axis=1, results=4),
                   *net.add("Unique", "z", axis=0, sorted=0, results=4)]

    def draw(most):
        return {"x": random.integers(0, most, (6, 5)).astype(np.float32),
                "y": random.integers(-most, most, 9),
                "z": random.integers(0, most, (4, 3, 2)).astype(np.float32)}
    return net, {}, [draw(most) for most in (1, 2, 4, 1000)]


def detections(limit, classes=3):
    """The boxes that remain of a detector, and a head for each."""
    def build():
        net = Net(boxes=(FLOAT, [2, 40, 4]), scores=(FLOAT, [2, classes, 40]))
        left = net.add("NonMaxSuppression", "boxes", "scores", net.constant(np.int64([limit])),
                       net.constant(np.float32([0.4])), net.constant(np.float32([0.3])))
        index = net.add("Gather", left, net.constant(np.int64([0, 2])), axis=1)
        picked = net.add("GatherND", "boxes", index)
        net.outputs = [left, picked, net.add("Gemm", picked, net.weight(4, 6))]
        inputs = []
        for scale in (1, 0.5, 0.1):
            corners = random.random((2, 40, 2)).astype(np.float32) * 4
            size = random.random((2, 40, 2)).astype(np.float32) + 0.2
            boxes = np.concatenate([corners, corners + size], axis=2)
            scores = (random.random((2, classes, 40)) * scale).astype(np.float32)
            inputs.append({"boxes": boxes, "scores": np.round(scores, 2)})
        return net, {}, inputs
    build.__name__ = f"detections_{limit}"
    return build


def reduced():
    """Reductions of an axis of data-dependent size, which may be empty."""
    net = Net(x=(FLOAT, [9, 6]), mask=(BOOL, [9]), query=(FLOAT, [4, 6]))
    rows = net.add("Compress", "x", "mask", axis=0)
    columns = net.add("Transpose", rows, perm=[1, 0])
    all_rows = net.constant(np.int64([0]))
    whole = net.add("Cast", net.add("Round", rows), to=TensorProto.INT32)
    net.outputs = [
        net.add("ReduceMax", rows, all_rows), net.add("ReduceMin", columns, net.constant(
            np.int64([1])), keepdims=0), net.add("ReduceMin", whole, all_rows),
        net.add("ReduceMax", whole, all_rows), net.add("ReduceLogSumExp", rows, all_rows),
        net.add("MatMul", columns, rows), net.add("MatMul", "query", columns),
        net.add("ReduceSum", rows, all_rows), net.add("ReduceProd", rows, all_rows, keepdims=0),
        net.add("ReduceL2", columns, net.constant(np.int64([1]))),
        net.add("Concat", "query", rows, rows, axis=0), net.add("Pad", rows, net.constant(
            np.int64([2, 0, 1, 0]))), net.add("Add", rows, net.weight(6)),
        net.add("CumSum", rows, net.constant(np.int64(0)))]
    masks = [random.random(9) < 0.5, np.zeros(9, bool), np.ones(9, bool), np.arange(9) == 4]
    return net, {}, [{"x": random.normal(0, 1, (9, 6)).astype(np.float32), "mask": mask,
                      "query": random.normal(0, 1, (4, 6)).astype(np.float32)}
                     for mask in masks]


def joined():
    """Concats of parts of data-dependent sizes with others, and the total size."""
    net = Net(x=(FLOAT, [9]), y=(FLOAT, [5]))
    flat = net.constant(np.int64([-1]))
    first, second = (net.add("Reshape", net.add("NonZero", name), flat) for name in "xy")
    both = net.add("Concat", first, second, axis=0)
    more = net.add("Concat", first, net.constant(np.int64([7, 8])), axis=0)
    again = net.add("NonZero", net.add("Gather", "x", first))
    net.outputs = [both, net.add("Shape", both), net.add("Size", both), more,
                   net.add("Shape", more), again]
    return net, {}, [{"x": np.float32(np.arange(9) < n), "y": np.float32(np.arange(5) < m)}
                     for n in (0, 1, 2, 9) for m in (0, 1, 2, 5)]


def both():
    """One size is given by the caller, another depends on data."""
    net = Net(x=(FLOAT, ["batch", 6]))
    score = net.add("ReduceMax", "x", net.constant(np.int64([1])), keepdims=0)
    picked = net.add("Compress", "x", net.add("Greater", score, net.constant(np.float32(1))),
                     axis=0)
    net.outputs = [net.add("Gemm", picked, net.weight(6, 4)), net.add("Relu", "x")]
    return net, {"x": "1..9x6"}, [
        {"x": random.normal(0, 0.8, (size, 6)).astype(np.float32)} for size in (1, 4, 9, 7)]


def scaled():
    """Sizes with which the network computes."""
    net = Net(x=(FLOAT, ["n", 6]))
    n = net.add("Gather", net.add("Shape", "x"), net.constant(np.int64(0)))
    real = net.add("Cast", n, to=FLOAT)
    net.outputs = [net.add("Div", "x", real), net.add("Mul", net.add("Sigmoid", "x"), real),
                   net.add("Sub", n, net.constant(np.int64(1))), net.add("Shape", "x"),
                   net.add("ReduceMean", "x", net.constant(np.int64([0])))]
    return net, {"x": "1..9x6"}, [{"x": random.normal(0, 1, (n, 6)).astype(np.float32)}
                                  for n in (1, 2, 3, 9)]


def indexed():
    """Negative indices into an axis that varies: they count from its end."""
    net = Net(x=(FLOAT, ["n", 6]), i=(INT64, [3, 6]), j=(INT64, [4, 1]))
    picked = net.add("GatherElements", "x", "i", axis=0)
    size = net.add("Gather", net.add("Shape", "x"), net.constant(np.int64([0])))
    net.outputs = [picked, net.add("GatherND", "x", "j"), net.add("Gather", "x", "j"),
                   net.add("ScatterElements", "x", "i", net.add("Neg", picked), axis=0),
                   net.add("OneHot", "j", size, net.constant(np.float32([0, 1])))]

    def draw(n):
        order = np.stack([random.permutation(n)[:3] for _ in range(6)], axis=1)
        return {"x": random.normal(0, 1, (n, 6)).astype(np.float32),
                "i": np.where(random.random((3, 6)) < 0.5, order, order - n),
                "j": random.integers(-n, n, (4, 1))}
    return net, {"x": "3..9x6"}, [draw(n) for n in (3, 9, 5)]


def matrices():
    """Two sizes given by the caller, a data-dependent size, and their strides."""
    net = Net(x=(FLOAT, ["n", "m"]))
    net.outputs = [net.add("NonZero", "x"), net.add("CumSum", "x", net.constant(np.int64(1))),
                   net.add("TopK", "x", net.constant(np.int64([2])), results=2)[0],
                   net.add("ArgMax", "x", axis=1), net.add("Trilu", "x"),
                   net.add("Transpose", "x")]
    return net, {"x": "2..9x3..7"}, [{"x": sparse(n, m)}
                                     for n, m in ((2, 3), (9, 7), (4, 5))]


def boxes_and_scores(net_of, classes=2, count=12, draws=4):
    """A network of boxes and their scores, and inputs, the last of which have no detections."""
    net = Net(boxes=(FLOAT, [1, count, 4]), scores=(FLOAT, [1, classes, count]))
    net_of(net)
    inputs = []
    for draw in range(draws):
        corners = random.random((1, count, 2)).astype(np.float32) * 9
        inputs.append({"boxes": np.concatenate([corners, corners + 1], axis=2),
                       "scores": (random.random((1, classes, count)) * (1 - draw / (draws - 1))
                                  ).astype(np.float32)})
    return net, {}, inputs


def add_suppression(net, limit, least=0.3):
    """The indices that remain, and their boxes and scores."""
    kept = net.add("NonMaxSuppression", "boxes", "scores", net.constant(np.int64([limit])),
                   net.constant(np.float32([0.4])), net.constant(np.float32([least])))
    number = net.add("Squeeze", net.add("Slice", kept, *(net.constant(np.int64([value]))
                                                         for value in (2, 3, 1))),
                     net.constant(np.int64([1])))
    flat = net.add("Squeeze", "boxes", net.constant(np.int64([0])))
    return kept, net.add("Gather", flat, number), net.add("GatherND", "scores", kept)


def best():
    """At most a given number of the best remaining boxes, as torchvision and Ultralytics write
    it: by Min, by ReduceMin, by Clip, and by a slice of the sorted boxes."""
    def add(net):
        kept, boxes, scores = add_suppression(net, 5)
        count = net.add("Shape", scores)
        four = net.constant(np.int64([4]))
        least = [net.add("Min", count, four), net.add("Min", four, count),
                 net.add("ReduceMin", net.add("Concat", four, count, axis=0),
                         net.constant(np.int64([0]))),
                 net.add("Clip", count, "", net.constant(np.int64(3)))]
        for size in least:
            values, indices = net.add("TopK", scores, size, axis=0, results=2)
            net.outputs += [values, net.add("Gather", boxes, indices)]
    return boxes_and_scores(add)


def first_rows():
    """The rows up to a constant number, and layers after them."""
    def add(net):
        kept, boxes, scores = add_suppression(net, 5)
        zero, three = net.constant(np.int64([0])), net.constant(np.int64([3]))
        first = net.add("Slice", boxes, zero, three, zero)
        most = net.add("Slice", kept, zero, net.constant(np.int64([2**62])), zero)
        net.outputs = [first, net.add("Gemm", first, net.weight(4, 5)),
                       net.add("Shape", first), most, net.add("Slice", scores, zero, three)]
    return boxes_and_scores(add)


def filled_up():
    """All remaining rows, and at most a given number of them, in a tensor of fixed size, as
    firmware requires."""
    def add(net):
        kept, boxes, scores = add_suppression(net, 5)
        zero, six = net.constant(np.int64([0])), net.constant(np.int64([6]))
        for rows, most in ((boxes, 10), (net.add("Slice", boxes, zero, six, zero), 6)):
            count = net.add("Squeeze", net.add("Shape", rows, start=0, end=1))
            places = net.add("Unsqueeze", net.add(
                "Range", net.constant(np.int64(0)), count, net.constant(np.int64(1))),
                net.constant(np.int64([1])))
            zeros = net.constant(np.zeros((most, 4), np.float32))
            net.outputs.append(net.add("ScatterND", zeros, places, rows))
    return boxes_and_scores(add)


def from_lengths(add):
    """Rows that a mask selects, and what `add` computes from them and their number."""
    def build():
        net = Net(x=(FLOAT, [10, 3]), mask=(BOOL, [10]))
        rows = net.add("Compress", "x", "mask", axis=0)
        number = lambda *values: net.constant(np.int64(values))
        count = net.add("Gather", net.add("Shape", rows), number(0))
        add(net, rows, count, number)
        others = {name: shape for name, (_, shape) in net.inputs.items() if name == "scores"}
        return net, {}, [{"x": random.normal(0, 1, (10, 3)).astype(np.float32),
                          "mask": random.permutation(10) < found,
                          **{name: random.random(shape).astype(np.float32)
                             for name, shape in others.items()}} for found in range(11)]
    return build


def filled(net, size):
    """As many rows as `size` says."""
    shape = net.add("Concat", size, net.constant(np.int64([2])), axis=0)
    return net.add("Expand", net.add("ReduceMax", "x", keepdims=0), shape)


def padded(net, rows, count, number):
    """Rows in a tensor of fixed size, padded in several ways."""
    zero, four, ten = number(0), number(4), number(10)

    def pad(rows, more):
        return net.add("Pad", rows, net.add("Concat", zero, zero, more, zero, axis=0))
    join = lambda size: net.add("Concat", rows, net.constant(np.zeros((size, 3), np.float32)),
                                axis=0)
    first = net.add("Slice", rows, zero, four, zero)
    net.outputs = [pad(rows, net.add("Sub", ten, count)),
                   pad(first, net.add("Sub", four, net.add("Shape", first, start=0, end=1))),
                   net.add("Slice", join(10), zero, ten, zero),
                   net.add("Slice", join(4), zero, four, zero)]


def best_in_rows(net, rows, count, number):
    """At most four of the largest, in a tensor of four rows."""
    zero, four = number(0), number(4)
    size = net.add("Min", count, four)
    values, indices = net.add("TopK", net.add("ReduceSum", rows, number(1), keepdims=0), size,
                              axis=0, results=2)
    picked = net.add("Gather", rows, indices)
    places = net.add("Unsqueeze", net.add("Range", net.constant(np.int64(0)), net.add(
        "Squeeze", size), net.constant(np.int64(1))), number(1))
    net.outputs = [values, net.add("ScatterND", net.constant(np.zeros((4, 3), np.float32)),
                                   places, picked),
                   net.add("Slice", net.add("Concat", picked, net.constant(
                       np.zeros((4, 3), np.float32)), axis=0), zero, four, zero)]


def computed(net, rows, count, number):
    """What a network computes with their number, as another number of rows."""
    one, two, four = number(1), number(2), number(4)
    least = net.add("Min", count, four)
    less = net.add("Less", count, four)
    net.outputs = [filled(net, size) for size in (
        net.add("Add", count, one), net.add("Add", least, one), net.add("Div", count, two),
        net.add("Mod", count, four), net.add("Max", count, four), net.add("Mul", count, least))]
    net.outputs += [net.add("Slice", rows, number(0), size, number(0)) for size in (
        net.add("Where", less, count, four), net.add("Max", count, four))]


def as_long_by_chance():
    """A fixed dimension that happens to equal the largest number of rows is not data-dependent."""
    net = Net(x=(FLOAT, [6, 6]), mask=(BOOL, [6]))
    places = net.add("NonZero", "mask")
    rows = net.add("Gather", "x", net.add("Squeeze", places, net.constant(np.int64([0]))))
    shape = net.add("Shape", rows)
    zero, two, four = (net.constant(np.int64([value])) for value in (0, 2, 4))
    columns = net.add("Gather", shape, net.constant(np.int64([1])))
    net.outputs = [net.add("Slice", rows, zero, size, zero) for size in (
        net.add("Div", columns, two), net.add("Min", columns, four),
        net.add("ReduceMin", shape, keepdims=1))]
    six, last, most = (net.constant(np.int64([value])) for value in (6, -2, MOST))
    count = net.add("Gather", shape, zero)
    filled = net.add("Pad", rows, net.add("Concat", zero, zero, net.add("Sub", six, count), zero,
                                          axis=0))
    scattered = net.add("ScatterND", "x", net.add("Transpose", places, perm=[1, 0]),
                        net.add("Relu", rows))
    turned = net.add("Transpose", rows, perm=[1, 0])
    net.outputs += [net.add("Slice", tensor, *span, zero) for tensor in (filled, scattered, turned)
                    for span in ((zero, two), (last, most))]
    second = net.add("Slice", rows, net.constant(np.int64([1])), most, zero)
    net.outputs += [net.add("Slice", second, zero, size, zero)
                    for size in (count, net.add("Min", count, four))]
    return net, {}, [{"x": random.normal(0, 1, (6, 6)).astype(np.float32),
                      "mask": random.permutation(6) < found} for found in range(7)]


def numbers(net, rows, count, number):
    """Sizes as numbers, which are outputs or by which a network divides."""
    zero, four = number(0), number(4)
    least = net.add("Min", count, four)
    filled = net.add("Slice", net.add("Concat", rows, net.constant(
        np.zeros((4, 3), np.float32)), axis=0), zero, four, zero)
    net.outputs = [filled, least, net.add("Div", net.add("ReduceSum", rows, zero), net.add(
        "Cast", net.add("Max", count, number(1)), to=FLOAT)), net.add("Div", count, number(2))]


def constants(net, rows, count, number):
    """Tensors that are filled with a number."""
    twos = net.add("ConstantOfShape", count, value=numpy_helper.from_array(np.float32([2])))
    net.outputs = [twos, net.add("Neg", twos), net.add("Mul", rows, net.add(
        "Unsqueeze", twos, number(1))), net.add("ConstantOfShape", net.add(
            "Concat", net.add("Add", count, number(2)), count, axis=0))]


def decided():
    """Numbers and conditions that depend on how much is found."""
    net = Net(x=(FLOAT, [6]), y=(INT64, [6]))
    found = net.add("Reshape", net.add("NonZero", "x"), net.constant(np.int64([-1])))
    count = net.add("Size", found)
    zero, one, four = (net.constant(np.int64(value)) for value in (0, 1, 4))
    some = net.add("Greater", count, zero)
    few = net.add("And", some, net.add("Less", count, four))
    less = net.add("Sub", count, four)
    net.outputs = [
        some, few, net.add("Not", few), net.add("Less", count, one),
        net.add("GreaterOrEqual", count, four), net.add("LessOrEqual", count, four),
        net.add("Equal", count, zero), net.add("Cast", count, to=BOOL),
        net.add("Cast", net.add("Cast", count, to=BOOL), to=INT64),
        net.add("Sign", count), net.add("Sign", less), net.add("Abs", less), less,
        net.add("Cast", net.add("Cast", less, to=TensorProto.INT8), to=FLOAT),
        net.add("Div", net.add("ReduceSum", found), net.add("Max", count, one)),
        net.add("Where", some, "x", net.constant(np.float32(-5))),
        net.add("Where", few, "x", net.constant(np.float32(-5))), net.add("Mul", "y", less),
        net.add("Gather", net.add("Concat", net.constant(np.int64([9])), found, axis=0),
                net.constant(np.int64(-1))),
        net.add("Less", net.constant(np.arange(6)), count)]
    return net, {}, [{"x": random.permutation(6).astype(np.float32) * (np.arange(6) < n),
                      "y": random.integers(-9, 9, 6)} for n in range(7)]


def branches(net, rows, count, number):
    """An If that depends on whether anything is found."""
    branch = lambda op: helper.make_graph([helper.make_node(op, ["x"], [op])], op, [],
                                          [helper.make_empty_tensor_value_info(op)])
    some = net.add("Greater", net.add("Squeeze", count), net.constant(np.int64(0)))
    net.outputs = [net.add("If", some, then_branch=branch("Relu"), else_branch=branch("Neg"))]


def in_rows(most):
    """At most `most` rows in a tensor of fixed size, as firmware requires."""
    def add(net, rows, count, number):
        zero, size = number(0), number(most)
        least = net.add("Min", count, size)
        best = net.add("TopK", net.add("ReduceSum", rows, number(1), keepdims=0), least, axis=0,
                       results=2)[1]
        picked = net.add("Gather", rows, best)
        missing = net.add("Sub", size, least)
        places = net.add("Unsqueeze", net.add("Range", net.constant(np.int64(0)), net.add(
            "Squeeze", least), net.constant(np.int64(1))), number(1))
        more = net.add("Max", net.add("Sub", size, count), zero)
        pad = lambda x, by: net.add("Pad", x, net.add("Concat", zero, zero, by, zero, axis=0))
        fill = lambda by: net.add("ConstantOfShape", net.add("Concat", by, number(3), axis=0),
                                  value=numpy_helper.from_array(np.float32([-1])))
        net.outputs = [
            net.add("ScatterND", net.constant(np.zeros((most, 3), np.float32)), places, picked),
            pad(picked, missing), net.add("Concat", picked, fill(missing), axis=0),
            net.add("Concat", fill(missing), picked, axis=0),
            net.add("Slice", pad(rows, more), zero, size, zero),
            net.add("Slice", net.add("Concat", rows, fill(more), axis=0), zero, size, zero)]
    return add


def best_of_all(net, rows, count, number):
    """The best of a fixed number of boxes. Their number is that of something else that is found."""
    net.inputs["scores"] = (FLOAT, [4])
    for size in (net.add("Min", count, number(4)), net.add("Min", count, number(2))):
        net.outputs += net.add("TopK", "scores", size, axis=0, results=2)


def filled_with_rest(net, rows, count, number):
    """Rows that are padded to the largest possible number."""
    missing = net.add("Sub", number(12), count)
    row = net.constant(np.float32([[-2]]))
    net.outputs = [
        net.add("Relu", net.add("Concat", rows, net.add("ConstantOfShape", net.add(
            "Concat", missing, number(3), axis=0)), axis=0)),
        net.add("Concat", rows, net.add("Expand", row, net.add(
            "Concat", missing, number(3), axis=0)), axis=0)]


def first_or_zeros(net, rows, count, number):
    """The first row, or zeros if there is none, as the message for reading the row alone
    advises."""
    one = net.add("Concat", rows, net.constant(np.zeros((1, 3), np.float32)), axis=0)
    zero, most = net.constant(np.int64(0)), number(MOST)
    net.outputs = [net.add("Gather", one, zero),
                   net.add("Gather", net.add("Concat", net.constant(
                       np.zeros((1, 3), np.float32)), rows, axis=0), net.constant(np.int64(-1))),
                   net.add("Slice", rows, number(10), most, number(0)),
                   net.add("Slice", net.add("Slice", net.add("Concat", rows, net.constant(
                       np.zeros((6, 3), np.float32)), axis=0), number(0), number(6), number(0)),
                       number(-2), most, number(0)),
                   net.add("Expand", net.constant(np.float32([[1, 2]])), net.add(
                       "Concat", net.add("Add", count, number(1)), number(1), axis=0))]


def places(net, rows, count, number):
    """Slices whose start, end or both depend on data."""
    zero, two, most = number(0), number(2), number(MOST)
    half, less = net.add("Div", count, two), net.add("Sub", count, two)
    cut = lambda start, end: net.add("Slice", rows, start, end, zero)
    net.outputs = [cut(less, count), cut(less, most), cut(half, count), cut(half, most),
                   cut(zero, net.add("Sub", count, number(1))),
                   cut(net.add("Max", less, zero), count),
                   cut(zero, net.add("Mul", half, two)),
                   cut(zero, net.add("Sub", count, net.add("Mod", count, two)))]


def of_cut_rows(net, rows, count, number):
    """Slices, along several axes, of rows that were sliced before."""
    zero, four = number(0), number(4)
    least = net.add("Min", count, four)
    first = net.add("Slice", rows, zero, least, zero)
    best = net.add("TopK", net.add("ReduceSum", rows, number(1), keepdims=0), least, axis=0,
                   results=2)[1]
    picked, turned = net.add("Gather", rows, best), net.add("Transpose", rows, perm=[1, 0])
    cut = lambda x, *lists: net.add("Slice", x, *(number(*values) for values in lists))
    net.outputs = [cut(first, (1,), (5,), (0,)), cut(picked, (-3,), (MOST,), (0,)),
                   cut(picked, (-1,), (-MOST,), (0,), (-1,)),
                   cut(rows, (0, 0), (4, 2), (0, 1)), cut(rows, (1, 1), (3, 5), (1, 0)),
                   cut(turned, (0,), (4,), (1,)), cut(turned, (0, 1), (2, MOST), (0, 1)),
                   cut(net.add("Unsqueeze", rows, zero), (0,), (4,), (1,))]


def split(net, rows, count, number):
    half = net.add("Div", count, number(2))
    parts = net.add("Concat", half, net.add("Sub", count, half), axis=0)
    least = net.add("Min", count, number(4))
    rest = net.add("Concat", least, net.add("Sub", count, least), axis=0)
    net.outputs = [*net.add("Split", rows, parts, axis=0, results=2),
                   *net.add("Split", rows, rest, axis=0, results=2),
                   *net.add("Split", rows, number(1, 2), axis=1, results=2)]


def ranges(net, rows, count, number):
    n = net.add("Squeeze", count)
    zero, one, two, back = (net.constant(np.int64(value)) for value in (0, 1, 2, -1))
    net.outputs = [net.add("Range", one, n, two), net.add("Range", one, n, one),
                   net.add("Range", net.add("Sub", n, one), back, back),
                   net.add("Range", zero, net.add("Squeeze", net.add("Min", count, number(4))),
                           one),
                   net.add("Gather", rows, net.add("Range", zero, n, two))]


def found_again(net, rows, count, number):
    """A mask of rows that another mask has selected, and the first of these rows."""
    score = net.add("ReduceSum", rows, number(1), keepdims=0)
    again = net.add("Reshape", net.add("NonZero", net.add(
        "Greater", score, net.constant(np.float32(0.3)))), number(-1))
    picked = net.add("Gather", rows, again)
    net.outputs = [picked, net.add("Slice", picked, number(0), number(4), number(0)),
                   net.add("Slice", again, number(0), net.add(
                       "Min", net.add("Shape", again), number(3)), number(0))]


def clipped(net, rows, count, number):
    zero, four = number(0), number(4)
    scalar = net.add("Squeeze", count)
    bounds = [net.constant(np.int64(value)) for value in (1, 4)]
    within = net.add("Unsqueeze", net.add("Clip", scalar, *bounds), zero)
    net.outputs = [filled(net, within),
                   filled(net, net.add("Where", net.add("Equal", count, zero), number(1), count)),
                   *(net.add("Slice", rows, zero, size, zero) for size in (
                       net.add("Min", count, number(5), four),
                       net.add("Min", net.add("Min", count, number(5)), four)))]


def slices(*spans):
    def add(net, rows, count, number):
        net.outputs = [net.add("Slice", rows, number(start), number(end), number(0), number(step))
                       for start, end, step in spans]
    return add


FROM_LENGTHS = {
    "padded": padded, "best_in_rows": best_in_rows, "computed": computed, "clipped": clipped,
    "constants": constants, "numbers": numbers, "branches": branches,
    **{f"in_rows_{most}": in_rows(most) for most in (1, 2, 3, 5, 10)},
    "best_of_all": best_of_all, "filled_with_rest": filled_with_rest, "places": places,
    "first_or_zeros": first_or_zeros,
    "of_cut_rows": of_cut_rows, "split": split, "ranges": ranges, "found_again": found_again,
    "slices": slices((1, 5, 1), (0, MOST, 2), (0, -1, 1), (-3, MOST, 1)),
    "slices_back": slices((-1, -MOST, -1), (6, 1, -2), (-3, 2, 1), (-2, MOST, 5))}


def two_suppressions():
    """Two suppressions, the second of which is cut to the best boxes."""
    def add(net):
        one, two = add_suppression(net, 3), add_suppression(net, 3, least=0.5)
        size = net.add("Min", net.add("Shape", two[2]), net.constant(np.int64([2])))
        net.outputs = [one[0], two[0], net.add("TopK", two[2], size, axis=0, results=2)[0]]
    return boxes_and_scores(add)


def none_kept():
    """Suppressions that always keep nothing, because their limit is 0 or missing, and ops after
    them."""
    def add(net):
        kept, boxes, _ = add_suppression(net, 5)
        off, none, scores = add_suppression(net, 0)
        default = net.add("NonMaxSuppression", "boxes", "scores")
        net.outputs = [kept, off, none, net.add("Relu", scores), default,
                       net.add("Concat", boxes, none, axis=0), net.add("Shape", off)]
    return boxes_and_scores(add)


def always_empty():
    """Operators on tensors that are always empty, and on one of data-dependent size."""
    net = Net(x=(FLOAT, [7]))
    empty = net.constant(np.zeros((0, 3), np.float32))
    net.outputs = [net.add("NonZero", "x"), net.add("NonZero", empty),
                   *net.add("Unique", empty, axis=0, results=4),
                   net.add("Compress", empty, net.constant(np.zeros(0, bool)), axis=0)]
    return net, {}, [{"x": np.float32(np.arange(7) < n)} for n in (0, 3, 7)]


NETWORKS = [best, first_rows, filled_up, two_suppressions, none_kept, always_empty, scaled,
            indexed, matrices, positions, masked, scattered, reduced, compressed, distinct,
            detections(5), detections(40), joined, both, as_long_by_chance, decided]
for case, add in FROM_LENGTHS.items():
    NETWORKS.append(from_lengths(add))
    NETWORKS[-1].__name__ = case

class LengthsTest(unittest.TestCase):
    def check(self, build, target):
        net, shapes, cases = build()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.onnx"
            model = net.model()
            onnx.save(model, path)
            session = onnxruntime.InferenceSession(path)
            options = [f"--shape={name}={text}" for name, text in shapes.items()]
            module = emitted.compile_model(path, folder + "/out", target=target,
                                           options=options)
            module.build()
            for inputs in cases:
                outputs = emitted.run_apart(module, inputs)
                expected = session.run(None, inputs)
                for output, want in zip(session.get_outputs(), expected):
                    got = outputs[output.name]
                    self.assertEqual(got.shape, want.shape)
                    if want.dtype == np.float32:
                        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
                    else:
                        np.testing.assert_array_equal(got, want)


class RefusedTest(unittest.TestCase):
    """Tests models that nnc cannot compile. The message names the node and how to write it
    instead."""

    def check(self, add, advice="node 'v.*Concat"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.onnx"
            onnx.save(from_lengths(add)()[0].model(), path)
            with self.assertRaisesRegex(emitted.Failure, advice) as caught:
                emitted.compile_model(path, folder + "/out")
            self.assertEqual(caught.exception.code, emitted.LACKING)
            self.assertNotIn("--shape", str(caught.exception))
            self.assertNotIn("computes sums", str(caught.exception))

    def test_first_row(self):
        def add(net, rows, count, number):
            net.outputs = [net.add("Gather", rows, net.constant(np.int64(0)))]
        self.check(add)

    def test_one_less(self):
        def add(net, rows, count, number):
            net.outputs = [filled(net, net.add("Sub", count, number(1)))]
        self.check(add, "node 'v.*Max")

    def test_fewer_than_found(self):
        """Rows that are filled up to fewer than there may be."""
        def add(net, rows, count, number):
            net.outputs = [net.add("Concat", rows, net.add("ConstantOfShape", net.add(
                "Concat", net.add("Sub", number(6), count), number(3), axis=0)), axis=0)]
        self.check(add, "node 'v.*Max")

    def test_other_rows(self):
        """Rows of a number that differ are no filling."""
        def add(net, rows, count, number):
            net.outputs = [net.add("Concat", rows, net.add("Tile", net.constant(
                np.float32([[-1, 0, 1]])), net.add("Concat", net.add("Sub", number(12), count),
                                                   number(1), axis=0)), axis=0)]
        self.check(add)


class NamesTest(unittest.TestCase):
    """A data-dependent size of an output is named after the output."""

    def check(self, model, names):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.onnx"
            onnx.save(model, path)
            module = emitted.compile_model(path, folder + "/out")
            self.assertEqual([port["name"] for port in module.manifest["outputs"]], names)

    def parse(self, text):
        return onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 18]>' + text)

    LOOP = """g (float[4] x, float limit) => (%s) {
        most = Constant<value_int=5>()  go = Constant<value = bool {1}>()
        last, first, rows = Loop (most, go, x) <body = b (int64 i, bool c, float[4] v)
            => (bool c1, float[4] v1, float[4] a, float[4] o) {
          v1 = Add(v, x)  r = ReduceSum<keepdims=0>(v1)  c1 = Less(r, limit)
          a = Neg(v1)  o = Identity(v1) }> }"""

    def test_loop(self):
        self.check(self.parse(self.LOOP % "float[4] last, float[n,4] rows"),
                   ["last", "rows", "rows_count"])
        self.check(self.parse(self.LOOP % "float[n,4] rows, float[n,4] first"),
                   ["rows", "first", "first_count"])

    def test_fixed_rows(self):
        """Outputs of fixed sizes have no lengths."""
        net = from_lengths(in_rows(4))()[0]
        self.check(net.model(), net.outputs)

    def test_unique(self):
        self.check(self.parse("""g (float[6] x) => (int64[n] counts) {
            y, first, which, counts = Unique(x) }"""), ["counts", "counts_count"])


for build in NETWORKS:
    for target in emitted.in_turn(("native", "portable"), build.__name__):
        setattr(LengthsTest, f"test_{build.__name__}_{target}",
                lambda self, build=build, target=target: self.check(build, target))

if __name__ == "__main__":
    unittest.main()
