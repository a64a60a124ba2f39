"""TFLite's arithmetic on fixed-point numbers, as its kernels and gemmlowp define it, computed
with Python's integers. A number with n integer bits is the 32-bit integer x that represents x *
2^(n - 31).

There are two ways to multiply by a fixed-point factor. "double": the high half of the doubled
product, rounded, then a shift, rounded. "single": one shift of the whole product, rounded.
"""

import math

import numpy as np

DOUBLE, SINGLE = "double", "single"
# LiteRT's reference kernels: as DOUBLE but for what a definition says.
LITERT = "litert"
ALL = DOUBLE, SINGLE, LITERT
LEAST, MOST = -(1 << 31), (1 << 31) - 1
f32 = np.float32


def high_multiply(a, b):
    """The high half of 2ab, rounded to nearest: gemmlowp's saturating rounding doubling
    high multiply."""
    if a == b == LEAST:
        return MOST
    product = a * b
    product += (1 << 30) if product >= 0 else 1 - (1 << 30)
    return product // (1 << 31) if product >= 0 else -(-product // (1 << 31))


def shift_right(x, bits):
    """x / 2^bits, rounded to nearest, halves away from zero."""
    mask = (1 << bits) - 1
    return (x >> bits) + ((x & mask) > (mask >> 1) + (x < 0))


def factor_of(real):
    """The (multiplier, shift) for which multiplier * 2^(shift - 31) is nearest to `real`."""
    if real == 0:
        return 0, 0
    fraction, shift = math.frexp(float(real))
    multiplier = math.floor(abs(fraction) * (1 << 31) + 0.5) * (1 if real > 0 else -1)
    if abs(multiplier) == 1 << 31:
        multiplier, shift = multiplier // 2, shift + 1
    return (0, 0) if shift < -31 else (multiplier, shift)


def times(x, factor, rounding):
    """x times a fixed-point factor."""
    multiplier, shift = factor
    x = int(x)
    if rounding == SINGLE:
        if shift > 30:
            multiplier, shift = MOST, 30
        return (x * multiplier + (1 << (30 - shift))) >> (31 - shift)
    wrapped = (x << max(shift, 0)) & 0xFFFFFFFF
    wrapped -= (wrapped >> 31) << 32
    return shift_right(high_multiply(wrapped, multiplier), max(-shift, 0))


def short_times(x, factor):
    """x times a fixed-point factor whose multiplier is cut to 16 bits. The product is rounded
    once, with halves up."""
    multiplier, shift = factor
    multiplier = (multiplier + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else 0x7FFF
    return (int(x) * multiplier + (1 << (14 - shift))) >> (15 - shift)


def scale_by(x, reals, rounding):
    """An array of integers times real numbers: one number, or one for each index of the last
    axis."""
    x = np.asarray(x)
    factors = [factor_of(real) for real in np.broadcast_to(reals, x.shape[-1:])]
    flat = [times(v, factors[i % x.shape[-1]], rounding) for i, v in enumerate(x.ravel())]
    return np.array(flat, np.int64).reshape(x.shape)


# -- functions of one fixed-point number ------------------------------------------------


def most_of(width):
    """The largest number with that many bits."""
    return (1 << (width - 1)) - 1


def constant(x, width):
    """A 32-bit constant as a number of `width` bits."""
    return shift_right(x, 32 - width)


def product(a, b, width):
    """The product of two numbers of `width` bits. Its number of integer bits is the sum of
    theirs."""
    if width == 32:
        return high_multiply(a, b)
    return most_of(width) if a == b == -(1 << 15) else (a * b + (1 << 14)) >> 15


def saturating_shift(x, bits, width=32):
    return max(-most_of(width) - 1, min(most_of(width), x << bits))


def exp_of_quarter(a, width):
    """e^a without integer bits for a in [-1/4, 0), by the Taylor series around -1/8."""
    times_ = lambda x, y: product(x, y, width)  # noqa: E731
    x = a + (1 << (width - 4))
    x2 = times_(x, x)
    x3 = times_(x2, x)
    x4 = times_(x2, x2)
    third, middle = constant(715827883, width), constant(1895147668, width)
    sum_of_terms = shift_right(times_(shift_right(x4, 2) + x3, third) + x2, 1)
    return min(middle + times_(middle, x + sum_of_terms), most_of(width))


def exp_of_negative(a, integer_bits, width=32):
    """e^a without integer bits for a <= 0."""
    fraction = width - 1 - integer_bits
    quarter = 1 << (fraction - 2)
    rest = (a & (quarter - 1)) - quarter
    result = exp_of_quarter(saturating_shift(rest, integer_bits, width), width)
    remainder = rest - a
    barrels = ((-2, 1672461947), (-1, 1302514674), (0, 790015084), (1, 290630308),
               (2, 39332535), (3, 720401), (4, 242))
    for exponent, multiplier in barrels:
        if integer_bits > exponent and remainder & (1 << (fraction + exponent)):
            result = product(result, constant(multiplier, width), width)
    if integer_bits > 5 and a < -(1 << (width + 4 - integer_bits)):
        return 0  # below -32
    return most_of(width) if a == 0 else result


def newton(half, width=32):
    """1 / half with 2 integer bits for half in [1/2, 1]: three steps of Newton's method from
    48/17 - 32/17 half."""
    x = constant(1515870810, width) + product(half, constant(-1010580540, width), width)
    for _ in range(3):
        rest = (1 << (width - 3)) - product(half, x, width)
        x += saturating_shift(product(x, rest, width), 2, width)
    return x


def half_sum(a, b):
    """(a + b) / 2, rounded, halves away from zero."""
    total = a + b
    return (total + 1) // 2 if total >= 0 else -((-total + 1) // 2)


def one_over_one_plus(a, width=32):
    """1 / (1 + a) without integer bits for a in [0, 1]."""
    return saturating_shift(newton(half_sum(a, most_of(width)), width), 1, width)


def logistic(a, integer_bits=4, width=32):
    """1 / (1 + e^-a) without integer bits."""
    if a == 0:
        return 1 << (width - 2)
    positive = one_over_one_plus(exp_of_negative(-abs(a), integer_bits, width), width)
    return positive if a > 0 else most_of(width) - positive


def tanh(a, integer_bits=4, width=32):
    """tanh(a) without integer bits: (1 - e^-2a) / (1 + e^-2a)."""
    if a == 0:
        return 0
    half = half_sum(exp_of_negative(-abs(a), integer_bits + 1, width), most_of(width))
    positive = saturating_shift(newton(half, width) - (1 << (width - 3)), 2, width)
    return positive if a > 0 else -positive


def input_radius(integer_bits, shift):
    """The largest integer whose product with 2^shift stays within this many integer bits."""
    most = ((1 << integer_bits) - 1) * 2.0 ** (31 - integer_bits)
    return math.floor(most / 2.0 ** shift)


# -- ends of ranges ---------------------------------------------------------------------


def round_away(x):
    """x, an array of floats, rounded to nearest, halves away from zero."""
    x = np.asarray(x)
    return np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x)


def limits(dtype, scale, zero, activation="NONE"):
    """The least and the largest integer that an activation returns."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    ends = {"NONE": (None, None), "RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}
    first, last = ends[activation]
    place = lambda real: zero + int(round_away(f32(real) / f32(scale)))  # noqa: E731
    if first is not None:
        low = max(low, place(first))
    if last is not None:
        high = min(high, place(last))
    return low, high


def stored(x, dtype, scale, zero, activation="NONE"):
    """The integers plus the zero point, clamped to the range of the type and of the activation."""
    low, high = limits(dtype, scale, zero, activation)
    return np.clip(np.asarray(x) + zero, low, high).astype(dtype)
