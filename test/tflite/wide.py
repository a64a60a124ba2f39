"""Operators on activations of 16 bits. Each function adds one to a Checked net, with random
operands, and computes the expected results by TFLite's definition, bit for bit.

Sums of products with weights of 8 bits have 64 bits, and are rescaled by a 16-bit multiplier.
With a bias of 32 bits, both sums and multipliers have 32 bits.
"""

import math

import numpy as np

import fixed
from fixed import SINGLE, f32
from integers import conv_sums, depthwise_sums
from recurrent import gate16, sigmoid_table

I16 = np.int16


def scale_sums(sums, reals, bias_type, rounding):
    """Sums times real numbers: one number, or one for each index of the last axis."""
    if bias_type == np.int32:
        return fixed.scale_by(sums, reals, rounding)
    sums = np.asarray(sums)
    reals = np.broadcast_to(reals, sums.shape[-1:])
    factors = [fixed.factor_of(real) for real in reals]
    flat = [fixed.short_times(v, factors[i % len(reals)]) for i, v in enumerate(sums.ravel())]
    return np.array(flat, np.int64).reshape(sums.shape)


class Layer:
    """The operands of a layer with weights: activations x; weights w with one scale, or one for
    each index of `axis`; and a bias of a type, or None. With `largest`, all activations and
    weights are as large as possible, so that sums need 64 bits."""

    def __init__(self, net, x_shape, w_shape, axis, channels, bias_type, largest):
        self.net = net
        self.x = net.integers(I16, *x_shape)
        self.w = net.integers(np.int8, *w_shape)
        if largest:
            self.x = np.where(self.x < 0, -32768, 32767).astype(I16)
            self.x.flat[:self.x.size // 2] = 32767
            self.w = np.where(self.w < 100, 127, -127).astype(np.int8)
        count = w_shape[axis]
        self.axis, self.bias_type = axis, bias_type
        self.scale = net.scale(0.0001, 0.001)
        self.w_scale = net.random.uniform(0.001, 0.02, count if channels else 1).astype(f32)
        self.bias = None
        if bias_type is not None:
            size = 1 << (17 if bias_type == np.int32 else 35 if largest else 22)
            self.bias = net.random.integers(-size, size, count).astype(bias_type)

    def finish(self, name, sums, activation, before=(), float_scales=False, places=None,
               **options):
        """Adds the operator, whose result is made of `sums` of products. `places` are the
        places of activations, weights and bias among its inputs, behind `before`."""
        if self.bias is not None:
            sums = sums + self.bias.astype(np.int64)
        out_scale = float(f32(np.abs(sums).max() * self.scale * self.w_scale.max() / 40000))
        both = self.scale * self.w_scale.astype(np.float64)
        if float_scales:
            both = (f32(self.scale) * self.w_scale).astype(np.float64)
        given = [self.net.input(self.x, self.scale),
                 self.net.const(self.w, self.w_scale, 0, self.axis)]
        if self.bias is not None:
            given.append(self.net.const(self.bias, self.scale * self.w_scale))
        elif name == "FULLY_CONNECTED":
            given.append(-1)
        if self.bias_type == np.int32:
            options["bias_type"] = "INT32"
        if before:
            given = [*before, given[1], given[0], *given[2:]]
        self.net.result(name, given, I16, out_scale, 0, lambda rounding: fixed.stored(
            scale_sums(sums, both / out_scale, self.bias_type or np.int64, rounding), I16,
            out_scale, 0, activation), activation=activation, **options)


def conv(net, shape, filters, *, kind="CONV_2D", padding="SAME", strides=(1, 1),
         dilations=(1, 1), channels=True, bias=np.int64, activation="NONE", largest=False):
    is_depthwise = kind == "DEPTHWISE_CONV_2D"
    layer = Layer(net, shape, filters, 3 if is_depthwise else 0, channels, bias, largest)
    sums = (depthwise_sums if is_depthwise else conv_sums)(
        layer.x.astype(np.int64), layer.w.astype(np.int64), strides, dilations, padding)
    more = {"depth_multiplier": filters[3] // shape[3]} if is_depthwise else {}
    layer.finish(kind, sums, activation, padding=padding, stride_h=strides[0],
                 stride_w=strides[1], dilation_h=dilations[0], dilation_w=dilations[1], **more)


def dense(net, rows, k, units, *, channels=False, bias=np.int64, activation="NONE", keep=False,
          largest=False):
    layer = Layer(net, (*rows, k), (units, k), 0, channels, bias, largest)
    sums = layer.x.astype(np.int64) @ layer.w.astype(np.int64).T
    # One product of scales is made in f32, several in f64.
    layer.finish("FULLY_CONNECTED", sums if keep else sums.reshape(-1, units), activation,
                 float_scales=not channels, keep_num_dims=keep)


def transposed_sums(x, w, strides, size, padding):
    """The sums of a transposed convolution of x[N, H, W, C] with w[K, H, W, C]."""
    n, height, width, _ = x.shape
    full = np.zeros((n, max((height - 1) * strides[0] + w.shape[1], size[0]),
                     max((width - 1) * strides[1] + w.shape[2], size[1]), w.shape[0]), np.int64)
    for i in range(height):
        for j in range(width):
            full[:, strides[0] * i:strides[0] * i + w.shape[1],
                 strides[1] * j:strides[1] * j + w.shape[2]] += np.einsum(
                     "nc,khwc->nhwk", x[:, i, j], w)
    natural = [(height - 1) * strides[0] + w.shape[1], (width - 1) * strides[1] + w.shape[2]]
    starts = [max(natural[i] - size[i], 0) // 2 if padding == "SAME" else 0 for i in range(2)]
    return full[:, starts[0]:starts[0] + size[0], starts[1]:starts[1] + size[1]]


def transpose_conv(net, shape, filters, size, *, strides=(2, 2), padding="SAME", channels=True,
                   bias=np.int64, activation="NONE", largest=False):
    layer = Layer(net, shape, filters, 0, channels, bias, largest)
    sums = transposed_sums(layer.x.astype(np.int64), layer.w.astype(np.int64), strides, size,
                           padding)
    given = net.const(np.array([shape[0], *size, filters[0]], np.int32))
    layer.finish("TRANSPOSE_CONV", sums, activation, [given], padding=padding,
                 stride_h=strides[0], stride_w=strides[1])


def transpose_conv_bytes(net, shape, filters, size, *, strides=(2, 2), padding="SAME",
                         channels=True, bias=True, activation="NONE", dtype=np.int8, zero=-128,
                         out_zero=5):
    """TRANSPOSE_CONV on integers of 8 bits."""
    x, w = net.integers(dtype, *shape), net.integers(dtype, *filters)
    w_zero = 120 if dtype == np.uint8 else 0
    w_scale = net.random.uniform(0.001, 0.02, filters[0] if channels else 1).astype(f32)
    scale = net.scale()
    b = net.random.integers(-40000, 40000, filters[0]).astype(np.int32)
    sums = transposed_sums(x.astype(np.int64) - zero, w.astype(np.int64) - w_zero, strides, size,
                           padding) + (b if bias else 0)
    out_scale = float(f32(np.abs(sums).max() * scale * w_scale.max() / 200))
    both = (np.float64(f32(scale) * w_scale) if dtype == np.uint8 else
            scale * w_scale.astype(np.float64))
    given = [net.const(np.array([shape[0], *size, filters[0]], np.int32)),
             net.const(w, w_scale, w_zero), net.input(x, scale, zero)]
    if bias:
        given.append(net.const(b, scale * w_scale))
    net.result("TRANSPOSE_CONV", given, dtype, out_scale, out_zero, lambda rounding: fixed.stored(
        fixed.scale_by(sums, both / out_scale, rounding), dtype, out_scale, out_zero, activation),
        padding=padding, stride_h=strides[0], stride_w=strides[1], activation=activation)


def batch_matmul(net, a_shape, b_shape, adj_x=False, adj_y=False, largest=False):
    a, b = net.integers(I16, *a_shape), net.integers(I16, *b_shape)
    if largest:
        a, b = np.full_like(a, 32767), np.where(b > 20000, -32768, 32767).astype(I16)
    turn = lambda m, is_turned: np.swapaxes(m, -1, -2) if is_turned else m  # noqa: E731
    sums = turn(a.astype(np.int64), adj_x) @ turn(b.astype(np.int64), adj_y)
    scales = net.scale(), net.scale()
    out_scale = float(f32(np.abs(sums).max() * scales[0] * scales[1] / 40000))
    both = float(f32(scales[0]) * f32(scales[1]))
    net.result("BATCH_MATMUL", [net.input(a, scales[0]), net.input(b, scales[1])], I16, out_scale,
               0, lambda rounding: fixed.stored(
                   scale_sums(sums, both / out_scale, np.int64, rounding), I16, out_scale, 0),
               adj_x=adj_x, adj_y=adj_y)


# -- elementwise ------------------------------------------------------------------------


def samples(net):
    """16-bit numbers: both ends of the range, numbers around 0, and random ones."""
    return np.concatenate([np.array([-32768, 32767, -32767, 0, 1, -1, 2, -2, 255, -256], I16),
                           net.integers(I16, 391)])


def gate(net, kind, scale):
    """LOGISTIC and TANH, by linear interpolation in a table of sigmoids."""
    x, scale = samples(net), float(f32(scale))
    power = round(math.log2(scale))
    is_power = abs(math.log2(scale) - power) < 1e-3
    if is_power and 0 <= power + 12 <= (1 if kind == "TANH" else 0):
        multiplier, shift = 3 << (power + 12), 0
    else:
        multiplier, shift = scale * 4096 * 3, 0
        while multiplier <= 32767 / 2 and shift <= 30:
            multiplier, shift = multiplier * 2, shift + 1
        multiplier = int(multiplier)

    table = sigmoid_table()
    scaled = [int(v) * multiplier + ((1 << shift) >> 1) >> shift for v in x]
    y = np.array([gate16(v, table, kind == "TANH") for v in scaled], I16)
    net.result(kind, [net.input(x, scale)], I16, 2.0 ** -15, 0, lambda rounding: y)


def lines(least, most, function, fine=f32(2) / f32(65535), real=f32):
    """513 integers in units of `fine`. Linear interpolation between them approximates
    `function`, computed in the type `real`. Each integer is corrected by half of the error in
    the middle of its interval."""
    least, most = real(least), real(most)
    step = real((most - least) / real(512))
    unit = real(real(65536) / real(real(fine * real(32767)) - real(fine * real(-32768))))
    table = []
    with np.errstate(all="ignore"):
        for i in range(512):
            at = lambda k: real(least + real(real(k) * step))  # noqa: E731
            here = fixed.round_away(real(function(at(i)) * unit))
            ahead = real(function(at(i + 1)) * unit)
            line = fixed.round_away(real(real(ahead + here) / real(2)))
            middle = fixed.round_away(real(function(real(at(i) + real(step / real(2)))) * unit))
            table.append(here - fixed.round_away(real(real(line - middle) / real(2))))
        table.append(fixed.round_away(real(function(most) * unit)))
    return [int(min(max(v, -32768), 32767)) for v in table]


def look_up(x, table):
    x = min(max(int(x), -32768), 32767)
    at = 256 + (x >> 7)
    return table[at] + (((table[at + 1] - table[at]) * (x & 127) + 64) >> 7)


def table(net, kind, function, scale, out_scale, has_negative=True):
    """An operator computed by linear interpolation in a table of `function`."""
    x, scale, out_scale = samples(net), f32(scale), f32(out_scale)
    x = x if has_negative else x[x >= 0]
    made = lines(scale * f32(-32768), scale * f32(32767), function, out_scale)
    net.result(kind, [net.input(x, scale)], I16, out_scale, 0,
               lambda rounding: np.array([look_up(v, made) for v in x], I16))


def root(net, scale, out_scale):
    """SQRT, rounded towards 0."""
    x = samples(net)
    x, scale, out_scale = x[x >= 0], f32(scale), f32(out_scale)
    y = np.trunc(np.sqrt(scale * x.astype(f32)) / out_scale)
    net.result("SQRT", [net.input(x, scale)], I16, out_scale, 0,
               lambda rounding: fixed.stored(y.astype(np.int64), I16, out_scale, 0))


def log(scale):
    """LOG on integers. The result is the least integer where no logarithm exists."""
    return lambda v: f32(np.log(v)) if v > 0 else f32(-32768) * f32(scale)


def rsqrt(scale):
    return lambda v: f32(f32(1) / np.sqrt(v)) if v > 0 else f32(32767) * f32(scale)


def softmax(net, shape, scale, beta=1.0, values=None):
    x = net.integers(I16, *shape) if values is None else values
    scale = float(f32(scale))

    def tables(real):
        unit, one = real(10) / real(65535), real(1) / real(65535)
        fine = real(2) / real(65535)
        return (lines(real(unit * real(-65535)), 0, lambda v: real(np.exp(v)), fine, real),
                lines(0, real(one * real(65535)), lambda v: real(1) / (real(1) + v), fine, real))

    micro, lite = tables(f32), tables(np.float64)

    def row(values, rounding):
        # LiteRT has tables that are computed in f64, and multiplies in f32 before.
        is_lite = rounding == fixed.LITERT
        powers, inverses = lite if is_lite else micro
        argument = float(f32(scale) * f32(beta)) if is_lite else scale * float(f32(beta))
        factor = fixed.factor_of(argument / (10 / 65535))
        drops = [fixed.times(int(v) - int(values.max()), factor, rounding) for v in values]
        parts = [look_up(d + 32767, powers) for d in drops]
        total = sum(parts)
        zeros = 32 - total.bit_length()
        shifted = ((total << (zeros - 1)) + (1 << 13)) >> 14
        inverse, shift = look_up(shifted - 98304, inverses), 31 - zeros
        return [min(max((p * inverse + (1 << (shift - 1))) >> shift, 0), 32767) for p in parts]
    net.result("SOFTMAX", [net.input(x, scale)], I16, 2.0 ** -15, 0, lambda rounding: np.reshape(
        [row(r, rounding) for r in x.reshape(-1, x.shape[-1])], x.shape).astype(I16),
        roundings=fixed.ALL, beta=beta)


def leaky_relu(net, alpha, scales):
    x, (si, so) = samples(net), (f32(s) for s in scales)
    sign = 1 if alpha >= 0 else -1
    wide = x.astype(np.int64)
    net.result("LEAKY_RELU", [net.input(x, si)], I16, so, 0, lambda rounding: fixed.stored(
        np.where(wide >= 0, fixed.scale_by(wide, float(si / so), rounding),
                 sign * fixed.scale_by(wide, sign * float(si * f32(alpha) / so), rounding)),
        I16, so, 0), alpha=alpha)


def prelu(net, shape, alpha_shape):
    x, alpha = net.integers(I16, *shape), net.integers(np.int8, *alpha_shape)
    si, sa, so = (float(f32(s)) for s in (0.001, 0.01, 0.0007))
    wide, slopes = x.astype(np.int64), alpha.astype(np.int64) + 3
    net.result("PRELU", [net.input(x, si), net.const(alpha, sa, -3)], I16, so, 0,
               lambda rounding: fixed.stored(np.where(
                   wide >= 0, fixed.scale_by(wide, si / so, rounding),
                   fixed.scale_by(wide * slopes, si * sa / so, rounding)), I16, so, 0))


def magnitudes(net, scales):
    """ABS."""
    x, (si, so) = samples(net), (f32(s) for s in scales)
    sizes = np.abs(x.astype(np.int64))
    net.result("ABS", [net.input(x, si)], I16, so, 0, lambda rounding: fixed.stored(
        sizes if si == so else fixed.scale_by(sizes, float(si / so), rounding), I16, so, 0))


def squared_difference(net, a_shape, b_shape):
    a, b = net.integers(I16, *a_shape), net.integers(I16, *b_shape)
    sa, sb, so = (float(f32(s)) for s in (0.0011, 0.0007, 0.05))
    unit = 2 * max(sa, sb)

    def compute(rounding):
        x = fixed.scale_by(a.astype(np.int64), sa / unit, rounding)
        y = fixed.scale_by(b.astype(np.int64), sb / unit, rounding)
        return fixed.stored(fixed.scale_by((x - y) ** 2, unit * unit / so, rounding), I16, so, 0)
    net.result("SQUARED_DIFFERENCE", [net.input(a, sa), net.input(b, sb)], I16, so, 0, compute)


# -- resizes ----------------------------------------------------------------------------


def resize(net, shape, size, dtype=I16, **options):
    """RESIZE_BILINEAR with weights in units of 1/1024, rounded once."""
    x = net.integers(dtype, *shape)
    aligned, half = options.get("align_corners", False), options.get("half_pixel_centers", False)

    def places(given, wanted):
        less = 1 if aligned and wanted > 1 else 0
        step = (1024 * (given - less) + (wanted - less) // 2) // (wanted - less)
        for i in range(wanted):
            at = i * step + (step // 2 - 512 if half else 0)
            low = max(int(at / 1024), 0)
            yield at - 1024 * low, low, min(int((at + 1023) / 1024), given - 1)

    def in_floats(given, wanted):
        less = 1 if aligned and wanted > 1 else 0
        at = np.arange(wanted, dtype=f32) * (f32(given - less) / f32(wanted - less))
        if half:
            at = (np.arange(wanted, dtype=f32) + f32(0.5)) * (f32(given) / f32(wanted)) - f32(0.5)
        low = np.maximum(np.floor(at).astype(int), 0)
        return at - low.astype(f32), low, np.minimum(np.ceil(at).astype(int), given - 1)

    def compute_unsigned(rounding):
        """Integers without a sign are floats in between."""
        (di, top, bottom), (dj, left, right) = (in_floats(shape[1 + i], size[i]) for i in (0, 1))
        di, dj, v, one = di[:, None, None], dj[:, None], x.astype(f32), f32(1)
        pick = lambda i, j: v[:, i][:, :, j]  # noqa: E731
        y = (pick(top, left) * (one - di) * (one - dj) + pick(bottom, left) * di * (one - dj) +
             pick(top, right) * (one - di) * dj + pick(bottom, right) * di * dj)
        return (y + f32(0.5)).astype(dtype)

    def compute(rounding):
        if dtype == np.uint8:
            return compute_unsigned(rounding)
        y = np.zeros((shape[0], *size, shape[3]), np.int64)
        for i, (di, top, bottom) in enumerate(places(shape[1], size[0])):
            for j, (dj, left, right) in enumerate(places(shape[2], size[1])):
                v = x.astype(np.int64)
                y[:, i, j] = ((v[:, top, left] * (1024 - dj) + v[:, top, right] * dj) *
                              (1024 - di) +
                              (v[:, bottom, left] * (1024 - dj) + v[:, bottom, right] * dj) * di)
        half_unit = 1 << 19
        if rounding == SINGLE:
            return ((y + half_unit) >> 20).astype(dtype)
        return (np.sign(y) * ((np.abs(y) + half_unit) >> 20)).astype(dtype)
    sizes = net.const(np.array(size, np.int32))
    zero = 0 if dtype == I16 else 9
    net.result("RESIZE_BILINEAR", [net.input(x, 0.01, zero), sizes], dtype, 0.01, zero, compute,
               **options)


def nearest(shape, size, aligned=False, half=False):
    """The rows and columns of an image that RESIZE_NEAREST_NEIGHBOR reads."""
    for given, wanted in zip(shape[1:3], size):
        scale = (f32(given - 1) / f32(wanted - 1) if aligned and wanted > 1 else
                 f32(given) / f32(wanted))
        at = (np.arange(wanted, dtype=f32) + f32(0.5 if half else 0)) * scale
        at = fixed.round_away(at) if aligned else np.floor(at)
        yield np.clip(at.astype(np.int64), 0, given - 1)
