"""Inception v3 (Szegedy et al. 2015) without its auxiliary head, named as
torchvision names it."""


def _conv(g, x, leaf, channels, kernel, **how):
    how.setdefault("pad", 0)
    with g.at(leaf):
        return g.relu(g.conv_bn(x, "", channels, kernel, **how))


def _chain(g, x, *layers):
    for leaf, channels, kernel, how in layers:
        x = _conv(g, x, leaf, channels, kernel, **how)
    return x


def _pooled(g, x, channels):
    pool = g.average_pool(x, 3, 1, 1, count_include_pad=1)
    return _conv(g, pool, "branch_pool", channels, 1)


PAD1, PAD2 = {"pad": 1}, {"pad": 2}
HALVE = {"stride": 2}
WIDE, TALL = {"pad": (0, 3)}, {"pad": (3, 0)}
ROW, COLUMN = {"pad": (0, 1)}, {"pad": (1, 0)}


def _a(g, x, pool):
    return g.concat([
        _conv(g, x, "branch1x1", 64, 1),
        _chain(g, x, ("branch5x5_1", 48, 1, {}), ("branch5x5_2", 64, 5, PAD2)),
        _chain(g, x, ("branch3x3dbl_1", 64, 1, {}), ("branch3x3dbl_2", 96, 3, PAD1),
               ("branch3x3dbl_3", 96, 3, PAD1)),
        _pooled(g, x, pool)])


def _b(g, x):
    return g.concat([
        _conv(g, x, "branch3x3", 384, 3, stride=2),
        _chain(g, x, ("branch3x3dbl_1", 64, 1, {}), ("branch3x3dbl_2", 96, 3, PAD1),
               ("branch3x3dbl_3", 96, 3, HALVE)),
        g.max_pool(x, 3, 2)])


def _c(g, x, c):
    return g.concat([
        _conv(g, x, "branch1x1", 192, 1),
        _chain(g, x, ("branch7x7_1", c, 1, {}), ("branch7x7_2", c, (1, 7), WIDE),
               ("branch7x7_3", 192, (7, 1), TALL)),
        _chain(g, x, ("branch7x7dbl_1", c, 1, {}), ("branch7x7dbl_2", c, (7, 1), TALL),
               ("branch7x7dbl_3", c, (1, 7), WIDE), ("branch7x7dbl_4", c, (7, 1), TALL),
               ("branch7x7dbl_5", 192, (1, 7), WIDE)),
        _pooled(g, x, 192)])


def _d(g, x):
    return g.concat([
        _chain(g, x, ("branch3x3_1", 192, 1, {}), ("branch3x3_2", 320, 3, HALVE)),
        _chain(g, x, ("branch7x7x3_1", 192, 1, {}), ("branch7x7x3_2", 192, (1, 7), WIDE),
               ("branch7x7x3_3", 192, (7, 1), TALL), ("branch7x7x3_4", 192, 3, HALVE)),
        g.max_pool(x, 3, 2)])


def _split(g, x, leaf):
    return g.concat([_conv(g, x, leaf + "a", 384, (1, 3), **ROW),
                     _conv(g, x, leaf + "b", 384, (3, 1), **COLUMN)])


def _e(g, x):
    three = _conv(g, x, "branch3x3_1", 384, 1)
    double = _chain(g, x, ("branch3x3dbl_1", 448, 1, {}), ("branch3x3dbl_2", 384, 3, PAD1))
    return g.concat([
        _conv(g, x, "branch1x1", 320, 1),
        _split(g, three, "branch3x3_2"),
        _split(g, double, "branch3x3dbl_3"),
        _pooled(g, x, 192)])


MIXED = [("5b", _a, 32), ("5c", _a, 64), ("5d", _a, 64), ("6a", _b), ("6b", _c, 128),
         ("6c", _c, 160), ("6d", _c, 160), ("6e", _c, 192), ("7a", _d), ("7b", _e), ("7c", _e)]


def inception_v3(g):
    x = g.input("data", ["batch", 3, 299, 299])
    x = _chain(g, x, ("Conv2d_1a_3x3", 32, 3, HALVE), ("Conv2d_2a_3x3", 32, 3, {}),
               ("Conv2d_2b_3x3", 64, 3, PAD1))
    x = g.max_pool(x, 3, 2)
    x = _chain(g, x, ("Conv2d_3b_1x1", 80, 1, {}), ("Conv2d_4a_3x3", 192, 3, {}))
    x = g.max_pool(x, 3, 2)
    for name, block, *widths in MIXED:
        with g.at(f"Mixed_{name}"):
            x = block(g, x, *widths)
    x = g.op("GlobalAveragePool", x)
    x = g.flatten(x, x.channels)
    g.output(g.linear(x, "fc", 1000, activation_follows=False), "logits", ["batch", 1000])
