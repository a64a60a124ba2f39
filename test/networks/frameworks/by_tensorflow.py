#!/usr/bin/env python3
"""Saves the networks of nets.py with TensorFlow: `by_tensorflow.py DIR` takes the weights of
NAME.npz, which by_torch.py wrote, and writes the SavedModel NAME and NAME.tflite."""

import os
import pathlib
import sys

import nets
import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402


class Backend:
    def __init__(self, read):
        self.read, self.count = read, 0

    def numbers(self, order=None):
        """The next weights of PyTorch, with their axes in another order."""
        self.count += 1
        return self.read(f"w{self.count}", order)

    def conv(self, x, inside, out, size, stride, groups=1):
        padding = "SAME"
        if stride > 1 and size > 1:  # as Keras pads for the same windows as PyTorch's
            sides = [size // 2] * 2
            x, padding = tf.pad(x, [[0, 0], sides, sides, [0, 0]]), "VALID"
        if groups > 1:
            return tf.nn.depthwise_conv2d(x, self.numbers((2, 3, 0, 1)), [1, stride, stride, 1],
                                          padding)
        return tf.nn.conv2d(x, self.numbers((2, 3, 1, 0)), stride, padding)

    def norm(self, x):
        scale, shift, mean, variance = (self.numbers() for _ in range(4))
        return tf.compat.v1.nn.fused_batch_norm(x, scale, shift, mean, variance, epsilon=1e-3,
                                                is_training=False)[0]

    def relu(self, x):
        return tf.nn.relu(x)

    def relu6(self, x):
        return tf.nn.relu6(x)

    def pool(self, x):
        return tf.nn.max_pool2d(x, 3, 2, "SAME")

    def add(self, a, b):
        return a + b

    def mean(self, x):
        return tf.reduce_mean(x, (1, 2))

    def dense(self, x, inside, out):
        return tf.matmul(x, self.numbers((1, 0))) + self.numbers()


class Net(tf.Module):
    def __init__(self, network, arrays):
        super().__init__()
        self.network, self.arrays, self.made = network, arrays, {}

    def read(self, name, order):
        if name not in self.made:
            array = self.arrays[name]
            with tf.init_scope():
                self.made[name] = tf.Variable(
                    array if order is None else np.ascontiguousarray(array.transpose(order)))
        return self.made[name]

    @tf.function(input_signature=[tf.TensorSpec((1, nets.SIZE, nets.SIZE, 3), name="image")])
    def __call__(self, image):
        return {"scores": self.network(Backend(self.read), image)}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, network in nets.NETWORKS.items():
        net = Net(network, np.load(folder / f"{name}.npz"))
        tf.saved_model.save(net, str(folder / name), signatures=net.__call__)
        converter = tf.lite.TFLiteConverter.from_saved_model(str(folder / name))
        (folder / f"{name}.tflite").write_bytes(converter.convert())


if __name__ == "__main__":
    main()
