"""Two networks, written once for any backend.

A backend has the functions that the networks call: conv, norm, relu, relu6, pool, add, mean and
dense. `numbers(shape)` returns the next array of weights; all backends get the same ones.
"""


def resnet18(b, x):
    x = b.relu(b.norm(b.conv(x, 3, 64, 7, 2)))
    x = b.pool(x)
    inside = 64
    for stage, channels in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = b.relu(b.norm(b.conv(x, inside, channels, 3, stride)))
            y = b.norm(b.conv(y, channels, channels, 3, 1))
            if inside != channels:
                x = b.norm(b.conv(x, inside, channels, 1, stride))
            x = b.relu(b.add(y, x))
            inside = channels
    return b.dense(b.mean(x), 512, 100)


def mobilenet_v2(b, x):
    x = b.relu6(b.norm(b.conv(x, 3, 32, 3, 2)))
    inside = 32
    for factor, channels, count, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                           (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                           (6, 320, 1, 1)):
        for block in range(count):
            stride = 1 if block else first
            y, wide = x, inside * factor
            if factor > 1:
                y = b.relu6(b.norm(b.conv(y, inside, wide, 1, 1)))
            y = b.relu6(b.norm(b.conv(y, wide, wide, 3, stride, groups=wide)))
            y = b.norm(b.conv(y, wide, channels, 1, 1))
            x = b.add(y, x) if stride == 1 and inside == channels else y
            inside = channels
    x = b.relu6(b.norm(b.conv(x, inside, 1280, 1, 1)))
    return b.dense(b.mean(x), 1280, 100)


NETWORKS = {"resnet18": resnet18, "mobilenet_v2": mobilenet_v2}
SIZE = 96  # of images
