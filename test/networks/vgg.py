"""VGG (Simonyan and Zisserman 2014): convolutions with a bias, no normalization,
and three fully connected layers behind a flatten written as view()."""


def vgg(g, stages):
    # Up to 19 layers in a row: differences must not grow from each to the next.
    g.mean_share = 3.0
    x = g.input("data", ["batch", 3, 224, 224])
    index = 0
    with g.at("features"):
        for stage, depth in enumerate(stages):
            channels = min(64 << stage, 512)
            for _ in range(depth):
                x = g.relu(g.conv(x, str(index), channels, 3, bias=True))
                index += 2
            x = g.max_pool(x, 2, 2)
            index += 1
    x = g.view_flatten(x, 512 * 7 * 7)
    with g.at("classifier"):
        # Dropout is gone from an exported network; its index stays.
        x = g.relu(g.linear(x, "0", 4096))
        x = g.relu(g.linear(x, "3", 4096))
        x = g.linear(x, "6", 1000, activation_follows=False)
    g.output(g.op("Softmax", x, axis=1), "prob", ["batch", 1000])
