#!/usr/bin/env python3
"""Makes gesture.tflite, a network of 8 bits that tells four gestures apart, and clips.h,
what it is tried on: seconds of an accelerometer, which are drawn at random here.

    train.py [FOLDER]

Both files are in this folder already. flatc and clang-format are what scripts/setup
installs."""

import pathlib
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "test" / "tflite"))
import flat  # noqa: E402

GESTURES = ["still", "shake", "circle", "nod"]
SAMPLES, AXES, HERTZ = 64, 3, 50
TAPS, FILTERS, STRIDE = 9, 12, 2
UNIT = 1 / 32  # of an input, in units of gravity


def record(rng, gesture):
    """Integers of 8 bits, [SAMPLES, AXES]: what a sensor held in a hand measures."""
    time = np.arange(SAMPLES) / HERTZ
    moved = np.zeros((SAMPLES, AXES))
    start, strength = rng.uniform(0, 2 * np.pi), rng.uniform(0.8, 1.6)
    if gesture == "shake":
        moved[:, 0] = strength * np.sin(2 * np.pi * rng.uniform(5, 7) * time + start)
    elif gesture == "circle":
        turn = 2 * np.pi * rng.uniform(1, 1.8) * time + start
        moved[:, 0], moved[:, 1] = strength * np.sin(turn), strength * np.cos(turn)
    elif gesture == "nod":
        moved[:, 2] = strength * np.sin(2 * np.pi * rng.uniform(2, 3) * time + start)
    moved[:, 2] += 1  # gravity
    moved += rng.normal(0, 0.06, moved.shape)
    return np.clip(np.round(moved / UNIT), -128, 127).astype(np.int8)


def convolve(clip, filters):
    """Rows of a clip, in groups of TAPS, times filters [FILTERS, TAPS, AXES]."""
    starts = range(0, SAMPLES - TAPS + 1, STRIDE)
    rows = np.stack([clip[s:s + TAPS].ravel() for s in starts])
    return rows @ filters.reshape(FILTERS, -1).T


def to_integers(values, scale, dtype=np.int8):
    """Rounded multiples of scale."""
    limits = np.iinfo(dtype)
    return np.clip(np.round(values / scale), limits.min, limits.max).astype(dtype)


def fit(rng):
    """Filters for several frequencies and axes, and the weights and biases of a dense layer
    on the means of what they let through, by least squares."""
    window = np.hanning(TAPS + 2)[1:-1, None]
    phases = np.arange(TAPS)[:, None]
    filters = np.stack([
        window * np.cos(2 * np.pi * hertz / HERTZ * phases + start) * axis
        for axis in np.eye(AXES)
        for hertz, start in ((2.0, 0), (2.0, np.pi / 2), (6.0, 0), (6.0, np.pi / 2))])
    filters -= filters.mean(axis=1, keepdims=True)  # Gravity does not pass.
    clips = [(record(rng, name), i) for i, name in enumerate(GESTURES) for _ in range(250)]
    passed = np.stack([np.maximum(convolve(clip * UNIT, filters), 0) for clip, _ in clips])
    means = np.column_stack([passed.mean(axis=1), np.ones(len(clips))])
    wanted = 5.0 * np.eye(len(GESTURES))[[i for _, i in clips]]
    dense = np.linalg.lstsq(means, wanted, rcond=None)[0]
    return filters, passed.max(), dense[:-1].T, dense[-1], np.abs(means @ dense).max()


def build(filters, largest, weights, biases, largest_score):
    """The layers with integers of 8 bits."""
    net = flat.Net("gesture")
    clip = net.input(np.zeros((1, SAMPLES, 1, AXES), np.int8), UNIT)
    passed_scale, score_scale = largest / 255, largest_score / 127
    filter_scale, weight_scale = np.abs(filters).max() / 127, np.abs(weights).max() / 127
    count = (SAMPLES - TAPS) // STRIDE + 1

    kernel = to_integers(filters, filter_scale).reshape(FILTERS, TAPS, 1, AXES)
    passed = net.op("CONV_2D", [
        clip, net.const(kernel, filter_scale),
        net.const(np.zeros(FILTERS, np.int32), UNIT * filter_scale)],
        [net.tensor(np.int8, (1, count, 1, FILTERS), passed_scale, -128)],
        padding="VALID", stride_h=STRIDE, stride_w=1, activation="RELU")
    mean = net.op("AVERAGE_POOL_2D", [passed],
                  [net.tensor(np.int8, (1, 1, 1, FILTERS), passed_scale, -128)],
                  padding="VALID", stride_h=1, stride_w=1, kernel_h=count, kernel_w=1)
    score = net.op("FULLY_CONNECTED", [
        mean, net.const(to_integers(weights, weight_scale), weight_scale),
        net.const(to_integers(biases, passed_scale * weight_scale, np.int32),
                  passed_scale * weight_scale)],
        [net.tensor(np.int8, (1, len(GESTURES)), score_scale)])
    net.outputs.append(net.op("SOFTMAX", [score], [
        net.tensor(np.int8, (1, len(GESTURES)), 1 / 256, -128)], beta=1.0))
    net.tensors[clip]["name"], net.tensors[net.outputs[0]]["name"] = "clip", "scores"
    return net.model()


def print_clips(rng):
    """A C header with a clip of each gesture."""
    text = ("/* Recorded clips, one of each gesture, by train.py: 64 samples of x, y and z,\n"
            " * in 32nds of gravity. */\n#include <stdint.h>\n\n"
            f"static const char *const gestures[{len(GESTURES)}] = {{\n    "
            + ", ".join(f'"{name}"' for name in GESTURES) + "};\n\n"
            f"static const int8_t clips[{len(GESTURES)}][{SAMPLES} * {AXES}] = {{\n")
    for name in GESTURES:
        numbers = record(rng, name).ravel()
        rows = [", ".join(map(str, numbers[i:i + 18])) for i in range(0, numbers.size, 18)]
        text += f"    {{ /* {name} */\n     " + ",\n     ".join(rows) + "},\n"
    return text + "};\n"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    folder.mkdir(parents=True, exist_ok=True)
    flat.save({"gesture": build(*fit(np.random.default_rng(37)))}, folder)
    (folder / "clips.h").write_text(print_clips(np.random.default_rng(38)))
    subprocess.run(["clang-format-19", "-i", folder / "clips.h"], check=True)


if __name__ == "__main__":
    main()
