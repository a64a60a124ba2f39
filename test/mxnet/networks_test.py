#!/usr/bin/env python3
"""Tests small networks built like those of MXNet's model zoo, with random weights, against numpy,
in each form of files; and that a ResNet-18 gives the plan that the same ONNX model gives."""

import json
import math
import pathlib
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import cases
import plain
import running
import symbols


class Builder:
    """A network that is computed while it is written. Values are (node, array)."""

    def __init__(self, seed, version=10901):
        self.net = symbols.Net(version)
        self.random = np.random.default_rng(seed)

    def data(self, *shape, name="data", **hidden):
        x = self.random.normal(0, 1, shape).astype(np.float32)
        return self.net.data(x, name, **hidden), x

    def param(self, name, *shape, scale=1.0, least=None, kind="arg:"):
        array = self.random.normal(0, scale, shape).astype(np.float32)
        if least is not None:
            array = np.abs(array) + np.float32(least)
        return self.net.param(array, name, kind), array

    def conv(self, x, name, filters, kernel=3, stride=1, pad=None, groups=1, bias=False):
        pad = kernel // 2 if pad is None else pad
        depth = x[1].shape[1] // groups
        w = self.param(f"{name}_weight", filters, depth, kernel, kernel,
                       scale=(2 / depth / kernel**2)**0.5)
        b = [self.param(f"{name}_bias", filters, scale=0.1)] if bias else []
        node = self.net("Convolution", x[0], w[0], *[v[0] for v in b], name=name,
                        kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
                        num_filter=filters, num_group=groups, no_bias=not bias)
        return node, plain.conv(x[1], w[1], b[0][1] if b else None, (stride,) * 2, (pad,) * 2,
                                None, groups)

    def norm(self, x, name, fix_gamma=False, has_states=True):
        c = x[1].shape[1]
        g, b = self.param(f"{name}_gamma", c, least=0.5), self.param(f"{name}_beta", c, scale=0.1)
        mean = self.param(f"{name}_moving_mean", c, scale=0.1, kind="aux:")
        var = self.param(f"{name}_moving_var", c, least=0.5, kind="aux:")
        states = [mean[0], var[0]] if has_states else []
        node = self.net("BatchNorm", x[0], g[0], b[0], *states, name=name, eps=2e-5,
                        fix_gamma=fix_gamma)
        gamma = np.ones(c) if fix_gamma else g[1]
        return node, plain.batch_norm(x[1], gamma, b[1], mean[1], var[1], 2e-5)

    def relu(self, x, name=None):
        return self.net("Activation", x[0], name=name, act_type="relu"), np.maximum(x[1], 0)

    def pool(self, x, kernel, stride, kind="max", pad=0, convention="valid"):
        node = self.net("Pooling", x[0], kernel=(kernel,) * 2, stride=(stride,) * 2,
                        pad=(pad,) * 2, pool_type=kind, pooling_convention=convention)
        return node, plain.pool(x[1], (kernel,) * 2, kind, (stride,) * 2, (pad,) * 2, convention)

    def pool_all(self, x):
        node = self.net("Pooling", x[0], global_pool=True, kernel=(7, 7), pool_type="avg")
        return node, x[1].mean((2, 3), keepdims=True)

    def add(self, a, b, op="elemwise_add"):
        return self.net(op, a[0], b[0]), a[1] + b[1]

    def concat(self, *xs):
        node = self.net("Concat", *[x[0] for x in xs], num_args=len(xs), dim=1)
        return node, np.concatenate([x[1] for x in xs], 1)

    def dense(self, x, name, units):
        rows = x[1].reshape(x[1].shape[0], -1)
        w = self.param(f"{name}_weight", units, rows.shape[1], scale=rows.shape[1]**-0.5)
        b = self.param(f"{name}_bias", units, scale=0.1)
        node = self.net("FullyConnected", x[0], w[0], b[0], name=name, num_hidden=units)
        return node, rows @ w[1].T + b[1]

    def classify(self, x, op="SoftmaxOutput"):
        label = [self.net.variable("softmax_label")] if op == "SoftmaxOutput" else []
        self.net.output(self.net(op, x[0], *label, name="softmax"), plain.softmax(x[1]), 1e-4)
        return self.net


def resnet(b, widths=(8, 12), blocks=1, size=32, before=False):
    """ResNet: version 2, which normalizes before convolutions, with `before`."""
    x = b.data(1, 3, size, size, shape="(0, 3, 32, 32)")
    x = b.norm(x, "bn_data", fix_gamma=True) if before else x
    x = b.pool(b.relu(b.norm(b.conv(x, "conv0", widths[0], 7, 2), "bn0")), 3, 2, pad=1)
    for stage, width in enumerate(widths):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            name, first = f"stage{stage + 1}_unit{block + 1}", x
            if before:
                y = b.relu(b.norm(x, f"{name}_bn1"))
                short = b.conv(y, f"{name}_sc", width, 1, stride, 0) if stride > 1 else x
                y = b.conv(y, f"{name}_conv1", width, 3, stride)
                y = b.conv(b.relu(b.norm(y, f"{name}_bn2")), f"{name}_conv2", width)
                x = b.add(y, short, "_plus")
                continue
            y = b.relu(b.norm(b.conv(first, f"{name}_conv1", width, 3, stride), f"{name}_bn1"))
            y = b.norm(b.conv(y, f"{name}_conv2", width), f"{name}_bn2")
            if stride > 1:
                first = b.norm(b.conv(x, f"{name}_sc", width, 1, stride, 0), f"{name}_sc_bn")
            x = b.relu(b.add(y, first))
    if before:
        x = b.relu(b.norm(x, "bn1"))
    return b.classify(b.dense(b.pool_all(x), "fc1", 10))


def mobilenet(b):
    x = b.data(1, 3, 32, 32)
    x = b.relu(b.norm(b.conv(x, "conv1", 8, 3, 2), "conv1_bn"))
    for i, (width, stride) in enumerate([(8, 1), (12, 2), (12, 1)]):
        depth = x[1].shape[1]
        x = b.relu(b.norm(b.conv(x, f"dw{i}", depth, 3, stride, groups=depth), f"dw{i}_bn"))
        x = b.relu(b.norm(b.conv(x, f"sep{i}", width, 1), f"sep{i}_bn"))
    return b.classify(b.dense(b.pool_all(x), "fc7", 10))


def squeezenet(b):
    x = b.relu(b.conv(b.data(1, 3, 33, 33), "conv1", 8, 3, 2, 0, bias=True))
    x = b.pool(x, 3, 2, convention="full")
    for i in range(2):
        s = b.relu(b.conv(x, f"fire{i}_squeeze", 4, 1, bias=True))
        x = b.concat(b.relu(b.conv(s, f"fire{i}_e1", 6, 1, bias=True)),
                     b.relu(b.conv(s, f"fire{i}_e3", 6, 3, bias=True)))
    x = b.relu(b.conv(x, "conv10", 10, 1, bias=True))
    x = b.pool_all(x)
    return b.classify((b.net("Flatten", x[0]), x[1].reshape(1, -1)))


def vgg(b):
    x = b.data(2, 3, 16, 16)
    for i, width in enumerate((6, 8)):
        x = b.pool(b.relu(b.conv(x, f"conv{i}", width, bias=True)), 2, 2)
    x = b.relu(b.dense(x, "fc6", 20))
    x = b.net("Dropout", x[0], p=0.5), x[1]
    return b.classify(b.dense(x, "fc7", 10))


def densenet(b):
    x = b.conv(b.data(1, 3, 16, 16), "conv0", 8)
    for i in range(2):
        y = b.conv(b.relu(b.norm(x, f"bn{i}_1")), f"conv{i}_1", 8, 1)
        y = b.conv(b.relu(b.norm(y, f"bn{i}_2")), f"conv{i}_2", 4)
        x = b.concat(x, y)
    x = b.pool(b.conv(b.relu(b.norm(x, "tbn")), "tconv", 6, 1), 2, 2, "avg")
    return b.classify(b.dense(b.pool_all(x), "fc", 10), "softmax")


def ssd(b, classes=3):
    """Two scales of a single-shot detector, up to the selected boxes."""
    x = b.data(1, 3, 24, 24)
    x = b.relu(b.conv(x, "body", 6, 3, 2))
    scores, offsets, anchors = [], [], []
    for i, size in enumerate((0.3, 0.6)):
        x = b.relu(b.conv(x, f"scale{i}", 6, 3, 2))
        rows = x[1].shape[2]
        for parts, name, each in ((scores, "cls", classes + 1), (offsets, "loc", 4)):
            y = b.conv(x, f"{name}{i}", 2 * each, bias=True)
            node = b.net("Flatten", b.net("transpose", y[0], axes=(0, 2, 3, 1)))
            parts.append((node, y[1].transpose(0, 2, 3, 1).reshape(1, -1)))
        node = b.net("_contrib_MultiBoxPrior", x[0], sizes=(size, size + 0.1))
        middle = (np.arange(rows) + 0.5) / rows
        boxes = [(cx - s / 2, cy - s / 2, cx + s / 2, cy + s / 2)
                 for cy in middle for cx in middle for s in (size, size + 0.1)]
        anchors.append((b.net("Flatten", node), np.reshape(boxes, (1, -1))))
    scores, offsets, anchors = (b.concat(*parts) for parts in (scores, offsets, anchors))
    p = plain.softmax(scores[1].reshape(1, -1, classes + 1).transpose(0, 2, 1), 1)
    node = b.net("Reshape", scores[0], shape=(0, -1, classes + 1))
    node = b.net("SoftmaxActivation", b.net("transpose", node, axes=(0, 2, 1)), mode="channel")
    b.net.output(b.net("_contrib_MultiBoxDetection", node, offsets[0],
                       b.net("Reshape", anchors[0], shape=(0, -1, 4)), threshold=0.4,
                       nms_threshold=0.45, name="detection"),
                 [cases.detect(p[0], offsets[1].reshape(-1, 4), anchors[1].reshape(-1, 4),
                               0.4, 0.45, None)], 1e-4)
    return b.net


def unrolled_lstm(b, steps=3, batch=2, width=5, units=4):
    """mx.rnn.LSTMCell, unrolled: its first states have an unknown batch."""
    x = b.data(batch, steps, width)
    parts = b.net("SliceChannel", x[0], num_outputs=steps, axis=1, squeeze_axis=True)
    zeros = b.net("_zeros", shape=(0, units), name="lstm_begin_state_0")
    h, c = (zeros, np.zeros((batch, units))), (zeros, np.zeros((batch, units)))
    wi, wh = (b.param(f"lstm_{k}_weight", 4 * units, n, scale=0.5)
              for k, n in (("i2h", width), ("h2h", units)))
    bi, bh = (b.param(f"lstm_{k}_bias", 4 * units, scale=0.5) for k in ("i2h", "h2h"))
    for t in range(steps):
        i2h = b.net("FullyConnected", parts[t], wi[0], bi[0], num_hidden=4 * units)
        h2h = b.net("FullyConnected", h[0], wh[0], bh[0], num_hidden=4 * units)
        gates = b.net("SliceChannel", b.net("_Plus", i2h, h2h), num_outputs=4)
        sums = np.split(x[1][:, t] @ wi[1].T + bi[1] + h[1] @ wh[1].T + bh[1], 4, 1)
        i, f, o = (b.net("Activation", gates[k], act_type="sigmoid") for k in (0, 1, 3))
        g = b.net("Activation", gates[2], act_type="tanh")
        c = (b.net("_plus", b.net("_mul", f, c[0]), b.net("_mul", i, g)),
             plain.sigmoid(sums[1]) * c[1] + plain.sigmoid(sums[0]) * np.tanh(sums[2]))
        h = (b.net("_mul", o, b.net("Activation", c[0], act_type="tanh")),
             plain.sigmoid(sums[3]) * np.tanh(c[1]))
    b.net.output(h[0], h[1])
    b.net.output(c[0], c[1])
    return b.net


def bert_layer(b, steps=4, batch=2, heads=2, units=6):
    """A layer of GluonNLP's BERT: interleaved attention, then a GELU between dense layers."""
    width = heads * units
    x = b.data(steps, batch, width)

    def dense(v, name, n):
        w, bias = b.param(f"{name}_weight", n, v[1].shape[-1], scale=0.3), b.param(
            f"{name}_bias", n, scale=0.1)
        return b.net("FullyConnected", v[0], w[0], bias[0], num_hidden=n, flatten=False), \
            v[1] @ w[1].T + bias[1]

    def norm(v, name):
        g, s = b.param(f"{name}_gamma", width, least=0.5), b.param(f"{name}_beta", width)
        return b.net("LayerNorm", v[0], g[0], s[0], eps=1e-12), plain.standardize(
            v[1], 2, 1e-12) * g[1] + s[1]

    qkv = dense(x, "qkv", 3 * width)
    q, k, value = qkv[1].reshape(steps, batch * heads, 3, units).transpose(2, 1, 0, 3)
    scores = b.net("_contrib_interleaved_matmul_selfatt_qk", qkv[0], heads=heads)
    y = b.net("_contrib_interleaved_matmul_selfatt_valatt", qkv[0],
              b.net("softmax", scores, axis=-1), heads=heads)
    weights = plain.softmax(q @ k.transpose(0, 2, 1) / units**0.5)
    y = dense((y, (weights @ value).transpose(1, 0, 2).reshape(steps, batch, width)), "proj",
              width)
    x = norm(b.add(x, y), "ln1")
    y = dense(x, "ffn1", 2 * width)
    y = b.net("LeakyReLU", y[0], act_type="gelu"), y[1] / 2 * (
        1 + np.vectorize(math.erf)(y[1] / 2**0.5))
    x = norm(b.add(dense(y, "ffn2", width), x), "ln2")
    b.net.output(*x, 1e-4)
    return b.net


def onnx_twin(net, shape):
    """The ONNX model of the nodes of a ResNet of version 1, with the same parameters."""
    names, nodes, initializers = {}, [], []
    params = {name[4:]: array for name, array in net.params.items()}
    for name, array in params.items():
        initializers.append(onnx.numpy_helper.from_array(array, name))
    for i, node in enumerate(net.nodes):
        names[i] = node["name"] if node["op"] == "null" else f"{node['name']}_output"
        op, attributes = node["op"], node["attrs"]
        inputs = [names[j] for j, *_ in node["inputs"]]
        pair = {key: list(map(int, attributes[key].strip("()").split(",")))
                for key in ("kernel", "stride", "pad") if key in attributes}
        if op == "Convolution":
            made = helper.make_node("Conv", inputs, [names[i]], kernel_shape=pair["kernel"],
                                    strides=pair["stride"], pads=pair["pad"] * 2)
        elif op == "BatchNorm":
            made = helper.make_node("BatchNormalization", inputs, [names[i]], epsilon=2e-5)
        elif op == "Activation":
            made = helper.make_node("Relu", inputs, [names[i]])
        elif op == "Pooling" and "global_pool" in attributes:
            made = helper.make_node("GlobalAveragePool", inputs, [names[i]])
        elif op == "Pooling":
            made = helper.make_node("MaxPool", inputs, [names[i]], kernel_shape=pair["kernel"],
                                    strides=pair["stride"], pads=pair["pad"] * 2)
        elif op == "elemwise_add":
            made = helper.make_node("Add", inputs, [names[i]])
        elif op == "FullyConnected":
            nodes.append(helper.make_node("Flatten", inputs[:1], ["flat"]))
            made = helper.make_node("Gemm", ["flat", *inputs[1:]], [names[i]], transB=1)
        elif op == "SoftmaxOutput":
            made = helper.make_node("Softmax", inputs[:1], [names[i]], axis=-1)
        else:
            assert op == "null", op
            continue
        made.name = node["name"]
        nodes.append(made)
    graph = helper.make_graph(
        nodes, "twin", [helper.make_tensor_value_info("data", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("softmax_output", TensorProto.FLOAT, [1, 10])],
        initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def summarize(report):
    """A plan without the files that it came from."""
    return [(layer["name"], [(w["routine"], w["params"], w["layouts"])
                             for w in layer["alternatives"] if w["chosen"]])
            for layer in report["layers"]]


class NetworksTest(unittest.TestCase):
    def check(self, net, **saving):
        with tempfile.TemporaryDirectory() as folder:
            running.check(self, net, pathlib.Path(folder), **saving)

    def test_resnet_v1(self):
        for version, layout in ((800, "legacy"), (10901, "v3")):
            self.check(resnet(Builder(1, version)), layout=layout)

    def test_resnet_v2(self):
        self.check(resnet(Builder(2, 10000), before=True), layout="v1")

    def test_mobilenet(self):
        self.check(mobilenet(Builder(3)), layout="v2")

    def test_squeezenet(self):
        self.check(squeezenet(Builder(4, 904)), layout="legacy")

    def test_vgg(self):
        self.check(vgg(Builder(5)), prefixes=False)

    def test_densenet(self):
        self.check(densenet(Builder(6)))

    def test_ssd(self):
        self.check(ssd(Builder(14, 10000)))

    def test_unrolled_lstm(self):
        self.check(unrolled_lstm(Builder(7, 905)), layout="v1")

    def test_bert_layer(self):
        self.check(bert_layer(Builder(8)))

    def test_states_that_are_no_inputs(self):
        b = Builder(9, 800)
        x = b.norm(b.data(1, 3, 4, 4), "bn", has_states=False)
        # The parameters of states are in the file, without nodes.
        b.net.nodes = [n for n in b.net.nodes if "moving" not in n["name"]]
        b.net.nodes[-1]["inputs"] = [[0, 0], [1, 0], [2, 0]]
        b.net.output(symbols.Ref(len(b.net.nodes) - 1), x[1])
        self.check(b.net, layout="legacy")

    def test_old_argmax_is_of_all(self):
        net = symbols.Net(904)
        x = np.random.default_rng(10).normal(0, 1, (3, 4)).astype(np.float32)
        net.output(net("argmax", net.data(x), axis=-1), [x.argmax()])
        self.check(net)

    def test_halves(self):
        net = symbols.Net()
        random = np.random.default_rng(11)
        x, w = (random.normal(0, 1, s).astype(np.float32) for s in ((2, 9), (5, 9)))
        halves = w.astype(np.float16)
        y = net("FullyConnected", net("Cast", net.data(x), dtype="float16"), halves,
                no_bias=True, num_hidden=5)
        net.output(net("Cast", y, dtype="float32"), x @ halves.astype(np.float32).T)
        self.check(net)

    def test_custom_operator(self):
        net = symbols.Net()
        x = np.random.default_rng(13).normal(0, 1, (2, 5)).astype(np.float32)
        net.output(net("my_scale", net.data(x), factor="3"), 3 * x)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "my_scale.h").write_text("""#include "nnc_custom.h"
static void my_scale(const struct nnc_operator *op, const void *const *inputs,
                     void *const *outputs, void *scratch) {
  int32_t i;
  (void)scratch;
  for (i = 0; i < op->inputs[0].elements; ++i)
    ((float *)outputs[0])[i] =
        ((const float *)inputs[0])[i] * (float)(op->attributes[0].text[0] - '0');
}
""")
            running.check(self, net, folder, f"--custom=my_scale:{folder / 'my_scale.h'}")

    def test_plan_is_that_of_onnx(self):
        # The layers of ResNet-18 on a small image.
        net = resnet(Builder(12), widths=(64, 128, 256, 512), blocks=2)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            path = net.save(folder)
            twin = folder / "net.onnx"
            onnx.save(onnx_twin(net, [1, 3, 32, 32]), twin)
            plans = []
            for model, options in ((path, running.shapes(net)), (twin, [])):
                code, said = running.nnc("explain", model, *options, "--json",
                                         "--target=x86-64-v3")
                self.assertEqual(code, 0, said)
                plans.append(summarize(json.loads(said)))
        self.assertEqual(plans[0], plans[1])
        self.assertGreater(len(plans[0]), 20)


if __name__ == "__main__":
    unittest.main()
