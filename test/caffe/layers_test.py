#!/usr/bin/env python3
"""Compares what nnc computes for Caffe's layers with an independent model of them in numpy, on
random shapes, odd sizes, tails and single elements."""

import pathlib
import tempfile
import unittest

import numpy as np

from caffemodel import Net, Raw
from running import check

CASES = []


def case(function):
    CASES.append(function)
    return function


def conv(net, x, outputs, kernel, channels=None, group=1, bias=True, kind="Convolution", **more):
    """A convolution of x with square kernels."""
    channels = channels or net.values[x].shape[1]
    shape = (outputs, channels // group, kernel, kernel)
    if kind == "Deconvolution":
        shape = (channels, outputs // group, kernel, kernel)
    blobs = [net.weights(*shape)] + ([net.weights(outputs)] if bias else [])
    params = {"num_output": outputs, "kernel_size": kernel, **more}
    if group != 1 and kind != "ConvolutionDepthwise":
        params["group"] = group
    if not bias:
        params["bias_term"] = False
    return net.add(kind, x, ("convolution_param", params), blobs)


@case
def convolutions(net):
    x = net.input(2, 6, 11, 9)
    conv(net, x, 5, 3)
    conv(net, x, 4, 3, pad=1, stride=2, bias=False)
    conv(net, x, 6, 3, group=3, pad=2, dilation=2)
    conv(net, x, 8, 1)
    conv(net, x, 6, 3, group=6, pad=1, kind="ConvolutionDepthwise")
    net.add("Convolution", x, ("convolution_param", {
        "num_output": 3, "kernel_h": 3, "kernel_w": 1, "stride_h": 1, "stride_w": 2, "pad_h": 1,
        "pad_w": 0}), [net.weights(3, 6, 3, 1), net.weights(3)])
    net.add("Convolution", x, ("convolution_param", {
        "num_output": 3, "kernel_size": [2, 3], "stride": [2, 1], "pad": [0, 1]}),
        [net.weights(3, 6, 2, 3), net.weights(3)])
    net.add("Convolution", [x, net.input(1, 6, 5, 5)], ("convolution_param", {
        "num_output": 2, "kernel_size": 3}), [net.weights(2, 6, 3, 3), net.weights(2)], tops=2)
    conv(net, x, 4, 3, stride=2, kind="Deconvolution")
    conv(net, x, 6, 4, group=6, pad=1, stride=2, bias=False, kind="Deconvolution")
    conv(net, x, 4, 3, pad=1, dilation=2, kind="Deconvolution")
    conv(net, net.input(1, 1, 1, 1), 1, 1)
    net.add("Convolution", net.input(2, 3, 17), ("convolution_param", {
        "num_output": 4, "kernel_size": 5, "pad": 1, "stride": 2}),
        [net.weights(4, 3, 5), net.weights(4)])
    net.add("Convolution", net.input(1, 2, 5, 7, 6), ("convolution_param", {
        "num_output": 3, "kernel_size": [2, 3, 3], "pad": 1, "stride": 2}),
        [net.weights(3, 2, 2, 3, 3), net.weights(3)])


@case
def inner_products(net):
    x = net.input(3, 4, 5, 2)
    for params, shape in [({"num_output": 7}, (7, 40)),
                          ({"num_output": 1, "axis": 2}, (1, 10)),
                          ({"num_output": 3, "axis": -1, "transpose": True}, (2, 3))]:
        net.add("InnerProduct", x, ("inner_product_param", params),
                [net.weights(*shape), net.weights(params["num_output"])])
    net.add("InnerProduct", x, ("inner_product_param", {"num_output": 2, "bias_term": False}),
            [net.weights(2, 40)])
    places = net.input(value=net.random.integers(0, 9, (2, 3)))
    net.add("Embed", places, ("embed_param", {"num_output": 4, "input_dim": 9}),
            [net.weights(9, 4), net.weights(4)])
    net.add("Embed", places, ("embed_param", {"num_output": 1, "input_dim": 9,
                                              "bias_term": False}), [net.weights(9, 1)])


@case
def pools(net):
    x = net.input(2, 3, 8, 7)
    one = net.input(1, 1, 1, 1)
    for kind in "MAX", "AVE":
        for params in [{"kernel_size": 3, "stride": 2}, {"kernel_size": 2, "stride": 2},
                       {"kernel_size": 3, "stride": 2, "pad": 1},
                       {"kernel_size": 3, "stride": 3, "pad": 2}, {"kernel_size": 2, "pad": 1},
                       {"kernel_h": 4, "kernel_w": 2, "stride_h": 3, "stride_w": 2, "pad_h": 1,
                        "pad_w": 0},
                       {"kernel_size": 3, "stride": 2, "round_mode": Raw("FLOOR")},
                       {"global_pooling": True}]:
            net.add("Pooling", x, ("pooling_param", {"pool": Raw(kind), **params}))
        net.add("Pooling", one, ("pooling_param", {"pool": Raw(kind), "kernel_size": 1}))
        net.add("Pooling", one, ("pooling_param", {"pool": Raw(kind), "kernel_size": 3,
                                                   "stride": 2, "pad": 1}))
    positive = net.add("AbsVal", x, ("", {}))
    for y in positive, x:
        net.add("Pooling", y, ("pooling_param", {"pool": Raw("STOCHASTIC"), "kernel_size": 3,
                                                 "stride": 2}))
    for kind in "MAX", "AVE", "STOCHASTIC":
        for height in 1, 3:
            net.add("SPP", net.add("AbsVal", net.input(2, 3, 8, 12), ("", {})), ("spp_param", {
                "pyramid_height": height, "pool": Raw(kind)}))
    net.add("SPP", net.input(1, 2, 11, 7), ("spp_param", {"pyramid_height": 3}))


@case
def regions(net):
    rois = np.array([[0, 0, 0, 40, 30], [1, 5, 9, 5, 9], [1, 17.5, 3.2, 60, 20],
                     [0, 30, 20, 90, 80]])
    for sizes in [{"pooled_h": 3, "pooled_w": 2, "spatial_scale": 0.125},
                  {"pooled_h": 1, "pooled_w": 1}]:
        net.add("ROIPooling", [net.input(2, 3, 6, 8), net.input(value=rois)],
                ("roi_pooling_param", sizes))
    net.add("ROIPooling", [net.input(2, 1, 6, 8), net.input(value=rois.reshape(4, 5, 1, 1))],
            ("roi_pooling_param", {"pooled_h": 7, "pooled_w": 7, "spatial_scale": 0.0625}))


@case
def unpools(net):
    x = net.input(2, 3, 6, 8)
    pooled, places = net.add("Pooling", x, ("pooling_param", {
        "pool": Raw("MAX"), "kernel_size": 2, "stride": 2}), tops=2)
    net.add("Upsample", [pooled, places], ("upsample_param", {"scale": 2}))
    odd, places = net.add("Pooling", net.input(1, 2, 5, 7), ("pooling_param", {
        "kernel_size": 2, "stride": 2}), tops=2)
    net.add("Upsample", [odd, places], ("upsample_param", {"upsample_h": 5, "upsample_w": 7}))
    net.add("Upsample", [odd, places], ("upsample_param", {
        "scale": 2, "pad_out_h": True, "pad_out_w": True}))
    net.add("Upsample", x, ("upsample_param", {"scale": 3}))


@case
def activations(net):
    x = net.input(2, 3, 4, 5)
    for kind, message, params in [
            ("ReLU", "relu_param", {}), ("ReLU", "relu_param", {"negative_slope": 0.25}),
            ("ELU", "elu_param", {}), ("ELU", "elu_param", {"alpha": 0.5}),
            ("Sigmoid", "", {}), ("TanH", "", {}), ("AbsVal", "", {}), ("BNLL", "", {}),
            ("Dropout", "dropout_param", {"dropout_ratio": 0.4}), ("ReLU6", "", {}),
            ("Clip", "clip_param", {"min": -0.5, "max": 0.75}), ("Swish", "", {}),
            ("Swish", "swish_param", {"beta": 1.5}), ("Threshold", "", {}),
            ("Threshold", "threshold_param", {"threshold": 0.5}),
            ("Exp", "exp_param", {}), ("Exp", "exp_param", {"base": 2.0, "scale": 0.5,
                                                            "shift": -1.0}),
            ("Power", "power_param", {"power": 2.0, "scale": -0.5, "shift": 1.0}),
            ("Power", "power_param", {"scale": 3.0}), ("Power", "power_param", {"power": 3.0}),
            ("Power", "power_param", {"power": 0.0}),
            ("Power", "power_param", {"power": 2.0, "scale": 0.0, "shift": 3.0})]:
        net.add(kind, x, (message, params) if message else None)
    positive = net.add("Power", x, ("power_param", {"power": 2.0, "shift": 4.0}))
    for params in {}, {"base": 10.0}, {"scale": 2.0, "shift": 1.0}:
        net.add("Log", positive, ("log_param", params))
    for power in 0.5, -0.5, -1.0, 1.5:
        net.add("Power", positive, ("power_param", {"power": power}))
    net.add("PReLU", x, blobs=[net.weights(3)])
    net.add("PReLU", x, ("prelu_param", {"channel_shared": True}), [net.weights(1)])
    net.add("PReLU", net.input(3, 4), blobs=[net.weights(4)])


@case
def several(net):
    a, b, c = (net.input(2, 3, 4, 5) for _ in range(3))
    for params in [{}, {"operation": Raw("PROD")}, {"operation": Raw("MAX")},
                   {"operation": Raw("SUM"), "coeff": [1.0, -0.5, 2.0]}]:
        net.add("Eltwise", [a, b, c], ("eltwise_param", params))
    net.add("Concat", [a, b, c])
    net.add("Concat", [a, b], ("concat_param", {"axis": -1}))
    net.add("Concat", [a, b], ("concat_param", {"concat_dim": 0}))
    net.add("Axpy", [net.input(2, 3), a, b])
    net.add("Slice", a, ("slice_param", {"slice_point": [1, 2]}), tops=3)
    net.add("Slice", a, ("slice_param", {"axis": 2}), tops=2)
    net.add("Slice", a, ("slice_param", {"slice_dim": 0}), tops=2)
    net.add("Split", net.add("ReLU", a), tops=2)


@case
def norms(net):
    x = net.input(2, 6, 5, 4)
    net.add("LRN", x)
    net.add("LRN", x, ("lrn_param", {"local_size": 3, "alpha": 0.5, "beta": 0.5, "k": 2.0}))
    net.add("LRN", x, ("lrn_param", {"local_size": 3, "alpha": 0.5,
                                     "norm_region": Raw("WITHIN_CHANNEL")}))
    net.add("Softmax", x)
    net.add("Softmax", x, ("softmax_param", {"axis": -1}))
    for params in [{}, {"across_channels": True}, {"normalize_variance": False},
                   {"eps": 0.5}]:
        net.add("MVN", x, ("mvn_param", params))
    net.add("Normalize", x, ("norm_param", {}), [net.weights(1)])
    net.add("Normalize", x, ("norm_param", {"across_spatial": False, "channel_shared": False,
                                            "eps": 0.25}), [net.weights(6)])


@case
def affine(net):
    x = net.input(2, 6, 5, 4)
    def statistics():
        return [net.weights(6) * 3, net.random.random(6) * 3 + 1, [3.0]]
    y = net.add("BatchNorm", x, ("batch_norm_param", {"use_global_stats": True, "eps": 0.01}),
                statistics())
    net.add("Scale", y, ("scale_param", {"bias_term": True}), [net.weights(6), net.weights(6)])
    z = net.add("BatchNorm", x, blobs=statistics())
    net.add("Scale", z, blobs=[net.weights(6)], in_place=True)
    net.add("BatchNorm", x, ("batch_norm_param", {"use_global_stats": False}),
            statistics())
    net.add("BatchNorm", net.input(3, 6), blobs=statistics())
    net.add("BN", x, ("bn_param", {"bn_mode": Raw("INFERENCE")}), [net.weights(6)] * 2)
    net.add("BN", x, ("bn_param", {"eps": 0.01}), [
        net.weights(6), net.weights(6), net.weights(6), net.random.random(6) + 0.5])
    net.add("Scale", x, ("scale_param", {"axis": 2, "num_axes": -1}), [net.weights(5, 4)])
    net.add("Scale", x, ("scale_param", {"axis": 0, "num_axes": 0}), [net.weights()])
    net.add("Scale", [x, net.input(2, 6)], ("scale_param", {"axis": 0, "bias_term": True}),
            [net.weights(2, 6)])
    net.add("Bias", x, blobs=[net.weights(6)])
    net.add("Bias", [x, net.input(5)], ("bias_param", {"axis": 2}))


@case
def shapes(net):
    x = net.input(2, 6, 5, 4)
    net.add("Flatten", x)
    net.add("Flatten", x, ("flatten_param", {"axis": 2}))
    net.add("Flatten", x, ("flatten_param", {"axis": 0, "end_axis": 1}))
    for params in [{"shape": {"dim": [0, -1]}}, {"shape": {"dim": [4, -1, 10]}},
                   {"shape": {"dim": [3, -1]}, "axis": 1, "num_axes": 1},
                   {"shape": {"dim": [1, 1]}, "axis": -1, "num_axes": 0},
                   {"shape": {"dim": [0, 0, 20]}}]:
        net.add("Reshape", x, ("reshape_param", params))
    net.add("Permute", x, ("permute_param", {"order": [0, 2, 3, 1]}))
    net.add("ShuffleChannel", x, ("shuffle_channel_param", {"group": 3}))
    net.add("Reorg", net.input(2, 8, 6, 4), ("reorg_param", {"stride": 2}))
    net.add("Reorg", net.input(2, 12, 3, 4), ("reorg_param", {"stride": 2, "reverse": True}))
    net.add("Tile", x, ("tile_param", {"tiles": 3}))
    net.add("Tile", x, ("tile_param", {"axis": -1, "tiles": 2}))
    like = net.input(2, 6, 3, 2)
    net.add("Crop", [x, like], ("crop_param", {"offset": 1}))
    net.add("Crop", [x, like], ("crop_param", {"axis": 2, "offset": [2, 0]}))
    net.add("Crop", [x, net.input(1, 2, 3, 4)], ("crop_param", {"axis": 0}))
    net.add("Silence", net.add("AbsVal", x), tops=0)


@case
def reductions(net):
    x = net.input(3, 4, 5, 2)
    for params in [{}, {"operation": Raw("MEAN"), "axis": 1}, {"operation": Raw("ASUM"),
                                                               "axis": 2, "coeff": 0.5},
                   {"operation": Raw("SUMSQ"), "axis": -1}]:
        net.add("Reduction", x, ("reduction_param", params))
    for params in [{}, {"top_k": 3}, {"top_k": 2, "out_max_val": True}, {"axis": 1},
                   {"axis": 1, "out_max_val": True}, {"out_max_val": True},
                   {"axis": 2, "top_k": 2, "out_max_val": True}]:
        net.add("ArgMax", x, ("argmax_param", params))
    equal = net.input(value=net.random.integers(0, 3, (2, 9, 4, 3)))
    net.add("ArgMax", equal, ("argmax_param", {"axis": 1}))


@case
def interpolation(net):
    x = net.input(2, 3, 5, 7)
    for params in [{"height": 9, "width": 4}, {"zoom_factor": 2}, {"shrink_factor": 2},
                   {"zoom_factor": 3, "shrink_factor": 2}, {"height": 1, "width": 1},
                   {"zoom_factor": 2, "pad_beg": -1, "pad_end": -1}]:
        net.add("Interp", x, ("interp_param", params))
    net.add("Interp", [x, net.input(1, 1, 8, 3)], ("interp_param", {}))
    net.add("Interp", net.input(1, 2, 1, 1), ("interp_param", {"height": 3, "width": 2}))


def boxes(net, code, images=1, classes=4, **more):
    """Detections of random boxes around those of two feature maps."""
    data = net.input(images, 3, 60, 90)
    maps = [net.input(images, 2, 4, 6), net.input(images, 2, 2, 3)]
    priors = [
        net.add("PriorBox", [maps[0], data], ("prior_box_param", {
            "min_size": 12.5, "aspect_ratio": [2.0], "variance": [0.1, 0.1, 0.2, 0.2]})),
        net.add("PriorBox", [maps[1], data], ("prior_box_param", {
            "min_size": [20.0, 30.0], "max_size": [30.0, 45.5], "aspect_ratio": [2.0, 3.0],
            "flip": False, "clip": True, "step": 32.0, "offset": 0.25, "variance": 0.15}))]
    prior = net.add("Concat", priors, ("concat_param", {"axis": 2}))
    count = net.values[prior].shape[2] // 4
    sets = 1 if more.get("share_location", True) else classes
    where = net.input(images, count * sets * 4)
    scores = net.add("Softmax", net.input(images, count, classes), ("softmax_param", {"axis": 2}))
    flat = net.add("Flatten", scores)
    return net.add("DetectionOutput", [where, flat, prior], ("detection_output_param", {
        "num_classes": classes, "code_type": Raw(code), **more}))


@case
def detections(net):
    boxes(net, "CENTER_SIZE", keep_top_k=20, confidence_threshold=0.3,
          nms_param={"nms_threshold": 0.45, "top_k": 30})
    boxes(net, "CORNER", images=2, keep_top_k=7, confidence_threshold=0.1, background_label_id=2,
          nms_param={"nms_threshold": 0.3, "top_k": 400})
    boxes(net, "CORNER_SIZE", classes=2, variance_encoded_in_target=True,
          nms_param={"nms_threshold": 0.6})
    boxes(net, "CENTER_SIZE", images=2, share_location=False, keep_top_k=20,
          confidence_threshold=0.2, nms_param={"nms_threshold": 0.4, "top_k": 10})
    boxes(net, "CORNER", classes=3, share_location=False, background_label_id=-1)
    # No score is above the threshold.
    boxes(net, "CENTER_SIZE", keep_top_k=5, confidence_threshold=2.0)


@case
def recurrent(net):
    steps, count, inputs, units = 5, 3, 4, 6
    x = net.input(steps, count, inputs)
    cont = net.input(value=np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 1]]))
    def blobs(gates, static=0):
        return ([net.weights(gates * units, inputs), net.weights(gates * units)]
                + ([net.weights(gates * units, static)] if static else [])
                + [net.weights(gates * units, units)])
    net.add("LSTM", [x, cont], ("recurrent_param", {"num_output": units}), blobs(4))
    net.add("LSTM", [x, cont, net.input(count, 2), net.input(1, count, units),
                     net.input(1, count, units)],
            ("recurrent_param", {"num_output": units, "expose_hidden": True}), blobs(4, 2),
            tops=3)
    net.add("RNN", [x, cont], ("recurrent_param", {"num_output": units}),
            blobs(1) + [net.weights(units, units), net.weights(units)])


@case
def constants(net):
    net.add("Eltwise", [net.input(2, 3), net.add(
        "Parameter", [], ("parameter_param", {"shape": {"dim": [2, 3]}}), [net.weights(2, 3)])])


class Layers(unittest.TestCase):
    def run_case(self, build):
        net = Net(seed=len(build.__name__))
        build(net)
        with tempfile.TemporaryDirectory() as folder:
            check(self, net, pathlib.Path(folder))


for each in CASES:
    setattr(Layers, f"test_{each.__name__}", lambda self, build=each: self.run_case(build))

if __name__ == "__main__":
    unittest.main()
