#!/usr/bin/env python3
"""Makes gesture.onnx, a network of floats that tells four gestures apart, lengths.onnx, the same for
clips of any length, and clips.npz, samples to quantize by: the network of ../firmware/model before
its numbers became integers.

    make.py [FOLDER]

The files are in this folder already."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "firmware" / "model"))
import train  # noqa: E402

CLIPS = 40  # of each gesture


def build(length, filters, weights, biases):
    """The layers of the network on clips [1, 3, length] in units of gravity."""
    floats = {"filters": filters.transpose(0, 2, 1), "weights": weights, "biases": biases}
    nodes = [
        helper.make_node("Conv", ["clip", "filters"], ["passed"], "conv",
                         strides=[train.STRIDE]),
        helper.make_node("Relu", ["passed"], ["positive"], "relu"),
        helper.make_node("GlobalAveragePool", ["positive"], ["means"], "pool"),
        helper.make_node("Flatten", ["means"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "weights", "biases"], ["logits"], "dense", transB=1),
        helper.make_node("Softmax", ["logits"], ["scores"], "softmax")]
    graph = helper.make_graph(
        nodes, "gesture",
        [helper.make_tensor_value_info("clip", 1, [1, train.AXES, length])],
        [helper.make_tensor_value_info("scores", 1, [1, len(train.GESTURES)])],
        [numpy_helper.from_array(a.astype(np.float32), n) for n, a in floats.items()])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])
    helper.set_model_props(model, {"labels": "\n".join(train.GESTURES)})
    return model


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    filters, _, weights, biases, _ = train.fit(np.random.default_rng(37))
    for name, length in ("gesture", train.SAMPLES), ("lengths", "length"):
        onnx.save(build(length, filters, weights, biases), folder / f"{name}.onnx")
    random = np.random.default_rng(39)
    clips = np.stack([train.record(random, name).T * np.float32(train.UNIT)
                      for _ in range(CLIPS) for name in train.GESTURES])
    np.savez_compressed(folder / "clips.npz", clip=clips.astype(np.float32))


if __name__ == "__main__":
    main()
