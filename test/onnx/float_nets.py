"""Small float networks with seeded weights, of the families to which torchvision's models and
transformers belong, for tests of quantizers. Averages have windows with an odd number of
elements. Those of an even number often lie halfway between two integers, and their rounding
then depends on the order of additions, which differs between engines."""

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Net:
    """A float network, built from its inputs on: x of floats, and ids of integers."""

    def __init__(self, random, shape=None, ids=None, words=0, opset=17):
        self.random, self.opset = random, opset
        self.shapes = {"x": shape} if shape else {"ids": ids}
        self.words = words
        self.nodes, self.weights = [], []

    def feeds(self, random):
        if self.words:
            return {"ids": random.integers(0, self.words, self.shapes["ids"])}
        return {"x": random.standard_normal(self.shapes["x"]).astype(np.float32)}

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def normal(self, shape, deviation=1.0, mean=0.0):
        values = mean + deviation * self.random.standard_normal(shape)
        return self.weight(values.astype(np.float32))

    def scalar(self, value):
        return self.weight(np.float32(value))

    def add(self, op, *operands, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, operands, names, names[0], **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, channels, filters, kernel=3, group=1, stride=1, op="Conv", rank=2,
             bias=True, **how):
        fan = channels // group * kernel ** rank
        shape = ((filters, channels // group) if op == "Conv" else
                 (channels, filters // group)) + (kernel,) * rank
        parts = [x, self.normal(shape, fan ** -0.5)]
        if bias:
            parts.append(self.normal(filters, 0.1))
        how.setdefault("pads", [kernel // 2] * 2 * rank)
        return self.add(op, *parts, strides=[stride] * rank, group=group, **how)

    def norm(self, x, channels):
        """A batch normalization."""
        variance = self.weight(self.random.uniform(0.5, 2, channels).astype(np.float32))
        return self.add("BatchNormalization", x, self.normal(channels, 0.2, 1),
                        self.normal(channels, 0.2), self.normal(channels, 0.2), variance)

    def linear(self, x, rows, columns):
        y = self.add("MatMul", x, self.normal((rows, columns), rows ** -0.5))
        return self.add("Add", y, self.normal(columns, 0.1))

    def layer_norm(self, x, width):
        return self.add("LayerNormalization", x, self.normal(width, 0.1, 1),
                        self.normal(width, 0.1), axis=-1)

    def reshape(self, x, *shape):
        return self.add("Reshape", x, self.weight(np.int64(shape)))

    def classify(self, x, channels, classes=10):
        x = self.add("Flatten", self.add("GlobalAveragePool", x))
        return self.add("Gemm", x, self.normal((classes, channels), channels ** -0.5),
                        self.normal(classes, 0.5), transB=1)

    def save(self, path, *outputs):
        inputs = [helper.make_tensor_value_info(name, 7 if self.words else 1, shape)
                  for name, shape in self.shapes.items()]
        graph = helper.make_graph(
            self.nodes, "net", inputs,
            [helper.make_empty_tensor_value_info(name) for name in outputs], self.weights)
        model = helper.make_model(graph, ir_version=9,
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        onnx.save(onnx.shape_inference.infer_shapes(model), path)


def plain(random, path):
    """Convolutions, pools, two dense layers, as in VGG."""
    net = Net(random, (1, 3, 24, 24))
    x = "x"
    for channels, filters in ((3, 16), (16, 24), (24, 40)):
        x = net.add("Relu", net.conv(x, channels, filters))
        x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("Flatten", x)
    x = net.add("Relu", net.add("Gemm", x, net.normal((64, 360), 360 ** -0.5),
                                net.normal(64, 0.1), transB=1))
    net.save(path, net.add("Gemm", x, net.normal((10, 64), 0.125), net.normal(10, 0.5), transB=1))
    return net


def residual(random, path):
    """ResNet's basic blocks, with batch norms of their own."""
    net = Net(random, (1, 3, 20, 20))
    x = net.add("Relu", net.norm(net.conv("x", 3, 16, kernel=7, stride=2, bias=False), 16))
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
    for channels, filters, stride in ((16, 16, 1), (16, 32, 2)):
        y = net.add("Relu", net.norm(net.conv(x, channels, filters, stride=stride, bias=False),
                                     filters))
        y = net.norm(net.conv(y, filters, filters, bias=False), filters)
        if stride > 1:
            x = net.norm(net.conv(x, channels, filters, kernel=1, stride=stride), filters)
        x = net.add("Relu", net.add("Add", y, x))
    net.save(path, x, net.classify(x, 32))
    return net


def inverted(random, path):
    """MobileNet v2: depthwise layers between 1 x 1 ones, ReLU6."""
    net = Net(random, (1, 3, 16, 16))
    bounds = net.scalar(0), net.scalar(6)
    x = net.add("Clip", net.conv("x", 3, 16, stride=2), *bounds)
    for channels, filters, kernel, stride in ((16, 16, 3, 1), (16, 24, 3, 2), (24, 24, 5, 1)):
        y = net.add("Clip", net.conv(x, channels, 3 * channels, kernel=1), *bounds)
        y = net.add("Clip", net.conv(y, 3 * channels, 3 * channels, kernel, 3 * channels, stride),
                    *bounds)
        y = net.conv(y, 3 * channels, filters, kernel=1)
        x = net.add("Add", x, y) if channels == filters else y
    net.save(path, x, net.classify(x, 24))
    return net


def squeezing(random, path):
    """MobileNet v3: squeeze and excitation, hard swish and hard sigmoid."""
    net = Net(random, (1, 3, 16, 16))
    x = net.add("HardSwish", net.conv("x", 3, 16))
    y = net.add("HardSwish", net.conv(x, 16, 48, kernel=1))
    y = net.add("HardSwish", net.conv(y, 48, 48, 5, 48))
    gate = net.add("GlobalAveragePool", y)
    gate = net.add("Relu", net.conv(gate, 48, 12, kernel=1))
    gate = net.add("HardSigmoid", net.conv(gate, 12, 48, kernel=1), alpha=1 / 6)
    y = net.conv(net.add("Mul", y, gate), 48, 16, kernel=1)
    x = net.add("Add", x, y)
    gate = net.add("ReduceMean", x, axes=[2, 3], keepdims=1)
    gate = net.add("Sigmoid", net.conv(gate, 16, 16, kernel=1))
    x = net.add("Mul", gate, x)
    net.save(path, x, net.classify(x, 16))
    return net


def inception(random, path):
    """Branches of several kernels, an average pool, a concat."""
    net = Net(random, (1, 8, 13, 13))
    x = net.add("Relu", net.conv("x", 8, 24))
    for channels in (24, 56):
        a = net.add("Relu", net.conv(x, channels, 16, kernel=1))
        b = net.add("Relu", net.conv(net.add("Relu", net.conv(x, channels, 12, 1)), 12, 16, 3))
        c = net.add("Relu", net.conv(x, channels, 12, kernel=5))
        d = net.add("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4,
                    count_include_pad=1)
        d = net.add("Relu", net.conv(d, channels, 12, kernel=1))
        x = net.add("Concat", a, b, c, d, axis=1)
    y = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    z = net.add("Relu", net.conv(x, 56, 20, stride=2, pads=[0] * 4))
    x = net.add("Concat", y, z, axis=1)
    net.save(path, x, net.classify(x, 76))
    return net


def dense(random, path):
    """DenseNet: a batch norm before each convolution, concats of all before."""
    net = Net(random, (1, 3, 12, 12))
    x, channels = net.conv("x", 3, 16), 16
    for _ in range(3):
        y = net.add("Relu", net.norm(x, channels))
        y = net.conv(y, channels, 24, kernel=1, bias=False)
        y = net.conv(net.add("Relu", net.norm(y, 24)), 24, 8, bias=False)
        x, channels = net.add("Concat", x, y, axis=1), channels + 8
    x = net.conv(net.add("Relu", net.norm(x, channels)), channels, 20, kernel=1, bias=False)
    x = net.add("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2])
    net.save(path, x, net.classify(x, 20))
    return net


def fire(random, path):
    """SqueezeNet's modules; the classifier is a convolution."""
    net = Net(random, (1, 3, 17, 17))
    x = net.add("Relu", net.conv("x", 3, 16, stride=2, pads=[0] * 4))
    for channels, squeezed, expanded in ((16, 8, 16), (32, 12, 24)):
        y = net.add("Relu", net.conv(x, channels, squeezed, kernel=1))
        a = net.add("Relu", net.conv(y, squeezed, expanded, kernel=1))
        b = net.add("Relu", net.conv(y, squeezed, expanded))
        x = net.add("Concat", a, b, axis=1)
        x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1])
    x = net.add("Dropout", x)
    x = net.add("Relu", net.conv(x, 48, 10, kernel=1))
    net.save(path, net.add("Flatten", net.add("GlobalAveragePool", x)))
    return net


def shuffle(random, path):
    """ShuffleNet v2: channels are split, joined and shuffled; grouped convolutions."""
    net = Net(random, (1, 3, 12, 12))
    x = net.add("Relu", net.conv("x", 3, 32))
    for _ in range(2):
        low, high = net.add("Split", x, outputs=2, axis=1)
        y = net.add("Relu", net.conv(high, 16, 16, kernel=1))
        y = net.add("Relu", net.conv(net.conv(y, 16, 16, group=16), 16, 16, kernel=1, group=2))
        x = net.reshape(net.add("Concat", low, y, axis=1), 1, 2, 16, 12, 12)
        x = net.reshape(net.add("Transpose", x, perm=[0, 2, 1, 3, 4]), 1, 32, 12, 12)
    x = net.add("ReduceMean", x, axes=[2, 3], keepdims=0)
    net.save(path, net.linear(x, 32, 10))
    return net


def unet(random, path):
    """A way down and a way up, by a resize and by a transposed convolution."""
    net = Net(random, (1, 3, 16, 16))
    a = net.add("Relu", net.conv("x", 3, 12))
    b = net.add("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2])
    b = net.add("Relu", net.conv(b, 12, 24))
    c = net.add("MaxPool", b, kernel_shape=[2, 2], strides=[2, 2])
    c = net.add("LeakyRelu", net.conv(c, 24, 32), alpha=0.1)
    up = net.conv(c, 32, 16, kernel=2, stride=2, op="ConvTranspose", pads=[0] * 4)
    b = net.add("Relu", net.conv(net.add("Concat", up, b, axis=1), 40, 16))
    up = net.add("Resize", b, "", net.weight(np.float32([1, 1, 2, 2])), mode="linear",
                 coordinate_transformation_mode="half_pixel")
    a = net.add("Relu", net.conv(net.add("Concat", up, a, axis=1), 28, 8))
    up = net.add("Resize", c, "", net.weight(np.float32([1, 1, 4, 4])), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    a = net.add("Concat", a, up, axis=1)
    net.save(path, net.conv(a, 40, 5, kernel=1))
    return net


def sound(random, path):
    """A stack of 1-D convolutions with dilations and gates, as for sound."""
    net = Net(random, (1, 8, 64))
    x = net.conv("x", 8, 16, kernel=1, rank=1)
    for dilation in (1, 2, 4):
        y = net.conv(x, 16, 32, rank=1, dilations=[dilation], pads=[dilation] * 2)
        a, b = net.add("Split", y, outputs=2, axis=1)
        y = net.add("Mul", net.add("Tanh", a), net.add("Sigmoid", b))
        x = net.add("Add", x, net.conv(y, 16, 16, kernel=1, rank=1))
    x = net.add("Relu", x)
    x = net.conv(x, 16, 24, kernel=5, rank=1, stride=2)
    net.save(path, net.linear(net.add("ReduceMean", x, axes=[2], keepdims=0), 24, 10))
    return net


def sequence(random, path):
    """A recognizer of the letters in a line of text, without a recurrent layer."""
    net = Net(random, (1, 3, 6, 40))
    x = net.add("HardSwish", net.conv("x", 3, 16, stride=2))
    x = net.add("HardSwish", net.conv(x, 16, 16, group=16))
    x = net.add("Relu", net.conv(x, 16, 32, kernel=1))
    x = net.add("AveragePool", x, kernel_shape=[3, 1], strides=[3, 1])
    x = net.add("Transpose", net.add("Squeeze", x, net.weight(np.int64([2]))), perm=[0, 2, 1])
    x = net.add("Add", x, net.linear(net.add("Relu", net.linear(x, 32, 48)), 48, 32))
    net.save(path, net.add("Softmax", net.linear(x, 32, 20), axis=2))
    return net


def attention(net, x, tokens, width, heads=4, mask=None):
    def split(x):
        return net.reshape(x, 1, tokens, heads, width // heads)

    q, k, v = (split(net.linear(x, width, width)) for _ in range(3))
    q = net.add("Transpose", q, perm=[0, 2, 1, 3])
    k = net.add("Transpose", k, perm=[0, 2, 3, 1])
    v = net.add("Transpose", v, perm=[0, 2, 1, 3])
    scores = net.add("Div", net.add("MatMul", q, k), net.scalar((width // heads) ** 0.5))
    if mask is not None:
        scores = net.add("Add", scores, net.weight(mask))
    y = net.add("MatMul", net.add("Softmax", scores, axis=-1), v)
    y = net.reshape(net.add("Transpose", y, perm=[0, 2, 1, 3]), 1, tokens, width)
    return net.linear(y, width, width)


def gelu(net, x):
    erf = net.add("Erf", net.add("Div", x, net.scalar(2 ** 0.5)))
    y = net.add("Mul", x, net.add("Add", erf, net.scalar(1)))
    return net.add("Mul", y, net.scalar(0.5))


def encoder(random, path, tokens=12, width=32):
    """One layer of a transformer with layer norms first."""
    net = Net(random, (1, tokens, width))
    x = net.add("Add", "x", attention(net, net.layer_norm("x", width), tokens, width))
    y = net.linear(gelu(net, net.linear(net.layer_norm(x, width), width, 4 * width)),
                   4 * width, width)
    x = net.add("ReduceMean", net.layer_norm(net.add("Add", x, y), width), axes=[1], keepdims=0)
    net.save(path, net.linear(x, width, 10))
    return net


def bert(random, path, tokens=10, width=32, words=50):
    """Embeddings of words and positions, layer norms last, and a pooler."""
    net = Net(random, ids=(1, tokens), words=words)
    x = net.add("Gather", net.normal((words, width)), "ids")
    x = net.layer_norm(net.add("Add", x, net.normal((1, tokens, width), 0.3)), width)
    for _ in range(2):
        x = net.layer_norm(net.add("Add", x, attention(net, x, tokens, width)), width)
        y = net.linear(gelu(net, net.linear(x, width, 2 * width)), 2 * width, width)
        x = net.layer_norm(net.add("Add", x, y), width)
    first = net.add("Gather", x, net.weight(np.int64(0)), axis=1)
    net.save(path, net.linear(net.add("Tanh", net.linear(first, width, width)), width, 10))
    return net


def decoder(random, path, tokens=8, width=32, words=40):
    """A block of a language model: causal attention, RMS norms and gated SiLU."""
    net = Net(random, ids=(1, tokens), words=words)

    def rms(x):
        mean = net.add("ReduceMean", net.add("Mul", x, x), axes=[-1], keepdims=1)
        root = net.add("Sqrt", net.add("Add", mean, net.scalar(1e-6)))
        return net.add("Mul", net.add("Div", x, root), net.normal(width, 0.1, 1))

    x = net.add("Gather", net.normal((words, width)), "ids")
    mask = np.triu(np.full((tokens, tokens), -10, np.float32), 1)
    x = net.add("Add", x, attention(net, rms(x), tokens, width, mask=mask))
    y = rms(x)
    gate, up = net.linear(y, width, 48), net.linear(y, width, 48)
    y = net.add("Mul", net.add("Mul", gate, net.add("Sigmoid", gate)), up)
    x = net.add("Add", x, net.linear(y, 48, width))
    net.save(path, net.add("MatMul", rms(x), net.normal((width, words), width ** -0.5)))
    return net


def mixer(random, path, tokens=16, width=24):
    """An MLP mixer: dense layers along tokens and along channels."""
    net = Net(random, (1, 3, 16, 16))
    x = net.conv("x", 3, width, kernel=4, stride=4, pads=[0] * 4)
    x = net.add("Transpose", net.reshape(x, 1, width, tokens), perm=[0, 2, 1])
    y = net.add("Transpose", net.layer_norm(x, width), perm=[0, 2, 1])
    y = net.linear(gelu(net, net.linear(y, tokens, 32)), 32, tokens)
    x = net.add("Add", x, net.add("Transpose", y, perm=[0, 2, 1]))
    y = net.linear(gelu(net, net.linear(net.layer_norm(x, width), width, 64)), 64, width)
    x = net.add("ReduceMean", net.add("Add", x, y), axes=[1], keepdims=0)
    net.save(path, net.linear(x, width, 10))
    return net


def vision(random, path, width=32, tokens=17):
    """A vision transformer: patches, a token for the class, one layer."""
    net = Net(random, (1, 3, 16, 16))
    x = net.reshape(net.conv("x", 3, width, kernel=4, stride=4, pads=[0] * 4), 1, width, 16)
    x = net.add("Concat", net.normal((1, 1, width)),
                net.add("Transpose", x, perm=[0, 2, 1]), axis=1)
    x = net.add("Add", x, net.normal((1, tokens, width), 0.3))
    x = net.add("Add", x, attention(net, net.layer_norm(x, width), tokens, width))
    y = net.linear(gelu(net, net.linear(net.layer_norm(x, width), width, 64)), 64, width)
    x = net.layer_norm(net.add("Add", x, y), width)
    first = net.add("Slice", x, *(net.weight(np.int64([i])) for i in (0, 1, 1)))
    net.save(path, net.linear(net.reshape(first, 1, width), width, 10))
    return net


FAMILIES = {make.__name__: make for make in (
    plain, residual, inverted, squeezing, inception, dense, fire, shuffle, unet, sound,
    sequence, encoder, bert, decoder, mixer, vision)}
