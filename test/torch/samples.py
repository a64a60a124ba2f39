"""Small programs of the operators and features that the frontend's core reads, with the results
that numpy computes."""

import numpy as np

from archives import BFLOAT16, Graph, Program, Symbol, leaf, tree

F32 = np.float32


def numbers(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(F32)


def strides():
    """Weights in one file whose elements are in other orders than row-major."""
    p = Program()
    x = p.input("x", numbers(2, 3))
    held = numbers(60, seed=1)
    file = ("weight_0", held.tobytes())

    def view(name, shape, steps, offset):
        picked = np.lib.stride_tricks.as_strided(held[offset:], shape, [4 * s for s in steps])
        return p.weight(name, np.ascontiguousarray(picked), layout=(steps, offset), file=file)
    a = view("transposed", (2, 3), [1, 2], 0)
    b = view("part", (2, 3), [6, 2], 5)
    c = view("repeated", (2, 3), [0, 1], 7)
    d = view("last", (1, 3, 2, 3), [18, 1, 9, 3], 42)
    e = view("tied", (2, 3), [1, 2], 0)
    total = p.values["x"]
    for w in (a, b, c, e):
        total = total + p.values[w]
        x = p.op("add.Tensor", {"self": x, "other": w}, total)
    image = p.op("mul.Tensor", {"self": d, "other": 2.0}, p.values[d] * F32(2))
    p.output(x, image)
    return p


def halves():
    p = Program()
    x = p.input("x", numbers(4).astype(np.float16))
    w = p.weight("w", numbers(4, seed=1).astype(np.float16))
    brains = numbers(4, seed=2)
    brains = (brains.view(np.uint32) & 0xFFFF0000).view(F32)
    b = p.weight("b", brains, dtype=BFLOAT16,
                 file=("weight_1", (brains.view(np.uint32) >> 16).astype(np.uint16).tobytes()))
    wide = p.values[x].astype(F32) + p.values[w].astype(F32)
    y = p.op("add.Tensor", {"self": x, "other": w}, wide.astype(np.float16))
    z = p.op("mul.Tensor", {"self": b, "other": 0.5}, brains * F32(0.5))
    p.graph["tensor_values"][z]["dtype"] = BFLOAT16
    z = p.op("to.dtype", {"self": z, "dtype": np.dtype(F32)}, brains * F32(0.5))
    p.output(y, z)
    return p


def state():
    """Buffers that are changed in place, through a view and by the signature."""
    p = Program()
    x = p.input("x", numbers(3))
    count = p.weight("count", np.array(0, np.int64), "buffer")
    rows = p.weight("rows", numbers(2, 3, seed=1), "buffer")
    last = p.weight("last", numbers(3, seed=2), "buffer", persistent=False)
    p.op("add_.Tensor", {"self": count, "other": 1}, np.array(1, np.int64))
    row = p.op("select.int", {"self": rows, "dim": 0, "index": 1}, p.values[rows][1])
    changed = p.values[rows].copy()
    changed[1] += p.values[x]
    p.op("add_.Tensor", {"self": row, "other": x}, changed[1])
    y = p.op("mul.Tensor", {"self": rows, "other": count}, changed * F32(1))
    z = p.op("sub.Tensor", {"self": x, "other": last}, p.values[x] - p.values[last])
    p.output(y, z)
    new = p.op("neg.default", {"self": x}, -p.values[x])
    p.mutate("last", new)
    return p


def views():
    """A tensor that is changed through views of views."""
    p = Program()
    x = p.input("x", numbers(4, 6))
    y = p.values[x].copy()
    own = p.op("clone.default", {"self": x}, y)
    turned = p.op("transpose.int", {"self": own, "dim0": 0, "dim1": -1}, y.T)
    part = p.op("slice.Tensor", {"self": turned, "dim": 0, "start": 1, "end": 6, "step": 2},
                y.T[1:6:2])
    parts = p.op("split.Tensor", {"self": part, "split_size": 3, "dim": 1}, y.T[1:6:2, :3],
                 y.T[1:6:2, 3:])
    y[:3, 1:6:2] *= 2
    p.op("mul_.Tensor", {"self": parts[0], "other": 2.0}, y.T[1:6:2, :3])
    flat = p.op("view.default", {"self": own, "size": [-1]}, y.reshape(-1))
    before = p.op("neg.default", {"self": flat}, -y.reshape(-1))
    y.reshape(-1)[5:7] = 7
    some = p.op("slice.Tensor", {"self": flat, "dim": 0, "start": 5, "end": 7},
                y.reshape(-1)[5:7])
    p.op("fill_.Scalar", {"self": some, "value": 7}, y.reshape(-1)[5:7])
    sum_ = p.op("add.Tensor", {"self": turned, "other": turned}, y.T + y.T)
    p.output(before, sum_, p.op("alias.default", {"self": parts[1]}, y.T[1:6:2, 3:]))
    return p


def nested():
    """Outputs in a dictionary of tuples, and an input that is a number."""
    p = Program()
    x = p.input("batch_image", numbers(2, 2))
    p.input_specs.append({"user_input": {"arg": {"as_int": 3}}})
    p.graph["inputs"].append({"as_int": 3})
    y = p.op("mul.Tensor", {"self": x, "other": 3}, p.values[x] * F32(3))
    z = p.op("sin.default", {"self": y}, np.sin(p.values[y]))
    p.output(y, z, x, ports=["boxes", "scores_0", "scores_1"])
    p.out_spec = tree("builtins.dict",
                      [leaf(), tree("builtins.tuple", [leaf(), leaf()])], ["boxes", "scores"])
    return p


def branches():
    p = Program()
    x = p.input("x", numbers(2, 3))
    total = p.op("sum.default", {"self": x}, p.values[x].sum())
    positive = p.op("gt.Scalar", {"self": total, "other": 0}, p.values[total] > 0)
    graphs = []
    for target, function in [("exp", np.exp), ("cos", np.cos)]:
        g = Graph()
        y = g.input("y", p.values[x])
        g.output(g.op(f"{target}.default", {"self": y}, function(p.values[x])))
        graphs.append(g)
    chosen = np.exp if p.values[positive] else np.cos
    y = p.op("higher_order.cond", [positive, *graphs, [x]], chosen(p.values[x]))
    p.output(y)
    return p


def loops():
    """A loop with a known number of runs, one that data end, map and scan."""
    p = Program()
    x = p.input("x", numbers(40, 3))
    start = p.weight("start", np.array(0, np.int64), "tensor_constant")
    first = p.weight("first", numbers(3, seed=1), "tensor_constant")

    def loop(limit, by_value):
        ends, body = Graph(), Graph()
        for g in (ends, body):
            g.input("i", p.values[start])
            g.input("y", p.values[first])
        number, row = (body.op("add.Tensor", {"self": ends_of, "other": 1}, body.values[ends_of])
                       for ends_of in map(type(x), ("i", "y")))
        body.output(number, row)
        tested = type(x)("i")
        if by_value:
            tested = ends.op("sum.default", {"self": type(x)("y")}, F32(0))
        ends.output(ends.op("lt.Scalar", {"self": tested, "other": limit}, np.array(True)))
        i, y = 0, p.values[first]
        while (y.sum() if by_value else i) < limit:
            i, y = i + 1, y + F32(1)
        return p.op("higher_order.while_loop", [ends, body, [start, first], []],
                    np.array(i, np.int64), y)
    def flagged():
        """Ends behind 50 runs, or if a flag that begins as false was set by data."""
        flag = p.weight("flag", np.array(False), "tensor_constant")
        ends, body = Graph(), Graph()
        for g in (ends, body):
            g.input("i", p.values[start])
            g.input("y", p.values[x])
            g.input("d", p.values[flag])
        i, y, d = map(type(x), "iyd")
        total = body.op("sum.default", {"self": y}, F32(0))
        body.output(body.op("add.Tensor", {"self": i, "other": 1}, p.values[start]),
                    body.op("add.Tensor", {"self": y, "other": 0.5}, p.values[x]),
                    body.op("gt.Scalar", {"self": total, "other": 1000.0}, p.values[flag]))
        ends.output(ends.op("logical_and.default", {
            "self": ends.op("lt.Scalar", {"self": i, "other": 50}, p.values[flag]),
            "other": ends.op("logical_not.default", {"self": d}, p.values[flag])},
            p.values[flag]))
        i, y, d = 0, p.values[x], False
        while i < 50 and not d:
            i, y, d = i + 1, y + F32(0.5), y.sum() > 1000
        assert 5 < i < 49
        return p.op("higher_order.while_loop", [ends, body, [start, x, flag], []],
                    np.array(i, np.int64), y, np.array(d))
    results = [*loop(50, False), *loop(50, True), *loop(2, False), *flagged()]
    body = Graph()
    row, other = body.input("row", p.values[x][0]), body.input("other", p.values[first])
    body.output(body.op("mul.Tensor", {"self": row, "other": other},
                        p.values[x][0] * p.values[first]))
    results.append(p.op("higher_order.map_impl", [body, [x], [first]],
                        p.values[x] * p.values[first]))
    body = Graph()
    sum_, row = body.input("sum", p.values[first]), body.input("row", p.values[x][0])
    total = body.op("add.Tensor", {"self": sum_, "other": row}, p.values[first])
    body.output(total, body.op("neg.default", {"self": total}, p.values[first]))
    sums = np.cumsum(np.vstack([p.values[first][None], p.values[x]]), 0, dtype=F32)[1:]
    results += p.op("higher_order.scan", [body, [first], [x], []], sums[-1], -sums)
    p.output(*results)
    return p


def sizes():
    """A program for 1 to 8 rows, whose shapes follow from their number."""
    p = Program()
    rows = 3
    s = Symbol("Symbol('s77', positive=True, integer=True)", rows)
    twice = Symbol("Mul(Integer(2), Symbol('s77', positive=True, integer=True))", 2 * rows)
    x = p.input("x", numbers(rows, 4), [s, 4])
    p.ranges["s77"] = {"min_val": 1, "max_val": 8}
    p.graph["sym_int_values"]["twice"] = {"as_expr": {"expr_str": twice.expression,
                                                      "hint": {"as_int": 2 * rows}}}
    y = p.op("view.default", {"self": x, "size": {"as_sym_ints": [{"as_name": "twice"},
                                                                  {"as_int": -1}]}},
             p.values[x].reshape(2 * rows, 2), shapes=[[twice, 2]])
    z = p.op("arange.default", {"end": {"as_sym_int": {"as_name": "twice"}}},
             np.arange(2 * rows), shapes=[[twice]])
    column = p.op("unsqueeze.default", {"self": z, "dim": -1}, np.arange(2 * rows)[:, None],
                  shapes=[[twice, 1]])
    total = p.values[y] + p.values[column].astype(F32)
    p.output(p.op("add.Tensor", {"self": y, "other": column}, total, shapes=[[twice, 2]]))
    return p


def quantized():
    p = Program()
    # Of numbers halfway between two integers the product with the reciprocal decides.
    halfway = ((np.arange(-40, 40) + F32(0.5)) * F32(0.0123)).reshape(20, 4)
    x = p.input("x", np.concatenate([numbers(5, 4), halfway]).astype(F32))
    scale, zero = 0.0123, 3
    same = {"scale": scale, "zero_point": zero, "quant_min": -128, "quant_max": 127,
            "dtype": np.dtype(np.int8)}
    q = np.clip(np.rint(p.values[x] * F32(1 / scale)) + zero, -128, 127).astype(np.int8)
    codes = p.op("quantized_decomposed.quantize_per_tensor.default", {"input": x, **same}, q)
    real = (q.astype(F32) - zero) * F32(scale)
    y = p.op("quantized_decomposed.dequantize_per_tensor.default", {"input": codes, **same}, real)
    w = p.weight("w", np.arange(-4, 4, dtype=np.int8).reshape(2, 4))
    scales = p.weight("scales", np.array([0.5, 0.25], F32))
    zeros = p.weight("zeros", np.array([0, 1], np.int64))
    weights = (p.values[w].astype(F32) - np.array([[0], [1]])) * np.array([[0.5], [0.25]])
    v = p.op("quantized_decomposed.dequantize_per_channel.default",
             {"input": w, "scales": scales, "zero_points": zeros, "axis": 0, "quant_min": -127,
              "quant_max": 127, "dtype": np.dtype(np.int8)}, weights.astype(F32))
    p.output(codes, y, v)
    return p


def regions():
    """torchvision's operators on regions and moved taps."""
    p = Program()
    x = p.input("x", numbers(1, 8, 6, 6))
    image = p.values[x]
    box = p.weight("box", np.array([[0, 1, 1, 4, 4]], F32))
    bins = {"rois": box, "spatial_scale": 1.0, "pooled_height": 2, "pooled_width": 2}
    largest = image[:, :, 1:5, 1:5].reshape(1, 8, 2, 2, 2, 2).max((3, 5))
    most = p.op("torchvision.roi_pool.default", {"input": x, **bins}, largest,
                np.zeros((1, 8, 2, 2), np.int32))[0]
    # Each bin has the mean of its own channel, which is flat.
    levels = np.arange(8, dtype=F32).reshape(1, 8, 1, 1)
    flat = p.weight("flat", np.tile(levels, (1, 1, 6, 6)))
    means = p.op("torchvision.ps_roi_align.default", {"input": flat, **bins, "sampling_ratio": 2},
                 levels.reshape(1, 2, 2, 2), np.zeros((1, 2, 2, 2), np.int32))[0]
    # All taps are moved down by 1 and to the left by 1.
    w = p.weight("weights", numbers(2, 8, 1, 1, seed=1))
    moves = p.weight("moves", np.tile(np.array([1, -1], F32).reshape(1, 2, 1, 1), (1, 1, 6, 6)))
    mask = p.weight("mask", np.full((1, 1, 6, 6), 0.5, F32))
    bias = p.weight("bias", np.array([1, 2], F32))
    moved = np.zeros_like(image)
    moved[:, :, :-1, 1:] = image[:, :, 1:, :-1]
    conv = np.einsum("kc,ncij->nkij", p.values[w][:, :, 0, 0], moved * F32(0.5))
    window = {f"{name}_{axis}": value for name, value in
              [("stride", 1), ("pad", 0), ("dilation", 1)] for axis in "hw"}
    y = p.op("torchvision.deform_conv2d.default",
             {"input": x, "weight": w, "offset": moves, "mask": mask, "bias": bias, **window,
              "groups": 1, "offset_groups": 1, "use_mask": True},
             (conv + np.array([1, 2], F32).reshape(1, 2, 1, 1)).astype(F32))
    p.output(most, means, y)
    return p


def parts():
    """Operators that take parts of tensors, compare with lists, or give a number."""
    p = Program()
    x = p.input("x", numbers(3, 4))
    v = p.values["x"]
    first = p.op("select.int", {"self": x, "dim": 0, "index": 0}, v[0])
    one = p.op("select.int", {"self": first, "dim": 0, "index": 2}, v[0, 2])
    p.graph["nodes"].append({
        "target": "torch.ops.aten.item.default", "name": "item", "metadata": {},
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": str(one)}}, "kind": 1}],
        "outputs": [{"as_sym_float": {"as_name": "item"}}]})
    results = [
        p.op("mul.Tensor", {"self": x, "other": {"as_sym_float": {"as_name": "item"}}},
             v * v[0, 2]),
        p.op("diag_embed.default", {"self": x, "offset": -1},
             np.stack([np.diag(row, -1) for row in v])),
        p.op("isin.Tensor_Tensor", {"elements": x, "test_elements": first}, np.isin(v, v[0])),
        p.op("fliplr.default", {"self": x}, np.fliplr(v)),
        p.op("flipud.default", {"self": x}, np.flipud(v)),
        p.op("column_stack.default", {"tensors": [x, x]}, np.column_stack([v, v])),
        p.op("atleast_3d.default", {"self": x}, np.atleast_3d(v)),
        p.op("copysign.Scalar", {"self": x, "other": -1.0}, np.copysign(v, F32(-1))),
        p.op("signbit.default", {"self": x}, np.signbit(v)),
        p.op("ravel.default", {"self": x}, v.ravel()),
        p.op("nansum.default", {"self": x}, np.nansum(v)),
        p.op("cosine_similarity.default", {"x1": x, "x2": first},
             (v @ v[0] / np.linalg.norm(v, axis=1) / np.linalg.norm(v[0])).astype(F32)),
        p.op("float_power.Tensor_Scalar", {"self": p.op("abs.default", {"self": x}, np.abs(v)),
                                           "exponent": 1.5}, np.abs(v).astype(float) ** 1.5),
    ]
    whole = np.array([[7, -7, 5]])
    n = p.input("n", whole)
    copied = p.op("clone.default", {"self": n}, whole)
    p.op("floor_divide_.Tensor", {"self": copied, "other": {"as_int": 2}}, whole // 2)
    p.output(*results, copied)
    p.expected[str(copied)] = whole // 2
    return p


SAMPLES = {f.__name__: f for f in (strides, halves, state, views, nested, branches, loops, parts,
                                   sizes, quantized, regions)}
