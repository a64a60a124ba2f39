"""Nets of one operator after another, with what each computes by plain.py and numpy."""

import math

import numpy as np

import plain
import symbols

NETS = {}


def net(function):
    NETS[function.__name__] = function
    return function


def start(seed):
    random = np.random.default_rng(seed)

    def reals(*shape, low=-2.0, high=2.0):
        return random.uniform(low, high, shape).astype(np.float32)
    return random, reals


@net
def convolutions():
    n = symbols.Net()
    _, r = start(1)
    x = r(2, 6, 11, 9)
    data = n.data(x)
    line, cube = r(2, 4, 13), r(1, 3, 5, 6, 4)
    data1, data3 = n.data(line), n.data(cube)
    for kernel, stride, pad, dilate, groups, filters in [
            ((3, 3), (1, 1), (1, 1), (1, 1), 1, 5), ((1, 1), (2, 2), (0, 0), (1, 1), 1, 7),
            ((3, 2), (2, 1), (1, 0), (2, 3), 3, 6), ((5, 5), (1, 3), (2, 2), (1, 1), 6, 6)]:
        w, b = r(filters, 6 // groups, *kernel), r(filters)
        n.output(n("Convolution", data, w, b, kernel=kernel, stride=stride, pad=pad,
                   dilate=dilate, num_group=groups, num_filter=filters, workspace=1024),
                 plain.conv(x, w, b, stride, pad, dilate, groups))
        n.output(n("Convolution", data, w, kernel=kernel, num_filter=filters, num_group=groups,
                   no_bias="True"), plain.conv(x, w, groups=groups))
    w = r(5, 4, 3)
    n.output(n("Convolution", data1, w, kernel="(3,)", stride="(2,)", pad="(1,)", num_filter=5,
               no_bias=True), plain.conv(line, w, None, (2,), (1,)))
    w, b = r(4, 3, 2, 3, 3), r(4)
    n.output(n("Convolution", data3, w, b, kernel="[2, 3, 3]", pad="[1,1,0]", num_filter=4),
             plain.conv(cube, w, b, None, (1, 1, 0)))
    w = r(5, 3, 3, 6)  # filters, kernel, channels
    last = n.data(np.ascontiguousarray(x.transpose(0, 2, 3, 1)))
    n.output(n("Convolution", last, w, kernel=(3, 3), num_filter=5, no_bias=True, layout="NHWC"),
             plain.conv(x, w.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1))
    for kernel, stride, pad, dilate, adj, groups in [
            ((4, 4), (2, 2), (1, 1), (1, 1), (0, 0), 1), ((3, 3), (2, 3), (1, 0), (1, 2), (1, 2), 2)]:
        w, b = r(6, 4, *kernel), r(4 * groups)
        n.output(n("Deconvolution", data, w, b, kernel=kernel, stride=stride, pad=pad,
                   dilate=dilate, adj=adj, num_group=groups, num_filter=4 * groups,
                   no_bias=False),
                 plain.deconv(x, w, b, stride, pad, dilate, adj, groups))
    w = r(6, 2, 4, 4)  # target_shape: pads of 1, of which one is added again where odd
    n.output(n("Deconvolution", data, w, kernel=(4, 4), stride=(2, 2), target_shape=(22, 17),
               num_filter=2), plain.deconv(x, w, None, (2, 2), (1, 2), None, (0, 1)))
    return n


@net
def pools():
    n = symbols.Net()
    _, r = start(2)
    x, line = r(1, 3, 8, 11), r(2, 2, 9)
    data, data1 = n.data(x), n.data(line)
    for kind in ("max", "avg", "sum", "lp"):
        for convention in ("valid", "full", "same"):
            for kernel, stride, pad in [((3, 3), (2, 2), (0, 0)), ((3, 3), (2, 2), (1, 1)),
                                        ((2, 2), (1, 1), (0, 0))]:
                if convention == "same" and pad != (0, 0):
                    continue  # The last windows hold padding alone.
                more = {"p_value": 2} if kind == "lp" else {}
                n.output(n("Pooling", data, kernel=kernel, stride=stride, pad=pad, pool_type=kind,
                           pooling_convention=convention, **more),
                         plain.pool(x, kernel, kind, stride, pad, convention))
    for convention in ("valid", "full"):
        n.output(n("Pooling", data, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="avg",
                   pooling_convention=convention, count_include_pad=False),
                 plain.pool(x, (3, 3), "avg", (2, 2), (1, 1), convention, False))
    n.output(n("Pooling", data1, kernel="(3,)", stride="(2,)", pool_type="avg"),
             plain.pool(line, (3,), "avg", (2,)))
    cube = r(1, 2, 5, 6, 4)
    data3 = n.data(cube)
    for kind in ("max", "avg", "sum"):
        n.output(n("Pooling", data3, kernel=(3, 2, 2), stride=(2, 2, 1), pad=(1, 0, 1),
                   pool_type=kind, pooling_convention="full"),
                 plain.pool(cube, (3, 2, 2), kind, (2, 2, 1), (1, 0, 1), "full"))
    n.output(n("Pooling", data3, kernel=(3, 3, 3), pad=(1, 1, 1), pool_type="avg",
               count_include_pad=False),
             plain.pool(cube, (3, 3, 3), "avg", None, (1, 1, 1), include=False))
    n.output(n("Pooling", data, kernel=(7, 7), global_pool=True, pool_type="avg"),
             x.mean((2, 3), keepdims=True))
    n.output(n("Pooling", data, global_pool="1", pool_type="max"), x.max((2, 3), keepdims=True))
    n.output(n("Pooling", data, global_pool=True, pool_type="sum"), x.sum((2, 3), keepdims=True))
    last = n.data(np.ascontiguousarray(x.transpose(0, 2, 3, 1)))
    n.output(n("Pooling", last, kernel=(2, 2), stride=(2, 2), pool_type="max", layout="NHWC"),
             plain.pool(x, (2, 2), "max", (2, 2)).transpose(0, 2, 3, 1))
    for size in ((1, 1), (4, 11), (3, 4)):
        want = np.stack([np.stack([
            x[:, :, i * 8 // size[0]:math.ceil((i + 1) * 8 / size[0]),
              j * 11 // size[1]:math.ceil((j + 1) * 11 / size[1])].mean((2, 3))
            for j in range(size[1])], 2) for i in range(size[0])], 2)
        n.output(n("_contrib_AdaptiveAvgPooling2D", data, output_size=size), want)
    return n


@net
def normalizations():
    n = symbols.Net()
    _, r = start(3)
    x, rows = r(2, 6, 5, 7), r(3, 10)
    data, matrix = n.data(x), n.data(rows)
    s = [r(6, low=0.5), r(6), r(6), r(6, low=0.1)]
    n.output(n("BatchNorm", data, *s, fix_gamma=False), plain.batch_norm(x, *s))
    n.output(n("BatchNorm", data, *s), plain.batch_norm(x, np.ones(6), *s[1:]))
    n.output(n("BatchNorm", data, *s, fix_gamma="0", eps="2e-05", use_global_stats=True),
             plain.batch_norm(x, *s, eps=2e-5))
    s = [r(7, low=0.5), r(7), r(7), r(7, low=0.1)]
    n.output(n("BatchNorm", data, *s, fix_gamma=False, axis=3), plain.batch_norm(x, *s, axis=3))
    s = [r(10, low=0.5), r(10), r(10), r(10, low=0.1)]
    n.output(n("BatchNorm", matrix, *s, fix_gamma=False), plain.batch_norm(rows, *s))
    g, b = r(6), r(6)
    c = (slice(None), None, None)
    n.output(n("InstanceNorm", data, g, b, eps=0.01),
             plain.standardize(x, (2, 3), 0.01) * g[c] + b[c])
    g7, b7 = r(7), r(7)
    n.output(n("LayerNorm", data, g7, b7), plain.standardize(x, 3, 1e-5) * g7 + b7)
    n.output(n("LayerNorm", data, g, b, axis=1, eps=1e-3),
             plain.standardize(x, 1, 1e-3) * g[c] + b[c])
    groups = plain.standardize(x.reshape(2, 3, 2, 5, 7), (2, 3, 4), 1e-5).reshape(x.shape)
    n.output(n("GroupNorm", data, g, b, num_groups=3), groups * g[c] + b[c])
    n.output(n("LRN", data, nsize=5, alpha=0.3, beta=0.6, knorm=1.5),
             plain.lrn(x, 5, 0.3, 0.6, 1.5))
    n.output(n("LRN", data, nsize=3), plain.lrn(x, 3))
    for mode, axes in (("instance", (1, 2, 3)), ("channel", 1), ("spatial", (2, 3))):
        n.output(n("L2Normalization", data, mode=mode),
                 x / np.sqrt((x**2).sum(axes, keepdims=True) + 1e-10))
    n.output(n("softmax", data), plain.softmax(x))
    n.output(n("softmax", data, axis=1, temperature=2.5), plain.softmax(x / 2.5, 1))
    n.output(n("log_softmax", data, axis=-2), np.log(plain.softmax(x, -2)))
    n.output(n("softmin", matrix), plain.softmax(-rows))
    lengths = np.int32([3, 10, 1])
    inside = np.arange(10) < lengths[:, None]
    want = np.where(inside, np.exp(rows), 0)
    n.output(n("softmax", matrix, n.data(lengths, dtype="4"), use_length=True),
             want / want.sum(1, keepdims=True))
    n.output(n("SoftmaxActivation", data, mode="channel"), plain.softmax(x, 1))
    flat = plain.softmax(x.reshape(2, -1)).reshape(x.shape)
    n.output(n("SoftmaxActivation", data), plain.softmax(x, -1))
    label = n.variable("softmax_label")
    n.output(n("SoftmaxOutput", data, label), flat)
    n.output(n("SoftmaxOutput", data, label, multi_output=True, use_ignore=True),
             plain.softmax(x, 1))
    n.output(n("SoftmaxOutput", data, label, preserve_shape=True), plain.softmax(x))
    n.output(n("LogisticRegressionOutput", data, label), plain.sigmoid(x))
    n.output(n("LinearRegressionOutput", matrix, label), rows)
    return n


def activation_table(x):
    """(operator, attributes, result) of activations."""
    alpha, gamma = 1.6732632423543772, 1.0507009873554805
    erf = np.vectorize(math.erf)
    return [
        ("Activation", {"act_type": "relu"}, np.maximum(x, 0)),
        ("Activation", {"act_type": "sigmoid"}, plain.sigmoid(x)),
        ("Activation", {"act_type": "tanh"}, np.tanh(x)),
        ("Activation", {"act_type": "softrelu"}, np.log1p(np.exp(x))),
        ("Activation", {"act_type": "softsign"}, x / (1 + np.abs(x))),
        ("Activation", {"act_type": "log_sigmoid"}, -np.log1p(np.exp(-x))),
        ("Activation", {"act_type": "mish"}, x * np.tanh(np.log1p(np.exp(x)))),
        ("LeakyReLU", {}, np.where(x > 0, x, 0.25 * x)),
        ("LeakyReLU", {"act_type": "leaky", "slope": 0.1}, np.where(x > 0, x, 0.1 * x)),
        ("LeakyReLU", {"act_type": "elu", "slope": 0.7}, np.where(x > 0, x, 0.7 * np.expm1(x))),
        ("LeakyReLU", {"act_type": "selu"}, gamma * np.where(x > 0, x, alpha * np.expm1(x))),
        ("LeakyReLU", {"act_type": "gelu"}, x / 2 * (1 + erf(x / math.sqrt(2)))),
        ("LeakyReLU", {"act_type": "rrelu"}, np.where(x > 0, x, (0.125 + 0.334) / 2 * x)),
        ("hard_sigmoid", {}, np.clip(0.2 * x + 0.5, 0, 1)),
        ("clip", {"a_min": -0.5, "a_max": 1.25}, np.clip(x, -0.5, 1.25)),
        ("smooth_l1", {"scalar": 1.5}, np.where(np.abs(x) < 1 / 2.25, (1.5 * x)**2 / 2,
                                                np.abs(x) - 0.5 / 2.25)),
        ("Dropout", {"p": 0.5}, x), ("BlockGrad", {}, x), ("_copy", {}, x)]


@net
def elementwise():
    n = symbols.Net()
    random, r = start(4)
    x, y, p = r(2, 3, 5), r(2, 3, 5), r(2, 3, 5, low=0.2)
    a, b, q = n.data(x), n.data(y), n.data(p)
    small = r(3, 1)
    for op, attributes, want in activation_table(x):
        n.output(n(op, a, **attributes), want, 2e-5)
    slopes = r(3)
    n.output(n("LeakyReLU", a, slopes, act_type="prelu"),
             np.where(x > 0, x, slopes[:, None] * x))
    for op, f in {"abs": np.abs, "ceil": np.ceil, "floor": np.floor, "negative": np.negative,
                  "sign": np.sign, "cos": np.cos, "sin": np.sin, "exp": np.exp, "tanh": np.tanh,
                  "arctan": np.arctan, "square": np.square, "relu": lambda v: np.maximum(v, 0),
                  "sigmoid": plain.sigmoid, "expm1": np.expm1, "trunc": np.trunc,
                  "cbrt": np.cbrt, "degrees": np.degrees, "rint": np.rint,
                  "_npi_absolute": np.abs, "_npx_relu": lambda v: np.maximum(v, 0)}.items():
        n.output(n(op, a), f(x), 2e-5)
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, -1.2], np.float32)
    n.output(n("round", n.data(halves)), np.sign(halves) * np.floor(np.abs(halves.astype(float)) + 0.5))
    for op, f in {"sqrt": np.sqrt, "rsqrt": lambda v: 1 / np.sqrt(v), "log": np.log,
                  "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
                  "reciprocal": np.reciprocal}.items():
        n.output(n(op, q), f(p), 2e-5)
    floats = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
    for op, f in floats.items():
        n.output(n(f"elemwise_{op}", a, b), f(x, y))
        n.output(n(f"broadcast_{op}", a, small), f(x, small))
    n.output(n("_plus", a, b), x + y)
    n.output(n("_Plus", a, b), x + y)
    n.output(n("broadcast_div", a, q), x / p)
    n.output(n("broadcast_power", q, a), p**x, 2e-5)
    n.output(n("_maximum", a, b), np.maximum(x, y))
    n.output(n("broadcast_minimum", a, small), np.minimum(x, small))
    n.output(n("broadcast_mod", a, q), np.mod(x, p), 2e-5)
    n.output(n("_hypot", a, b), np.hypot(x, y))
    for op, f in {"greater": np.greater, "lesser_equal": np.less_equal, "equal": np.equal,
                  "not_equal": np.not_equal, "logical_and": np.logical_and}.items():
        n.output(n(f"broadcast_{op}", n("floor", a), n("floor", b)),
                 f(np.floor(x), np.floor(y)).astype(np.float32))
    for op, f in {"_plus_scalar": x + 1.5, "_minus_scalar": x - 1.5, "_rminus_scalar": 1.5 - x,
                  "_mul_scalar": x * 1.5, "_div_scalar": x / 1.5, "_maximum_scalar":
                  np.maximum(x, 1.5), "_RMinusScalar": 1.5 - x, "_MulScalar": x * 1.5,
                  "_greater_scalar": (x > 1.5).astype(np.float32), "_npi_add_scalar": x + 1.5,
                  "_mod_scalar": np.mod(x, np.float32(1.5))}.items():
        n.output(n(op, a, scalar=1.5), f, 2e-5)
    n.output(n("_rdiv_scalar", q, scalar=2), 2 / p)
    n.output(n("_power_scalar", q, scalar=3), p**3, 2e-5)
    n.output(n("_rpower_scalar", a, scalar="3.0"), 3.0**x, 2e-5)
    n.output(n("add_n", a, b, a, num_args=3), 2 * x + y)
    n.output(n("where", n("_greater_scalar", a, scalar=0), a, b), np.where(x > 0, x, y))
    n.output(n("where", n.param(np.float32([0, 1])), a, b), np.stack([y[0], x[1]]))
    n.output(n("Cast", a, dtype="int32"), x.astype(np.int32))
    n.output(n("Cast", n("Cast", a, dtype="float16"), dtype="float32"), x)
    return n


@net
def matrices():
    n = symbols.Net()
    _, r = start(5)
    x, cube, other = r(4, 3, 5), r(2, 4, 6), r(2, 6, 3)
    data, a, b = n.data(x), n.data(cube), n.data(other)
    w, bias = r(7, 15), r(7)
    n.output(n("FullyConnected", data, w, bias, num_hidden=7), x.reshape(4, -1) @ w.T + bias)
    n.output(n("FullyConnected", data, w, num_hidden=7, no_bias="True"), x.reshape(4, -1) @ w.T)
    w = r(6, 5)
    n.output(n("FullyConnected", data, w, num_hidden=6, no_bias=True, flatten=False), x @ w.T)
    n.output(n("dot", data, n.param(w), transpose_b=True), x @ w.T)
    m = r(3, 4)
    n.output(n("dot", n.param(m), data), np.tensordot(m, x, 1))
    n.output(n("dot", data, data, transpose_a=True), np.tensordot(x, x, ((0,), (0,))))
    n.output(n("batch_dot", a, b), cube @ other)
    n.output(n("batch_dot", b, a, transpose_a=True, transpose_b=True),
             other.transpose(0, 2, 1) @ cube.transpose(0, 2, 1))
    n.output(n("_linalg_gemm2", a, b, alpha=0.5), cube @ other / 2)
    n.output(n("_npi_matmul", a, b), cube @ other)
    n.output(n("_linalg_syrk", a), cube @ cube.transpose(0, 2, 1))
    heads, units, steps, batch = 3, 4, 5, 2
    qkv = r(steps, batch, heads * 3 * units)
    parts = qkv.reshape(steps, batch * heads, 3, units).transpose(2, 1, 0, 3)
    query, key, value = parts
    scores = query @ key.transpose(0, 2, 1) / 2
    p = n.data(qkv)
    s = n.output(n("_contrib_interleaved_matmul_selfatt_qk", p, heads=heads), scores)
    weights = plain.softmax(scores)
    n.output(n("_contrib_interleaved_matmul_selfatt_valatt", p, n("softmax", s), heads=heads),
             (weights @ value).transpose(1, 0, 2).reshape(steps, batch, -1))
    q, kv = r(7, batch, heads * units), r(steps, batch, heads * 2 * units)
    key, value = kv.reshape(steps, batch * heads, 2, units).transpose(2, 1, 0, 3)
    query = q.reshape(7, batch * heads, units).transpose(1, 0, 2)
    s = n.output(n("_contrib_interleaved_matmul_encdec_qk", n.data(q), n.data(kv), heads=heads),
                 query @ key.transpose(0, 2, 1) / 2)
    n.output(n("_contrib_interleaved_matmul_encdec_valatt", n.param(kv), s, heads=heads),
             (query @ key.transpose(0, 2, 1) / 2 @ value).transpose(1, 0, 2).reshape(7, batch, -1))
    n.output(n("_contrib_div_sqrt_dim", a), cube / math.sqrt(6))
    return n


@net
def moves():
    n = symbols.Net()
    random, r = start(6)
    x, y = r(2, 3, 4, 5), r(2, 3, 4, 5)
    a, b = n.data(x), n.data(y)
    for codes, reverse, want in [
            ((0, -1), 0, (2, 60)), ((4, 0, 2, -1), 0, (4, 3, 2, 5)), ((-2,), 0, (2, 3, 4, 5)),
            ((2, -2), 0, (2, 3, 4, 5)), ((-3, 4, 5), 0, (6, 4, 5)), ((-3, -3), 0, (6, 20)),
            ((0, -3, -2), 0, (2, 12, 5)), ((-4, 1, 2, -2), 0, (1, 2, 3, 4, 5)),
            ((0, 0, -4, -1, 2, 0), 0, (2, 3, 2, 2, 5)), ((-1, 0), 1, (24, 5)),
            ((-1, 0, 0), 1, (6, 4, 5))]:
        n.output(n("Reshape", a, shape=codes, reverse=bool(reverse)), x.reshape(want))
    n.output(n("_npx_reshape", a, newshape=(-2, -5, -1)), x.reshape(2, 12, 5))
    n.output(n("_npx_reshape", a, newshape=(-6, 1, 2, -4)), x.reshape(1, 2, 3, 4, 5))
    n.output(n("_np_reshape", a, newshape=-1), x.reshape(-1))
    n.output(n("Reshape", a, target_shape=(6, 0)), x.reshape(6, 20))
    n.output(n("Flatten", a), x.reshape(2, -1))
    n.output(n("transpose", a), x.transpose())
    n.output(n("transpose", a, axes=(0, 2, 3, 1)), x.transpose(0, 2, 3, 1))
    n.output(n("SwapAxis", a, dim1=1, dim2=3), x.swapaxes(1, 3))
    n.output(n("expand_dims", a, axis=-2), x[..., None, :])
    n.output(n("squeeze", n("expand_dims", a, axis=1), axis="1"), x)
    n.output(n("squeeze", n("expand_dims", a, axis=0)), x)
    n.output(n("Concat", a, b, num_args=2), np.concatenate([x, y], 1))
    n.output(n("concat", a, b, a, dim=-1, num_args=3), np.concatenate([x, y, x], 3))
    n.output(n("stack", a, b, axis=2, num_args=2), np.stack([x, y], 2))
    parts = n("SliceChannel", a, num_outputs=5, axis=3, squeeze_axis=True)
    n.output(parts[1], x[..., 1])
    n.output(parts[4], x[..., 4])
    parts = n("split", a, num_outputs=2, axis=2)
    n.output(parts[1], x[:, :, 2:])
    parts = n("_split_v2", a, indices="(0, 1, 4)", axis=3, sections=0)
    n.output(parts[1], x[..., 1:4])
    n.output(parts[2], x[..., 4:])
    n.output(n("slice", a, begin="(0, 1, None, -1)", end="(1, None, 3, -5)",
               step="(1, 1, 2, -2)"), x[0:1, 1:, :3:2, -1:-5:-2])
    n.output(n("slice", a, begin=(0, 1), end=(2, 3)), x[0:2, 1:3])
    n.output(n("slice_axis", a, axis=3, begin=-3, end="None"), x[..., -3:])
    n.output(n("slice_like", a, n.param(r(1, 2, 9, 3)), axes=(1, 3)), x[:, :2, :, :3])
    n.output(n("Crop", a, num_args=1, h_w=(2, 3), offset=(1, 2)), x[:, :, 1:3, 2:5])
    n.output(n("Crop", a, n.param(r(1, 1, 2, 3)), num_args=2, center_crop=True),
             x[:, :, 1:3, 1:4])
    n.output(n("reverse", a, axis=(1, 3)), x[:, ::-1, :, ::-1])
    pads = (0, 0, 0, 0, 1, 2, 3, 1)
    sides = ((0, 0), (0, 0), (1, 2), (3, 1))
    n.output(n("pad", a, mode="constant", pad_width=pads, constant_value=1.5),
             np.pad(x, sides, constant_values=1.5))
    n.output(n("Pad", a, mode="edge", pad_width=pads), np.pad(x, sides, mode="edge"))
    n.output(n("Pad", a, mode="reflect", pad_width=pads), np.pad(x, sides, mode="reflect"))
    n.output(n("tile", a, reps=(2, 1, 3)), np.tile(x, (2, 1, 3)))
    n.output(n("repeat", a, repeats=2, axis=1), x.repeat(2, 1))
    n.output(n("repeat", a, repeats=3), x.repeat(3))
    n.output(n("broadcast_to", n.param(x[:, :1]), shape=(0, 3, 0, 0)),
             np.broadcast_to(x[:, :1], x.shape))
    n.output(n("broadcast_axis", n.param(x[:, :1]), axis=1, size=4), x[:, :1].repeat(4, 1))
    n.output(n("broadcast_like", n.param(x[:1]), a), np.broadcast_to(x[:1], x.shape))
    blocks = r(1, 8, 2, 3)
    want = blocks.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6)
    n.output(n("depth_to_space", n.param(blocks), block_size=2), want)
    n.output(n("space_to_depth", n.param(want), block_size=2), blocks)
    return n


@net
def gathers():
    n = symbols.Net()
    random, r = start(7)
    table, x = r(9, 4), r(3, 5, 4)
    data = n.data(x)
    tokens = np.float32([[1, 8, 0], [3, 3, 12]])
    t = n.data(tokens)
    rows = np.clip(tokens, 0, 8).astype(int)
    n.output(n("Embedding", t, table, input_dim=9, output_dim=4), table[rows])
    n.output(n("take", n.param(table), t, axis=0), table[rows])
    indices = np.float32([[-1, 2], [7, 0]])
    i = n.data(indices)
    n.output(n("take", data, i, axis=1), x[:, np.clip(indices, 0, 4).astype(int)])
    n.output(n("take", data, i, axis=1, mode="wrap"), x[:, indices.astype(int) % 5])
    picked = np.float32(random.integers(0, 4, (3, 5)))
    p = n.data(picked)
    want = np.take_along_axis(x, picked.astype(int)[..., None], 2)
    n.output(n("pick", data, p), want[..., 0])
    n.output(n("pick", data, p, keepdims=True, axis=2), want)
    n.output(n("batch_take", n.param(table), n.param(np.int32([0, 3, 1, 2, 0, 1, 2, 3, 3]))),
             table[np.arange(9), [0, 3, 1, 2, 0, 1, 2, 3, 3]])
    places = np.int64([[0, 2, 1], [4, 0, 3]])
    n.output(n("gather_nd", data, n.data(places, dtype="6")), x[places[0], places[1]])
    updates = r(3, 4)
    want = np.zeros((3, 5, 4), np.float32)
    want[places[0], places[1]] = updates
    n.output(n("scatter_nd", n.data(updates), n.param(places), shape=(3, 5, 4)), want)
    n.output(n("one_hot", t, depth=9, on_value=2, off_value=-1),
             np.where(tokens[..., None] == np.arange(9), 2.0, -1.0))
    n.output(n("_zeros", shape=(2, 3)), np.zeros((2, 3)))
    n.output(n("elemwise_add", n.data(r(2, 3), "first"), n("_ones", shape="(0, 3)")),
             n.feeds["first"] + 1)
    n.output(n("_arange", start=2, stop=9, step=2, repeat=2), np.arange(2, 9, 2).repeat(2))
    n.output(n("_arange", start=0, stop=4, dtype="int64"), np.arange(4))
    n.output(n("_contrib_arange_like", data, axis=1, start=1), np.arange(5) + 1)
    n.output(n("zeros_like", data), 0 * x)
    n.output(n("shape_array", data), [3, 5, 4])
    return n


@net
def reductions():
    n = symbols.Net()
    random, r = start(8)
    x = r(2, 3, 4, 5)
    data = n.data(x)
    for op, f in {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min,
                  "prod": np.prod}.items():
        n.output(n(op, data), np.reshape(f(x), 1), 2e-5)
        n.output(n(op, data, axis=1), f(x, 1))
        n.output(n(op, data, axis=(1, -1), keepdims=True), f(x, (1, 3), keepdims=True))
        n.output(n(op, data, axis=(0, 2), exclude=True), f(x, (1, 3)), 2e-5)
    n.output(n("_np_sum", data), np.sum(x), 2e-5)
    n.output(n("norm", data, axis=2, ord=1), np.abs(x).sum(2))
    n.output(n("norm", data), np.reshape(np.sqrt((x**2).sum()), 1))
    moments = n("moments", data, axes=(1, 2))
    n.output(moments, x.mean((1, 2)))
    n.output(moments[1], x.var((1, 2)))
    n.output(n("cumsum", data, axis=1), x.cumsum(1))
    n.output(n("argmax", data, axis=1), x.argmax(1).astype(np.float32))
    n.output(n("argmin", data, axis=-1, keepdims=True), np.expand_dims(x.argmin(-1), -1))
    n.output(n("argmax", data), np.reshape(x.argmax(), 1))
    n.output(n("argmax_channel", data), x.argmax(1))
    order = np.argsort(-x, axis=-1, kind="stable")
    n.output(n("topk", data, k=2), order[..., :2])
    n.output(n("topk", data, k=3, ret_typ="value", axis=-1),
             np.take_along_axis(x, order, -1)[..., :3])
    both = n("topk", data, k=1, axis=1, ret_typ="both", is_ascend=True)
    n.output(both, x.min(1, keepdims=True))
    n.output(both[1], np.expand_dims(x.argmin(1), 1))
    n.output(n("topk", data, k=2, ret_typ="mask"),
             (np.argsort(order, -1) < 2).astype(np.float32))
    n.output(n("sort", data, axis=1), np.sort(x, 1))
    n.output(n("sort", data, axis=1, is_ascend=False), -np.sort(-x, 1))
    n.output(n("argsort", data), np.argsort(x, -1))
    return n


def bilinear(x, sizes, aligned):
    """Bilinear interpolation of the last two axes."""
    for axis, size in zip((2, 3), sizes):
        n = x.shape[axis]
        place = np.arange(size) * ((n - 1) / max(size - 1, 1)) if aligned else \
            np.maximum((np.arange(size) + 0.5) * n / size - 0.5, 0)
        low = np.minimum(np.floor(place).astype(int), n - 1)
        high = np.minimum(low + 1, n - 1)
        part = (place - low).reshape([-1 if i == axis else 1 for i in range(4)])
        x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
    return x


@net
def images():
    n = symbols.Net()
    random, r = start(9)
    x, small = r(1, 3, 4, 5), r(1, 2, 2, 5)
    data, other = n.data(x), n.data(r(1, 2, 8, 10))
    big = n.feeds["in1"]
    n.output(n("UpSampling", data, scale=2, sample_type="nearest", num_args=1),
             x.repeat(2, 2).repeat(2, 3))
    n.output(n("UpSampling", data, other, scale=2, sample_type="nearest", num_args=2),
             np.concatenate([x.repeat(2, 2).repeat(2, 3), big], 1))
    w = r(3, 1, 4, 4)
    n.output(n("UpSampling", data, w, scale=2, sample_type="bilinear", num_filter=3, num_args=2),
             plain.deconv(x, w, None, (2, 2), (1, 1), groups=3))
    w = r(3, 1, 5, 5)
    n.output(n("UpSampling", data, w, scale=3, sample_type="bilinear", num_filter=3, num_args=2),
             plain.deconv(x, w, None, (3, 3), (1, 1), groups=3))
    n.output(n("_contrib_BilinearResize2D", data, height=7, width=9), bilinear(x, (7, 9), True))
    n.output(n("_contrib_BilinearResize2D", data, height=3, width=11, align_corners=False),
             bilinear(x, (3, 11), False))
    n.output(n("_contrib_BilinearResize2D", data, other, mode="like"), bilinear(x, (8, 10), True))
    rois = np.float32([[0, 0, 0, 3, 3], [0, 1, 1, 4, 2], [0, 2, 0, 2, 0]])
    want = np.zeros((3, 3, 2, 2))
    for k, (_, x1, y1, x2, y2) in enumerate(rois.astype(int)):
        h, w_ = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for i in range(2):
            for j in range(2):
                ys = slice(y1 + i * h // 2, y1 + math.ceil((i + 1) * h / 2))
                xs = slice(x1 + j * w_ // 2, x1 + math.ceil((j + 1) * w_ / 2))
                want[k, :, i, j] = x[0, :, ys, xs].max((1, 2))
    n.output(n("ROIPooling", data, n.data(rois), pooled_size=(2, 2), spatial_scale=1.0), want)
    sizes, ratios = (0.3, 0.6), (1.0, 2.0, 0.5)
    boxes = []
    for i in range(4):
        for j in range(5):
            cy, cx = (i + 0.5) / 4, (j + 0.5) / 5
            for size, ratio in [(s, ratios[0]) for s in sizes] + [(sizes[0], q) for q in ratios[1:]]:
                bw = size * 4 / 5 * math.sqrt(ratio) / 2
                bh = size / math.sqrt(ratio) / 2
                boxes.append((cx - bw, cy - bh, cx + bw, cy + bh))
    n.output(n("_contrib_MultiBoxPrior", data, sizes=sizes, ratios=ratios), [boxes])
    n.output(n("_contrib_MultiBoxPrior", data, sizes=sizes, ratios=ratios, clip=True),
             np.clip([boxes], 0, 1))
    return n


@net
def sequences():
    n = symbols.Net()
    random, r = start(10)
    steps, batch, width, units = 4, 3, 5, 6
    x = r(steps, batch, width)
    data = n.data(x)
    lengths = np.float32([2, 4, 1])
    for mode, layers, both in [("lstm", 1, False), ("lstm", 2, True), ("gru", 2, False),
                               ("gru", 1, True), ("rnn_tanh", 1, False), ("rnn_relu", 2, True)]:
        gates, sides = {"lstm": 4, "gru": 3}.get(mode, 1), 2 if both else 1
        count, wide = 0, width
        for _ in range(layers):
            count += sides * gates * units * (wide + units + 2)
            wide = units * sides
        params = r(count, low=-0.6, high=0.6)
        h, c = r(layers * sides, batch, units), r(layers * sides, batch, units)
        states = [n.data(h)] + ([n.data(c)] if mode == "lstm" else [])
        y = n("RNN", data, params, *states, state_size=units, num_layers=layers, mode=mode,
              bidirectional=both, state_outputs=True, p=0.0)
        want = plain.rnn(x, params, mode, units, layers, both, h, c)
        n.output(y, want[0], 2e-5)
        n.output(y[1], want[1], 2e-5)
        if mode == "lstm":
            n.output(y[2], want[2], 2e-5)
    params = r(4 * units * (width + units + 2), low=-0.6, high=0.6)
    at = np.cumsum([4 * units * width, 4 * units * units, 4 * units])
    joined = n("_rnn_param_concat", *np.split(params, at), dim=0, num_args=4)
    zeros = n("_zeros", shape=(1, 0, units))
    n.output(n("RNN", data, joined, zeros, zeros, state_size=units, num_layers=1, mode="lstm"),
             plain.rnn(x, params, "lstm", units, 1)[0], 2e-5)
    count = n.data(lengths)
    inside = np.arange(steps)[:, None] < lengths
    n.output(n("SequenceMask", data, count, use_sequence_length=True, value=-1.0),
             np.where(inside[..., None], x, -1))
    n.output(n("SequenceMask", n("SwapAxis", data, dim1=0, dim2=1), count, axis=1,
               use_sequence_length=True), np.where(inside[..., None], x, 0).swapaxes(0, 1))
    n.output(n("SequenceLast", data, count, use_sequence_length=True),
             x[lengths.astype(int) - 1, range(batch)])
    n.output(n("SequenceLast", data), x[-1])
    turned = x.copy()
    for b, length in enumerate(lengths.astype(int)):
        turned[:length, b] = x[:length, b][::-1]
    n.output(n("SequenceReverse", data, count, use_sequence_length=True), turned)
    n.output(n("SequenceReverse", data), x[::-1])
    return n


def overlap(a, b):
    """The intersection over union of two boxes, given by corners."""
    sides = [max(min(a[k + 2], b[k + 2]) - max(a[k], b[k]), 0) for k in (0, 1)]
    areas = [max(v[2] - v[0], 0) * max(v[3] - v[1], 0) for v in (a, b)]
    both = sides[0] * sides[1]
    return both / (sum(areas) - both) if sum(areas) - both > 0 else 0


def suppress(rows, limit, valid, most, same, keeps):
    """Rows (class, score, corners) in order of their scores, without those that overlap."""
    order = [i for i in np.argsort(-rows[:, 1], kind="stable") if rows[i, 1] > valid][:most]
    rows, kept = rows.copy(), []
    for place, i in enumerate(order):
        dropped = any((rows[i, 0] == rows[j, 0] or not same) and
                      (overlap(rows[i, 2:], rows[j, 2:]) > limit) for j in kept)
        if not dropped:
            kept.append(i)
    made = np.full(rows.shape, -1.0)
    listed = order if keeps else kept
    made[:len(listed)] = rows[listed]
    for place, i in enumerate(listed):
        if i not in kept:
            made[place, 0] = -1
    return made


def detect(scores, offsets, anchors, threshold, limit, most):
    """The rows of MultiBoxDetection for one image: scores are classes x boxes, the first of them
    of the background."""
    size, centre = anchors[:, 2:] - anchors[:, :2], (anchors[:, 2:] + anchors[:, :2]) / 2
    middle = offsets[:, :2].astype(float) * 0.1 * size + centre
    half = np.exp(offsets[:, 2:].astype(float) * 0.2) * size / 2
    boxes = np.clip(np.concatenate([middle - half, middle + half], 1), 0, 1)
    best = scores[1:].max(0)
    rows = np.column_stack([scores[1:].argmax(0), np.where(best < threshold, -1, best), boxes])
    return suppress(rows, limit, -0.5, most, True, True)


def random_boxes(random, n):
    centre, size = random.uniform(0.2, 0.8, (n, 2)), random.uniform(0.2, 0.5, (n, 2))
    return np.concatenate([centre - size / 2, centre + size / 2], 1)


@net
def boxes():
    n = symbols.Net()
    random, r = start(11)
    count = 25
    rows = np.float32([np.column_stack([random.integers(0, 3, count),
                                        random.permutation(count) / count,
                                        random_boxes(random, count)]) for _ in range(2)])
    data = n.data(rows)
    for most, force, limit in ((-1, False, 0.3), (12, True, 0.45), (3, False, 0.5)):
        n.output(n("_contrib_box_nms", data, overlap_thresh=limit, valid_thresh=0.1, id_index=0,
                   score_index=1, coord_start=2, topk=most, force_suppress=force),
                 np.stack([suppress(v, limit, 0.1, most if most > 0 else None, not force, False)
                           for v in rows]))
    centres = rows.copy()
    centres[..., 2:4] = (rows[..., 2:4] + rows[..., 4:6]) / 2
    centres[..., 4:6] = rows[..., 4:6] - rows[..., 2:4]
    n.output(n("_contrib_box_nms", n.data(centres), overlap_thresh=0.3, valid_thresh=0.1,
               id_index=0, in_format="center"),
             np.stack([suppress(v, 0.3, 0.1, None, True, False) for v in rows]))
    a, b = random_boxes(random, 4).astype(np.float32), random_boxes(random, 6).astype(np.float32)
    n.output(n("_contrib_box_iou", n.data(a), n.data(b)),
             [[overlap(p, q) for q in b] for p in a])
    anchors = random_boxes(random, count).astype(np.float32)
    scores = plain.softmax(r(2, 4, count) * 2, 1).astype(np.float32)
    offsets = r(2, count * 4, low=-1, high=1)
    want = [detect(s, o, anchors, 0.3, 0.45, 20)
            for s, o in zip(scores, offsets.reshape(2, count, 4))]
    n.output(n("_contrib_MultiBoxDetection", n.data(scores), n.data(offsets), anchors[None],
               threshold=0.3, nms_threshold=0.45, nms_topk=20), want)
    return n


@net
def samples():
    n = symbols.Net()
    random, r = start(12)
    x, theta = r(2, 3, 5, 6), r(2, 6, low=-0.7, high=0.7)
    ys, xs = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 7), indexing="ij")
    base = np.stack([xs.ravel(), ys.ravel(), np.ones(28)])
    grid = (theta.reshape(2, 2, 3) @ base).reshape(2, 2, 4, 7)
    column, row = (grid[:, 0] + 1) * 5 / 2, (grid[:, 1] + 1) * 4 / 2
    want = np.zeros((2, 3, 4, 7))
    for b, i, j in np.ndindex(2, 4, 7):
        top, left = math.floor(row[b, i, j]), math.floor(column[b, i, j])
        for y in (top, top + 1):
            for z in (left, left + 1):
                if 0 <= y < 5 and 0 <= z < 6:
                    want[b, :, i, j] += x[b, :, y, z] * (1 - abs(row[b, i, j] - y)) * (
                        1 - abs(column[b, i, j] - z))
    data, transformation = n.data(x), n.data(theta)
    made = n("GridGenerator", transformation, transform_type="affine", target_shape=(4, 7))
    n.output(made, grid)
    n.output(n("BilinearSampler", data, made), want, 1e-4)
    n.output(n("SpatialTransformer", data, transformation, transform_type="affine",
               sampler_type="bilinear", target_shape=(4, 7)), want, 1e-4)
    return n


def subgraph(function, *names):
    """A net of a function of variables, whose outputs are those of the function."""
    n = symbols.Net()
    made = function(n, *map(n.variable, names))
    n.heads = list(made) if isinstance(made, tuple) else [made]
    return n


@net
def control():
    n = symbols.Net()
    _, r = start(13)
    h = r(2, 3)

    def step(n, x, state):
        state = n("tanh", n("elemwise_add", x, state))
        return n("_mul_scalar", state, scalar=2), state
    for steps in (3, 20):  # few runs are imported one by one
        x, state, made = r(steps, 2, 3), h, []
        for row in x:
            state = np.tanh(row + state)
            made.append(state * 2)
        y = n("_foreach", n.data(x), n.data(h), subgraphs=[subgraph(step, "x", "state")],
              in_data_locs=[0], in_state_locs=[1], remain_locs=[], num_args=3, num_out_data=1,
              num_outputs=2)
        n.output(y[0], np.stack(made))
        n.output(y[1], state)
    # The condition reads the second value, and the body carries both.
    total, x = np.float32([0.5]), np.float32([1])
    y = n("_while_loop", n.data(x), n.data(total), subgraphs=[
        subgraph(lambda n, t: n("_lesser_scalar", t, scalar=9), "t"),
        subgraph(lambda n, x, t: (n("_plus_scalar", x, scalar=1), n("elemwise_add", t, x)), "x",
                 "t")], cond_input_locs=[1], func_input_locs=[0, 1], func_var_locs=[0, 1],
          max_iterations=20, num_args=4, num_out_data=0, num_outputs=2)
    while total < 9:
        x, total = x + 1, total + x
    n.output(y[0], x)
    n.output(y[1], total)
    a, b = r(2, 3), r(2, 3)
    data = n.data(a), n.data(b)
    for sign in (1, -1):
        test = n("_greater_scalar", n("sum", data[0]), scalar=float(a.sum() - sign))
        y = n("_cond", test, *data, subgraphs=[
            subgraph(lambda n, test: n("_copy", test), "test"),
            subgraph(lambda n, a, b: n("elemwise_mul", n("tanh", a), b), "a", "b"),
            subgraph(lambda n, a, b: n("elemwise_sub", a, b), "a", "b")], cond_input_locs=[0],
              then_input_locs=[1, 2], else_input_locs=[1, 2], num_args=6, num_outputs=1)
        n.output(y, np.tanh(a) * b if sign > 0 else a - b)
    return n


@net
def functions():
    n = symbols.Net()
    _, r = start(14)
    x, y = r(3, 4, 5), r(3, 4, 5)
    data, other = n.data(x), n.data(y)
    n.output(n("_npi_arctan2", data, other), np.arctan2(x, y))
    n.output(n("_npi_copysign", data, other), np.copysign(x, y))
    n.output(n("_npi_ldexp_scalar", data, scalar=3.0), x * 8)
    n.output(n("_npi_around", data, decimals=1), np.around(x, 1))
    n.output(n("_npi_where_lscalar", n("_npi_greater_scalar", data, scalar=0.0), other,
               scalar=1.5), np.where(x > 0, 1.5, y))
    n.output(n("_np_diagonal", data, offset=1, axis1=1, axis2=2), np.diagonal(x, 1, 1, 2))
    n.output(n("_np_diagflat", n("Flatten", data)),
             np.diagflat(x))
    n.output(n("_npi_tril", data, k=1), np.tril(x, 1))
    n.output(n("_np_moveaxis", data, source=0, destination=-1), np.moveaxis(x, 0, -1))
    n.output(n("_np_roll", data, shift=2, axis=1), np.roll(x, 2, 1))
    for k in (1, 2, 3):
        n.output(n("_npi_rot90", data, k=k, axes=(1, 2)), np.rot90(x, k, (1, 2)))
    n.output(n("_npi_diff", data, n=2, axis=-1), np.diff(x, 2))
    n.output(n("_npi_tensordot", data, other, a_axes_summed=(0, 1), b_axes_summed=(0, 1)),
             np.tensordot(x, y, ((0, 1), (0, 1))))
    n.output(n("_npi_einsum", data, other, subscripts="bij,bkj->bik", num_args=2),
             np.einsum("bij,bkj->bik", x, y))
    n.output(n("_npi_pad", data, pad_width="((0, 0), (1, 2), (2, 1))", mode="edge"),
             np.pad(x, ((0, 0), (1, 2), (2, 1)), "edge"))
    n.output(n("_npi_flip", data, axis="None"), np.flip(x))
    n.output(n("_npi_hanning", M=7), np.hanning(7))
    n.output(n("_npi_average", data, axis=1), x.mean(1))
    n.output(n("reshape_like", data, n("Flatten", other), lhs_begin=1, lhs_end=3, rhs_begin=1,
               rhs_end=2), x.reshape(3, 20))
    anchors, shifts = random_boxes(np.random.default_rng(1), 6), r(2, 6, 4)
    size, centre = anchors[:, 2:] - anchors[:, :2], (anchors[:, 2:] + anchors[:, :2]) / 2
    middle = shifts[..., :2] * 0.1 * size + centre
    half = np.exp(np.minimum(shifts[..., 2:] * 0.2, 0.3)) * size / 2
    n.output(n("_contrib_box_decode", n.data(shifts), anchors[None].astype(np.float32), std0=0.1,
               std1=0.1, std2=0.2, std3=0.2, clip=0.3, format="corner"),
             np.concatenate([middle - half, middle + half], -1))
    return n
