"""SSD with ResNet-50 at 512 x 512 (Liu et al. 2015), as NeoCPU measures it: boxes and
class scores at six scales, decoded, up to but without non-maximum suppression."""

import numpy as np

import resnet

CLASSES = 21  # Pascal VOC and the background
# Per scale: cells in a row, box size and the next scale's, aspect ratios.
SCALES = [(32, 0.1, 0.2, (1, 2, 1 / 2)), (16, 0.2, 0.37, (1, 2, 1 / 2, 3, 1 / 3)),
          (8, 0.37, 0.54, (1, 2, 1 / 2, 3, 1 / 3)), (4, 0.54, 0.71, (1, 2, 1 / 2, 3, 1 / 3)),
          (2, 0.71, 0.88, (1, 2, 1 / 2)), (1, 0.88, 1.05, (1, 2, 1 / 2))]


def anchors():
    """Centre and size of every default box, [boxes, 4]."""
    boxes = []
    for cells, size, following, ratios in SCALES:
        shapes = [(size * np.sqrt(r), size / np.sqrt(r)) for r in ratios]
        shapes.append((np.sqrt(size * following),) * 2)
        centres = (np.arange(cells) + 0.5) / cells
        for y in centres:
            for x in centres:
                boxes += [(x, y, w, h) for w, h in shapes]
    return np.array(boxes, np.float32)


def _features(g, x):
    scales = resnet.backbone(g, x, (3, 4, 6, 3), True)[2:]
    for i in range(4):
        with g.at(f"extra.{i}"):
            y = g.relu(g.conv_bn(scales[-1], "squeeze", 256, 1))
            scales.append(g.relu(g.conv_bn(y, "shrink", 512, 3, stride=2)))
    return scales


def _predictions(g, x, leaf, boxes, size):
    """[batch, cells * boxes, size] of a convolution over the scale's cells."""
    y = g.conv(x, leaf, boxes * size, 3, bias=True)
    y = g.op("Transpose", y, perm=[0, 2, 3, 1])
    return g.view(y, (g.size(y, 0), -1, size))


def _slice(g, x, start, end):
    return g.op("Slice", x, g.integers(start), g.integers(end), g.integers(2), g.integers(1))


def _decode(g, offsets):
    """Corners of the boxes that offsets make of the anchors."""
    table = anchors()
    centre, size = (g.initializer(f"anchors.{what}", part[None])
                    for what, part in (("centre", table[:, :2]), ("size", table[:, 2:])))
    moved = g.op("Mul", _slice(g, offsets, 0, 2), g.constant(0.1))
    moved = g.op("Add", g.op("Mul", moved, size), centre)
    scaled = g.op("Exp", g.op("Mul", _slice(g, offsets, 2, 4), g.constant(0.2)))
    half = g.op("Div", g.op("Mul", scaled, size), g.constant(2.0))
    corners = [g.op("Sub", moved, half), g.op("Add", moved, half)]
    return g.concat(corners, axis=2)


def ssd_resnet50(g):
    x = g.input("data", ["batch", 3, 512, 512])
    classes, offsets = [], []
    for i, (feature, scale) in enumerate(zip(_features(g, x), SCALES)):
        boxes = len(scale[3]) + 1
        with g.at(f"head.{i}"):
            classes.append(_predictions(g, feature, "classes", boxes, CLASSES))
            offsets.append(_predictions(g, feature, "offsets", boxes, 4))
    scores = g.op("Softmax", g.op("Concat", *classes, axis=1), axis=-1)
    boxes = _decode(g, g.op("Concat", *offsets, axis=1))
    count = len(anchors())
    g.output(boxes, "boxes", ["batch", count, 4])
    g.output(scores, "scores", ["batch", count, CLASSES])
