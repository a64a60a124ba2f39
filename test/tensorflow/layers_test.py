#!/usr/bin/env python3
"""Tests operators of TensorFlow against NumPy, on graphs of many of them at a time."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tflite"))
import running  # noqa: E402
import writer
from writer import Function, Type

RANDOM = np.random.default_rng(5)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def pads_of(size, kernel, stride, dilation, padding):
    if padding == "VALID":
        return 0, 0
    extent = (kernel - 1) * dilation + 1
    total = max((-(-size // stride) - 1) * stride + extent - size, 0)
    return total // 2, total - total // 2


def windows(x, kernel, strides, dilations, padding, value=0.0):
    """The windows of an NHWC image: N, rows, columns, kernel height, kernel width, C."""
    pads = [(0, 0)] + [pads_of(x.shape[1 + i], kernel[i], strides[i], dilations[i], padding)
                       if isinstance(padding, str) else padding[i] for i in (0, 1)] + [(0, 0)]
    x = np.pad(x, pads, constant_values=value)
    rows, columns = ((x.shape[1 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
                     for i in (0, 1))
    out = np.empty((x.shape[0], rows, columns, *kernel, x.shape[3]), x.dtype)
    for i in range(rows):
        for j in range(columns):
            y0, x0 = i * strides[0], j * strides[1]
            out[:, i, j] = x[:, y0:y0 + (kernel[0] - 1) * dilations[0] + 1:dilations[0],
                             x0:x0 + (kernel[1] - 1) * dilations[1] + 1:dilations[1]]
    return out


def conv(x, w, strides=(1, 1), dilations=(1, 1), padding="VALID"):
    groups = x.shape[3] // w.shape[2]
    each = w.shape[3] // groups
    parts = windows(x, w.shape[:2], strides, dilations, padding)
    return np.concatenate(
        [np.einsum("nhwijc,ijck->nhwk",
                   parts[..., g * w.shape[2]:(g + 1) * w.shape[2]].astype(np.float64),
                   w[..., g * each:(g + 1) * each]) for g in range(groups)],
        axis=3)


def conv_backward(w, y, sizes, strides, padding):
    """The gradient of conv with respect to its input of shape `sizes`."""
    pads = [pads_of(sizes[1 + i], w.shape[i], strides[i], 1, padding) for i in (0, 1)]
    x = np.zeros((sizes[0], sizes[1] + sum(pads[0]), sizes[2] + sum(pads[1]), sizes[3]))
    for i in range(y.shape[1]):
        for j in range(y.shape[2]):
            a, b = i * strides[0], j * strides[1]
            x[:, a:a + w.shape[0], b:b + w.shape[1]] += np.einsum(
                "nk,ijck->nijc", y[:, i, j].astype(np.float64), w)
    return x[:, pads[0][0]:pads[0][0] + sizes[1], pads[1][0]:pads[1][0] + sizes[2]]


class Net(writer.Graph):
    """A graph with what its outputs have to be."""

    def __init__(self):
        super().__init__()
        self.feeds, self.wanted = {}, {}

    def feed(self, array):
        name = f"in{len(self.feeds)}"
        self.feeds[name] = array
        return self.placeholder(name, array.dtype.name, array.shape)

    def check(self, wanted, op, *inputs, result="", **attributes):
        """Adds a node, of whose result the elements have to be `wanted`."""
        node = self.node(op, *inputs, **attributes)
        name = f"out{len(self.wanted)}"
        self.node("Identity", node + result, name=name)
        self.wanted[name] = (op, np.asarray(wanted))


class LayersTest(unittest.TestCase):
    def run_sizes(self, net, shape, x, want):
        """Runs a net whose input x has sizes that vary."""
        with tempfile.TemporaryDirectory() as folder:
            path = net.save(pathlib.Path(folder, "net.pb"))
            (got,) = running.run(path, [("x", x)], folder, "--shape", shape)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)

    def run_net(self, net, counts=0):
        """Runs a net whose outputs have `counts` sizes that the data decide."""
        with tempfile.TemporaryDirectory() as folder:
            path = net.save(pathlib.Path(folder, "net.pb"))
            got = running.run(path, list(net.feeds.items()), folder)
        self.assertEqual(len(got), len(net.wanted) + counts)
        for array, (name, (op, want)) in zip(got, net.wanted.items()):
            with self.subTest(op, name=name):
                self.assertEqual(array.shape, want.shape)
                if want.dtype.kind != "f":
                    np.testing.assert_array_equal(array, want)
                    continue
                apart = np.abs(array.astype(np.float64) - want).max(initial=0)
                self.assertLessEqual(apart, 1e-5 * np.abs(want).max(initial=1e-30))

    def test_windows(self):
        net = Net()
        image = floats(2, 7, 9, 4)
        x = net.feed(image)
        w, deep = floats(3, 2, 4, 5), floats(3, 3, 4, 2)
        for padding in ("SAME", "VALID"):
            for strides, dilations in (((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 1))):
                common = {"padding": padding, "strides": [1, *strides, 1],
                          "dilations": [1, *dilations, 1]}
                net.check(conv(image, w, strides, dilations, padding), "Conv2D", x, w, **common)
        net.check(conv(image, w, padding=((1, 2), (0, 3))), "Conv2D", x, w, padding="EXPLICIT",
                  strides=[1, 1, 1, 1], explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0])
        grouped = floats(3, 3, 2, 6)
        net.check(conv(image, grouped), "Conv2D", x, grouped, padding="VALID",
                  strides=[1, 1, 1, 1])
        depth = np.concatenate([conv(image[..., c:c + 1], deep[:, :, c:c + 1], (2, 2), (1, 1),
                                     "SAME") for c in range(4)], axis=3)
        net.check(depth, "DepthwiseConv2dNative", x, deep, padding="SAME", strides=[1, 2, 2, 1])
        first = net.node("Transpose", x, [0, 3, 1, 2])
        net.check(conv(image, w, (2, 2), (1, 1), "SAME").transpose(0, 3, 1, 2), "Conv2D", first,
                  w, padding="SAME", strides=[1, 1, 2, 2], data_format="NCHW")
        back, sizes = floats(3, 3, 5, 4), [2, 14, 17, 5]
        net.check(conv_backward(back, image, sizes, (2, 2), "SAME"), "Conv2DBackpropInput", sizes,
                  back, x, padding="SAME", strides=[1, 2, 2, 1])
        sizes = [2, 16, 20, 5]
        net.check(conv_backward(back, image, sizes, (2, 2), "VALID"), "Conv2DBackpropInput",
                  sizes, back, x, padding="VALID", strides=[1, 2, 2, 1])
        parts = windows(image, (3, 3), (2, 2), (1, 1), "SAME", np.nan)
        pool = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
        net.check(np.nanmax(parts, axis=(3, 4)), "MaxPool", x, **pool)
        net.check(np.nanmean(parts, axis=(3, 4)), "AvgPool", x, **pool)
        self.run_net(net)

    def dilate(self, net, x, kernel, blocks, pads, crops, op="Conv2D", squeezed=False):
        """Adds a convolution between SpaceToBatchND and BatchToSpaceND, as TensorFlow 1 and
        Keras compute a dilation. Returns its result; `squeezed` is for one spatial axis."""
        y = net.node("SpaceToBatchND", x, np.int32(blocks), np.int32(pads))
        if squeezed:
            y = net.node("ExpandDims", y, np.int32(1))
        y = net.node(op, y, kernel, padding="VALID", strides=[1, 1, 1, 1])
        if squeezed:
            y = net.node("Squeeze", y, squeeze_dims=[1])
        return net.node("BatchToSpaceND", y, np.int32(blocks), np.int32(crops))

    def test_dilations(self):
        """Crops that are less than the pads are part of the convolution's pads."""
        net = Net()
        image, w, deep = floats(2, 9, 7, 3), floats(3, 3, 3, 4), floats(3, 3, 3, 1)
        x = net.feed(image)
        same = conv(image, w, dilations=(2, 3), padding="SAME")
        net.check(same, "Identity", self.dilate(net, x, w, [2, 3], [[2, 3], [3, 5]],
                                                [[0, 1], [0, 2]]))
        net.check(same[:, 1:-1, :-2], "Identity",
                  self.dilate(net, x, w, [2, 3], [[2, 3], [3, 5]], [[1, 2], [0, 4]]))
        net.check(conv(image, w, dilations=(2, 2), padding=((0, 0), (0, 0)))[:, 1:, :-1],
                  "Identity", self.dilate(net, x, w, [2, 2], [[0, 1], [0, 1]],
                                          [[1, 1], [0, 2]]))
        net.check(np.concatenate([conv(image[..., c:c + 1], deep[:, :, c:c + 1],
                                       dilations=(2, 2), padding="SAME") for c in range(3)], 3),
                  "Identity", self.dilate(net, x, deep, [2, 2], [[2, 3], [2, 3]],
                                          [[0, 1], [0, 1]], op="DepthwiseConv2dNative"))
        sound, taps = floats(2, 11, 3), floats(1, 2, 3, 4)
        s = net.feed(sound)
        net.check(conv(sound[:, None], taps, dilations=(1, 4), padding=((0, 0), (4, 0)))[:, 0],
                  "Identity", self.dilate(net, s, taps, [4], [[4, 1]], [[0, 1]],
                                          squeezed=True))
        self.run_net(net)

    def test_dilations_at_varying_lengths(self):
        """The pads behind the image, which make its length a multiple of the block, differ."""
        net = Net()
        x = net.placeholder("x", "float32", (1, -1, 3))
        length = net.node("StridedSlice", net.node("Shape", x), np.int32([1]), np.int32([2]),
                          np.int32([1]), shrink_axis_mask=1)
        more = net.node("FloorMod", net.node("Neg", length), np.int32(4))
        pads, crops = (net.node("Reshape", net.node("Pack", np.int32(before), more),
                                np.int32([1, 2])) for before in (4, 0))
        sound, taps = floats(1, 11, 3), floats(1, 2, 3, 4)
        blocks = net.constant(np.int32([4]))
        y = net.node("ExpandDims", net.node("SpaceToBatchND", x, blocks, pads), np.int32(1))
        y = net.node("Conv2D", y, taps, padding="VALID", strides=[1, 1, 1, 1])
        y = net.node("Squeeze", y, squeeze_dims=[1])
        net.node("BatchToSpaceND", y, blocks, crops, name="y")
        want = conv(sound[:, None], taps, dilations=(1, 4), padding=((0, 0), (4, 0)))[:, 0]
        self.run_sizes(net, "x=1x5..16x3", sound, want)

    def test_resizes_at_varying_sizes(self):
        """The ratio of the sizes differs: the mean of an image to its size, and to a fixed one."""
        net = Net()
        image = floats(1, 6, 9, 2)
        x = net.placeholder("x", "float32", (1, -1, -1, 2))
        size = net.node("StridedSlice", net.node("Shape", x), np.int32([1]), np.int32([3]),
                        np.int32([1]))
        mean = net.node("Mean", x, np.int32([1, 2]), keep_dims=True)
        wide = net.node("ResizeBilinear", mean, size, half_pixel_centers=True)
        net.node("ResizeBilinear", net.node("Sub", x, wide), np.int32([3, 3]),
                 half_pixel_centers=True, name="y")
        apart = image - image.mean((1, 2), keepdims=True)
        rows = (apart[:, 0::2] + apart[:, 1::2]) / 2
        self.run_sizes(net, "x=1x4..8x4..12x2", image, rows[:, :, 1::3])

    def test_dilations_of_other_graphs(self):
        """Phases that another node reads, or that a padded convolution reads, stay."""
        net = Net()
        image, w = floats(1, 4, 4, 2), floats(1, 1, 2, 3)
        x = net.feed(image)
        phases = net.node("SpaceToBatchND", x, np.int32([2, 2]), np.int32([[0, 0], [0, 0]]))
        y = net.node("Conv2D", phases, w, padding="VALID", strides=[1, 1, 1, 1])
        net.check(conv(image, w), "BatchToSpaceND", y, np.int32([2, 2]),
                  np.int32([[0, 0], [0, 0]]))
        net.check(np.stack([image[0, i::2, j::2] for i in (0, 1) for j in (0, 1)]), "Identity",
                  phases)
        wide = floats(3, 3, 2, 1)
        inner = net.node("SpaceToBatchND", x, np.int32([2, 2]), np.int32([[0, 0], [0, 0]]))
        inner = net.node("Conv2D", inner, wide, padding="SAME", strides=[1, 1, 1, 1])
        net.check(conv(image, wide, dilations=(2, 2), padding="SAME"), "BatchToSpaceND", inner,
                  np.int32([2, 2]), np.int32([[0, 0], [0, 0]]))
        self.run_net(net)

    def test_images(self):
        net = Net()
        image = floats(1, 5, 6, 4)
        x = net.feed(image)
        scale, offset, mean = floats(4), floats(4), floats(4)
        variance = RANDOM.uniform(0.5, 2, 4).astype(np.float32)
        net.check((image - mean) / np.sqrt(variance + 1e-3) * scale + offset, "FusedBatchNormV3",
                  x, scale, offset, mean, variance, epsilon=1e-3, is_training=False)
        net.check(image + offset, "BiasAdd", x, offset)
        net.check(np.pad(image, ((0, 0), (1, 2), (0, 1), (0, 0))), "Pad", x,
                  [[0, 0], [1, 2], [0, 1], [0, 0]])
        minus = net.node("Neg", net.node("Rsqrt", np.float32(4)))
        net.check(np.pad(image, ((0, 0), (1, 2), (0, 1), (0, 0)), constant_values=-0.5), "PadV2",
                  x, [[0, 0], [1, 2], [0, 1], [0, 0]], minus)
        net.check(np.pad(image, ((0, 0), (2, 1), (0, 3), (0, 0)), mode="reflect"), "MirrorPad", x,
                  [[0, 0], [2, 1], [0, 3], [0, 0]], mode="REFLECT")
        net.check(np.pad(image, ((0, 0), (2, 1), (0, 3), (0, 0)), mode="symmetric"), "MirrorPad",
                  x, [[0, 0], [2, 1], [0, 3], [0, 0]], mode="SYMMETRIC")
        squares = np.pad(image**2, ((0, 0), (0, 0), (0, 0), (2, 2)))
        sums = sum(squares[..., i:i + 4] for i in range(5))
        net.check(image / (1.5 + 0.3 * sums)**0.75, "LRN", x, depth_radius=2, bias=1.5, alpha=0.3,
                  beta=0.75)
        y = image.reshape(1, 5, 6, 2, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(1, 10, 12, 1)
        net.check(y, "DepthToSpace", x, block_size=2)
        cut = net.node("StridedSlice", x, [0, 0, 0, 0], [1, 4, 6, 4], [1, 1, 1, 1])
        y = image[:, :4].reshape(1, 2, 2, 3, 2, 4).transpose(0, 1, 3, 2, 4, 5)
        net.check(y.reshape(1, 2, 3, 16), "SpaceToDepth", cut, block_size=2)
        net.check(image.mean((1, 2)), "Mean", x, [1, 2])
        net.check(image.max((1, 2), keepdims=True), "Max", x, [1, 2], keep_dims=True)
        net.check(image.repeat(2, 1).repeat(3, 2), "ResizeNearestNeighbor", x, [10, 18])
        rows = np.clip((np.arange(10) + 0.5) * 0.5 - 0.5, 0, 4)
        low = np.minimum(rows.astype(int), 3)
        share = (rows - low)[:, None, None]
        net.check(image[:, low] * (1 - share) + image[:, low + 1] * share, "ResizeBilinear", x,
                  [10, 6], half_pixel_centers=True)
        space = np.pad(image, ((0, 0), (1, 0), (0, 0), (0, 0))).reshape(1, 3, 2, 3, 2, 4)
        blocks = net.node("SpaceToBatchND", x, [2, 2], [[1, 0], [0, 0]])
        net.check(space.transpose(2, 4, 0, 1, 3, 5).reshape(4, 3, 3, 4), "Identity", blocks)
        net.check(image, "BatchToSpaceND", blocks, [2, 2], [[1, 0], [0, 0]])
        net.check(np.concatenate([image, -image], 3), "ConcatV2", x, net.node("Neg", x), 3)
        self.run_net(net)

    def test_moves(self):
        net = Net()
        a = floats(3, 4, 5)
        x = net.feed(a)
        net.check(a[1, ::-2, None, 1:4], "StridedSlice", x, [1, 0, 0, 1], [2, 0, 0, 4],
                  [1, -2, 1, 1], begin_mask=2, end_mask=2, new_axis_mask=4, shrink_axis_mask=1)
        net.check(a[..., -1], "StridedSlice", x, [0, -1], [0, 0], [1, 1], ellipsis_mask=1,
                  shrink_axis_mask=2)
        # TensorFlow ignores the mask of begins where the entry is an index.
        net.check(a[2, 1:], "StridedSlice", x, [2, 1], [3, 4], [1, 1], begin_mask=1,
                  shrink_axis_mask=1)
        net.check(a[1:, 2:, 1:3], "Slice", x, [1, 2, 1], [-1, 2, 2])
        net.check(a[:, [3, 0, 0]], "GatherV2", x, [3, 0, 0], 1)
        picks = np.array([[1, 2], [0, 0], [3, 1]], np.int32)
        net.check(np.stack([a[i][picks[i]] for i in range(3)]), "GatherV2", x, picks, 1,
                  batch_dims=1)
        places = np.array([[0, 3], [2, 1]], np.int32)
        net.check(a[places[:, 0], places[:, 1]], "GatherNd", x, places)
        updates = floats(2, 5)
        want = np.zeros((3, 4, 5), np.float32)
        want[places[:, 0], places[:, 1]] = updates
        net.check(want, "ScatterNd", places, net.feed(updates), [3, 4, 5])
        want = a.copy()
        want[places[:, 0], places[:, 1]] = updates
        net.check(want, "TensorScatterUpdate", x, places, updates)
        net.check(np.tile(a, (2, 1, 3)), "Tile", x, [2, 1, 3])
        net.check(np.broadcast_to(a[:, :1], (3, 6, 5)), "BroadcastTo",
                  net.node("Slice", x, [0, 0, 0], [3, 1, 5]), [3, 6, 5])
        net.check(a[::-1, :, ::-1], "ReverseV2", x, [0, 2])
        net.check(np.roll(a, (1, -2), (0, 2)), "Roll", x, [1, -2], [0, 2])
        net.check(a[:, 2:3], "SplitV", x, [2, 1, -1], 1, result=":1", num_split=3)
        net.check(a[:, 2], "Unpack", x, result=":2", num=4, axis=1)
        net.check(np.stack([a, a * 2], 1), "Pack", x, net.node("Add", x, x), axis=1)
        net.check(np.cumsum(a, 1), "Cumsum", x, 1)
        shifted = np.pad(a[:, 1:][:, ::-1].cumsum(1)[:, ::-1], ((0, 0), (0, 1), (0, 0)))
        net.check(shifted, "Cumsum", x, 1, exclusive=True, reverse=True)
        net.check(a.argmax(2), "ArgMax", x, 2)
        bits = net.node("Bitcast", net.node("Mul", x, np.float32(0)), type=Type("int32"))
        net.check(np.signbit(a), "Less", net.node("BitwiseAnd", bits, np.int32(-2 ** 31)),
                  np.int32(0))
        net.check(a.argmin(0).astype(np.int32), "ArgMin", x, 0, output_type=Type("int32"))
        order = np.argsort(-a, 2, kind="stable")[..., :3]
        net.check(np.take_along_axis(a, order, 2), "TopKV2", x, 3)
        net.check(order.astype(np.int32), "TopKV2", x, 3, result=":1")
        net.check(np.tril(a, 1) * (np.triu(np.ones((4, 5))) > 0), "MatrixBandPart", x, 0, 1)
        net.check(np.where(a > 0, a, 0), "SelectV2",
                  net.node("Greater", x, np.float32(0)), x, np.float32(0))
        shape = net.node("Shape", x)
        size = net.node("Prod", shape, [0])
        net.check(a.reshape(1, 60), "Reshape", x, net.node("Pack", np.int32(1), size, axis=0))
        net.check(np.arange(2, 9, 3, np.int32) + np.int32(3), "AddV2",
                  net.node("Range", 2, 9, 3), net.node("Rank", x))
        indices = net.feed(np.array([1, -1, 3], np.int32))
        net.check(np.eye(4, dtype=np.float32)[[1, 0, 3]] * np.array([[1], [0], [1]]) * 2 + 1,
                  "OneHot", indices, 4, np.float32(3), np.float32(1))
        self.run_net(net)

    def test_arithmetic(self):
        net = Net()
        a, b = floats(4, 6), floats(6) + 3
        x, y = net.feed(a), net.feed(b)
        net.check((a - b)**2, "SquaredDifference", x, y)
        net.check(np.floor(a / b), "FloorDiv", x, y)
        net.check(a - np.floor(a / b) * b, "FloorMod", x, y)
        net.check(np.expm1(a), "Expm1", x)
        net.check(np.log1p(b), "Log1p", y)
        net.check(np.clip(a, 0, 6), "Relu6", x)
        net.check(np.where(a > 0, a, 0.3 * a), "LeakyRelu", x, alpha=0.3)
        net.check(1.0507009873554805 * np.where(a > 0, a, 1.6732632423543772 * np.expm1(a)),
                  "Selu", x)
        net.check(np.where(a > 0, a, np.expm1(a)), "Elu", x)
        net.check(a != b, "NotEqual", x, y)
        net.check(np.isfinite(a), "IsFinite", x)
        net.check(np.linalg.norm(a, axis=1), "EuclideanNorm", x, [1])
        net.check((a > 1).any(1), "Any", net.node("Greater", x, np.float32(1)), [1])
        net.check(a.astype(np.int32), "Cast", x, DstT=Type("int32"))
        net.check(np.where(a > 0, a / 2, 0), "DivNoNan", net.node("Relu", x), np.float32(2))
        ints, divisors = np.array([-7, 7, -8, 9], np.int32), np.array([2, -2, 3, 4], np.int32)
        net.check(ints // divisors, "FloorDiv", net.feed(ints), divisors)
        net.check(a @ b[:, None], "MatMul", x,
                  net.node("Reshape", y, [1, 6]), transpose_b=True)
        c = floats(2, 4, 3)
        z = net.feed(c)
        net.check(np.einsum("bij,bkj->bik", c, c), "BatchMatMulV2", z, z, adj_y=True)
        bytes_ = RANDOM.integers(-128, 128, (3, 40)).astype(np.int8)
        net.check(bytes_.astype(np.int32) @ bytes_.T.astype(np.int32), "BatchMatMulV3",
                  net.feed(bytes_), net.feed(bytes_.T.copy()), Tout=Type("int32"))
        net.check(np.einsum("bij,ik->bkj", c, a), "Einsum", z, x, equation="bij,ik->bkj")
        e = np.exp(c - c.max(2, keepdims=True))
        net.check(e / e.sum(2, keepdims=True), "Softmax", z)
        spectrum = np.fft.rfft(a, 8)
        net.check(np.abs(spectrum), "ComplexAbs", net.node("RFFT", x, [8]))
        net.check(spectrum.imag, "Imag", net.node("RFFT", x, [8]))
        waves = net.node("RFFT", x, [8])
        heights = net.node("Cast", net.node("Exp", net.node("Imag", waves)), SrcT=Type("float32"),
                           DstT=Type("complex64"))
        ratio = spectrum / (spectrum + np.exp(spectrum.imag))
        quotient = net.node("RealDiv", waves, net.node("AddV2", waves, heights))
        net.check(ratio.real, "Cast", quotient, SrcT=Type("complex64"), DstT=Type("float32"))
        net.check(ratio.imag, "Imag", net.node("Cast", quotient, SrcT=Type("complex64"),
                                               DstT=Type("complex64")))
        net.check(np.fft.irfft(spectrum, 8), "IRFFT", net.node("RFFT", x, [8]), [8])
        self.run_net(net)

    def test_halves(self):
        """Floats of 16 bits are computed as float32, and only casts round them."""
        net = Net()
        image, own = floats(1, 6, 6, 3), floats(2, 5).astype(np.float16)
        w, bias = floats(3, 3, 3, 4).astype(np.float16), floats(4).astype(np.float16)
        x = net.node("Cast", net.feed(image), DstT=Type("float16"))
        y = net.node("Conv2D", x, w, padding="SAME", strides=[1, 1, 1, 1], T=Type("float16"))
        y = net.node("BiasAdd", y, bias)
        want = conv(image.astype(np.float16).astype(np.float32), w.astype(np.float32),
                    padding="SAME") + bias
        net.check(want, "Cast", y, DstT=Type("float32"))
        e = np.exp(want - want.max(3, keepdims=True))
        net.check(e / e.sum(3, keepdims=True), "Softmax", y)
        net.check(own.astype(np.float32) * 3, "Mul", net.feed(own), np.float16(3))
        self.run_net(net)

    def test_fake_quant(self):
        net = Net()
        a = np.clip(floats(3, 40), -2, 2)
        scale = np.float32(3 / 255)
        low = -round(1 / scale) * scale
        want = np.clip(np.floor((a - low) / scale + 0.5), 0, 255) * scale + low
        net.check(want, "FakeQuantWithMinMaxArgs", net.feed(a), min=-1.0, max=2.0)
        self.run_net(net)

    def test_control(self):
        net = Net()
        a = floats(2, 3)
        x = net.feed(a)
        half = net.function("half", ["v"], {"o": "m:z:0"})
        half.node("Mul", "v", half.constant(np.float32(0.5), "c") + ":output:0", name="m")
        twice = net.function("twice", ["v"], {"o": "m:z:0"})
        twice.node("AddV2", "v", "v", name="m")
        net.check(a / 2, "PartitionedCall", x, f=Function("half"))
        for value in (-100.0, 100.0):
            condition = net.node("Greater", net.node("Sum", x, [0, 1]), np.float32(value))
            net.check(a * 2 if a.sum() > value else a / 2, "If", condition, x,
                      then_branch=Function("twice"), else_branch=Function("half"))
        more = net.function("more", ["i", "v", "l"], {"o": "less:z:0"})
        more.node("Less", "i", more.constant(np.int32(40), "n") + ":output:0", name="less")
        step = net.function("step", ["i", "v", "l"],
                            {"i": "next:z:0", "v": "sum:z:0", "l": "set:output_handle:0"})
        one = step.constant(np.int32(1), "one") + ":output:0"
        step.node("AddV2", "i", one, name="next")
        step.node("Mul", "v", step.constant(np.float32(0.9), "c") + ":output:0", name="mul")
        step.node("AddV2", "mul:z:0", step.constant(np.float32(1), "d") + ":output:0", name="sum")
        step.node("TensorListSetItem", "l", "i", "sum:z:0", name="set")
        items = net.node("TensorListReserve", -1, 40, element_dtype=Type("float32"))
        loop = net.node("While", 0, x, items, cond=Function("more"), body=Function("step"))
        runs, value = [], a.astype(np.float64)
        for _ in range(40):
            value = value * np.float32(0.9) + 1
            runs.append(value)
        net.check(runs[-1], "Identity", loop + ":1")
        net.check(np.stack(runs), "TensorListStack", loop + ":2", [2, 3],
                  element_dtype=Type("float32"))
        until = net.function("until", ["v"], {"o": "less:z:0"})
        until.node("Sum", "v", until.constant(np.array([0, 1], np.int32), "n") + ":output:0",
                   name="sum")
        until.node("Less", "sum:output:0", until.constant(np.float32(9), "m") + ":output:0",
                   name="less")
        add = net.function("add", ["v"], {"o": "m:z:0"})
        add.node("AddV2", "v", add.constant(np.float32(0.25), "c") + ":output:0", name="m")
        value = a.copy()
        while value.sum() < 9:
            value += np.float32(0.25)
        net.check(value, "StatelessWhile", x, cond=Function("until"), body=Function("add"))
        self.run_net(net)

    def test_frames(self):
        """Loops and branches of TensorFlow 1, one in the other."""
        net = Net()
        a = floats(2, 3)
        x = net.feed(a)
        begin = net.node("TensorArrayV3", 40, dtype=Type("float32"))
        inits = [np.int32(0), x, begin + ":1"]
        for i, init in enumerate(inits):
            net.node("Enter", init, name=f"enter{i}", frame_name="loop")
            net.node("Merge", f"enter{i}", f"next{i}", name=f"merge{i}")
            net.node("Switch", f"merge{i}", "again", name=f"switch{i}")
            net.node("Exit", f"switch{i}", name=f"exit{i}")
        for name, value in (("handle", begin), ("outside", x)):
            net.node("Enter", value, name=name, frame_name="loop", is_constant=True)
        net.node("Less", "merge0", net.constant(np.int32(40), "limit"), name="less")
        net.node("LoopCond", "less", name="again")
        net.node("AddV2", "switch0:1", net.constant(np.int32(1), "one"), name="added")
        net.node("Sum", "switch1:1", net.constant(np.int32([0, 1]), "axes"), name="total")
        net.node("Greater", "total", net.constant(np.float32(0), "zero"), name="above")
        net.node("Switch", "switch1:1", "above", name="way")
        net.node("Mul", "way:1", net.constant(np.float32(-0.5), "half"), name="down")
        net.node("AddV2", "way:0", net.constant(np.float32(0.25), "some"), name="up")
        net.node("Merge", "up", "down", name="met")
        net.node("AddV2", "met", "outside", name="y")
        net.node("TensorArrayWriteV3", "handle", "switch0:1", "y", "switch2:1", name="written")
        for i, value in enumerate(("added", "y", "written")):
            net.node("NextIteration", value, name=f"next{i}")
        runs, value = [], a.astype(np.float64)
        for _ in range(40):
            value = (value * -0.5 if value.sum() > 0 else value + 0.25) + a
            runs.append(value)
        net.check(runs[-1], "Identity", "exit1")
        net.check(np.stack(runs), "TensorArrayGatherV3", begin, np.arange(40, dtype=np.int32),
                  "exit2", dtype=Type("float32"))
        self.run_net(net)

    def test_segments(self):
        net = Net()
        a, ids = floats(6, 4), np.array([0, 0, 2, 2, 2, 3], np.int32)
        x, segments = net.feed(a), net.feed(np.array([2, 0, 2, 1, 1, -1], np.int32))
        sums = np.stack([a[ids == i].sum(0) for i in range(4)])
        net.check(sums, "SegmentSum", x, ids)
        net.check(sums / np.array([2, 1, 3, 1])[:, None], "SegmentMean", x, ids)
        largest = np.stack([a[ids == i].max(0, initial=-9 if (ids == i).any() else 0)
                            for i in range(4)])
        net.check(largest, "SegmentMax", x, ids)
        net.check(np.stack([a[1], a[3] + a[4], a[0] + a[2]]), "UnsortedSegmentSum", x, segments, 3)
        net.check(np.stack([a[1], np.minimum(a[3], a[4]), np.minimum(a[0], a[2])]),
                  "UnsortedSegmentMin", x, segments, 3)
        numbers = net.feed(np.array([3, 1, 1, 9], np.int32))
        net.check(np.array([0, 2, 0, 1], np.float32), "DenseBincount", numbers, np.int32(4),
                  np.zeros(0, np.float32))
        net.check(np.searchsorted([-0.5, 0, 1], a, "right").astype(np.int32), "Bucketize", x,
                  boundaries=[-0.5, 0.0, 1.0])
        order = net.node("DynamicStitch", np.array([1, 0], np.int32), np.array([2], np.int32),
                         net.node("Slice", x, [0, 0], [2, -1]), net.node("Slice", x, [2, 0], [1, -1]))
        net.check(a[[1, 0, 2]], "Identity", order)
        net.check(np.stack([np.diag(row) for row in a]), "MatrixDiagV3", x, np.int32(0),
                  np.int32(-1), np.int32(-1), np.float32(0))
        net.check(np.diag(a, 1), "MatrixDiagPartV3", x, np.int32(1), np.float32(0))
        net.check(np.where(np.eye(6, 4), 7, a), "MatrixSetDiagV3", x,
                  np.full(4, 7, np.float32), np.int32(0))
        net.check(np.arctan2(a, a + 1), "Atan2", x, net.node("AddV2", x, np.float32(1)))
        self.run_net(net)

    def test_morphology_and_determinants(self):
        net = Net()
        image, w = floats(2, 7, 6, 3), floats(2, 3, 3)
        x = net.feed(image)
        for padding, strides, rates in (("SAME", (2, 1), (1, 1)), ("VALID", (1, 2), (2, 1)),
                                        ("SAME", (1, 1), (2, 2))):
            parts = windows(image, w.shape[:2], strides, rates, padding, -np.inf)
            net.check((parts + w).max((3, 4)), "Dilation2D", x, w, strides=[1, *strides, 1],
                      rates=[1, *rates, 1], padding=padding)
        matrices = floats(2, 3, 4, 4)
        net.check(np.linalg.det(matrices.astype(np.float64)), "MatrixDeterminant",
                  net.feed(matrices))
        self.run_net(net)

    def test_own_statistics(self):
        """Batch normalization as in training, of which Keras 2 makes layer normalization."""
        net = Net()
        image = floats(1, 5, 7, 1)
        x = net.feed(image)
        scale, offset, empty = floats(5), floats(5), np.zeros(0, np.float32)
        mean, variance = image.mean((0, 2, 3)), image.var((0, 2, 3))
        shape = (1, 5, 1, 1)
        wanted = ((image - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + 1e-3)
                  * scale.reshape(shape) + offset.reshape(shape))
        common = {"data_format": "NCHW", "epsilon": 1e-3, "is_training": True}
        net.check(wanted, "FusedBatchNormV3", x, scale, offset, empty, empty, **common)
        net.check(variance * 7 / 6, "Identity", net.node("FusedBatchNormV3", x, scale, offset,
                                                         empty, empty, **common) + ":2")
        self.run_net(net)

    def test_gradients(self):
        net = Net()
        a, b = floats(3, 4) * 4, floats(3, 4)
        x, dy = net.feed(a), net.feed(b)
        net.check(b * a * (1 - a), "SigmoidGrad", x, dy)
        net.check(b * (1 - a * a), "TanhGrad", x, dy)
        net.check(-b * a ** 3 / 2, "RsqrtGrad", x, dy)
        net.check(b / (2 * a), "SqrtGrad", x, dy)
        net.check(b / (1 + np.exp(-a)), "SoftplusGrad", dy, x)
        net.check(np.where(a > 0, b, 0), "ReluGrad", dy, x)
        net.check(np.where((a > 0) & (a < 6), b, 0), "Relu6Grad", dy, x)
        net.check(np.where(a > 0, b, b * 0.3), "LeakyReluGrad", dy, x, alpha=0.3)
        logs = a - a.max(1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(1, keepdims=True))
        net.check(-(b * logs).sum(1), "SoftmaxCrossEntropyWithLogits", x, dy)
        net.check(np.exp(logs) - b, "Identity",
                  net.node("SoftmaxCrossEntropyWithLogits", x, dy) + ":1")
        net.check(-logs[[0, 1, 2], [3, 0, 2]], "SparseSoftmaxCrossEntropyWithLogits", x,
                  np.int32([3, 0, 2]))
        self.run_net(net)

    def test_sparse_and_ragged(self):
        net = Net()
        a, values = floats(6, 3), floats(4)
        x, v = net.feed(a), net.feed(values)
        places = np.int32([[0, 1], [2, 3], [2, 5], [3, 0]])
        dense = np.full((4, 6), -1, np.float32)
        dense[places[:, 0], places[:, 1]] = values
        net.check(dense, "SparseToDense", places, [4, 6], v, np.float32(-1))
        first = net.node("Reshape", net.node("Slice", v, [0], [1]), np.int32([]))
        net.check(np.float32([0, values[0], 0]), "SparseToDense", np.int32(1), [3], first,
                  np.float32(0))
        zeros = np.where(dense == -1, 0, dense)
        net.check(zeros @ a, "SparseTensorDenseMatMul", places, v, [4, 6], x)
        net.check(zeros.T @ a[:4], "SparseTensorDenseMatMul", places, v, [4, 6], a[:4],
                  adjoint_a=True)
        net.check(a[:4].T @ zeros, "Transpose",
                  net.node("SparseTensorDenseMatMul", places, v, [4, 6],
                           np.ascontiguousarray(a[:4].T), adjoint_a=True, adjoint_b=True),
                  np.int32([1, 0]))
        rows = np.full((3, 3, 3), 9, np.float32)
        rows[0, :2], rows[1], rows[2, :1] = a[:2], a[2:5], a[5:]
        net.check(rows, "RaggedTensorToTensor", [-1, -1, 3], x, np.float32(9), [0, 2, 5, 6],
                  row_partition_types=["ROW_SPLITS"])
        net.check(rows[:, :2], "RaggedTensorToTensor", [-1, 2, 3], x, np.float32(9), np.int32(3),
                  [0, 0, 1, 1, 1, 2], row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"])
        self.run_net(net)

    def test_block_cells(self):
        def sigmoid(x):
            return 1 / (1 + np.exp(-x))

        def step(x, state, hidden, order, forget_bias, clip, peep=(0, 0, 0)):
            """The seven results of a step of an LSTM; `order` has the gates' parts."""
            parts = np.split(np.concatenate([x, hidden], 1) @ w + b, 4, 1)
            i, ci, f, o = (parts[k] for k in order)
            i, f, ci = (sigmoid(i + state * peep[0]), sigmoid(f + state * peep[1] + forget_bias),
                        np.tanh(ci))
            new = ci * i + state * f
            new = np.clip(new, -clip, clip) if clip else new
            o = sigmoid(o + new * peep[2])
            return i, new, f, o, ci, np.tanh(new), np.tanh(new) * o

        net = Net()
        sequence, state, hidden = floats(4, 2, 3), floats(2, 5), floats(2, 5)
        w, b, peep = floats(8, 20), floats(20), floats(3, 5)
        x, first = net.feed(sequence), net.feed(sequence[0])
        results = step(sequence[0], state, hidden, (0, 1, 2, 3), 0.5, 3)
        cell = net.node("LSTMBlockCell", first, state, hidden, w, *peep, b, forget_bias=0.5,
                        cell_clip=3.0, use_peephole=False)
        for i, wanted in enumerate(results):
            net.check(-wanted, "Neg", f"{cell}:{i}")
        for op, order, options in (
                ("BlockLSTM", (0, 1, 2, 3), {"forget_bias": 1.0, "cell_clip": 0.7}),
                ("BlockLSTMV2", (0, 2, 1, 3), {"cell_clip": 0.0})):
            all_steps, now, before = [], state, hidden
            for t in range(3):
                results = step(sequence[t], now, before, order, options.get("forget_bias", 0),
                               options["cell_clip"], peep)
                now, before = results[1], results[6]
                all_steps.append(results)
            block = net.node(op, net.constant(np.array(3, np.int64), f"most_{op}"), x, state,
                             hidden, w, *peep, b, use_peephole=True, **options)
            for i in range(7):
                wanted = np.stack([results[i] for results in all_steps] + [np.zeros((2, 5))])
                net.check(-wanted, "Neg", f"{block}:{i}")
        both = np.concatenate([sequence[0], state], 1)
        reset, update = np.split(sigmoid(both @ w[:, :10] + b[:10]), 2, 1)
        candidate = np.tanh(np.concatenate([sequence[0], reset * state], 1) @ w[:, 10:15] + b[:5])
        cell = net.node("GRUBlockCell", first, state, np.ascontiguousarray(w[:, :10]),
                        np.ascontiguousarray(w[:, 10:15]), b[:10], b[:5])
        for i, wanted in enumerate((reset, update, candidate,
                                    update * state + (1 - update) * candidate)):
            net.check(-wanted, "Neg", f"{cell}:{i}")
        self.run_net(net)

    def test_stateless_random_numbers(self):
        """They are those of TensorFlow 2.21."""
        net = Net()
        x = net.feed(np.float32([0]))
        uniform = [0.7476804256439209, 0.7566256523132324, 0.8433103561401367,
                   0.24518632888793945, 0.7087740898132324, 0.9518766403198242]
        seed = net.constant(np.array([1, -2], np.int64), "seed")
        y = net.node("StatelessRandomUniform", [6], seed, dtype=Type("float32"))
        net.check(np.float32(uniform), "AddV2", x, y)
        key = net.node("StatelessRandomGetKeyCounter", seed)
        y = net.node("StatelessRandomUniformV2", [2, 3], key, f"{key}:1", np.int32(1),
                     dtype=Type("float32"))
        net.check(np.float32(uniform).reshape(2, 3), "AddV2", x, y)
        seed = net.constant(np.array([7, 123456789123], np.int64), "other")
        y = net.node("StatelessRandomNormal", [5], seed, dtype=Type("float32"))
        net.check(np.float32([-0.4109720289707184, -0.36281877756118774, 0.7610467672348022,
                              0.9686703681945801, -0.09047313779592514]), "AddV2", x, y)
        self.run_net(net)

    def test_lengths(self):
        net = Net()
        a = floats(5, 4)
        x = net.feed(a)
        places = net.node("Where", net.node("Greater", x, np.float32(0)))
        net.check(np.argwhere(a > 0), "Identity", places)
        net.check(a[a > 0], "GatherNd", x, places)
        net.check(np.int32((a > 0).sum()), "StridedSlice", net.node("Shape", places), [0], [1], [1],
                  shrink_axis_mask=1)
        found = int((a > 0).sum())
        missing = net.node("Sub", np.int32(20), net.node("Size", net.node("GatherNd", x, places)))
        pads = net.node("Pack", net.node("Pack", np.int32(1), missing),
                        net.constant(np.int32([0, 2])))
        net.check(np.pad(np.argwhere(a > 0), ((1, 20 - found), (0, 2)), constant_values=-3),
                  "PadV2", places, pads, net.constant(np.array(-3, np.int64), "minus"))
        filling = net.node("Fill", net.node("Pack", missing, np.int32(2)),
                           net.constant(np.array(9, np.int64), "nine"))
        net.check(np.pad(np.argwhere(a > 0), ((0, 20 - found), (0, 0)), constant_values=9),
                  "ConcatV2", places, filling, np.int32(0))
        boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 2, 1, 3], [2, 2, 3, 3]], np.float32)
        scores = net.feed(np.array([0.5, 0.9, 0.05, 0.7], np.float32))
        net.check(np.array([1, 3], np.int32), "NonMaxSuppressionV3", net.feed(boxes), scores, 4,
                  np.float32(0.5), np.float32(0.1))
        self.run_net(net, counts=2)

    def test_greedy_decoders(self):
        net = Net()
        a, lengths = floats(9, 3, 4), np.int32([9, 5, 0])
        x, n = net.feed(a), net.feed(lengths)
        for merges, blank in ((True, -1), (False, 0)):
            places, labels = [], []
            for sample, length in enumerate(lengths):
                best = a[:length, sample].argmax(1)
                kept = [label for t, label in enumerate(best)
                        if label != blank % 4 and not (merges and t and best[t - 1] == label)]
                places += [(sample, t) for t in range(len(kept))]
                labels += kept
            dense = np.full((3, max(t for _, t in places) + 1), -1, np.int64)
            for place, label in zip(places, labels):
                dense[place] = label
            decoder = net.node("CTCGreedyDecoder", x, n, merge_repeated=merges, blank_index=blank)
            net.check(np.array(places, np.int64), "Identity", decoder)
            net.check(np.array(labels, np.int64), "Identity", decoder + ":1")
            net.check(np.int64(dense.shape), "Identity", decoder + ":2")
            net.check([[-a[:length, i].max(1).sum()] for i, length in enumerate(lengths)],
                      "Identity", decoder + ":3")
            none = net.constant(np.array(-1, np.int64), f"none_{merges}")
            net.check(dense, "SparseToDense", decoder, decoder + ":2", decoder + ":1", none)
            wide = np.pad(dense, ((0, 0), (0, 9 - dense.shape[1])), constant_values=-1)
            net.check(wide, "SparseToDense", decoder, np.int32([3, 9]), decoder + ":1", none)
        self.run_net(net, counts=4)

    def test_regions(self):
        net = Net()
        a = floats(1, 6, 6, 2)
        x = net.feed(a)
        boxes = net.feed(np.array([[0, 0, 1, 1], [0.2, 0.4, 0.2, 2.4]], np.float32))
        crops = np.zeros((2, 3, 2, 2))
        crops[0] = (a[0, [0, 2, 5]] + a[0, [0, 3, 5]])[:, [0, 5]] / 2
        crops[1, :, 0] = a[0, 1, 2]
        net.check(crops, "CropAndResize", x, boxes, np.zeros(2, np.int32), np.int32([3, 2]))
        patches = windows(a, (2, 3), (2, 1), (1, 1), "SAME")
        net.check(patches.reshape(*patches.shape[:3], 12), "ExtractImagePatches", x,
                  ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], rates=[1, 1, 1, 1], padding="SAME")
        net.check(a.reshape(1, 3, 2, 3, 2, 2).mean((2, 4)), "ResizeArea", x, [3, 3])
        best = windows(a, (2, 2), (2, 2), (1, 1), "VALID").reshape(1, 3, 3, 4, 2).max(3)
        net.check(best, "MaxPoolWithArgmax", x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
                  padding="VALID")
        colours = np.abs(floats(2, 3, 3))
        net.check(colours, "HSVToRGB", net.node("RGBToHSV", net.feed(colours)))
        self.run_net(net)


if __name__ == "__main__":
    unittest.main()
