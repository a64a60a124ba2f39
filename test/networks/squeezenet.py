"""SqueezeNet 1.1 (Iandola et al. 2016): fire modules, and a convolution for a head."""


def squeezenet(g):
    x = g.input("data", ["batch", 3, 224, 224])
    with g.at("features"):
        x = g.relu(g.conv(x, "0", 64, 3, stride=2, pad=0, bias=True))
        x = g.max_pool(x, 3, 2, ceil_mode=1)
        for index, squeeze in [(3, 16), (4, 16), (0, 0), (6, 32), (7, 32), (0, 0), (9, 48),
                               (10, 48), (11, 64), (12, 64)]:
            if not squeeze:
                x = g.max_pool(x, 3, 2, ceil_mode=1)
                continue
            with g.at(str(index)):
                x = g.relu(g.conv(x, "squeeze", squeeze, 1, bias=True))
                one = g.relu(g.conv(x, "expand1x1", squeeze * 4, 1, bias=True))
                three = g.relu(g.conv(x, "expand3x3", squeeze * 4, 3, bias=True))
                x = g.concat([one, three])
    x = g.relu(g.conv(x, "classifier.1", 1000, 1, bias=True))
    x = g.op("GlobalAveragePool", x)
    g.output(g.flatten(x, 1000), "logits", ["batch", 1000])
