"""DenseNet (Huang et al. 2016): normalization and ReLU before each convolution, and
every layer of a block reads all that came before it in the block."""


def _norm_relu(g, x, leaf):
    return g.relu(g.batch_norm(x, leaf))


def densenet(g, depths, growth=32, stem=64):
    x = g.input("data", ["batch", 3, 224, 224])
    with g.at("features"):
        x = g.relu(g.conv_bn(x, "", stem, 7, ("conv0", "norm0"), stride=2))
        x = g.max_pool(x, 3, 2, 1)
        for block, depth in enumerate(depths, 1):
            features = [x]
            for layer in range(1, depth + 1):
                with g.at(f"denseblock{block}.denselayer{layer}"):
                    y = g.concat(features) if len(features) > 1 else x
                    y = _norm_relu(g, y, "norm1")
                    y = _norm_relu(g, g.conv(y, "conv1", 4 * growth, 1), "norm2")
                    features.append(g.conv(y, "conv2", growth, 3))
            with g.at(f"denseblock{block}"):
                x = g.concat(features)
            if block < len(depths):
                with g.at(f"transition{block}"):
                    x = g.conv(_norm_relu(g, x, "norm"), "conv", x.channels // 2, 1)
                    x = g.average_pool(x, 2, 2)
        x = _norm_relu(g, x, "norm5")
    x = g.op("GlobalAveragePool", x)
    x = g.flatten(x, x.channels)
    x = g.linear(x, "classifier", 1000, activation_follows=False)
    g.output(x, "logits", ["batch", 1000])
