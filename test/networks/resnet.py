"""ResNet (He et al. 2015), as torchvision writes it: the stride of a bottleneck
sits in its 3x3 convolution."""


def _basic(g, x, planes, stride):
    y = g.relu(g.conv_bn(x, "", planes, 3, ("conv1", "bn1"), stride=stride))
    y = g.conv_bn(y, "", planes, 3, ("conv2", "bn2"), residual=True)
    return y, planes


def _bottleneck(g, x, planes, stride):
    y = g.relu(g.conv_bn(x, "", planes, 1, ("conv1", "bn1")))
    y = g.relu(g.conv_bn(y, "", planes, 3, ("conv2", "bn2"), stride=stride))
    y = g.conv_bn(y, "", planes * 4, 1, ("conv3", "bn3"), residual=True)
    return y, planes * 4


def backbone(g, x, depths, bottleneck, strides=(1, 2, 2, 2)):
    """The stages up to the last; returns the output of each."""
    block = _bottleneck if bottleneck else _basic
    x = g.relu(g.conv_bn(x, "", 64, 7, ("conv1", "bn1"), stride=2))
    x = g.max_pool(x, 3, 2, 1)
    stages = []
    for stage, (depth, stride) in enumerate(zip(depths, strides)):
        planes = 64 << stage
        for i in range(depth):
            with g.at(f"layer{stage + 1}.{i}"):
                step = stride if i == 0 else 1
                y, width = block(g, x, planes, step)
                if x.channels != width or step != 1:
                    x = g.conv_bn(x, "downsample", width, 1, ("0", "1"), stride=step)
                x = g.relu(g.op("Add", y, x))
        stages.append(x)
    return stages


def resnet(g, depths, bottleneck):
    x = g.input("data", ["batch", 3, 224, 224])
    x = backbone(g, x, depths, bottleneck)[-1]
    x = g.op("GlobalAveragePool", x)
    x = g.flatten(x, x.channels)
    g.output(g.linear(x, "fc", 1000, activation_follows=False), "logits", ["batch", 1000])
