#!/usr/bin/env python3
"""--stream: a network of a window of time that takes frames instead gives what it gives on
the window, from the run on in which the window is full."""

import pathlib
import tempfile
import unittest

import numpy as np

import flat
import running
from fixed import f32

LENGTH = 20


class Builder:
    """A random network on images [1, time, 3, 4] of floats, or of integers of 8 bits."""

    def __init__(self, quantized):
        self.quantized, self.random = quantized, np.random.default_rng(3)
        self.net = flat.Net()
        shape = (1, LENGTH, 3, 4)
        values = (self.random.integers(-128, 128, shape).astype(np.int8) if quantized else
                  self.random.normal(size=shape).astype(f32))
        self.x = self.net.input(values, *self.scale())
        self.shape = list(shape)

    def scale(self, scale=0.05, zero=-7):
        return (scale, zero) if self.quantized else ()

    def result(self, shape, *scale):
        self.shape = list(shape)
        return self.net.tensor(np.int8 if self.quantized else f32, shape, *scale)

    def weights(self, *shape):
        if self.quantized:
            values = self.random.integers(-127, 128, shape).astype(np.int8)
            return self.net.const(values, self.random.uniform(0.002, 0.01, shape[0]), 0, 0)
        return self.net.const(self.random.normal(size=shape).astype(f32) / 4)

    def conv(self, kernel, channels, stride=(1, 1), padding="VALID"):
        n, h, w, c = self.shape
        filters = self.weights(channels, *kernel, c)
        sizes = [-(-s // t) if padding == "SAME" else (s - k) // t + 1
                 for s, k, t in zip((h, w), kernel, stride)]
        self.x = self.net.op("CONV_2D", [self.x, filters, -1],
                             [self.result((n, *sizes, channels), *self.scale())], padding=padding,
                             stride_h=stride[0], stride_w=stride[1], activation="RELU")

    def pool(self, kind, kernel, stride=(1, 1)):
        n, h, w, c = self.shape
        sizes = [(s - k) // t + 1 for s, k, t in zip((h, w), kernel, stride)]
        self.x = self.net.op(kind, [self.x], [self.result((n, *sizes, c), *self.scale())],
                             padding="VALID", stride_h=stride[0], stride_w=stride[1],
                             kernel_h=kernel[0], kernel_w=kernel[1], activation="NONE")

    def end(self):
        """The mean over time, and a dense layer."""
        n, h, w, c = self.shape
        axes = self.net.const(np.array([1], np.int32))
        self.x = self.net.op("MEAN", [self.x, axes],
                             [self.result((n, w, c), *self.scale())], keep_dims=False)
        return self.dense()

    def dense(self):
        size = int(np.prod(self.shape))
        self.x = self.net.op("RESHAPE", [self.x, self.net.const(np.array([1, size], np.int32))],
                             [self.result((1, size), *self.scale())])
        weights = (self.net.const(self.random.integers(-127, 128, (5, size)).astype(np.int8), 0.01)
                   if self.quantized else self.weights(5, size))
        self.x = self.net.op("FULLY_CONNECTED", [self.x, weights, -1],
                             [self.result((1, 5), *self.scale(0.3, 4))], activation="NONE")
        return self.whole()

    def whole(self):
        self.net.outputs = [self.x]
        return self.net


def plain(quantized):
    """Convolutions in a row, one with a dilation's reach, a pool and a mean."""
    net = Builder(quantized)
    net.conv((3, 2), 6)
    net.conv((1, 1), 5)
    net.pool("MAX_POOL_2D", (4, 1))
    net.conv((5, 2), 7)
    net.pool("AVERAGE_POOL_2D", (2, 1))
    return net.end()


def strided(quantized):
    """Two strides of 2: a run takes four frames."""
    net = Builder(quantized)
    net.conv((4, 2), 6, (2, 1))
    net.conv((3, 1), 5, (2, 1))
    return net.dense()


def padded(quantized):
    """A convolution that pads time: the first one streams, and what follows does not."""
    net = Builder(quantized)
    net.conv((3, 1), 4)
    net.conv((3, 3), 4, padding="SAME")
    return net.end()


def growing(quantized):
    """A result for each frame, with a sum of two paths in between."""
    net = Builder(quantized)
    net.conv((1, 1), 4)
    before = net.x
    net.conv((1, 3), 4, padding="SAME")
    net.x = net.net.op("ADD", [before, net.x], [net.result(net.shape, *net.scale(0.08, 2))],
                       activation="NONE")
    net.conv((6, 3), 3)
    return net.whole()


class StreamTest(unittest.TestCase):
    def check(self, make, kinds=(False, True), frames=1, target="portable", warned=False):
        for quantized in kinds:
            with self.subTest(make.__name__, quantized=quantized), \
                    tempfile.TemporaryDirectory() as folder:
                net = make(quantized)
                (path,) = flat.save({"net": net.model()}, folder)
                name, x = net.tensors[net.inputs[0]]["name"], net.feeds[net.inputs[0]]
                random = np.random.default_rng(9)
                more = (random.integers(-128, 128, x.shape).astype(np.int8) if quantized else
                        random.normal(size=x.shape).astype(f32))
                time = np.concatenate([more, x], axis=1)  # ends with the window
                runs = time.shape[1] // frames
                stacked = np.stack(np.split(time, runs, axis=1))
                (got,) = running.run(path, [(name, stacked)], folder, f"--target={target}",
                                     f"--stream={name}=1:{frames}")
                self.assertEqual(len(got), runs)
                back = 2 if quantized else 0  # runs before the last one
                end = time.shape[1] - back * frames
                (want,) = running.run(path, [(name, time[:, end - LENGTH:end])], folder,
                                      "--target=portable")
                new = got[runs - 1 - back]
                want = want[:, -new.shape[1]:] if want.ndim == 4 else want
                self.assertEqual(new.shape, want.shape)
                self.assertGreater(len(np.unique(want)), 1)
                np.testing.assert_allclose(new, want, rtol=0 if quantized else 2e-5,
                                           atol=0 if quantized else 1e-5)
                self.check_warning(path, frames, warned)

    def check_warning(self, path, frames, warned):
        code, said = running.nnc("check", path, f"--stream=1:{frames}", "--no-build",
                                 "--target=portable", "--json")
        self.assertEqual(code, running.DONE, said)
        self.assertEqual("computes its whole window" in said, warned, said)

    def test_frame_by_frame(self):
        self.check(plain)

    def test_strides(self):
        self.check(strided, [True], frames=4)
        with tempfile.TemporaryDirectory() as folder:
            (path,) = flat.save({"net": strided(False).model()}, folder)
            self.check_warning(path, 2, True)

    def test_padding(self):
        self.check(padded, [True], warned=True)

    def test_results_that_grow(self):
        self.check(growing, [False], frames=2, target="native")

    def test_wrong_options(self):
        with tempfile.TemporaryDirectory() as folder:
            (path,) = flat.save({"net": plain(False).model()}, folder)
            for option, code, said in (("4", running.USAGE, "no axis 4"),
                                       ("y=1", running.USAGE, "no input 'y'.*its inputs are 't0'"),
                                       ("1:21", running.USAGE, "21 frames of a window of 20"),
                                       ("x", running.USAGE, "is not AXIS"),
                                       ("=1", running.USAGE, "is not AXIS"),
                                       ("1:0", running.USAGE, "is not AXIS")):
                got, text = running.nnc("check", path, f"--stream={option}", "--no-build")
                self.assertEqual(got, code, text)
                self.assertRegex(text, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
