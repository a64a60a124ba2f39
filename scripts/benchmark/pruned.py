#!/usr/bin/env python3
"""Makes AlexNet and VGG-16 with weights that are pruned and share few values.

    pruned.py alexnet vgg16_90 vgg16_dense -o DIR     DIR/alexnet.onnx, ...

The name of a network is alexnet or vgg16, then `_dense` for its fully connected layers
alone, then `_70`, `_80` or `_90` where so many percent of each layer's weights are pruned.
Without a number each layer keeps the share of its weights that Deep Compression (Han, Mao
and Dally, ICLR 2016) publishes for it, which "Efficient inferencing of compressed deep
neural networks" (Vooturi et al., 2017) takes as its conventional configuration. (Of
AlexNet's conv5 the latter prints that share, 37 %, as the share that is pruned.)

Weights are drawn, not trained. They have Laplace's distribution, which is near that of
trained weights: beyond the threshold of pruning its tail has the same shape at any
sparsity. The weights of least magnitude become zero, and the others are clustered by
k-means that begins with evenly spaced centres, as Deep Compression does: 255 values for a
convolution and 31 for a fully connected layer, so that with zero 8 and 5 bits number them.

Files are kept in the cache, keyed by the sources that say what they hold.
"""

import argparse
import hashlib
import pathlib
import sys
import tempfile

import numpy as np
import onnx

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "test/networks"))
import graph  # noqa: E402
import make  # noqa: E402
import vgg  # noqa: E402

# Percent of the weights that each layer keeps, in the order of the layers.
KEPT = {
    "alexnet": [84, 38, 35, 37, 37, 9, 9, 25],
    "vgg16": [58, 22, 34, 36, 53, 24, 42, 32, 27, 34, 35, 29, 36, 4, 4, 23],
}
# Features that the first fully connected layer reads.
FEATURES = {"alexnet": 256 * 6 * 6, "vgg16": 512 * 7 * 7}
NUM_DENSE_LAYERS = 3
PRUNED = [70, 80, 90]  # percent, of all layers alike

CONV_VALUES, DENSE_VALUES = 255, 31
MOST_ROUNDS = 50  # of k-means

NETWORKS = [name + part + share for name in KEPT for part in ("", "_dense")
            for share in ("", *(f"_{percent}" for percent in PRUNED))]


def cluster(values, count):
    """Each value replaced by the mean of its cluster."""
    ordered = np.sort(values).astype(np.float64)
    sums = np.concatenate([[0], np.cumsum(ordered)])
    centres = np.linspace(ordered[0], ordered[-1], count)
    for _ in range(MOST_ROUNDS):
        inner = np.searchsorted(ordered, (centres[1:] + centres[:-1]) / 2)
        ends = np.concatenate([[0], inner, [len(ordered)]])
        sizes = np.diff(ends)
        means = np.where(sizes > 0, np.diff(sums[ends]) / np.maximum(sizes, 1), centres)
        if np.allclose(means, centres, rtol=1e-4, atol=0):
            break
        centres = means
    centres = centres.astype(np.float32)
    return centres[np.searchsorted((centres[1:] + centres[:-1]) / 2, values)]


def prune_and_share(weight, kept, count):
    """Zeroes all but a share `kept` of the weights, and lets the others share `count` values."""
    flat = weight.ravel()
    magnitudes = np.abs(flat)
    dropped = round((1 - kept) * flat.size)
    stays = magnitudes > np.partition(magnitudes, dropped - 1)[dropped - 1]
    values = cluster(flat[stays], count)
    # As large on average as before, so that activations neither vanish nor grow.
    values *= np.float32(np.linalg.norm(flat) / np.linalg.norm(values))
    result = np.zeros_like(flat)
    result[stays] = values
    return result.reshape(weight.shape)


class PrunedGraph(graph.Graph):
    """Layers in order keep shares of their weights."""

    def __init__(self, name, kept):
        super().__init__(name, statistics={})
        self.kept = iter(kept)

    def _normal(self, leaf, shape, deviation):
        random = self.random(leaf)
        weight = random.standard_exponential(shape, np.float32)
        weight *= np.float32(deviation / np.sqrt(2))
        return np.negative(weight, out=weight, where=random.random(shape, np.float32) < 0.5)

    def _weights(self, weight, bias, axis):
        values = CONV_VALUES if weight.ndim == 4 else DENSE_VALUES
        weight = prune_and_share(weight, next(self.kept), values)
        jitter = 0.1 * self.random("bias").standard_normal(weight.shape[axis])
        return [self.initializer("weight", weight),
                self.initializer("bias", jitter.astype(np.float32))]


def classify(g, x):
    """The three fully connected layers that both networks end with."""
    x = g.relu(g.linear(x, "fc6", 4096))
    x = g.relu(g.linear(x, "fc7", 4096))
    x = g.linear(x, "fc8", 1000, activation_follows=False)
    g.output(g.op("Softmax", x, axis=1), "prob", ["batch", 1000])


def alexnet(g):
    """AlexNet (Krizhevsky, Sutskever and Hinton 2012), with its groups and its LRN."""
    def normalize(x):
        return g.max_pool(g.op("LRN", x, size=5, alpha=1e-4, beta=0.75, bias=1.0), 3, 2)
    x = g.input("data", ["batch", 3, 227, 227])
    x = normalize(g.relu(g.conv(x, "conv1", 96, 11, stride=4, pad=0, bias=True)))
    x = normalize(g.relu(g.conv(x, "conv2", 256, 5, groups=2, bias=True)))
    x = g.relu(g.conv(x, "conv3", 384, 3, bias=True))
    x = g.relu(g.conv(x, "conv4", 384, 3, groups=2, bias=True))
    x = g.relu(g.conv(x, "conv5", 256, 3, groups=2, bias=True))
    x = g.flatten(g.max_pool(x, 3, 2), FEATURES["alexnet"])
    classify(g, x)


def build(name):
    network, *rest = name.split("_")
    is_dense = "dense" in rest
    percent = next((int(part) for part in rest if part.isdigit()), None)
    kept = [percent and 100 - percent or share for share in KEPT[network]]
    g = PrunedGraph(name, [share / 100 for share in
                           (kept[-NUM_DENSE_LAYERS:] if is_dense else kept)])
    if is_dense:
        classify(g, g.input("data", ["batch", FEATURES[network]]))
    elif network == "alexnet":
        alexnet(g)
    else:
        vgg.vgg(g, (2, 2, 3, 3, 3))
    return g.model()


def key():
    digest = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    for module in graph, vgg:
        digest.update(pathlib.Path(module.__file__).read_bytes())
    return digest.hexdigest()[:12]


def made(name):
    """The path of the network in the cache, made if it is not there."""
    folder = make.cache_folder() / "networks-pruned" / key()
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        make.forget_old(folder)
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            partial = pathlib.Path(unfinished) / path.name
            onnx.save(build(name), partial)
            partial.replace(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME", choices=NETWORKS)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True,
                        help="folder for the files")
    arguments = parser.parse_args()
    for name in arguments.names:
        print(make.place(made(name), arguments.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
