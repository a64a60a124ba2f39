"""EfficientNet-B0 (Tan and Le 2019): SiLU as Sigmoid and Mul, squeeze-and-excite."""


def _silu(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


def _squeeze_excite(g, x, squeezed):
    with g.at("se"):
        s = g.op("GlobalAveragePool", x)
        s = _silu(g, g.conv(s, "fc1", squeezed, 1, bias=True))
        s = g.op("Sigmoid", g.conv(s, "fc2", x.channels, 1, bias=True))
        return g.op("Mul", s, x, channels=x.channels)


# expansion, kernel, stride, width, count
B0 = [(1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
      (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)]


def b0(g):
    x = g.input("data", ["batch", 3, 224, 224])
    x = _silu(g, g.conv_bn(x, "features.0", 32, 3, ("0", "1"), stride=2))
    for stage, (expansion, kernel, stride, width, count) in enumerate(B0, 1):
        for i in range(count):
            with g.at(f"features.{stage}.{i}.block"):
                step, y, hidden = stride if i == 0 else 1, x, x.channels * expansion
                if expansion != 1:
                    y = _silu(g, g.conv_bn(y, "expand", hidden, 1, ("0", "1")))
                y = _silu(g, g.conv_bn(y, "depthwise", hidden, kernel, ("0", "1"), stride=step,
                                       groups=hidden))
                y = _squeeze_excite(g, y, x.channels // 4)
                residual = step == 1 and x.channels == width
                y = g.conv_bn(y, "project", width, 1, ("0", "1"), residual)
                x = g.op("Add", y, x) if residual else y
    x = _silu(g, g.conv_bn(x, "features.8", 1280, 1, ("0", "1")))
    x = g.op("GlobalAveragePool", x)
    x = g.flatten(x, 1280)
    x = g.linear(x, "classifier.1", 1000, activation_follows=False)
    g.output(x, "logits", ["batch", 1000])
