"""Operators on floats and on integers that are not quantized, and operators that only move
elements."""

import math

import numpy as np

from integers import Checked, conv_sums, depthwise_sums, taps
from wide import nearest

F32 = np.float32
CLOSE = 1e-5


class Plain(Checked):
    def floats(self, *shape, low=-3, high=3):
        return self.random.uniform(low, high, shape).astype(F32)

    def check(self, name, inputs, wants, error=CLOSE, **options):
        """Adds an operator whose inputs are arrays, which become the net's inputs, or
        ("const", array), and whose outputs are `wants`, an array or several."""
        numbers = [-1 if x is None else self.const(x[1]) if isinstance(x, tuple) else self.input(x)
                   for x in inputs]
        wants = wants if isinstance(wants, list) else [wants]
        outs = [self.tensor(want.dtype, want.shape) for want in wants]
        self.op(name, numbers, outs, **options)
        for out, want in zip(outs, wants):
            self.expect(out, want, error if want.dtype.kind == "f" else 0)

    def moved(self, name, x, wants, constants=(), scale=None, zero=0, **options):
        """The same for one input whose elements are moved, which has a quantization."""
        numbers = [self.input(x, scale, zero), *map(self.const, constants)]
        wants = wants if isinstance(wants, list) else [wants]
        outs = [self.tensor(want.dtype, want.shape, scale, zero) for want in wants]
        self.op(name, numbers, outs, **options)
        for out, want in zip(outs, wants):
            self.expect(out, want, 0)


def i32(*values):
    return np.array(values, np.int32)


def floats():
    net = Plain(4)
    relu6 = lambda y: np.clip(y, 0, 6)  # noqa: E731
    x, w, b = net.floats(1, 7, 9, 6), net.floats(4, 3, 2, 6), net.floats(4)
    y = conv_sums(x, w, (2, 1), (1, 2), "SAME", np.float64) + b
    net.check("CONV_2D", [x, ("const", w), ("const", b)], relu6(y).astype(F32), padding="SAME",
              stride_h=2, stride_w=1, dilation_h=1, dilation_w=2, activation="RELU6")
    w = net.floats(1, 3, 3, 12)
    y = depthwise_sums(x, w, (1, 2), (1, 1), "VALID", np.float64)
    net.check("DEPTHWISE_CONV_2D", [x, ("const", w)], np.clip(y, -1, 1).astype(F32),
              padding="VALID", stride_h=1, stride_w=2, depth_multiplier=2,
              activation="RELU_N1_TO_1")
    for padding in ("SAME", "VALID"):
        transpose_conv(net, padding)
    w = net.floats(5, 6)
    net.check("FULLY_CONNECTED", [x, ("const", w), ("const", net.floats(5) * 0)],
              np.maximum(x.reshape(-1, 6).astype(np.float64) @ w.T, 0).astype(F32),
              activation="RELU")
    hybrid = net.integers(np.int8, 5, 6)
    scales = net.random.uniform(0.01, 0.02, 5).astype(F32)
    out = net.tensor(F32, (63, 5))
    net.op("FULLY_CONNECTED", [net.input(x), net.const(hybrid, scales), -1], [out])
    net.expect(out, (x.reshape(-1, 6).astype(np.float64) @ (hybrid * scales[:, None]).T)
               .astype(F32), CLOSE)
    a, c = net.floats(2, 3, 4), net.floats(2, 5, 4)
    net.check("BATCH_MATMUL", [a, c], a @ np.swapaxes(c, 1, 2), adj_y=True)
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        seen = np.stack([s for _, s in taps(x.astype(np.float64), (3, 3), (2, 3), (1, 1), "SAME",
                                            np.nan)])
        y = np.nanmean(seen, 0) if kind[0] == "A" else np.nanmax(seen, 0)
        net.check(kind, [x], np.maximum(y, 0).astype(F32), padding="SAME", stride_h=2,
                  stride_w=3, kernel_h=3, kernel_w=3, activation="RELU")
    for kind, compute in (("MEAN", np.mean), ("SUM", np.sum), ("REDUCE_MAX", np.max),
                          ("REDUCE_MIN", np.min), ("REDUCE_PROD", np.prod)):
        net.check(kind, [x, ("const", i32(-1, 1))],
                  compute(x.astype(np.float64), (1, 3), keepdims=True).astype(F32),
                  keep_dims=True)
    powers = np.exp(0.7 * (x - x.max(-1, keepdims=True)).astype(np.float64))
    net.check("SOFTMAX", [x], (powers / powers.sum(-1, keepdims=True)).astype(F32), beta=0.7)
    powers = np.exp(x.astype(np.float64)).sum(-1, keepdims=True)
    net.check("LOG_SOFTMAX", [x], (x - np.log(powers)).astype(F32))
    norm = np.sqrt((x.astype(np.float64) ** 2).sum(-1, keepdims=True))
    net.check("L2_NORMALIZATION", [x], (x / norm).astype(F32))
    return net


def transpose_conv(net, padding):
    x, w, b = net.floats(1, 4, 3, 2), net.floats(3, 3, 4, 2), net.floats(3)
    size = (8, 6) if padding == "SAME" else (9, 8)
    full = np.zeros((1, 9, 8, 3))
    for i in range(4):
        for j in range(3):
            full[0, 2 * i:2 * i + 3, 2 * j:2 * j + 4] += np.einsum("c,khwc->hwk", x[0, i, j], w)
    top, left = [(full.shape[1 + i] - size[i]) // 2 for i in range(2)]
    y = full[:, top:top + size[0], left:left + size[1]] + b
    net.check("TRANSPOSE_CONV", [("const", i32(1, *size, 3)), ("const", w), x, ("const", b)],
              y.astype(F32), padding=padding, stride_h=2, stride_w=2)


def functions():
    net = Plain(5)
    x, up = net.floats(3, 23), net.floats(3, 23, low=0.1)
    x[0, :6] = (0.5, 1.5, -0.5, -2.5, 0, 2.5)
    gelu = np.vectorize(lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2))))
    cubic = lambda v: 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))  # noqa: E731,E501
    for name, given, compute, options in (
            ("ABS", x, np.abs, {}), ("CEIL", x, np.ceil, {}), ("FLOOR", x, np.floor, {}),
            ("ROUND", x, np.rint, {}), ("COS", x, np.cos, {}), ("SIN", x, np.sin, {}),
            ("EXP", x, np.exp, {}), ("LOG", up, np.log, {}), ("SQRT", up, np.sqrt, {}),
            ("RSQRT", up, lambda v: 1 / np.sqrt(v), {}), ("NEG", x, np.negative, {}),
            ("SIGN", x, np.sign, {}), ("SQUARE", x, np.square, {}), ("TANH", x, np.tanh, {}),
            ("LOGISTIC", x, lambda v: 1 / (1 + np.exp(-v)), {}),
            ("RELU", x, lambda v: np.maximum(v, 0), {}),
            ("RELU6", 3 * x, lambda v: np.clip(v, 0, 6), {}),
            ("RELU_N1_TO_1", x, lambda v: np.clip(v, -1, 1), {}),
            ("RELU_0_TO_1", x, lambda v: np.clip(v, 0, 1), {}),
            ("ELU", x, lambda v: np.where(v < 0, np.expm1(v), v), {}),
            ("LEAKY_RELU", x, lambda v: np.where(v < 0, 0.2 * v, v), {"alpha": 0.2}),
            ("HARD_SWISH", x, lambda v: v * np.clip(v + 3, 0, 6) / 6, {}),
            ("GELU", x, gelu, {}), ("GELU", x, cubic, {"approximate": True}),
            ("ZEROS_LIKE", x, np.zeros_like, {})):
        net.check(name, [given], compute(given.astype(np.float64)).astype(F32), **options)
    a, b = net.floats(2, 3, 5), net.floats(3, 1, low=0.5)
    a.flat[:2] = b[0, 0]
    whole, other = net.random.integers(-20, 20, (2, 9, 7)).astype(np.int32)
    other = np.where(other == 0, 7, other).astype(np.int32)
    for name, compute in (("ADD", np.add), ("SUB", np.subtract), ("MUL", np.multiply),
                          ("MAXIMUM", np.maximum), ("MINIMUM", np.minimum)):
        net.check(name, [a, b], compute(a, b))
        net.check(name, [whole, other], compute(whole, other))
    net.check("DIV", [a, b], np.clip(a / b, 0, 6), activation="RELU6")
    for name, compute in (("FLOOR_DIV", np.floor_divide), ("FLOOR_MOD", np.mod)):
        net.check(name, [whole, other], compute(whole, other))
    net.check("FLOOR_DIV", [a, b], np.floor(a / b))
    net.check("FLOOR_MOD", [a, b], np.mod(a, b))
    net.check("POW", [up[:, :5], np.array([1.5, -2, 0, 3, 0.5], F32)],
              np.power(up[:, :5], np.array([1.5, -2, 0, 3, 0.5], F32)))
    net.check("SQUARED_DIFFERENCE", [a, b], (a - b) ** 2)
    net.check("ADD_N", [a, 2 * a, a * a], a + 2 * a + a * a)
    net.check("PRELU", [a, ("const", b)], np.where(a < 0, a * b, a))
    for name, compute in (("EQUAL", np.equal), ("NOT_EQUAL", np.not_equal),
                          ("GREATER", np.greater), ("GREATER_EQUAL", np.greater_equal),
                          ("LESS", np.less), ("LESS_EQUAL", np.less_equal)):
        net.check(name, [a, b], compute(a, b))
    p, r = net.random.random((2, 4, 9)) < 0.5
    net.check("LOGICAL_AND", [p, r], p & r)
    net.check("LOGICAL_OR", [p, r], p | r)
    net.check("LOGICAL_NOT", [p], ~p)
    net.check("BITWISE_XOR", [whole, other], whole ^ other)
    d, e = net.floats(4, 9), net.floats(4, 9)
    net.check("SELECT", [p, d, e], np.where(p, d, e))
    net.check("SELECT", [p[:, 0].copy(), d, e], np.where(p[:, :1], d, e))
    net.check("SELECT_V2", [p[0].copy(), d, e], np.where(p[0], d, e))
    for to in (np.int32, np.uint8, np.bool_, np.int64):
        net.check("CAST", [np.abs(x)], np.abs(x).astype(to))
    net.check("CAST", [whole], whole.astype(F32))
    for name, compute in (("ARG_MAX", np.argmax), ("ARG_MIN", np.argmin)):
        net.check(name, [a, ("const", i32(-2))], compute(a, 1).astype(np.int64),
                  output_type="INT64")
        tied = net.integers(np.int8, 3, 50) // np.int8(64)
        net.check(name, [tied, ("const", i32(1))], compute(tied, 1).astype(np.int32),
                  output_type="INT32")
    return net


def moves():
    net = Plain(6)
    x = net.integers(np.int8, 2, 6, 4, 8)
    f = net.floats(3, 5, 7)
    q = {"scale": 0.05, "zero": -7}
    net.moved("RESHAPE", x, x.reshape(4, 96), [i32(4, -1)], **q)
    net.moved("RESHAPE", f, f.reshape(15, 7), new_shape=[15, 7])
    net.moved("SQUEEZE", f[:, None, :, None], f, squeeze_dims=[1, -2])
    net.moved("EXPAND_DIMS", f, f[:, :, None], [i32(-2)])
    net.moved("TRANSPOSE", x, x.transpose(3, 0, 2, 1), [i32(3, 0, 2, 1)], **q)
    net.moved("SPLIT_V", f, np.split(f, [2, 5], 2), [i32(2, 3, -1), i32(2)], num_splits=3)
    net.moved("UNPACK", f, [f[:, i] for i in range(5)], num=5, axis=-2)
    net.check("SPLIT", [("const", i32(-1)), x], np.split(x, 4, 3), num_splits=4)
    net.check("PACK", [f, 2 * f], np.stack([f, 2 * f], 2), values_count=2, axis=2)
    net.check("CONCATENATION", [f, f[:, :2].copy()], np.concatenate([f, f[:, :2]], 1), axis=-2)
    net.moved("SLICE", x, x[1:, 2:5, :, 3:], [i32(1, 2, 0, 3), i32(-1, 3, 4, 5)], **q)
    masks = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0,
             "shrink_axis_mask": 0}
    cut = lambda *parts: list(map(lambda p: i32(*p), parts))  # noqa: E731
    net.moved("STRIDED_SLICE", x, x[:, ::2, ::-1, -1],
              cut((0, 0, -1, -1), (2, 6, -9, 0), (1, 2, -1, 1)), **q,
              **{**masks, "shrink_axis_mask": 8})
    net.moved("STRIDED_SLICE", f, f[None, ..., 1:6:3],
              cut((9, 9, 1), (9, 9, 6), (1, 1, 3)),
              **{**masks, "new_axis_mask": 1, "ellipsis_mask": 2})
    net.moved("STRIDED_SLICE", f, f[2:, :-1], cut((2, 3), (1, -1), (1, 1)),
              **{**masks, "begin_mask": 2, "end_mask": 1})
    # TFLite takes 0 for an index whose begin is masked.
    net.moved("STRIDED_SLICE", f, f[0, 1:], cut((2, 1), (3, 5), (1, 1)),
              **{**masks, "begin_mask": 1, "shrink_axis_mask": 1})
    pads = np.array([[0, 0], [1, 2], [0, 3], [2, 0]], np.int32)
    net.moved("PAD", x, np.pad(x, pads, constant_values=-7), [pads], **q)
    net.check("PADV2", [f, ("const", pads[1:]), ("const", np.array([1.5], F32))],
              np.pad(f, pads[1:], constant_values=1.5))
    net.moved("MIRROR_PAD", f, np.pad(f, pads[1:], "reflect"), [pads[1:]], mode=0)
    net.moved("MIRROR_PAD", f, np.pad(f, pads[1:], "symmetric"), [pads[1:]], mode=1)
    net.moved("BROADCAST_TO", f[:, :1].copy(), np.broadcast_to(f[:, :1], (2, 3, 4, 7)),
              [i32(2, 3, 4, 7)])
    net.moved("TILE", f, np.tile(f, (2, 1, 3)), [i32(2, 1, 3)])
    net.check("FILL", [("const", i32(2, 3)), np.array(2.5, F32)], np.full((2, 3), 2.5, F32))
    net.moved("GATHER", f, f[:, [[4, 0], [2, 2]]], [np.array([[4, 0], [2, 2]], np.int32)],
              axis=-2)
    net.moved("REVERSE_V2", x, x[:, ::-1, :, ::-1], [i32(1, 3)], **q)
    for values, lengths, time, batch in (
            (x, [4, 0, 1, 3], 3, 2), (f, [7, 0, 2, 1, 5], 2, 1), (f, [2, 5, 4], 1, 0),
            (net.integers(np.int64, 2, 3), [2, 1, 0], 0, 1),
            (net.integers(np.int16, 3, 4) > 0, [4, 2, 3], 1, 0)):
        expected = reverse_sequence(values, lengths, time, batch)
        for kind in (np.int32, np.int64):
            given = np.array(lengths, kind)
            net.moved("REVERSE_SEQUENCE", values, expected, [given],
                      **(q if values is x else {}), seq_dim=time, batch_dim=batch)
            net.check("REVERSE_SEQUENCE", [values, given], expected, seq_dim=time,
                      batch_dim=batch)
    net.check("SHAPE", [f], i32(3, 5, 7), output_type="INT32")
    net.check("RANK", [f], np.array(3, np.int32))
    net.moved("DEPTH_TO_SPACE", x, x.reshape(2, 6, 4, 2, 2, 2).transpose(0, 1, 3, 2, 4, 5)
              .reshape(2, 12, 8, 2), block_size=2, **q)
    net.moved("SPACE_TO_DEPTH", x, x.reshape(2, 3, 2, 2, 2, 8).transpose(0, 1, 3, 2, 4, 5)
              .reshape(2, 3, 2, 32), block_size=2, **q)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)], constant_values=-7)
    blocks = padded.reshape(2, 3, 2, 2, 3, 8).transpose(2, 4, 0, 1, 3, 5).reshape(12, 3, 2, 8)
    crops = np.array([[0, 0], [1, 1]], np.int32)
    net.moved("SPACE_TO_BATCH_ND", x, blocks, [i32(2, 3), crops], **q)
    net.moved("BATCH_TO_SPACE_ND", blocks, x, [i32(2, 3), crops], **q)
    for name, compute in (("MAXIMUM", np.maximum), ("MINIMUM", np.minimum)):
        a, b = net.integers(np.int8, 3, 7), net.integers(np.int8, 7)
        out = net.tensor(np.int8, (3, 7), 0.1, 3)
        net.op(name, [net.input(a, 0.1, 3), net.input(b, 0.1, 3)], [out])
        net.expect(out, compute(a, b), 0)
    # A call of a subgraph that squares and adds.
    call(net, f)
    return net


def reverse_sequence(x, lengths, time, batch):
    result = np.moveaxis(x.copy(), (batch, time), (0, 1))
    for rows, length in zip(result, lengths):
        rows[:length] = rows[:length][::-1].copy()
    return np.moveaxis(result, (0, 1), (batch, time))


def call(net, x):
    inner = Plain()
    inner.codes, inner.buffers = net.codes, net.buffers
    given = inner.tensor(F32, x.shape)
    inner.inputs = [given]
    squares, both = inner.tensor(F32, x.shape), inner.tensor(F32, x.shape)
    inner.op("SQUARE", [given], [squares])
    inner.op("ADD", [squares, given], [both])
    inner.outputs = [squares, both]
    inner.name = "inner"
    net.subgraphs.append(inner.graph())
    net.check("CALL", [x], [x * x, x * x + x], subgraph=1)


def indexed():
    """Operators that select elements by their positions, and resizes that move elements."""
    net = Plain(10)
    f, x = net.floats(3, 5, 7), net.integers(np.int8, 2, 6, 4, 8)
    q = {"scale": 0.05, "zero": -7}
    picks = np.array([[4, 0], [2, 2], [1, 3]], np.int32)
    net.check("GATHER", [f, picks], np.stack([f[b][picks[b]] for b in range(3)]), axis=1,
              batch_dims=1)
    net.check("GATHER", [f, ("const", picks)], np.stack([f[b][:, picks[b]] for b in range(3)]),
              axis=-1, batch_dims=-1)
    rows = net.random.integers(0, 4, (2, 6, 3)).astype(np.int64)
    net.moved("GATHER", x, np.take_along_axis(x, rows[..., None], 2), [rows], **q, axis=2,
              batch_dims=2)
    places = np.array([[0, 4], [2, 1], [1, 0], [2, 4]], np.int32)
    net.check("GATHER_ND", [f, places], f[places[:, 0], places[:, 1]])
    net.moved("GATHER_ND", x, x[[1, 0]], [i32(1, 0).reshape(2, 1)], **q)
    whole = np.array([[[1, 5, 3, 7]], [[0, 0, 2, 1]]], np.int64)
    net.check("GATHER_ND", [x, ("const", whole)], x[tuple(np.moveaxis(whole, -1, 0))])
    ids = i32(2, 0, 2, 1)
    net.check("EMBEDDING_LOOKUP", [ids, ("const", f)], f[ids])
    table, out = net.integers(np.int8, 3, 5), net.tensor(F32, (4, 5))
    net.op("EMBEDDING_LOOKUP", [net.input(ids), net.const(table, 0.03)], [out])
    net.expect(out, table[ids] * F32(0.03), CLOSE)
    for axis in (0, 1, -1):
        hot = np.moveaxis(np.where(picks[..., None] == np.arange(4), F32(2.5), F32(-1)), -1, axis)
        net.check("ONE_HOT", [picks, ("const", np.array(4, np.int32)), np.array(2.5, F32),
                              np.array(-1, F32)], hot, axis=axis)
    update = net.floats(3, 2, 3)
    for start in (i32(0, 2, 1), i32(0, 9, -3), i32(1, 3, 4)):
        first = np.clip(start, 0, [0, 3, 4])
        moved = f.copy()
        moved[:, first[1]:first[1] + 2, first[2]:first[2] + 3] = update
        net.check("DYNAMIC_UPDATE_SLICE", [f, update, start], moved)
        net.check("DYNAMIC_UPDATE_SLICE", [f, update, ("const", start)], moved)
    net.check("BROADCAST_ARGS", [("const", i32(3, 1, 4)), ("const", i32(5, 4))], i32(3, 5, 4))
    for kind in (F32, np.int32):
        given = f if kind == F32 else net.random.integers(-50, 50, f.shape).astype(kind)
        sums = np.cumsum(given.astype(np.float64), 1)
        net.check("CUMSUM", [given, ("const", i32(1))], sums.astype(kind), exclusive=False,
                  reverse=False)
        net.check("CUMSUM", [given, ("const", i32(-2))], (sums - given).astype(kind),
                  exclusive=True, reverse=False)
        sums = np.cumsum(given[..., ::-1].astype(np.float64), 2)[..., ::-1]
        net.check("CUMSUM", [given, ("const", i32(2))], sums.astype(kind), exclusive=False,
                  reverse=True)
        net.check("CUMSUM", [given, ("const", i32(2))], (sums - given).astype(kind),
                  exclusive=True, reverse=True)
    truths = net.random.random((3, 4, 5)) < 0.7
    truths[0, 0], truths[1, 1] = True, False
    for name, compute in (("REDUCE_ALL", np.all), ("REDUCE_ANY", np.any)):
        net.check(name, [truths, ("const", i32(-1))], compute(truths, 2), keep_dims=False)
        net.check(name, [truths, ("const", i32(0, 2))], compute(truths, (0, 2), keepdims=True),
                  keep_dims=True)
    image = net.floats(2, 7, 9, 3)
    seen = np.stack([s for _, s in taps(image.astype(np.float64), (3, 2), (2, 3), (1, 1), "SAME",
                                        np.nan)])
    net.check("L2_POOL_2D", [image], np.sqrt(np.nanmean(seen ** 2, 0)).astype(F32),
              padding="SAME", stride_h=2, stride_w=3, kernel_h=3, kernel_w=2, activation="NONE")
    for size in ((12, 8), (7, 9), (3, 4), (1, 1), (6, 4)):
        for how in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            resizes(net, x, image, size, how, q)
    return net


def resizes(net, x, image, size, how, q):
    rows, columns = nearest(x.shape, size, *(how.get(key, False) for key in
                                             ("align_corners", "half_pixel_centers")))
    net.moved("RESIZE_NEAREST_NEIGHBOR", x, x[:, rows][:, :, columns], [i32(*size)], **q, **how)

    def mix(values, axis, wanted):
        given = values.shape[axis]
        less = 1 if how.get("align_corners") and wanted > 1 else 0
        scale = (given - less) / (wanted - less)
        at = np.arange(wanted) * scale
        if how.get("half_pixel_centers"):
            at = np.maximum((np.arange(wanted) + 0.5) * scale - 0.5, 0)
        low = np.minimum(np.floor(at).astype(int), given - 1)
        share = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        high = np.minimum(low + 1, given - 1)
        return values.take(low, axis) * (1 - share) + values.take(high, axis) * share
    y = mix(mix(image.astype(np.float64), 1, size[0]), 2, size[1])
    net.check("RESIZE_BILINEAR", [image, ("const", i32(*size))], y.astype(F32), **how)
