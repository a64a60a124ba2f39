"""Networks with the layers of well-known ones, narrower, on small images and with random weights.
Each function builds one in a Net of caffemodel.py."""

import numpy as np

from caffemodel import Raw

NETS = {}


def net(function):
    NETS[function.__name__] = function
    return function


def channels(n, x):
    return n.values[x].shape[1]


def conv(n, x, outputs, kernel=3, relu=True, kind="Convolution", **more):
    group = more.get("group", 1)
    shape = (outputs, channels(n, x) // group, kernel, kernel)
    if kind == "Deconvolution":
        shape = (channels(n, x), outputs // group, kernel, kernel)
    blobs = [n.weights(*shape)] + ([n.weights(outputs)] if more.get("bias_term", True) else [])
    y = n.add(kind, x, ("convolution_param", {"num_output": outputs, "kernel_size": kernel,
                                              **more}), blobs)
    return n.add("ReLU", y, in_place=True) if relu else y


def norm(n, x, relu=True):
    """A batch normalization and its scale, in place, and a ReLU."""
    count = channels(n, x)
    n.add("BatchNorm", x, ("batch_norm_param", {"use_global_stats": True}), [
        n.weights(count), n.random.random(count) + 0.5, [1.0]], in_place=True)
    n.add("Scale", x, ("scale_param", {"bias_term": True}),
          [n.random.random(count) + 0.5, n.weights(count)], in_place=True)
    return n.add("ReLU", x, in_place=True) if relu else x


def conv_norm(n, x, outputs, kernel=3, relu=True, **more):
    return norm(n, conv(n, x, outputs, kernel, relu=False, bias_term=False, **more), relu)


def pool(n, x, kernel=3, stride=2, kind="MAX", **more):
    return n.add("Pooling", x, ("pooling_param", {"pool": Raw(kind), "kernel_size": kernel,
                                                  "stride": stride, **more}))


def global_pool(n, x):
    return n.add("Pooling", x, ("pooling_param", {"pool": Raw("AVE"), "global_pooling": True}))


def dense(n, x, outputs, relu=False):
    length = int(np.prod(n.values[x].shape[1:]))
    y = n.add("InnerProduct", x, ("inner_product_param", {"num_output": outputs}),
              [n.weights(outputs, length), n.weights(outputs)])
    return n.add("ReLU", y, in_place=True) if relu else y


def dropout(n, x):
    return n.add("Dropout", x, ("dropout_param", {"dropout_ratio": 0.5}), in_place=True)


def lrn(n, x):
    return n.add("LRN", x, ("lrn_param", {"local_size": 5, "alpha": 0.0001, "beta": 0.75}))


def classify(n, x, classes=10):
    return n.add("Softmax", dense(n, x, classes))


@net
def lenet(n):
    x = n.add("Power", n.input(2, 1, 28, 28), ("power_param", {"scale": 0.00390625}))
    x = pool(n, conv(n, x, 8, 5, relu=False), 2)
    x = pool(n, conv(n, x, 12, 5, relu=False), 2)
    classify(n, dense(n, x, 20, relu=True))


@net
def alexnet(n):
    x = pool(n, lrn(n, conv(n, n.input(1, 3, 67, 67), 12, 11, stride=4)))
    x = pool(n, lrn(n, conv(n, x, 16, 5, pad=2, group=2)))
    x = conv(n, conv(n, x, 24, pad=1), 24, pad=1, group=2)
    x = dropout(n, dense(n, conv(n, x, 16, pad=1, group=2), 40, relu=True))
    classify(n, x)


@net
def caffenet(n):
    x = lrn(n, pool(n, conv(n, n.input(1, 3, 67, 67), 12, 11, stride=4)))
    x = lrn(n, pool(n, conv(n, x, 16, 5, pad=2, group=2)))
    classify(n, dropout(n, dense(n, x, 30, relu=True)))


@net
def vgg(n):
    x = n.input(1, 3, 32, 32)
    for width, count in (8, 2), (12, 2), (16, 3):
        for _ in range(count):
            x = conv(n, x, width, pad=1)
        x = pool(n, x, 2)
    classify(n, dropout(n, dense(n, x, 32, relu=True)))


@net
def googlenet(n):
    x = pool(n, conv(n, n.input(1, 3, 56, 56), 8, 7, stride=2, pad=3))
    x = pool(n, lrn(n, conv(n, conv(n, lrn(n, x), 8, 1), 12, pad=1)))
    for _ in range(2):
        x = n.add("Concat", [conv(n, x, 4, 1), conv(n, conv(n, x, 4, 1), 6, pad=1),
                             conv(n, conv(n, x, 2, 1), 4, 5, pad=2),
                             conv(n, pool(n, x, 3, 1, pad=1), 4, 1)])
    classify(n, dropout(n, pool(n, x, 7, 1, "AVE")))


@net
def squeezenet(n):
    x = pool(n, conv(n, n.input(1, 3, 64, 64), 8, stride=2))
    for _ in range(2):
        small = conv(n, x, 4, 1)
        x = n.add("Concat", [conv(n, small, 8, 1), conv(n, small, 8, pad=1)])
        x = pool(n, x)
    n.add("Softmax", global_pool(n, conv(n, dropout(n, x), 10, 1, pad=1)))


@net
def resnet(n):
    x = pool(n, conv_norm(n, n.input(1, 3, 56, 56), 16, 7, pad=3, stride=2))
    for width, stride in (16, 1), (24, 2):
        short = conv_norm(n, x, width, 1, stride=stride, relu=False)
        y = conv_norm(n, conv_norm(n, x, 8, 1, stride=stride), 8, pad=1)
        y = conv_norm(n, y, width, 1, relu=False)
        x = n.add("ReLU", n.add("Eltwise", [short, y]), in_place=True)
    classify(n, pool(n, x, 7, 1, "AVE"))


@net
def mobilenet(n):
    x = conv_norm(n, n.input(1, 3, 48, 48), 8, pad=1, stride=2)
    for width, stride in (16, 1), (24, 2), (24, 1):
        x = conv_norm(n, x, channels(n, x), pad=1, stride=stride, group=channels(n, x))
        x = conv_norm(n, x, width, 1)
    n.add("Softmax", n.add("Flatten", conv(n, global_pool(n, x), 10, 1, relu=False)))


def head(n, x, data, classes, size, **more):
    """The locations, confidences and prior boxes of one feature map of SSD."""
    per_pixel = 2 + ("max_size" in more)
    flat = []
    for count in 4, classes:
        y = conv(n, x, per_pixel * count, pad=1, relu=False)
        y = n.add("Permute", y, ("permute_param", {"order": [0, 2, 3, 1]}))
        flat.append(n.add("Flatten", y, ("flatten_param", {"axis": 1})))
    prior = n.add("PriorBox", [x, data], ("prior_box_param", {
        "min_size": size, "aspect_ratio": 2.0, "flip": False, "clip": False,
        "variance": [0.1, 0.1, 0.2, 0.2], **more}))
    return [*flat, prior]


def detect(n, heads, classes):
    flat = [n.add("Concat", list(parts), ("concat_param", {"axis": axis}))
            for parts, axis in zip(zip(*heads), (1, 1, 2))]
    y = n.add("Reshape", flat[1], ("reshape_param", {"shape": {"dim": [0, -1, classes]}}))
    y = n.add("Flatten", n.add("Softmax", y, ("softmax_param", {"axis": 2})),
              ("flatten_param", {"axis": 1}))
    n.add("DetectionOutput", [flat[0], y, flat[2]], ("detection_output_param", {
        "num_classes": classes, "share_location": True, "background_label_id": 0,
        "nms_param": {"nms_threshold": 0.45, "top_k": 100}, "code_type": Raw("CENTER_SIZE"),
        "keep_top_k": 30, "confidence_threshold": 0.25}))


@net
def mobilenet_ssd(n):
    data = n.input(1, 3, 48, 48)
    x = conv_norm(n, data, 8, pad=1, stride=2)
    heads = []
    for size in 10.0, 20.0:
        x = conv_norm(n, x, channels(n, x), pad=1, stride=2, group=channels(n, x))
        x = conv_norm(n, x, 12, 1)
        heads.append(head(n, x, data, 5, size, max_size=size * 1.5))
    detect(n, heads, 5)


@net
def vgg_ssd(n):
    data = n.input(1, 3, 40, 40)
    x = pool(n, conv(n, data, 8, pad=1), 2)
    scaled = n.add("Normalize", x, ("norm_param", {
        "across_spatial": False, "channel_shared": False,
        "scale_filler": {"type": "constant", "value": 20.0}}),
        [n.random.random(8) * 4 + 1])
    heads = [head(n, scaled, data, 4, 12.0, step=2.0)]
    x = conv(n, pool(n, x, 3, 1, pad=1), 12, pad=3, dilation=3)
    heads.append(head(n, conv(n, pool(n, x, 2), 8, pad=1, stride=2), data, 4, 20.0, step=8.0))
    detect(n, heads, 4)


@net
def fcn(n):
    data = n.input(1, 3, 34, 30)
    x = pool(n, conv(n, data, 8, pad=10), 2)
    y = pool(n, conv(n, x, 12, pad=1), 2)
    score = conv(n, y, 4, 1, relu=False)
    up = conv(n, score, 4, 4, relu=False, kind="Deconvolution", stride=2, bias_term=False)
    side = conv(n, x, 4, 1, relu=False)
    up = n.add("Crop", [up, side], ("crop_param", {"axis": 2, "offset": 1}))
    fused = n.add("Eltwise", [up, side], ("eltwise_param", {"operation": Raw("SUM")}))
    big = conv(n, fused, 4, 4, relu=False, kind="Deconvolution", stride=2, bias_term=False,
               group=4)
    n.add("Crop", [big, data], ("crop_param", {"axis": 2, "offset": 9}))


@net
def enet(n):
    data = n.input(1, 3, 32, 48)
    x = n.add("Concat", [conv(n, data, 5, pad=1, stride=2, relu=False), pool(n, data, 2)])
    norm(n, x, relu=False)
    x = n.add("PReLU", x, blobs=[n.random.random(8) * 0.3])
    small, places = n.add("Pooling", x, ("pooling_param", {
        "pool": Raw("MAX"), "kernel_size": 2, "stride": 2}), tops=2)
    y = conv_norm(n, small, 8, pad=2, dilation=2)
    y = n.add("ReLU", n.add("Eltwise", [y, small]), in_place=True)
    y = n.add("Upsample", [y, places], ("upsample_param", {"scale": 2}))
    conv(n, y, 4, 2, relu=False, kind="Deconvolution", stride=2)


@net
def pspnet(n):
    x = conv_norm(n, n.input(1, 3, 48, 48), 8, pad=1, stride=2)
    x = conv_norm(n, x, 12, pad=2, dilation=2)
    parts = [x]
    for size in 24, 12, 8:
        y = conv_norm(n, pool(n, x, size, size, "AVE"), 4, 1)
        parts.append(n.add("Interp", y, ("interp_param", {"height": 24, "width": 24})))
    y = conv(n, dropout(n, conv_norm(n, n.add("Concat", parts), 8, pad=1)), 5, 1, relu=False)
    n.add("Interp", y, ("interp_param", {"zoom_factor": 2}))


@net
def deeplab(n):
    x = pool(n, conv(n, n.input(1, 3, 33, 33), 8, pad=1), 3, 2, pad=1)
    branches = [conv(n, x, 4, pad=d, dilation=d, relu=False) for d in (1, 2, 4)]
    n.add("Interp", n.add("Eltwise", branches), ("interp_param", {"height": 33, "width": 33}))


@net
def densenet(n):
    x = pool(n, conv_norm(n, n.input(1, 3, 48, 48), 8, 7, pad=3, stride=2), pad=1)
    for _ in range(3):
        # The normalization is not in place, as the concatenation reads what is in front.
        count = channels(n, x)
        y = n.add("BatchNorm", x, blobs=[n.weights(count), n.random.random(count) + 0.5, [2.0]])
        n.add("Scale", y, ("scale_param", {"bias_term": True}),
              [n.random.random(count), n.weights(count)], in_place=True)
        n.add("ReLU", y, in_place=True)
        y = conv(n, y, 4, pad=1, relu=False, bias_term=False)
        x = n.add("Concat", [x, y])
    n.add("Softmax", conv(n, global_pool(n, norm(n, x)), 10, 1, relu=False))


@net
def senet(n):
    x = conv_norm(n, n.input(1, 3, 24, 24), 8, pad=1)
    y = conv_norm(n, x, 8, pad=1, relu=False)
    gate = conv(n, conv(n, global_pool(n, y), 4, 1), 8, 1, relu=False)
    n.add("Sigmoid", gate, in_place=True)
    z = n.add("Flatten", gate)
    y = n.add("Scale", [y, z], ("scale_param", {"axis": 0}))
    classify(n, global_pool(n, n.add("ReLU", n.add("Eltwise", [x, y]), in_place=True)))


@net
def shufflenet(n):
    x = pool(n, conv_norm(n, n.input(1, 3, 32, 32), 12, pad=1, stride=2), pad=1)
    y = conv_norm(n, x, 12, 1, group=3)
    y = n.add("ShuffleChannel", y, ("shuffle_channel_param", {"group": 3}))
    y = conv_norm(n, y, 12, pad=1, stride=2, group=12, relu=False)
    y = conv_norm(n, y, 12, 1, group=3, relu=False)
    short = pool(n, x, 3, 2, "AVE", pad=1)
    classify(n, global_pool(n, n.add("ReLU", n.add("Concat", [short, y]), in_place=True)))
