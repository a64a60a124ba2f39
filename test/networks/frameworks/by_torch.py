#!/usr/bin/env python3
"""Exports the networks of nets.py with PyTorch: `by_torch.py DIR` writes NAME.pt2, NAME.onnx, and
NAME.npz with the weights, an input and its output."""

import pathlib
import sys

import nets
import numpy as np
import torch
import torch.nn.functional as F


class Backend:
    def __init__(self, net):
        self.net, self.random, self.count, self.channels = net, np.random.default_rng(7), 0, 0

    def numbers(self, *shape, scale=None):
        """The next weights: normal ones times `scale`, or numbers of 0.5 or more."""
        self.count += 1
        name = f"w{self.count}"
        if not hasattr(self.net, name):
            array = self.random.standard_normal(shape)
            array = abs(array) + 0.5 if scale is None else array * scale
            self.net.register_buffer(name, torch.from_numpy(array.astype(np.float32)))
        return getattr(self.net, name)

    def conv(self, x, inside, out, size, stride, groups=1):
        self.channels = out
        taps = inside // groups * size * size
        w = self.numbers(out, inside // groups, size, size, scale=taps ** -0.5)
        return F.conv2d(x, w, stride=stride, padding=size // 2, groups=groups)

    def norm(self, x):
        n = self.channels
        scale, shift = self.numbers(n), self.numbers(n, scale=0.1)
        mean, variance = self.numbers(n, scale=0.1), self.numbers(n)
        return F.batch_norm(x, mean, variance, scale, shift, eps=1e-3)

    def relu(self, x):
        return F.relu(x)

    def relu6(self, x):
        return F.relu6(x)

    def pool(self, x):
        return F.max_pool2d(x, 3, 2, ceil_mode=True)

    def add(self, a, b):
        return a + b

    def mean(self, x):
        return x.mean((2, 3))

    def dense(self, x, inside, out):
        return F.linear(x, self.numbers(out, inside, scale=inside ** -0.5),
                        self.numbers(out, scale=0.1))


class Net(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, image):
        return self.network(Backend(self), image)


def main():
    folder = pathlib.Path(sys.argv[1])
    image = np.random.default_rng(1).standard_normal((1, 3, nets.SIZE, nets.SIZE))
    x = torch.from_numpy(image.astype(np.float32))
    for name, network in nets.NETWORKS.items():
        net = Net(network).eval()
        with torch.no_grad():
            y = net(x)
        torch.export.save(torch.export.export(net, (x,)), folder / f"{name}.pt2")
        torch.onnx.export(net, (x,), folder / f"{name}.onnx", dynamo=True, external_data=False,
                          input_names=["image"], output_names=["scores"])
        np.savez(folder / f"{name}.npz", image=x.numpy(), scores=y.numpy(),
                 **{key: value.numpy() for key, value in net.named_buffers()})


if __name__ == "__main__":
    main()
