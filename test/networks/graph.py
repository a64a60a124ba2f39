"""Writes ONNX graphs the way exporters do: names by scope, Constant nodes for
scalars, BatchNormalization beside its convolution.

Weights are seeded by name. Statistics are not drawn but measured: a network is
built twice. The first build, for calibration, normalizes the output of every
linear layer over a batch of inputs and hands out mean and variance; the second
build writes them as BatchNormalization's running statistics, or folds them into
the weights of a layer without one. So activations stay near 1 at any depth, and
different inputs have different labels, as in a trained network.

Random networks are chaotic: at each layer a rounding error grows with the
differences between inputs. Two things that training brings about keep it small:
most activations lie in the linear part of ReLU (SHIFT), and a residual block
changes its input only a little (RESIDUAL_GAIN).
"""

import contextlib
import dataclasses
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

EPSILON = 1e-5
SHIFT, RESIDUAL_GAIN = 0.5, 0.3
# A layer without normalization scales by its output's deviation, but no more than
# its mean allows: where inputs hardly differ, the difference is not blown up.
MEAN_SHARE = 0.25


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor of the graph; channels is the size of axis 1 (or of the last axis
    where a layer says so)."""

    name: str
    channels: int = 0


class Graph:
    def __init__(self, name, opset=17, statistics=None, seed=0):
        self.name = name
        self.opset = opset
        self.seed = seed
        self.statistics = statistics
        self.mean_share = MEAN_SHARE
        self.nodes, self.initializers = [], []
        self.inputs, self.outputs, self.measured = [], [], []
        self._scope, self._names = [], {}

    # -- names ---------------------------------------------------------------

    @contextlib.contextmanager
    def at(self, part):
        """Names within the block start with part, as a module's do in PyTorch."""
        self._scope.append(part)
        yield
        self._scope.pop()

    def parameter_name(self, leaf):
        return ".".join([*self._scope, leaf])

    def _node_name(self, op_type):
        base = "/" + "/".join([*self._scope, op_type])
        count = self._names.get(base, 0)
        self._names[base] = count + 1
        return base if count == 0 else f"{base}_{count}"

    # -- the graph's parts -----------------------------------------------------

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return Value(name, shape[1] if isinstance(shape[1], int) else 0)

    def output(self, value, name, shape, dtype=TensorProto.FLOAT):
        """Gives value the name that the graph shows to its users."""
        for node in self.nodes:
            for i, output in enumerate(node.output):
                if output == value.name:
                    node.output[i] = name
            for i, used in enumerate(node.input):
                if used == value.name:
                    node.input[i] = name
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def initializer(self, leaf, array):
        name = self.parameter_name(leaf)
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return Value(name)

    def random(self, leaf):
        """A generator of its own for the parameter called leaf in this scope."""
        key = zlib.crc32(self.parameter_name(leaf).encode())
        return np.random.default_rng([self.seed, key])

    def op(self, op_type, *inputs, channels=None, outputs=1, **attributes):
        """One node; its output keeps the channels of the first input unless told."""
        name = self._node_name(op_type)
        results = [f"{name}_output_{i}" for i in range(outputs)]
        names = [value.name if value else "" for value in inputs]
        self.nodes.append(helper.make_node(op_type, names, results, name, **attributes))
        if channels is None:
            channels = inputs[0].channels if inputs else 0
        values = [Value(result, channels) for result in results]
        return values[0] if outputs == 1 else values

    def constant(self, value, dtype=np.float32):
        return self.op("Constant", value=numpy_helper.from_array(np.array(value, dtype)))

    def integers(self, *values):
        return self.constant(values, np.int64)

    # -- ops whose form depends on the opset -----------------------------------

    def reduce_mean(self, x, axes, keepdims=1):
        if self.opset >= 18:
            return self.op("ReduceMean", x, self.integers(*axes), keepdims=keepdims)
        return self.op("ReduceMean", x, axes=list(axes), keepdims=keepdims)

    def unsqueeze(self, x, axis):
        if self.opset >= 13:
            return self.op("Unsqueeze", x, self.integers(axis))
        return self.op("Unsqueeze", x, axes=[axis])

    # -- layers ------------------------------------------------------------------

    def conv(self, x, leaf, channels, kernel, stride=1, pad=None, groups=1, bias=False,
             dilation=1):
        """A convolution; without bias it is for a batch_norm() to follow."""
        kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
        ph, pw = (((kh - 1) * dilation // 2, (kw - 1) * dilation // 2) if pad is None
                  else (pad, pad) if isinstance(pad, int) else pad)
        fan_in = x.channels // groups * kh * kw
        shape = (channels, x.channels // groups, kh, kw)
        attributes = dict(dilations=[dilation] * 2, group=groups, kernel_shape=[kh, kw],
                          pads=[ph, pw, ph, pw], strides=[stride] * 2)
        with self.at(leaf):
            weight = self._normal("weight", shape, np.sqrt(2 / fan_in))
            if groups == x.channels:
                weight += np.float32(np.sqrt(2 / fan_in))  # they smooth, by and large
            operands = self._weights(weight, bias, axis=0)
            y = self.op("Conv", x, *operands, channels=channels, **attributes)
            return self._measure(y, (0, 2, 3)) if bias else y

    def linear(self, x, leaf, features, activation_follows=True):
        """Gemm with transB, as nn.Linear is written for rank 2."""
        gain = 2 if activation_follows else 1
        with self.at(leaf):
            weight = self._normal("weight", (features, x.channels), np.sqrt(gain / x.channels))
            operands = self._weights(weight, True, axis=0)
            y = self.op("Gemm", x, *operands, channels=features, alpha=1.0, beta=1.0, transB=1)
            return self._measure(y, (0,))

    def batch_norm(self, x, leaf, residual=False):
        """residual: it ends the branch of a residual block."""
        gain, shift = (RESIDUAL_GAIN, 0) if residual else (1, SHIFT)
        with self.at(leaf):
            scale = gain * self.random("weight").uniform(0.75, 1.25, x.channels)
            bias = shift + 0.2 * gain * self.random("bias").standard_normal(x.channels)
            scale = self.initializer("weight", scale.astype(np.float32))
            bias = self.initializer("bias", bias.astype(np.float32))
            if self.statistics is None:
                y = self._measure(x, (0, 2, 3), mean_share=0.0)
                per_channel = [self.op("Reshape", p, self.integers(1, -1, 1, 1))
                               for p in (scale, bias)]
                y = self.op("Mul", y, per_channel[0])
                return self.op("Add", y, per_channel[1])
            mean, variance = self._statistics()
            mean = self.initializer("running_mean", mean)
            variance = self.initializer("running_var", variance)
            return self.op("BatchNormalization", x, scale, bias, mean, variance,
                           epsilon=EPSILON, momentum=0.9)

    def conv_bn(self, x, leaf, channels, kernel, names=("conv", "bn"), residual=False, **how):
        with self.at(leaf) if leaf else contextlib.nullcontext():
            y = self.conv(x, names[0], channels, kernel, **how)
            return self.batch_norm(y, names[1], residual)

    def relu(self, x):
        return self.op("Relu", x)

    def relu6(self, x):
        return self.op("Clip", x, self.constant(0.0), self.constant(6.0))

    def max_pool(self, x, kernel, stride, pad=0, ceil_mode=0):
        return self.op("MaxPool", x, ceil_mode=ceil_mode, kernel_shape=[kernel] * 2,
                       pads=[pad] * 4, strides=[stride] * 2)

    def average_pool(self, x, kernel, stride, pad=0, count_include_pad=0):
        return self.op("AveragePool", x, count_include_pad=count_include_pad,
                       kernel_shape=[kernel] * 2, pads=[pad] * 4, strides=[stride] * 2)

    def concat(self, values, axis=1):
        channels = sum(v.channels for v in values) if axis == 1 else values[0].channels
        return self.op("Concat", *values, axis=axis, channels=channels)

    def size(self, x, axis):
        """One dim of x as a vector of one: Shape, Gather, Unsqueeze."""
        dim = self.op("Gather", self.op("Shape", x), self.constant(axis, np.int64), axis=0)
        return self.unsqueeze(dim, 0)

    def view(self, x, dims, channels=None):
        """x.view(...): a dim that is a Value is one of size()."""
        if all(isinstance(dim, int) for dim in dims):
            shape = self.integers(*dims)
        else:
            parts = [self.integers(d) if isinstance(d, int) else d for d in dims]
            shape = self.op("Concat", *parts, axis=0)
        return self.op("Reshape", x, shape, channels=channels)

    def flatten(self, x, features):
        return self.op("Flatten", x, axis=1, channels=features)

    def view_flatten(self, x, features):
        """x.view(x.size(0), -1), with the chain of shape ops it leaves behind."""
        return self.view(x, (self.size(x, 0), -1), channels=features)

    # -- weights and statistics ------------------------------------------------

    def _normal(self, leaf, shape, deviation):
        weight = self.random(leaf).standard_normal(shape, np.float32)
        return weight * np.float32(deviation)

    def _statistics(self):
        key = self.parameter_name("output")
        return self.statistics[key + ".mean"], self.statistics[key + ".variance"]

    def _weights(self, weight, bias, axis):
        """The initializers of a linear layer; with a bias, its measured statistics
        are folded into them."""
        if not bias:
            return [self.initializer("weight", weight)]
        if self.statistics is None:
            return [self.initializer("weight", weight)]
        mean, variance = self._statistics()
        scale = 1 / np.sqrt(variance + self.mean_share * mean ** 2 + EPSILON)
        shape = [-1 if i == axis else 1 for i in range(weight.ndim)]
        jitter = 0.1 * self.random("bias").standard_normal(len(mean))
        return [self.initializer("weight", (weight * scale.reshape(shape)).astype(np.float32)),
                self.initializer("bias", (jitter - mean * scale).astype(np.float32))]

    def _measure(self, x, axes, mean_share=None):
        """While calibrating: x normalized over axes, its statistics handed out."""
        if self.statistics is not None:
            return x
        if mean_share is None:
            mean_share = self.mean_share
        key = self.parameter_name("output")
        mean = self.reduce_mean(x, axes)
        centred = self.op("Sub", x, mean, channels=x.channels)
        variance = self.reduce_mean(self.op("Mul", centred, centred), axes)
        for value, what in ((mean, ".mean"), (variance, ".variance")):
            flat = self.op("Reshape", value, self.integers(-1))
            self.output(flat, key + what, [x.channels])
            self.measured.append(key + what)
        square = self.op("Mul", self.op("Mul", mean, mean), self.constant(mean_share))
        square = self.op("Add", self.op("Add", variance, square), self.constant(EPSILON))
        deviation = self.op("Sqrt", square)
        return self.op("Div", centred, deviation, channels=x.channels)

    # -- the result --------------------------------------------------------------

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs,
                                  self.initializers)
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="nnc test networks",
                                  ir_version=8)
        onnx.checker.check_model(model)
        return model
