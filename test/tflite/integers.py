"""Operators on quantized integers. Each function adds one to a Checked net, with random
operands, and computes the expected results by TFLite's definition, bit for bit."""

import itertools
import math

import numpy as np

import fixed
import flat
from fixed import DOUBLE, SINGLE, f32


class Checked(flat.Net):
    """A net with known outputs: expected[tensor] is {rounding: array} and the largest allowed
    error relative to the largest number."""

    def __init__(self, seed=1):
        super().__init__()
        self.random = np.random.default_rng(seed)
        self.expected = {}

    def result(self, name, inputs, dtype, scale, zero, compute, roundings=(DOUBLE, SINGLE),
               **options):
        """Adds an operator with one output of integers; compute(rounding) says its values."""
        wants = {rounding: np.asarray(compute(rounding)) for rounding in roundings}
        out = self.tensor(dtype, wants[DOUBLE].shape, scale, zero)
        self.op(name, inputs, [out], **options)
        return self.expect(out, wants, 0)

    def expect(self, tensor, wants, error):
        self.outputs.append(tensor)
        self.expected[tensor] = (wants if isinstance(wants, dict) else
                                 dict.fromkeys((DOUBLE, SINGLE), np.asarray(wants)), error)
        return tensor

    def integers(self, dtype, *shape):
        """Random integers of the whole range, with both ends among them."""
        info = np.iinfo(dtype)
        values = self.random.integers(info.min, info.max, shape, np.int64, endpoint=True)
        if values.size > 1:
            values.flat[:2] = info.min, info.max
        return values.astype(dtype)

    def scale(self, low=0.01, high=0.1):
        return float(f32(self.random.uniform(low, high)))


# -- windows ----------------------------------------------------------------------------


def window(shape, kernel, strides, dilations, padding):
    """The (sizes of the output, pads at the start) along both axes of an image of shape NHWC."""
    sizes, pads = [], []
    for size, k, stride, dilation in zip(shape[1:3], kernel, strides, dilations):
        extent = (k - 1) * dilation + 1
        out = math.ceil(size / stride) if padding == "SAME" else (size - extent) // stride + 1
        sizes.append(out)
        pads.append(max((out - 1) * stride + extent - size, 0) // 2 if padding == "SAME" else 0)
    return sizes, pads


def taps(x, kernel, strides, dilations, padding, fill):
    """The elements of x[N, H, W, C] that each tap of a window reads: pairs of its position and
    an array [N, out H, out W, C], which is `fill` where the tap lies outside."""
    (rows, columns), pads = window(x.shape, kernel, strides, dilations, padding)
    for place in itertools.product(*map(range, kernel)):
        lines = []
        for axis, size in enumerate((rows, columns)):
            lines.append(np.arange(size) * strides[axis] - pads[axis] +
                         place[axis] * dilations[axis])
        inside = [(line >= 0) & (line < x.shape[1 + i]) for i, line in enumerate(lines)]
        seen = x[:, np.clip(lines[0], 0, x.shape[1] - 1)][
            :, :, np.clip(lines[1], 0, x.shape[2] - 1)].copy()
        seen[:, ~(inside[0][:, None] & inside[1][None, :])] = fill
        yield place, seen


def conv_sums(x, w, strides, dilations, padding, dtype=np.int64):
    """A convolution of x[N, H, W, C] with w[K, H, W, C / groups]."""
    total, groups = 0, x.shape[3] // w.shape[3]
    for (i, j), seen in taps(x.astype(dtype), w.shape[1:3], strides, dilations, padding, 0):
        parts = [s @ f.T for s, f in zip(np.split(seen, groups, 3),
                                         np.split(w[:, i, j].astype(dtype), groups))]
        total = total + np.concatenate(parts, 3)
    return total


def depthwise_sums(x, w, strides, dilations, padding, dtype=np.int64):
    """The same with w[1, H, W, C * multiplier]."""
    total, copies = 0, w.shape[3] // x.shape[3]
    for (i, j), seen in taps(x.astype(dtype), w.shape[1:3], strides, dilations, padding, 0):
        total = total + np.repeat(seen, copies, 3) * w[0, i, j].astype(dtype)
    return total


def conv(net, shape, filters, *, kind="CONV_2D", padding="SAME", strides=(1, 1),
         dilations=(1, 1), channels=True, bias=True, activation="NONE", dtype=np.int8, zero=-128,
         out_zero=-128):
    """CONV_2D with filters[K, H, W, C], or DEPTHWISE_CONV_2D with filters[1, H, W, C]. Filters
    have one scale, or one for each channel."""
    x = net.integers(dtype, *shape)
    w = net.integers(dtype, *filters)
    is_depthwise = kind == "DEPTHWISE_CONV_2D"
    axis, count = (3, filters[3]) if is_depthwise else (0, filters[0])
    w_zero = 131 if dtype == np.uint8 else 0
    w_scale = net.random.uniform(0.001, 0.02, count if channels else 1).astype(f32)
    scale = net.scale()
    b = net.random.integers(-40000, 40000, count).astype(np.int32)
    sums = (depthwise_sums if is_depthwise else conv_sums)(
        x.astype(np.int64) - zero, w.astype(np.int64) - w_zero, strides, dilations, padding)
    sums = sums + (b if bias else 0)
    # Most results lie within the range.
    out_scale = float(f32(np.abs(sums).max() * scale * w_scale.max() / 200))
    # The product of the scales of bytes without a sign is made in f32.
    both = (np.float64(f32(scale) * w_scale) if dtype == np.uint8 else
            scale * w_scale.astype(np.float64))
    inputs = [net.input(x, scale, zero), net.const(w, w_scale, w_zero, axis)]
    if bias:
        inputs.append(net.const(b, scale * w_scale))
    more = {"depth_multiplier": filters[3] // shape[3]} if is_depthwise else {}
    net.result(kind, inputs, dtype, out_scale, out_zero, lambda rounding: fixed.stored(
        fixed.scale_by(sums, both / out_scale, rounding), dtype, out_scale, out_zero, activation),
        padding=padding, stride_h=strides[0], stride_w=strides[1], dilation_h=dilations[0],
        dilation_w=dilations[1], activation=activation, **more)


def dense(net, rows, k, units, *, channels=False, bias=True, activation="NONE", dtype=np.int8,
          zero=127, out_zero=5, keep=False):
    x = net.integers(dtype, *rows, k)
    w = net.integers(dtype, units, k)
    w_zero = 100 if dtype == np.uint8 else 0
    w_scale = net.random.uniform(0.001, 0.02, units if channels else 1).astype(f32)
    scale = net.scale()
    b = net.random.integers(-40000, 40000, units).astype(np.int32)
    sums = (x.astype(np.int64) - zero) @ (w.astype(np.int64) - w_zero).T + (b if bias else 0)
    sums = sums if keep else sums.reshape(-1, units)
    out_scale = float(f32(np.abs(sums).max() * scale * w_scale.max() / 200))
    # One product of scales is made in f32, several in f64.
    both = (scale * w_scale.astype(np.float64) if channels else
            np.float64(f32(scale) * w_scale))
    inputs = [net.input(x, scale, zero), net.const(w, w_scale, w_zero)]
    inputs.append(net.const(b, scale * w_scale) if bias else -1)
    net.result("FULLY_CONNECTED", inputs, dtype, out_scale, out_zero,
               lambda rounding: fixed.stored(
                   fixed.scale_by(sums, both / out_scale, rounding), dtype, out_scale, out_zero,
                   activation),
               activation=activation, keep_num_dims=keep)


def batch_matmul(net, a_shape, b_shape, adj_x=False, adj_y=False):
    a, b = net.integers(np.int8, *a_shape), net.integers(np.int8, *b_shape)
    turn = lambda m, is_turned: np.swapaxes(m, -1, -2) if is_turned else m  # noqa: E731
    sums = turn(a.astype(np.int64) + 7, adj_x) @ turn(b.astype(np.int64) - 3, adj_y)
    scales = net.scale(), net.scale()
    out_scale = float(f32(np.abs(sums).max() * scales[0] * scales[1] / 200))
    both = float(f32(scales[0]) * f32(scales[1]))
    net.result("BATCH_MATMUL", [net.input(a, scales[0], -7), net.input(b, scales[1], 3)], np.int8,
               out_scale, -9, lambda rounding: fixed.stored(
                   fixed.scale_by(sums, both / out_scale, rounding), np.int8, out_scale, -9),
               adj_x=adj_x, adj_y=adj_y)


# -- pools and reductions ---------------------------------------------------------------


def pool(net, kind, shape, kernel, strides, padding, activation="NONE", dtype=np.int8):
    x = net.integers(dtype, *shape)
    scale, zero = 0.05, (10 if dtype == np.int8 else 0)
    outside = 1 << 20
    seen = np.stack([s for _, s in taps(x.astype(np.int64), kernel, strides, (1, 1), padding,
                                        outside)])
    inside = seen != outside
    if kind == "MAX_POOL_2D":
        y = np.where(inside, seen, -outside).max(0)
    else:
        total, count = np.where(inside, seen, 0).sum(0), inside.sum(0)
        y = np.where(total > 0, 1, -1) * ((np.abs(total) + count // 2) // count)
    net.result(kind, [net.input(x, scale, zero)], dtype, scale, zero,
               lambda rounding: fixed.stored(y - zero, dtype, scale, zero, activation),
               padding=padding, stride_h=strides[0], stride_w=strides[1], kernel_h=kernel[0],
               kernel_w=kernel[1], activation=activation)


def reduce(net, kind, shape, axes, keep, dtype=np.int8, zero=-11, out_zero=4):
    x = net.integers(dtype, *shape)
    scale = net.scale()
    reduced = tuple(axes)
    sums = x.astype(np.int64).sum(reduced, keepdims=keep)
    count = x.size // sums.size
    sums = sums - zero * count
    out_scale = float(f32(scale * (0.3 if kind == "MEAN" else count / 4)))
    multiplier, shift = fixed.factor_of(scale / out_scale)
    if kind == "MEAN":
        # The multiplier is divided, with as many more bits as fit.
        more = min(int(count).bit_length() - 1, 32, 31 + shift)
        multiplier, shift = (multiplier << more) // count, shift - more
    net.result(kind, [net.input(x, scale, zero), net.const(np.array(axes, np.int32))], dtype,
               out_scale, out_zero, lambda rounding: fixed.stored(
                   np.reshape([fixed.times(v, (multiplier, shift), rounding)
                               for v in sums.ravel()], sums.shape),
                   dtype, out_scale, out_zero), keep_dims=keep)


def reduce_order(net, kind, shape, axes, keep):
    """REDUCE_MAX and REDUCE_MIN, which do not change the integers."""
    x = net.integers(np.int8, *shape)
    y = (np.max if kind == "REDUCE_MAX" else np.min)(x, tuple(axes), keepdims=keep)
    net.result(kind, [net.input(x, 0.1, 3), net.const(np.array(axes, np.int32))], np.int8, 0.1, 3,
               lambda rounding: y, keep_dims=keep)


def softmax(net, shape, dtype=np.int8, out_dtype=np.int8, beta=1.0, scale=0.1):
    x = net.integers(dtype, *shape)
    scale = float(f32(scale))
    bits = np.iinfo(out_dtype).bits
    low = np.iinfo(out_dtype).min

    def row(values, rounding):
        most = float((1 << (30 if rounding == SINGLE else 31)) - 1)
        factor = fixed.factor_of(min(float(f32(beta)) * scale * (1 << 26), most))
        radius = fixed.input_radius(5, factor[1])
        drops = [int(v) - int(values.max()) for v in values]
        powers = [fixed.exp_of_negative(fixed.times(d, factor, rounding), 5)
                  if d >= -radius else None for d in drops]
        total = sum(fixed.shift_right(p, 12) for p in powers if p is not None)
        zeros = 32 - total.bit_length()
        inverse = fixed.one_over_one_plus((total << zeros) - (1 << 31))
        parts = [0 if p is None else
                 fixed.shift_right(fixed.high_multiply(inverse, p), 12 - zeros + 31 - bits)
                 for p in powers]
        return [min(low + part, int(np.iinfo(out_dtype).max)) for part in parts]
    net.result("SOFTMAX", [net.input(x, scale, 2)], out_dtype, 2.0 ** -bits, low,
               lambda rounding: np.reshape([row(r, rounding) for r in
                                            x.reshape(-1, shape[-1])], shape).astype(out_dtype),
               beta=beta)


# -- elementwise ------------------------------------------------------------------------


def add(net, kind, a_shape, b_shape, activation="NONE", dtype=np.int8, zeros=(-128, 127, 3),
        scales=None):
    """ADD and SUB: both operands are rescaled to twice the larger scale, with additional bits."""
    a, b = net.integers(dtype, *a_shape), net.integers(dtype, *b_shape)
    if dtype == np.int16:
        zeros = (0, 0, 0)
    sa, sb, so = scales or (net.scale(), net.scale(), net.scale(0.05, 0.2))
    sa, sb, so = (float(f32(s)) for s in (sa, sb, so))
    bits = 15 if dtype == np.int16 else 20
    unit = 2 * max(sa, sb)

    def compute(rounding):
        left, right, last = sa / unit, sb / unit, unit / ((1 << bits) * so)
        if kind == "SUB" and rounding == DOUBLE:  # TFLite Micro makes these in f32.
            narrow = f32(unit)
            left, right = float(f32(sa) / narrow), float(f32(sb) / narrow)
            last = float(narrow / (f32(1 << bits) * f32(so)))
        x = fixed.scale_by((a.astype(np.int64) - zeros[0]) << bits, left, rounding)
        y = fixed.scale_by((b.astype(np.int64) - zeros[1]) << bits, right, rounding)
        return fixed.stored(fixed.scale_by(x + y if kind == "ADD" else x - y, last, rounding),
                            dtype, so, zeros[2], activation)
    net.result(kind, [net.input(a, sa, zeros[0]), net.input(b, sb, zeros[1])], dtype, so, zeros[2],
               compute, activation=activation)


def add_n(net, count, shape, zeros=(-7, 12), scales=(0.05, 0.1)):
    """ADD_N of integers that all have one scale."""
    terms = [net.integers(np.int8, *shape) for _ in range(count)]
    si, so = (float(f32(s)) for s in scales)

    def compute(rounding):
        parts = [fixed.scale_by((t.astype(np.int64) - zeros[0]) << 20, 0.5, rounding)
                 for t in terms]
        return fixed.stored(fixed.scale_by(sum(parts), 2 * si / ((1 << 20) * so), rounding),
                            np.int8, so, zeros[1])
    net.result("ADD_N", [net.input(t, si, zeros[0]) for t in terms], np.int8, so, zeros[1],
               compute)


def mul(net, a_shape, b_shape, activation="NONE", dtype=np.int8, zeros=(127, -128, -3)):
    a, b = net.integers(dtype, *a_shape), net.integers(dtype, *b_shape)
    if dtype == np.int16:
        zeros = (0, 0, 0)
    sa, sb, so = net.scale(), net.scale(), net.scale(0.3, 0.9)
    if dtype == np.int16:
        so *= 256
    product = (a.astype(np.int64) - zeros[0]) * (b.astype(np.int64) - zeros[1])
    net.result("MUL", [net.input(a, sa, zeros[0]), net.input(b, sb, zeros[1])], dtype, so,
               zeros[2], lambda rounding: fixed.stored(
                   fixed.scale_by(product, sa * sb / so, rounding), dtype, so, zeros[2],
                   activation), activation=activation)


def squared_difference(net, a_shape, b_shape):
    a, b = net.integers(np.int8, *a_shape), net.integers(np.int8, *b_shape)
    sa, sb, so = net.scale(), net.scale(), net.scale(1, 2)
    unit = 2 * max(sa, sb)
    last = unit * unit / ((1 << 14) * so)

    def compute(rounding):
        x = fixed.scale_by((a.astype(np.int64) - 5) << 7, sa / unit, rounding)
        y = fixed.scale_by((b.astype(np.int64) + 6) << 7, sb / unit, rounding)
        return fixed.stored(fixed.scale_by((x - y) ** 2, last, rounding), np.int8, so, -100)
    net.result("SQUARED_DIFFERENCE", [net.input(a, sa, 5), net.input(b, sb, -6)], np.int8, so,
               -100, compute)


def compare(net, kind, shape, zeros=(3, -4)):
    """Comparisons on a common scale with 8 bits more."""
    a, b = net.integers(np.int8, *shape), net.integers(np.int8, *shape)
    sa, sb = net.scale(), net.scale()
    compute = {"EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "GREATER": np.greater,
               "GREATER_EQUAL": np.greater_equal, "LESS": np.less,
               "LESS_EQUAL": np.less_equal}[kind]
    net.result(kind, [net.input(a, sa, zeros[0]), net.input(b, sb, zeros[1])], np.bool_, None, 0,
               lambda rounding: compute(
                   fixed.scale_by((a.astype(np.int64) - zeros[0]) << 8, sa, rounding),
                   fixed.scale_by((b.astype(np.int64) - zeros[1]) << 8, sb, rounding)))


def relu(net, kind, shape, scales, zeros=(-128, 127), dtype=np.int8):
    """RELU, RELU6 and RELU_N1_TO_1 as separate operators."""
    x = net.integers(dtype, *shape)
    si, so = (float(f32(s)) for s in scales)
    net.result(kind, [net.input(x, si, zeros[0])], dtype, so, zeros[1], lambda rounding:
               fixed.stored(fixed.scale_by(x.astype(np.int64) - zeros[0], float(f32(si) / f32(so)),
                                           rounding), dtype, so, zeros[1], kind))


def leaky_relu(net, alpha, scales=(0.05, 0.04), zeros=(-3, 7)):
    x = every_byte()
    si, so = (f32(s) for s in scales)
    sign = 1 if alpha >= 0 else -1

    def compute(rounding):
        centred = x.astype(np.int64) - zeros[0]
        return fixed.stored(
            np.where(centred >= 0, fixed.scale_by(centred, float(si / so), rounding),
                     # A negative slope is that of the negated product.
                     sign * fixed.scale_by(centred, sign * float(si * f32(alpha) / so),
                                           rounding)),
            np.int8, so, zeros[1])
    net.result("LEAKY_RELU", [net.input(x, si, zeros[0])], np.int8, so, zeros[1], compute,
               alpha=alpha)


def prelu(net, shape):
    x, alpha = net.integers(np.int8, *shape), net.integers(np.int8, 1, 1, shape[-1])
    si, sa, so = net.scale(), 0.003, net.scale()

    def compute(rounding):
        centred = x.astype(np.int64) - 9
        down = centred * (alpha.astype(np.int64) - 6)
        return fixed.stored(
            np.where(centred >= 0, fixed.scale_by(centred, si / so, rounding),
                     fixed.scale_by(down, si * float(f32(sa)) / so, rounding)), np.int8, so, -20)
    net.result("PRELU", [net.input(x, si, 9), net.const(alpha, sa, 6)], np.int8, so, -20, compute)


def rescale(net, dtype, out_dtype, scales, zeros):
    """QUANTIZE of integers."""
    x = (np.arange(256) + np.iinfo(dtype).min).astype(dtype)
    if np.iinfo(dtype).bits > 8:
        x = net.integers(dtype, 3, 67)
    si, so = (float(f32(s)) for s in scales)
    net.result("QUANTIZE", [net.input(x, si, zeros[0])], out_dtype, so, zeros[1],
               lambda rounding: fixed.stored(
                   fixed.scale_by(x.astype(np.int64) - zeros[0], si / so, rounding), out_dtype, so,
                   zeros[1]))


def quantize(net, dtype, scale, zero):
    """QUANTIZE of floats, which include halves between integers and numbers outside of the
    range."""
    scale = f32(scale)
    info = np.iinfo(dtype)
    x = net.random.uniform(2.2 * float(scale) * (info.min - zero),
                           2.2 * float(scale) * (info.max - zero), (5, 41)).astype(f32)
    x.flat[:9] = (np.arange(9) - 4.5).astype(f32) * scale
    net.result("QUANTIZE", [net.input(x)], dtype, scale, zero,
               lambda rounding: fixed.stored(fixed.round_away(x / scale), dtype, scale, zero))


def dequantize(net, dtype, scale, zero):
    x = net.integers(dtype, 4, 33)
    y = (float(f32(scale)) * (x.astype(np.int64) - zero)).astype(f32)
    net.result("DEQUANTIZE", [net.input(x, scale, zero)], np.float32, None, 0, lambda rounding: y)


# -- tables -----------------------------------------------------------------------------


def every_byte(dtype=np.int8):
    return (np.arange(256) + np.iinfo(dtype).min).astype(dtype)


def in_reals(function, x, scale, zero, out_scale, out_zero, dtype):
    """The integers that represent a function, computed in f32, of the numbers that integers
    represent."""
    reals = function(f32(scale) * (x.astype(np.int64) - zero).astype(f32)).astype(f32)
    inverse = f32(1) / f32(out_scale)
    return fixed.stored(np.nan_to_num(np.clip(fixed.round_away(reals * inverse), -1e6, 1e6)),
                        dtype, out_scale, out_zero)


def gate(net, kind, scale, zero=5, dtype=np.int8):
    """LOGISTIC and TANH: in fixed point (TFLite Micro) or, where products are rounded once, in
    f32 (TFLite)."""
    x = every_byte(dtype)
    scale = f32(scale)
    bits, function, real = ((8, fixed.logistic, lambda v: 1 / (1 + np.exp(-v)))
                            if kind == "LOGISTIC" else (7, fixed.tanh, np.tanh))
    low = int(np.iinfo(dtype).min)
    out_zero = low if bits == 8 else (0 if dtype == np.int8 else 128)

    def compute(rounding):
        if rounding == SINGLE or dtype == np.uint8:
            return in_reals(real, x, scale, zero, 2.0 ** -bits, out_zero, dtype)
        factor = fixed.factor_of(float(scale) * 2.0 ** 27)
        radius = fixed.input_radius(4, factor[1])
        values = []
        for v in x.astype(np.int64) - zero:
            if abs(v) >= radius:
                values.append(-128 if v < 0 else 127)
                continue
            y = function(fixed.times(v, factor, rounding))
            values.append(max(-128, min(127, fixed.shift_right(y, 31 - bits) + out_zero)))
        return np.array(values, np.int8)
    net.result(kind, [net.input(x, scale, zero)], dtype, 2.0 ** -bits, out_zero, compute)


def hard_swish(net, scale, out_scale, zero=-6, out_zero=-90):
    x = every_byte()
    si, so = f32(scale), f32(out_scale)
    clamp = lambda v: max(-32768, min(32767, v))  # noqa: E731

    def short(real):
        multiplier, shift = fixed.factor_of(float(real))
        return min((multiplier + (1 << 15)) >> 16, 32767), shift

    def times16(a, b):
        return clamp((a * b + (1 << 14)) >> 15)
    fine = f32(1 / 128) * si
    last, slope = short(fine / so), short(fine / (f32(3) / f32(32768)))

    def value(v):
        v = int(v) * 128
        factor = clamp(v << (slope[1] - 1)) if slope[1] > 0 else v
        factor = times16(factor, slope[0])
        if slope[1] > 0:
            factor = clamp(factor << 1)
        if slope[1] < 0:
            factor = fixed.shift_right(factor, -slope[1])
        factor = (factor + (1 << 15)) >> 1
        y = factor * times16(v, last[0])
        y = clamp(abs(y) // (1 << 15) * (1 if y >= 0 else -1))
        return fixed.shift_right(y, -last[1])
    y = np.array([value(v) for v in x.astype(np.int64) - zero])
    net.result("HARD_SWISH", [net.input(x, si, zero)], np.int8, so, out_zero,
               lambda rounding: fixed.stored(y, np.int8, so, out_zero))


def table(net, kind, function, scale, zero, out_scale, out_zero, **options):
    """An operator computed by a table of `function` in floats."""
    x = every_byte()
    with np.errstate(all="ignore"):
        y = in_reals(function, x, scale, zero, out_scale, out_zero, np.int8)
    net.result(kind, [net.input(x, scale, zero)], np.int8, out_scale, out_zero,
               lambda rounding: y, **options)


def root(net, scale, zero, out_scale, out_zero):
    """SQRT, rounded towards 0."""
    x = every_byte()[zero + 128:]
    scale, out_scale = f32(scale), f32(out_scale)
    y = np.trunc(np.sqrt(scale * (x.astype(f32) - f32(zero))) / out_scale).astype(np.int64)
    net.result("SQRT", [net.input(x, scale, zero)], np.int8, out_scale, out_zero,
               lambda rounding: fixed.stored(y, np.int8, out_scale, out_zero))


# -- roots ------------------------------------------------------------------------------


def inverse_root(x):
    """1 / sqrt(x) as a multiplier and a shift, by five steps of Newton's method."""
    if x <= 1:
        return fixed.MOST, 0
    shift, times, up = -11, fixed.high_multiply, fixed.saturating_shift
    while x >= 1 << 29:
        x, shift = x // 4, shift - 1
    while x < 1 << 27:
        x, shift = x * 4, shift + 1
    half, root = fixed.shift_right(x >> 1, 1), 1 << 28
    for _ in range(5):
        cube = up(times(times(root, root), root), 6)
        root = up(times((1 << 28) + (1 << 27), root) - times(half, cube), 3)
    root = times(root, 1518500250)
    return root << max(shift, 0), min(shift, 0)


def l2_normalization(net, shape, zero, values=None):
    x = net.integers(np.int8, *shape) if values is None else values
    centred = x.astype(np.int64) - zero

    def row(values, rounding):
        multiplier, shift = inverse_root(int((values ** 2).sum()))
        return [fixed.times(v, (multiplier, shift + 7), rounding) for v in values]
    net.result("L2_NORMALIZATION", [net.input(x, 0.05, zero)], np.int8, 1 / 128, 0,
               lambda rounding: fixed.stored(
                   np.reshape([row(r, rounding) for r in centred.reshape(-1, shape[-1])], shape),
                   np.int8, 1 / 128, 0))


def rsqrt(net, scale, out_scale, zero, out_zero):
    x = every_byte()[zero + 128:]
    factor = fixed.factor_of(1 / float(f32(math.sqrt(f32(scale))) * f32(out_scale)))

    def value(v, rounding):
        if v == 0:
            return 127
        multiplier, shift = inverse_root(v)
        root = fixed.times(1, (multiplier, shift + 20), rounding)
        y = fixed.times(root, (factor[0], factor[1] - 20), rounding) + out_zero
        return max(-128, min(127, y))
    net.result("RSQRT", [net.input(x, scale, zero)], np.int8, out_scale, out_zero,
               lambda rounding: np.array([value(int(v) - zero, rounding) for v in x], np.int8))
