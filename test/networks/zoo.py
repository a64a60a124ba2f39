"""The table of networks: one line each."""

import dataclasses
import functools
from typing import Callable

import bert
import data
import densenet
import efficientnet
import inception
import mobilenet
import resnet
import squeezenet
import ssd
import vgg


def pictures(size):
    return functools.partial(data.images, size=size)


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    build: Callable  # of a Graph
    inputs: Callable = pictures(224)  # of a seed and a count: an array, or a dict of them
    opset: int = 17
    labels: str = ""  # the output whose largest element is the answer, else the first
    # Inputs to measure statistics over: the deeper, the more lest they be overfitted.
    calibration: int = 32


NETWORKS = {n.name: n for n in [
    Network("bert_base", bert.bert, data.tokens, opset=14, labels="logits",
            calibration=8),
    Network("densenet121", lambda g: densenet.densenet(g, (6, 12, 24, 16))),
    Network("densenet161", lambda g: densenet.densenet(g, (6, 12, 36, 24), 48, 96)),
    Network("densenet169", lambda g: densenet.densenet(g, (6, 12, 32, 32))),
    Network("densenet201", lambda g: densenet.densenet(g, (6, 12, 48, 32))),
    Network("efficientnet_b0", efficientnet.b0, calibration=96),
    Network("inception_v3", inception.inception_v3, pictures(299), opset=13),
    Network("mobilenet_v1", mobilenet.v1, opset=13),
    Network("mobilenet_v2", mobilenet.v2, opset=13),
    Network("mobilenet_v3_large", mobilenet.v3_large, calibration=96),
    Network("mobilenet_v3_large_opset11", mobilenet.v3_large, opset=11, calibration=96),
    Network("resnet18", lambda g: resnet.resnet(g, (2, 2, 2, 2), False)),
    Network("resnet34", lambda g: resnet.resnet(g, (3, 4, 6, 3), False)),
    Network("resnet50", lambda g: resnet.resnet(g, (3, 4, 6, 3), True)),
    Network("resnet101", lambda g: resnet.resnet(g, (3, 4, 23, 3), True)),
    Network("resnet152", lambda g: resnet.resnet(g, (3, 8, 36, 3), True)),
    Network("squeezenet1_1", squeezenet.squeezenet, opset=12),
    Network("ssd_resnet50", ssd.ssd_resnet50, pictures(512), opset=13, labels="scores",
            calibration=12),
    Network("vgg11", lambda g: vgg.vgg(g, (1, 1, 2, 2, 2)), opset=12,
            calibration=8),
    Network("vgg13", lambda g: vgg.vgg(g, (2, 2, 2, 2, 2)), opset=12,
            calibration=8),
    Network("vgg16", lambda g: vgg.vgg(g, (2, 2, 3, 3, 3)), opset=12,
            calibration=8),
    Network("vgg19", lambda g: vgg.vgg(g, (2, 2, 4, 4, 4)), opset=12,
            calibration=8),
]}


def feeds(network, model_inputs, seed, count):
    """Named inputs for a model whose graph inputs are model_inputs."""
    made = network.inputs(seed, count)
    return made if isinstance(made, dict) else {model_inputs[0]: made}
