"""Quotients of quantized integers, and logarithms of such quotients (LOG_SOFTMAX), by TFLite's
definition in fixed point."""

import numpy as np

import fixed
import integers as q
from fixed import DOUBLE, SINGLE, f32


def sign_bits(x):
    """The number of bits of an i32 after its sign bit that are equal to it."""
    return 31 - (x if x >= 0 else ~x).bit_length()


def reciprocal(x):
    """(m, bits) for which the reciprocal of x is m * 2^(-31 - bits), for x of at least 1."""
    bits = x.bit_length() - 1
    return fixed.one_over_one_plus((x << (31 - bits)) - (1 << 31)), bits


def divide(net, a_shape, b_shape, activation="NONE", dtype=np.int8, zeros=(3, -5, 7),
           scales=(0.03, 0.02, 0.05)):
    """DIV, whose divisors are not 0."""
    a, b = net.integers(dtype, *a_shape), net.integers(dtype, *b_shape)
    b[b == zeros[1]] += 1
    sa, sb, so = (f32(s) for s in scales)
    factor = fixed.factor_of(float(sa / f32(sb * so)))

    def value(x, y, rounding):
        if y < 0:
            x, y = -x, -y
        inverse, bits = reciprocal(int(y))
        room = sign_bits(int(x))
        shift = factor[1] - bits - room
        if shift < -31 and rounding == DOUBLE:
            return 1 if x >= 0 else -1
        high = fixed.times(x, (inverse, min(room, 30)), rounding)
        return fixed.times(high, (factor[0], max(shift, -31)), rounding)

    def compute(rounding):
        x, y = np.broadcast_arrays(a.astype(np.int64) - zeros[0], b.astype(np.int64) - zeros[1])
        values = [value(*pair, rounding) for pair in zip(x.ravel(), y.ravel())]
        return fixed.stored(np.reshape(values, x.shape), dtype, so, zeros[2], activation)
    net.result("DIV", [net.input(a, sa, zeros[0]), net.input(b, sb, zeros[1])], dtype, so,
               zeros[2], compute, activation=activation)


def log_of(x):
    """ln x with 5 integer bits, for x of at least 1 with 12 integer bits."""
    times, up = fixed.high_multiply, fixed.saturating_shift
    root, fourth_root = 1518500250, 1805811301
    own, less = sign_bits(x), sign_bits(times(x, root))
    r = min(up(times(up(x, own), root), 1), up(x, less))
    power = max(((11 - own) << 25) + (1 << 23), ((12 - less) << 25) - (1 << 23))
    p, d = fixed.half_sum(r, fourth_root), 2 * (r - fourth_root)
    square = times(d, d)
    above = times(d, r) + times(times(d, square), 117049297)
    below = times(p, 1057819769 + d + times(127690142, square)) + times(638450708, d)
    rest = times(fixed.shift_right(above, 6), fixed.one_over_one_plus(below))
    return up(times(power, 1488522236) + rest, 1)


def log_softmax(net, shape, scale, dtype=np.int8, values=None):
    x = net.integers(dtype, *shape) if values is None else values
    info = np.iinfo(dtype)

    def row(values, rounding):
        most = float((1 << (30 if rounding == SINGLE else 31)) - 1)
        factor = fixed.factor_of(min(float(f32(scale)) * (1 << 26), most))
        least = -fixed.input_radius(5, factor[1])
        drops = [int(v) - int(values.max()) for v in values]
        log = log_of(sum(fixed.shift_right(fixed.exp_of_negative(
            fixed.times(d, factor, rounding), 5), 12) for d in drops if d >= least))
        # The least difference that is left of the range once the logarithm is taken off.
        inverse = fixed.factor_of((1 << (31 - factor[1])) / factor[0])
        least = max(least - 1, fixed.times(log + fixed.LEAST, inverse, rounding))
        return [info.min if d <= least else
                max(fixed.shift_right(fixed.times(d, factor, rounding) - log, 22) + info.max,
                    info.min) for d in drops]
    net.result("LOG_SOFTMAX", [net.input(x, scale, 2)], dtype, 1 / 16, info.max,
               lambda rounding: np.reshape([row(r, rounding) for r in x.reshape(-1, shape[-1])],
                                           shape).astype(dtype))
