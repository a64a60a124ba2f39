"""The operators of random graphs: each draws operands and attributes for which it is valid.

A rule is a function of a Net (random_graphs.py) that adds a node, or returns None where the
values of the net do not suit it. A rule looks at the values that the graph has so far, so
that no result is NaN or infinite by construction, and that no result depends on how a float
was rounded: what jumps (a comparison, a floor, the place of a maximum) is drawn only for
operands that are MARGIN away from where it jumps."""

import numpy as np

RULES = []
MARGIN = 1e-3
FLOATS = (np.float32, np.float64)
INTEGERS = (np.int32, np.int64, np.uint8, np.int8)
NUMBERS = FLOATS + INTEGERS


def rule(weight=1):
    def register(function):
        RULES.extend([function] * weight)
        return function
    return register


def is_float(value):
    return value.array.dtype.type in FLOATS


def distance_to_steps(x, offset=0.0):
    """The distance of each number to the nearest of ..., offset - 1, offset, offset + 1, ..."""
    shifted = np.asarray(x, np.float64) - offset
    return np.abs(shifted - np.rint(shifted)).min(initial=1.0)


def smallest_gap(x, axis):
    gaps = np.diff(np.sort(np.asarray(x, np.float64), axis=axis), axis=axis)
    return gaps.min(initial=1.0)


# ---- Elementwise

# For each operator, the interval that its operand has to lie in.
UNARY = {
    "Abs": (-1e4, 1e4), "Neg": (-1e4, 1e4), "Relu": (-1e4, 1e4), "Sigmoid": (-30, 30),
    "Tanh": (-1e4, 1e4), "Exp": (-20, 6), "Log": (0.05, 1e4), "Sqrt": (0.01, 1e4),
    "Erf": (-1e4, 1e4), "Softplus": (-30, 30), "Softsign": (-1e4, 1e4), "Elu": (-30, 1e4),
    "LeakyRelu": (-1e4, 1e4), "Selu": (-30, 1e4), "HardSigmoid": (-1e4, 1e4),
    "HardSwish": (-1e4, 1e4), "Gelu": (-30, 1e4), "Mish": (-30, 30), "Sin": (-30, 30),
    "Cos": (-30, 30), "Atan": (-1e4, 1e4), "Celu": (-30, 1e4), "Identity": (-1e4, 1e4),
    "Asinh": (-1e3, 1e3), "Sinh": (-5, 5), "Cosh": (-5, 5), "Acos": (-0.95, 0.95),
    "Asin": (-0.95, 0.95), "Atanh": (-0.95, 0.95), "Tan": (-1.4, 1.4)}
ALPHA = {"Elu", "LeakyRelu", "Selu", "HardSigmoid", "Celu"}


@rule(14)
def unary(net):
    x = net.pick(is_float)
    if x is None or x.array.size == 0:
        return None
    low, high = x.array.min(), x.array.max()
    fitting = [op for op, (a, b) in UNARY.items() if a <= low and high <= b]
    if not fitting:
        return net.add("Tanh", x)
    op = net.choice(fitting)
    how = {"alpha": float(net.random.uniform(0.1, 1.5))} if op in ALPHA and net.coin() else {}
    if op == "Gelu" and net.coin():
        how = {"approximate": "tanh"}
    return net.add(op, x, **how)


@rule(2)
def reciprocal(net):
    x = net.pick(lambda v: is_float(v) and np.abs(v.array).min(initial=1) > 0.05)
    return x and net.add("Reciprocal", x)


@rule(3)
def steps(net):
    op = net.choice(["Floor", "Ceil", "Round", "Sign"])
    offset = 0.5 if op == "Round" else 0.0

    def suits(value):
        if not is_float(value):
            return False
        if op == "Sign":
            return np.abs(value.array).min(initial=1) > MARGIN
        return distance_to_steps(value.array, offset) > MARGIN

    x = net.pick(suits)
    return x and net.add(op, x)


@rule(3)
def clip(net):
    x = net.pick(lambda v: v.array.dtype.type in NUMBERS)
    if x is None or x.array.size == 0:
        return None
    low, high = np.sort(net.random.choice(x.array.reshape(-1), 2))
    low, high = (net.constant(np.asarray(v, x.array.dtype)) for v in (low, high))
    return net.add("Clip", x, *net.choice([(low, high), (low,), ("", high)]))


def operand_for(net, x, dtype=None):
    """Another operand with the type of x, whose shape broadcasts with that of x."""
    dtype = dtype or x.array.dtype
    other = net.pick(lambda v: v.array.dtype == dtype and broadcasts(v, x))
    if other is not None and net.random.random() < 0.7:
        return other
    shape = [d if net.random.random() < 0.6 else 1 for d in x.array.shape]
    shape = shape[int(net.random.integers(0, len(shape) + 1)):] if net.coin() else shape
    return net.fresh(shape, dtype)


def broadcasts(a, b):
    try:
        shape = np.broadcast_shapes(a.array.shape, b.array.shape)
    except ValueError:
        return False
    return np.prod(shape, dtype=int) <= net_limit(a, b)


def net_limit(*values):
    return max(4096, *(v.array.size for v in values))


@rule(16)
def arithmetic(net):
    x = net.pick(lambda v: v.array.dtype.type in (*FLOATS, np.int32, np.int64))
    if x is None:
        return None
    y = operand_for(net, x)
    op = net.choice(["Add", "Sub", "Mul", "Div", "Max", "Min"])
    if op == "Div" and np.abs(y.array).min(initial=1) < (0.1 if is_float(y) else 1):
        op = "Add"
    if net.coin():
        x, y = (x, y) if op == "Div" else (y, x)
    return net.add(op, x, y)


@rule(3)
def variadic(net):
    x = net.pick(is_float)
    if x is None:
        return None
    operands = [x] + [operand_for(net, x) for _ in range(int(net.random.integers(1, 12)))]
    net.shuffle(operands)
    return net.add(net.choice(["Sum", "Max", "Min", "Mean"]), *operands)


@rule(2)
def power(net):
    x = net.pick(lambda v: is_float(v) and v.array.min(initial=1) > 0.1
                 and v.array.max(initial=1) < 8)
    if x is None:
        return None
    return net.add("Pow", x, net.constant(np.asarray(net.choice([0.5, 2, 3, -1, 1.7]),
                                                     x.array.dtype)))


@rule(3)
def integers(net):
    x = net.pick(lambda v: v.array.dtype.type in INTEGERS)
    if x is None:
        return None
    op = net.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "Mod", "Max", "Min"])
    if op == "BitwiseNot":
        return net.add(op, x)
    y = operand_for(net, x)
    if op == "Mod" and (y.array == 0).any():
        op = "Max"
    return net.add(op, x, y)


@rule(5)
def compare(net):
    x = net.pick(lambda v: v.array.dtype.type in (*FLOATS, np.int32, np.int64))
    if x is None:
        return None
    y = operand_for(net, x)
    if is_float(x) and np.abs(x.array - y.array).min(initial=1) < MARGIN:
        return None
    return net.add(net.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"]),
                   x, y)


def is_bool(value):
    return value.array.dtype == np.bool_


@rule(2)
def logic(net):
    x = net.pick(is_bool)
    if x is None:
        return None
    op = net.choice(["And", "Or", "Xor", "Not"])
    return net.add(op, x) if op == "Not" else net.add(op, x, operand_for(net, x))


@rule(5)
def where(net):
    condition = net.pick(is_bool)
    if condition is None:
        return None
    x = net.pick(lambda v: v.array.dtype.type in NUMBERS and broadcasts(v, condition))
    if x is None:
        x = net.fresh(condition.array.shape, np.float32)
    y = operand_for(net, x)
    return net.add("Where", condition, x, y) if broadcasts(y, condition) else None


@rule(4)
def cast(net):
    x = net.pick(lambda v: True)
    to = net.choice([*NUMBERS, np.bool_])
    if is_float(x) and to not in FLOATS:
        steps_away = (np.abs(x.array).min(initial=1) if to == np.bool_
                      else distance_to_steps(x.array))
        limit = 100 if to in (np.uint8, np.int8) else 1e4
        if steps_away < MARGIN or x.array.max(initial=0) > limit:
            return None
        if x.array.min(initial=0) < (0 if to == np.uint8 else -limit):
            return None
    return net.add("Cast", x, to=net.onnx_type(to))


# ---- Moving elements

@rule(5)
def reshape(net):
    x = net.pick(lambda v: 0 < v.array.size)
    sizes, rest = [], x.array.size
    for _ in range(int(net.random.integers(0, 4))):
        divisors = [d for d in range(1, rest + 1) if rest % d == 0]
        sizes.append(net.choice(divisors))
        rest //= sizes[-1]
    if rest > 1 or net.coin():
        sizes.append(rest)
    net.shuffle(sizes)
    if sizes and net.random.random() < 0.3:
        sizes[int(net.random.integers(len(sizes)))] = -1
    return net.add("Reshape", x, net.constant(np.array(sizes, np.int64)))


@rule(2)
def flatten(net):
    x = net.pick(lambda v: True)
    return net.add("Flatten", x, axis=int(net.random.integers(0, x.array.ndim + 1)))


@rule(3)
def squeeze(net):
    x = net.pick(lambda v: 1 in v.array.shape)
    if x is None or net.coin():
        x = net.pick(lambda v: v.array.ndim < 5)
        if x is None:
            return None
        axis = int(net.random.integers(0, x.array.ndim + 1))
        return net.add("Unsqueeze", x, net.constant(np.array([axis], np.int64)))
    axis = net.choice([i for i, d in enumerate(x.array.shape) if d == 1])
    return net.add("Squeeze", x, net.constant(np.array([axis], np.int64)))


@rule(6)
def transpose(net):
    x = net.pick(lambda v: v.array.ndim > 1)
    return x and net.add("Transpose", x, perm=[int(i) for i in
                                               net.random.permutation(x.array.ndim)])


@rule(2)
def expand(net):
    x = net.pick(lambda v: v.array.ndim < 5 and v.array.size < 500)
    if x is None:
        return None
    shape = [d if d != 1 else int(net.random.integers(1, 4)) for d in x.array.shape]
    shape = ([2] if net.coin() else []) + shape
    return net.add("Expand", x, net.constant(np.array(shape, np.int64)))


@rule(2)
def tile(net):
    x = net.pick(lambda v: 0 < v.array.ndim and v.array.size < 500)
    if x is None:
        return None
    repeats = net.random.integers(1, 3, x.array.ndim)
    return net.add("Tile", x, net.constant(repeats.astype(np.int64)))


@rule(6)
def concat(net):
    x = net.pick(lambda v: v.array.ndim > 0)
    if x is None:
        return None
    axis = int(net.random.integers(x.array.ndim))

    def fits(value):
        a, b = list(value.array.shape), list(x.array.shape)
        if value.array.dtype != x.array.dtype or len(a) != len(b):
            return False
        a[axis] = b[axis] = 0
        return a == b

    parts = [x]
    for _ in range(int(net.random.integers(1, 5))):
        other = net.pick(fits)
        if net.random.random() < 0.3:
            shape = list(x.array.shape)
            shape[axis] = int(net.random.integers(1, 4))
            other = net.fresh(shape, x.array.dtype)
        parts.append(other)
    net.shuffle(parts)
    return net.add("Concat", *parts, axis=axis - (x.array.ndim if net.coin() else 0))


@rule(3)
def split(net):
    x = net.pick(lambda v: max(v.array.shape, default=0) > 1)
    if x is None:
        return None
    axis = net.choice([i for i, d in enumerate(x.array.shape) if d > 1])
    first = int(net.random.integers(1, x.array.shape[axis]))
    sizes = net.constant(np.array([first, x.array.shape[axis] - first], np.int64))
    return net.add("Split", x, sizes, results=2, axis=axis)


@rule(5)
def slice_(net):
    x = net.pick(lambda v: max(v.array.shape, default=0) > 1)
    if x is None:
        return None
    axes = [i for i, d in enumerate(x.array.shape) if net.coin()] or [0]
    starts, ends, steps_ = [], [], []
    for axis in axes:
        size = x.array.shape[axis]
        first, last = np.sort(net.random.integers(0, size + 1, 2))
        if first == last:
            first, last = 0, size
        step = int(net.choice([1, 1, 2, 3, -1, -2]))
        starts.append(first if step > 0 else last - 1)
        ends.append(last if step > 0 else first - size - 1)
        steps_.append(step)
    return net.add("Slice", x, *(net.constant(np.array(v, np.int64))
                                 for v in (starts, ends, axes, steps_)))


@rule(4)
def pad(net):
    x = net.pick(lambda v: 0 < v.array.ndim and v.array.dtype.type in (*FLOATS, np.int32,
                                                                      np.int64)
                 and 0 < v.array.size < 1000)
    if x is None:
        return None
    mode = net.choice(["constant", "reflect", "edge"])
    low = 0 if mode == "reflect" else 2
    pads = [int(net.random.integers(0, min(3, max(d, 1 + low)))) for d in x.array.shape * 2]
    operands = [x, net.constant(np.array(pads, np.int64))]
    if mode == "constant" and net.coin():
        operands.append(net.constant(np.asarray(2, x.array.dtype)))
    return net.add("Pad", *operands, mode=mode)


@rule(4)
def gather(net):
    x = net.pick(lambda v: v.array.size > 0 and v.array.ndim > 0)
    if x is None:
        return None
    axis = int(net.random.integers(x.array.ndim))
    size = x.array.shape[axis]
    op = net.choice(["Gather", "GatherElements"])
    shape = net.shape(0, 2) if op == "Gather" else [
        int(net.random.integers(1, d + 1)) for d in x.array.shape]
    indices = net.random.integers(-size, size, shape).astype(np.int64)
    make = net.constant if net.coin() else net.input
    return net.add(op, x, make(indices), axis=axis)


@rule(2)
def scatter(net):
    x = net.pick(lambda v: v.array.size > 0 and v.array.ndim > 0
                 and v.array.dtype.type in (*FLOATS, np.int64, np.int32))
    if x is None:
        return None
    axis = int(net.random.integers(x.array.ndim))
    shape = [int(net.random.integers(1, d + 1)) for d in x.array.shape]
    # Each place at most once: which of two updates stays is not defined.
    indices = np.argsort(net.random.random([x.array.shape[i] if i == axis else shape[i]
                                            for i in range(x.array.ndim)]), axis=axis)
    indices = np.take(indices, range(shape[axis]), axis=axis).astype(np.int64)
    how = {"reduction": net.choice(["add", "mul", "none"])}
    return net.add("ScatterElements", x, net.constant(indices),
                   net.fresh(shape, x.array.dtype), axis=axis, **how)


@rule(2)
def depth(net):
    x = net.pick(lambda v: v.array.ndim == 4 and is_float(v))
    if x is None:
        return None
    _, c, h, w = x.array.shape
    if c % 4 == 0 and net.coin():
        return net.add("DepthToSpace", x, blocksize=2, mode=net.choice(["DCR", "CRD"]))
    return net.add("SpaceToDepth", x, blocksize=2) if h % 2 == w % 2 == 0 else None


# ---- Reductions and orders

@rule(8)
def reduce(net):
    x = net.pick(lambda v: is_float(v) and v.array.size > 0)
    if x is None:
        return None
    kind = net.choice(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp"])
    if kind == "Prod" and (x.array.size > 64 or np.abs(x.array).max() > 2):
        kind = "Mean"
    if kind == "LogSumExp" and np.abs(x.array).max() > 50:
        kind = "Max"
    axes = [i for i in range(x.array.ndim) if net.coin()]
    operands = [x] + ([net.constant(np.array(axes, np.int64))] if axes else [])
    return net.add("Reduce" + kind, *operands, keepdims=int(net.coin()))


@rule(2)
def arg(net):
    x = net.pick(lambda v: is_float(v) and v.array.ndim > 0 and v.array.size > 0)
    if x is None:
        return None
    axis = int(net.random.integers(x.array.ndim))
    if smallest_gap(x.array, axis) < MARGIN:
        return None
    return net.add(net.choice(["ArgMax", "ArgMin"]), x, axis=axis, keepdims=int(net.coin()))


@rule(2)
def top_k(net):
    x = net.pick(lambda v: is_float(v) and v.array.ndim > 0 and v.array.size > 0)
    if x is None:
        return None
    axis = int(net.random.integers(x.array.ndim))
    if smallest_gap(x.array, axis) < MARGIN:
        return None
    k = int(net.random.integers(1, x.array.shape[axis] + 1))
    return net.add("TopK", x, net.constant(np.array([k], np.int64)), results=2, axis=axis,
                   largest=int(net.coin()))


@rule(1)
def cumsum(net):
    x = net.pick(lambda v: is_float(v) and v.array.ndim > 0)
    if x is None:
        return None
    axis = net.constant(np.array(int(net.random.integers(x.array.ndim)), np.int64))
    return net.add("CumSum", x, axis, reverse=int(net.coin()), exclusive=int(net.coin()))


@rule(1)
def trilu(net):
    x = net.pick(lambda v: v.array.ndim > 1 and v.array.dtype.type in (*FLOATS, np.int64))
    if x is None:
        return None
    return net.add("Trilu", x, net.constant(np.array(int(net.random.integers(-2, 3)))),
                   upper=int(net.coin()))


# ---- Windows and products

def is_image(value, axes=2):
    return value.array.dtype == np.float32 and value.array.ndim == axes + 2


@rule(12)
def conv(net):
    axes = net.choice([2, 2, 2, 1])
    x = net.pick(lambda v: is_image(v, axes) and min(v.array.shape) > 0)
    if x is None:
        return None
    channels = x.array.shape[1]
    groups = net.choice([g for g in range(1, channels + 1) if channels % g == 0])
    outputs = groups * int(net.random.integers(1, 4))
    kernel = [int(net.random.integers(1, min(4, s + 1))) for s in x.array.shape[2:]]
    how = {"group": groups, "kernel_shape": kernel,
           "strides": [int(net.random.integers(1, 3)) for _ in kernel]}
    if net.random.random() < 0.3:
        how["auto_pad"] = net.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    else:
        how["pads"] = [int(net.random.integers(0, k)) for k in kernel * 2]
        how["dilations"] = [1 if net.random.random() < 0.8 else 2 for _ in kernel]
    w = net.weight((outputs, channels // groups, *kernel))
    bias = [net.weight((outputs,))] if net.coin() else []
    return net.add("Conv", x, w, *bias, **how)


@rule(3)
def conv_transpose(net):
    x = net.pick(lambda v: is_image(v) and min(v.array.shape) > 0 and v.array.size < 600)
    if x is None:
        return None
    channels = x.array.shape[1]
    groups = net.choice([g for g in range(1, channels + 1) if channels % g == 0])
    kernel = [int(net.random.integers(1, 4)) for _ in range(2)]
    strides = [int(net.random.integers(1, 3)) for _ in range(2)]
    w = net.weight((channels, int(net.random.integers(1, 4)), *kernel))
    how = {"group": groups, "strides": strides,
           "output_padding": [int(net.random.integers(0, s)) for s in strides],
           "pads": [int(net.random.integers(0, 2)) if k > 1 else 0 for k in kernel * 2]}
    return net.add("ConvTranspose", x, w, **how)


@rule(6)
def pool(net):
    axes = net.choice([2, 2, 1])
    x = net.pick(lambda v: is_image(v, axes) and min(v.array.shape) > 0)
    if x is None:
        return None
    op = net.choice(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"])
    if op.startswith("Global"):
        return net.add(op, x)
    kernel = [int(net.random.integers(1, min(4, s + 1))) for s in x.array.shape[2:]]
    how = {"kernel_shape": kernel, "ceil_mode": int(net.random.random() < 0.3),
           "strides": [int(net.random.integers(1, 3)) for _ in kernel],
           "pads": [int(net.random.integers(0, (k + 1) // 2)) for k in kernel * 2]}
    if op == "AveragePool":
        how["count_include_pad"] = int(net.coin())
    return net.add(op, x, **how)


@rule(8)
def matmul(net):
    x = net.pick(lambda v: is_float(v) and v.array.ndim > 0 and v.array.size > 0)
    if x is None:
        return None
    k = x.array.shape[-1]
    y = net.pick(lambda v: v.array.dtype == x.array.dtype and v.array.ndim > 1
                 and v.array.shape[-2] == k and v.array.size > 0)
    if y is None or net.random.random() < 0.6:
        y = net.weight((k, int(net.random.integers(1, 9))), x.array.dtype)
    return net.add("MatMul", x, y)


@rule(4)
def gemm(net):
    x = net.pick(lambda v: is_float(v) and v.array.ndim == 2 and v.array.size > 0)
    if x is None:
        return None
    a, b = int(net.coin()), int(net.coin())
    m, k = x.array.shape[::-1] if a else x.array.shape
    n = int(net.random.integers(1, 9))
    w = net.weight((n, k) if b else (k, n), x.array.dtype)
    c = [net.weight(net.choice([(n,), (1, n), (m, n), (m, 1), ()]), x.array.dtype)]
    return net.add("Gemm", x, w, *(c if net.coin() else []), transA=a, transB=b,
                   alpha=float(net.choice([1.0, 0.5])), beta=float(net.choice([1.0, 2.0])))


@rule(1)
def einsum(net):
    x = net.pick(lambda v: is_float(v) and v.array.ndim == 3 and v.array.size > 0)
    if x is None:
        return None
    b, i, j = x.array.shape
    equation, shape = net.choice([("bij,bjk->bik", (b, j, 3)), ("bij,kj->bki", (2, j)),
                                  ("bij,bij->b", (b, i, j)), ("bij,j->ib", (j,))])
    return net.add("Einsum", x, net.weight(shape, x.array.dtype), equation=equation)


# ---- Normalization

@rule(6)
def normalize(net):
    x = net.pick(lambda v: v.array.dtype == np.float32 and v.array.ndim > 1
                 and min(v.array.shape) > 0 and v.array.std() > 0.05)
    if x is None:
        return None
    op = net.choice(["BatchNormalization", "InstanceNormalization", "LayerNormalization",
                     "Softmax", "LogSoftmax", "LpNormalization", "LRN", "Hardmax"])
    channels = x.array.shape[1]
    per_channel = [net.weight((channels,)), net.weight((channels,))]
    axis = int(net.random.integers(-x.array.ndim, x.array.ndim))
    if op == "BatchNormalization":
        variance = net.constant(net.random.uniform(0.5, 2, channels).astype(np.float32))
        return net.add(op, x, *per_channel, net.weight((channels,)), variance)
    if op == "InstanceNormalization":
        if x.array.ndim < 3 or x.array.reshape(*x.array.shape[:2], -1).std(-1).min() < 0.05:
            return None
        return net.add(op, x, *per_channel)
    if op == "LayerNormalization":
        shape = x.array.shape[axis:]
        if x.array.reshape(-1, int(np.prod(shape))).std(-1).min() < 0.05:
            return None
        return net.add(op, x, net.weight(shape), *([net.weight(shape)] if net.coin() else []),
                       axis=axis)
    if op == "LRN":
        return net.add(op, x, size=3) if x.array.ndim == 4 else None
    if op == "LpNormalization":
        norms = np.abs(x.array).sum(axis)
        return net.add(op, x, axis=axis, p=net.choice([1, 2])) if norms.min() > 0.1 else None
    if op == "Hardmax" and smallest_gap(x.array, axis) < MARGIN:
        return None
    return net.add(op, x, axis=axis)


@rule(2)
def resize(net):
    x = net.pick(lambda v: is_image(v) and min(v.array.shape) > 0 and v.array.size < 600)
    if x is None:
        return None
    mode = net.choice(["nearest", "linear"])
    sizes = [*x.array.shape[:2], *(int(s * net.choice([1, 2, 3])) for s in x.array.shape[2:])]
    how = {"coordinate_transformation_mode":
           net.choice(["asymmetric", "half_pixel", "align_corners"] if mode == "linear"
                      else ["asymmetric"])}
    if mode == "nearest":
        how["nearest_mode"] = "floor"
    return net.add("Resize", x, "", "", net.constant(np.array(sizes, np.int64)), mode=mode,
                   **how)


@rule(3)
def quantize(net):
    x = net.pick(lambda v: v.array.dtype == np.float32 and v.array.size > 0)
    if x is None:
        return None
    scale = np.float32(max(np.abs(x.array).max(), 0.1) / 100)
    if distance_to_steps(x.array / scale, 0.5) < MARGIN:
        return None
    dtype = net.choice([np.int8, np.uint8])
    zero = net.constant(np.asarray(net.random.integers(0, 100), dtype))
    q = net.add("QuantizeLinear", x, net.constant(scale), zero)
    return q and net.add("DequantizeLinear", q, net.constant(scale), zero)
