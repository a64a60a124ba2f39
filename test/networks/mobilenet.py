"""MobileNet v1, v2 and v3-large (Howard et al. 2017, 2019; Sandler et al. 2018)."""


def _rounded(channels, divisor=8):
    return max(divisor, int(channels + divisor / 2) // divisor * divisor)


def v1(g):
    x = g.input("input", ["batch", 3, 224, 224])
    x = g.relu6(g.conv_bn(x, "conv0", 32, 3, stride=2))
    widths = [64, 128, 128, 256, 256] + [512] * 6 + [1024] * 2
    strides = [1, 2, 1, 2, 1, 2] + [1] * 5 + [2, 1]
    for i, (width, stride) in enumerate(zip(widths, strides), 1):
        x = g.relu6(g.conv_bn(x, f"conv{i}.depthwise", x.channels, 3, stride=stride,
                              groups=x.channels))
        x = g.relu6(g.conv_bn(x, f"conv{i}.pointwise", width, 1))
    x = g.average_pool(x, 7, 1)
    # As converters from TensorFlow have it: a 1x1 convolution, squeezed, softmax.
    x = g.conv(x, "predictions", 1000, 1, bias=True)
    x = g.view(x, (-1, 1000))
    g.output(g.op("Softmax", x, axis=1), "prob", ["batch", 1000])


def v2(g):
    x = g.input("input", ["batch", 3, 224, 224])
    x = g.relu6(g.conv_bn(x, "features.0", 32, 3, ("0", "1"), stride=2))
    index = 1
    for expand, width, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                         (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                         (6, 320, 1, 1)]:
        for i in range(count):
            with g.at(f"features.{index}.conv"):
                step, y, hidden = stride if i == 0 else 1, x, x.channels * expand
                if expand != 1:
                    y = g.relu6(g.conv_bn(y, "expand", hidden, 1, ("0", "1")))
                y = g.relu6(g.conv_bn(y, "depthwise", hidden, 3, ("0", "1"), stride=step,
                                      groups=hidden))
                residual = step == 1 and x.channels == width
                y = g.conv_bn(y, "project", width, 1, ("0", "1"), residual)
                x = g.op("Add", x, y) if residual else y
            index += 1
    x = g.relu6(g.conv_bn(x, f"features.{index}", 1280, 1, ("0", "1")))
    x = g.reduce_mean(x, (2, 3), keepdims=0)  # x.mean([2, 3])
    x = g.linear(x, "classifier.1", 1000, activation_follows=False)
    g.output(x, "output", ["batch", 1000])


def _hard_swish(g, x):
    if g.opset >= 14:
        return g.op("HardSwish", x)
    # x * relu6(x + 3) / 6, as exporters write it for older opsets
    y = g.op("Add", x, g.constant(3.0))
    y = g.op("Clip", y, g.constant(0.0), g.constant(6.0))
    return g.op("Div", g.op("Mul", x, y), g.constant(6.0))


def _hard_sigmoid(g, x):
    if g.opset >= 14:
        return g.op("HardSigmoid", x, alpha=1 / 6)
    y = g.op("Add", x, g.constant(3.0))
    y = g.op("Clip", y, g.constant(0.0), g.constant(6.0))
    return g.op("Div", y, g.constant(6.0))


def _squeeze_excite(g, x, leaf):
    with g.at(leaf):
        s = g.op("GlobalAveragePool", x)
        s = g.relu(g.conv(s, "fc1", _rounded(x.channels // 4), 1, bias=True))
        s = _hard_sigmoid(g, g.conv(s, "fc2", x.channels, 1, bias=True))
        return g.op("Mul", s, x, channels=x.channels)


# kernel, expanded width, width, squeeze-and-excite, hard-swish, stride
V3_LARGE = [
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2), (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1), (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1), (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1),
]


def v3_large(g):
    x = g.input("input", ["batch", 3, 224, 224])
    x = _hard_swish(g, g.conv_bn(x, "features.0", 16, 3, ("0", "1"), stride=2))
    for i, (kernel, hidden, width, excite, swish, stride) in enumerate(V3_LARGE, 1):
        act = (lambda v: _hard_swish(g, v)) if swish else g.relu
        with g.at(f"features.{i}.block"):
            y = x
            if hidden != x.channels:
                y = act(g.conv_bn(y, "expand", hidden, 1, ("0", "1")))
            y = act(g.conv_bn(y, "depthwise", hidden, kernel, ("0", "1"), stride=stride,
                              groups=hidden))
            if excite:
                y = _squeeze_excite(g, y, "se")
            residual = stride == 1 and x.channels == width
            y = g.conv_bn(y, "project", width, 1, ("0", "1"), residual)
            x = g.op("Add", y, x) if residual else y
    x = _hard_swish(g, g.conv_bn(x, "features.16", 960, 1, ("0", "1")))
    x = g.op("GlobalAveragePool", x)
    x = g.flatten(x, 960)
    x = _hard_swish(g, g.linear(x, "classifier.0", 1280))
    x = g.linear(x, "classifier.3", 1000, activation_follows=False)
    g.output(x, "logits", ["batch", 1000])
