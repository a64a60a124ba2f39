"""qnn ops compute, bit for bit, what their frameworks define.

Functions of constants are lowered and folded; the constants that are left are
compared with the definitions, written here in numpy and whole numbers."""

import math
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])
PASSES = ["--nnc-qnn-canonicalize", "--nnc-simplify", "--nnc-recompose",
          "--nnc-simplify"]
SHAPE = (3, 4, 6)
STORAGE = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16,
           "i32": np.int32}


def mlir_element(dtype):
    dtype = np.dtype(dtype)
    if dtype == np.float32:
        return "f32"
    return f"{'ui' if dtype.kind == 'u' else 'i'}{8 * dtype.itemsize}"


def fold(op, x, operand_type, result_type, result_dtype, second=None):
    """The constant that `op` of x, and of a second constant of floats, folds to."""
    shape = "x".join(map(str, x.shape))
    plain = f"tensor<{shape}x{mlir_element(x.dtype)}>"
    result = f"tensor<{shape}x{mlir_element(result_dtype)}>"
    quantized = lambda t: f"tensor<{shape}x{t}>"
    lines = [f'%x = nn.constant dense<"0x{x.tobytes().hex().upper()}"> : {plain}']
    operand, source = "%x", plain
    if operand_type != "f32":
        source = quantized(operand_type)
        operand = "%q"
        lines.append(f"%q = qnn.reinterpret %x : {plain} -> {source}")
    target = quantized(result_type)
    if second is not None:
        kind = f"tensor<{'x'.join(map(str, second.shape))}xf32>"
        lines.append(f'%s = nn.constant dense<"0x{second.tobytes().hex().upper()}"> : {kind}')
        operand, source = operand + ", %s", source + ", " + kind
    lines.append(f"%y = {op} {operand} : {source} -> {target}")
    value = "%y"
    if result_type != "f32":
        value = "%i"
        lines.append(f"%i = qnn.reinterpret %y : {target} -> {result}")
    text = (f"func.func @f() -> {result} {{\n" + "\n".join(lines)
            + f"\nreturn {value} : {result}\n}}\n")
    done = subprocess.run([BUILD / "bin/nnc-opt", *PASSES], input=text,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + text
    blobs = re.findall(r'"0x([0-9A-F]+)"', done.stdout)
    assert len(blobs) == 1, done.stdout
    # A blob in text begins with its alignment, 4 bytes.
    data = bytes.fromhex(blobs[0])[4:]
    return np.frombuffer(data, result_dtype).reshape(x.shape)


def quant_type(storage, scales, zeros, axis):
    """MLIR's spelling; scales are f32, written so that they are read exactly."""
    pairs = [f"{float(s):.17e}:{z}" for s, z in zip(scales, zeros)]
    if axis is None:
        return f"!quant.uniform<{storage}:f32, {pairs[0]}>"
    return f"!quant.uniform<{storage}:f32:{axis}, {{{', '.join(pairs)}}}>"


def along(values, axis, dtype):
    values = np.array(values, dtype)
    if axis is None:
        return values.reshape(())
    shape = [1] * len(SHAPE)
    shape[axis] = len(values)
    return values.reshape(shape)


def clip(values, dtype):
    info = np.iinfo(dtype)
    return np.clip(values, info.min, info.max).astype(dtype)


def half_away(values):
    return np.sign(values) * np.floor(np.abs(values.astype(np.float64)) + 0.5)


def check_quantize(random, storage, axis, rounding):
    count = 1 if axis is None else SHAPE[axis]
    dtype = STORAGE[storage]
    info = np.iinfo(dtype)
    scales = random.uniform(0.01, 2, count).astype(np.float32)
    zeros = random.integers(info.min, info.max + 1, count)
    # Ties on purpose, and far outside of the range.
    whole = random.integers(-300, 300, SHAPE) / 2
    x = (whole * along(scales, axis, np.float32)).astype(np.float32)
    x.reshape(-1)[:4] = [1e9, -1e9, 0.0, -0.0]
    found = fold(f"qnn.quantize {rounding}", x, "f32",
                 quant_type(storage, scales, zeros, axis), dtype)
    quotient = x / along(scales, axis, np.float32)
    assert quotient.dtype == np.float32
    rounded = np.rint(quotient) if rounding == "half_even" else half_away(quotient)
    expected = clip(rounded.astype(np.float64) + along(zeros, axis, np.float64), dtype)
    return np.array_equal(found, expected)


def check_dequantize(random, storage, axis):
    count = 1 if axis is None else SHAPE[axis]
    dtype = STORAGE[storage]
    info = np.iinfo(dtype)
    scales = random.uniform(0.01, 2, count).astype(np.float32)
    wide = storage == "i32"
    zeros = np.zeros(count, np.int64) if wide else random.integers(
        info.min, info.max + 1, count)
    x = random.integers(info.min, info.max + 1, SHAPE).astype(dtype)
    found = fold("qnn.dequantize", x, quant_type(storage, scales, zeros, axis),
                 "f32", np.float32)
    centred = x.astype(np.int64) - along(zeros, axis, np.int64)
    expected = centred.astype(np.float32) * along(scales, axis, np.float32)
    return np.array_equal(found, expected)


def fixed_point(factor):
    fraction, shift = math.frexp(factor)
    multiplier = math.floor(fraction * (1 << 31) + 0.5)
    if multiplier == 1 << 31:
        multiplier //= 2
        shift += 1
    return multiplier, shift


def double_rounding(x, multiplier, shift):
    """gemmlowp: SaturatingRoundingDoublingHighMul, then RoundingDivideByPOT."""
    product = x * (1 << max(shift, 0)) * multiplier
    nudge = (1 << 30) if product >= 0 else 1 - (1 << 30)
    total = product + nudge
    high = abs(total) // (1 << 31) * (1 if total >= 0 else -1)
    exponent = max(-shift, 0)
    mask = (1 << exponent) - 1
    threshold = (mask >> 1) + (1 if high < 0 else 0)
    return (high >> exponent) + (1 if (high & mask) > threshold else 0)


def single_rounding(x, multiplier, shift):
    total = 31 - shift
    return (x * multiplier + (1 << (total - 1))) >> total


def check_requantize(random, rescale, axis, has_shift=False, zeros=1):
    """`zeros` is how many zero points the result has: 1, or one for each index of `axis`."""
    count = 1 if axis is None else SHAPE[axis]
    scales = random.uniform(1e-4, 1e-2, count).astype(np.float32)
    scale = np.float32(random.uniform(1e-2, 1e-1))
    zero = random.integers(-128, 128, zeros)
    x = random.integers(-20000, 20000, SHAPE).astype(np.int32)
    shift = random.uniform(-2, 2, (4, 1)).astype(np.float32) if has_shift else None
    found = fold(f"qnn.requantize {rescale}", x,
                 quant_type("i32", scales, [0] * count, axis),
                 quant_type("i8", [scale] * zeros, zero, axis if zeros > 1 else None),
                 np.int8, shift)
    zero = along(zero, axis if zeros > 1 else None, np.int64)
    factors = scales.astype(np.float64) / np.float64(scale)
    if rescale == "real":
        product = x.astype(np.float32) * along(factors, axis, np.float64).astype(np.float32)
        if has_shift:
            product = product + shift / scale
        expected = clip(np.rint(product).astype(np.int64) + zero, np.int8)
        return np.array_equal(found, expected)
    step = double_rounding if rescale == "double_rounding" else single_rounding
    expected = np.zeros(SHAPE, np.int64)
    for index in np.ndindex(SHAPE):
        factor = factors[0 if axis is None else index[axis]]
        expected[index] = step(int(x[index]), *fixed_point(factor))
    return np.array_equal(found, clip(expected + zero, np.int8))


def main():
    random = np.random.default_rng(1)
    cases = []
    for axis in (None, 0, 2):
        for storage in ("u8", "i8", "u16", "i16"):
            for rounding in ("half_even", "half_away"):
                cases.append((check_quantize, storage, axis, rounding))
        for storage in ("u8", "i8", "i16", "i32"):
            cases.append((check_dequantize, storage, axis))
        for rescale in ("real", "double_rounding", "single_rounding"):
            cases.append((check_requantize, rescale, axis))
            if axis is not None:
                cases.append((check_requantize, rescale, axis, False, SHAPE[axis]))
        cases.append((check_requantize, "real", axis, True))
    failures = 0
    for check, *arguments in cases:
        if not check(random, *arguments):
            failures += 1
            print(f"{check.__name__}{tuple(arguments)} differs")
    print(f"{len(cases)} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
