"""Caffe's layers in plain numpy, from their descriptions."""

import itertools
import math

import numpy as np


def pair(params, name, missing):
    """A property of a window over images: [along rows, along columns]."""
    listed = params.get(name if name != "kernel" else "kernel_size", missing)
    listed = listed if isinstance(listed, list) else [listed]
    both = listed * 2 if len(listed) == 1 else listed
    return [params.get(f"{name}_h", both[0]), params.get(f"{name}_w", both[1])]


def convolution(x, params, weights, bias=None):
    (kh, kw), (sh, sw) = weights.shape[2:], pair(params, "stride", 1)
    (ph, pw), (dh, dw) = pair(params, "pad", 0), pair(params, "dilation", 1)
    groups = params.get("group", 1)
    x = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    rows = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1
    columns = (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    y = np.zeros((x.shape[0], weights.shape[0], rows, columns))
    share, own = weights.shape[0] // groups, weights.shape[1]
    for g in range(groups):
        part = x[:, g * own:(g + 1) * own]
        filters = weights[g * share:(g + 1) * share]
        for i, j in itertools.product(range(kh), range(kw)):
            seen = part[:, :, i * dh:i * dh + rows * sh:sh, j * dw:j * dw + columns * sw:sw]
            seen = seen[:, :, :rows, :columns]
            y[:, g * share:(g + 1) * share] += np.einsum("nchw,kc->nkhw", seen, filters[..., i, j])
    return y if bias is None else y + bias.reshape(1, -1, 1, 1)


def line_of(params):
    """The parameters of a convolution over one axis, as those of one over images of a row."""
    return {"stride_h": 1, "stride_w": params.get("stride", 1), "pad_h": 0,
            "pad_w": params.get("pad", 0)}


def volume_convolution(x, params, weights, bias):
    """A convolution over three axes with one stride and one pad: sums of those over two."""
    stride, pad = params.get("stride", 1), params.get("pad", 0)
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (0, 0), (0, 0)))
    depth = weights.shape[2]
    return np.stack([
        bias.reshape(1, -1, 1, 1) + sum(convolution(x[:, :, start + i], params, weights[:, :, i])
                                        for i in range(depth))
        for start in range(0, x.shape[2] - depth + 1, stride)], 2)


def deconvolution(x, params, weights, bias=None):
    (kh, kw), (sh, sw) = weights.shape[2:], pair(params, "stride", 1)
    (ph, pw), (dh, dw) = pair(params, "pad", 0), pair(params, "dilation", 1)
    groups = params.get("group", 1)
    n, channels, h, w = x.shape
    share, own = weights.shape[1], channels // groups
    y = np.zeros((n, share * groups, (h - 1) * sh + dh * (kh - 1) + 1,
                  (w - 1) * sw + dw * (kw - 1) + 1))
    for g in range(groups):
        part, filters = x[:, g * own:(g + 1) * own], weights[g * own:(g + 1) * own]
        for a, b, i, j in itertools.product(range(h), range(w), range(kh), range(kw)):
            y[:, g * share:(g + 1) * share, a * sh + i * dh, b * sw + j * dw] += (
                part[:, :, a, b] @ filters[:, :, i, j])
    y = y[:, :, ph:y.shape[2] - ph, pw:y.shape[3] - pw]
    return y if bias is None else y + bias.reshape(1, -1, 1, 1)


def pooling(x, params, tops):
    """Caffe's pools: sizes are rounded up, the last window begins in the image or its padding,
    and averages count padding."""
    kernel, stride, pad = (pair(params, n, m) for n, m in
                           [("kernel", 0), ("stride", 1), ("pad", 0)])
    if params.get("global_pooling"):
        kernel, stride, pad = list(x.shape[2:]), [1, 1], [0, 0]
    rounding = math.floor if params.get("round_mode") == "FLOOR" else math.ceil
    sizes = []
    for size, k, s, p in zip(x.shape[2:], kernel, stride, pad):
        count = rounding((size + 2 * p - k) / s) + 1
        if max(pad) and (count - 1) * s >= size + p:
            count -= 1
        sizes.append(count)
    y, places = np.zeros((*x.shape[:2], *sizes)), np.zeros((*x.shape[:2], *sizes))
    for a, b in itertools.product(*map(range, sizes)):
        top, left = a * stride[0] - pad[0], b * stride[1] - pad[1]
        bottom = min(top + kernel[0], x.shape[2] + pad[0])
        right = min(left + kernel[1], x.shape[3] + pad[1])
        count = (bottom - top) * (right - left)
        top, left = max(top, 0), max(left, 0)
        seen = x[:, :, top:min(bottom, x.shape[2]), left:min(right, x.shape[3])]
        flat = seen.reshape(*x.shape[:2], -1)
        if params.get("pool", "MAX") == "AVE":
            y[:, :, a, b] = flat.sum(-1) / count
            continue
        if params.get("pool") == "STOCHASTIC":
            total = flat.sum(-1)
            y[:, :, a, b] = np.where(total > 0, (flat * flat).sum(-1) / total, 0)
            continue
        y[:, :, a, b] = flat.max(-1)
        row, column = np.divmod(flat.argmax(-1), seen.shape[3])
        places[:, :, a, b] = (row + top) * x.shape[3] + column + left
    return [y, places][:tops]


def spp(x, params):
    """Pools of 1, 4, 16 ... windows, one after another."""
    parts = []
    for level in range(params["pyramid_height"]):
        kernel = [-(-size // 2 ** level) for size in x.shape[2:]]
        pad = [-(-(k * 2 ** level - size) // 2) for k, size in zip(kernel, x.shape[2:])]
        parts += pooling(x, {"pool": params.get("pool", "MAX"), "kernel_h": kernel[0],
                             "kernel_w": kernel[1], "stride_h": kernel[0], "stride_w": kernel[1],
                             "pad_h": pad[0], "pad_w": pad[1]}, 1)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([part.reshape(len(x), -1) for part in parts], 1)


def roi_pooling(x, rois, params):
    """Fast R-CNN's largest elements in the parts of regions, whose corners are rounded."""
    rois = rois.reshape(-1, 5)
    h, w, scale = params["pooled_h"], params["pooled_w"], params.get("spatial_scale", 1)
    y = np.zeros((len(rois), x.shape[1], h, w))
    for r, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (math.floor(c * scale + 0.5) for c in corners)
        rows, columns = max(bottom - top + 1, 1) / h, max(right - left + 1, 1) / w
        for i, j in itertools.product(range(h), range(w)):
            a, b = (np.clip([math.floor(k * s) + o, math.ceil((k + 1) * s) + o], 0, most)
                    for k, s, o, most in [(i, rows, top, x.shape[2]),
                                          (j, columns, left, x.shape[3])])
            seen = x[int(image), :, a[0]:a[1], b[0]:b[1]].reshape(x.shape[1], -1)
            y[r, :, i, j] = seen.max(-1) if seen.size else 0
    return y


def reorg(x, stride, reverse):
    """YOLO's blocks of pixels as channels. Element by element, `small` has stride^2 times the
    channels of `large`, whatever the shapes of bottom and top are."""
    n, c, h, w = x.shape
    blocks = np.zeros(x.size)
    shape = (n, c, h, w)
    channels = c // stride ** 2
    for b, k, j, i in np.ndindex(shape):
        small = i + w * (j + h * (k + c * b))
        row, column = (j * stride + k // channels // stride, i * stride + k // channels % stride)
        large = column + w * stride * (row + h * stride * (k % channels + channels * b))
        if reverse:
            blocks[large] = x.ravel()[small]
        else:
            blocks[small] = x.ravel()[large]
    if reverse:
        return blocks.reshape(n, channels, h * stride, w * stride)
    return blocks.reshape(n, c * stride ** 2, h // stride, w // stride)


def upsample(xs, params):
    x = xs[0]
    scale = params.get("scale", 2)
    if len(xs) == 1:
        return x.repeat(scale, 2).repeat(scale, 3)
    rows = params.get("upsample_h", x.shape[2] * scale - params.get("pad_out_h", False))
    columns = params.get("upsample_w", x.shape[3] * scale - params.get("pad_out_w", False))
    y = np.zeros((*x.shape[:2], rows * columns))
    for n, c in np.ndindex(x.shape[:2]):
        y[n, c, xs[1][n, c].astype(int).ravel()] = x[n, c].ravel()
    return y.reshape(*x.shape[:2], rows, columns)


def lrn(x, params):
    size, alpha, beta = (params.get(n, m) for n, m in
                         [("local_size", 5), ("alpha", 1.0), ("beta", 0.75)])
    half, square, total = size // 2, x * x, np.zeros_like(x)
    if params.get("norm_region") == "WITHIN_CHANNEL":
        padded = np.pad(square, ((0, 0), (0, 0), (half, half), (half, half)))
        for i, j in itertools.product(range(size), repeat=2):
            total += padded[:, :, i:i + x.shape[2], j:j + x.shape[3]]
        return x * (1 + alpha * total / size ** 2) ** -beta
    padded = np.pad(square, ((0, 0), (half, half), (0, 0), (0, 0)))
    for i in range(size):
        total += padded[:, i:i + x.shape[1]]
    return x * (params.get("k", 1.0) + alpha / size * total) ** -beta


def spread(value, x, axis):
    """A tensor along the axes of x from `axis` on, such that it broadcasts."""
    axis %= x.ndim
    return value.reshape((1,) * axis + value.shape + (1,) * (x.ndim - axis - value.ndim))


def interp(xs, params):
    x = xs[0]
    ends = [-params.get("pad_beg", 0), -params.get("pad_end", 0)]
    x = x[:, :, ends[0]:x.shape[2] - ends[1], ends[0]:x.shape[3] - ends[1]]

    def size_of(old, stated, like):
        if like:
            return like
        if stated:
            return stated
        old = (old - 1) // params.get("shrink_factor", 1) + 1
        return old + (old - 1) * (params.get("zoom_factor", 1) - 1)
    like = xs[1].shape[2:] if len(xs) > 1 else (0, 0)
    sizes = [size_of(x.shape[2], params.get("height"), like[0]),
             size_of(x.shape[3], params.get("width"), like[1])]
    for axis, size in zip((2, 3), sizes):
        old = x.shape[axis]
        place = np.arange(size) * ((old - 1) / (size - 1) if size > 1 else 0)
        low = np.minimum(place.astype(int), old - 1)
        high, part = np.minimum(low + 1, old - 1), place - low
        shape = [1] * 4
        shape[axis] = size
        part = part.reshape(shape)
        x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
    return x


def prior_box(xs, params):
    (rows, columns), (height, width) = xs[0].shape[2:], xs[1].shape[2:]
    def as_list(name):
        value = params.get(name, [])
        return value if isinstance(value, list) else [value]
    ratios = []
    for ratio in as_list("aspect_ratio"):
        ratios += [ratio] + ([1 / ratio] if params.get("flip", True) else [])
    height, width = params.get("img_size", height), params.get("img_size", width)
    step_y, step_x = params.get("step", height / rows), params.get("step", width / columns)
    out = []
    for i, j in itertools.product(range(rows), range(columns)):
        y, x = (i + params.get("offset", 0.5)) * step_y, (j + params.get("offset", 0.5)) * step_x
        for k, least in enumerate(map(int, as_list("min_size"))):
            boxes = [(least, least)]
            if as_list("max_size"):
                boxes += [(math.sqrt(least * int(as_list("max_size")[k])),) * 2]
            boxes += [(least * math.sqrt(r), least / math.sqrt(r)) for r in ratios]
            for w, h in boxes:
                out += [(x - w / 2) / width, (y - h / 2) / height,
                        (x + w / 2) / width, (y + h / 2) / height]
    out = np.clip(out, 0, 1) if params.get("clip") else np.array(out)
    variance = as_list("variance") or [0.1]
    return np.stack([out, np.resize(variance, out.size)])[None]


def overlap(a, b):
    w, h = (min(a[i + 2], b[i + 2]) - max(a[i], b[i]) for i in (0, 1))
    if w <= 0 or h <= 0:
        return 0
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h)


def detection_output(xs, params):
    """SSD's detections. Rows behind the last one are -1."""
    classes, nms = params["num_classes"], params.get("nms_param", {})
    priors, variances = xs[2].reshape(2, -1, 4)
    scores = xs[1].reshape(xs[1].shape[0], -1, classes)
    out, limit = [], 0
    for image in range(xs[0].shape[0]):
        shared = params.get("share_location", True)
        where = xs[0][image].reshape(len(priors), 1 if shared else classes, 4).swapaxes(0, 1)
        if not params.get("variance_encoded_in_target"):
            where = where * variances
        size = priors[:, 2:] - priors[:, :2]
        if params.get("code_type") == "CENTER_SIZE":
            center = where[..., :2] * size + (priors[:, :2] + priors[:, 2:]) / 2
            half = np.exp(where[..., 2:]) * size / 2
            sets = np.concatenate([center - half, center + half], -1)
        else:
            unit = np.tile(size, 2) if params.get("code_type") == "CORNER_SIZE" else 1
            sets = priors + where * unit
        found = []
        most = nms.get("top_k", -1)
        each = min(most, len(priors)) if most > 0 else len(priors)
        labels = [c for c in range(classes) if c != params.get("background_label_id", 0)]
        for label in labels:
            score, boxes = scores[image, :, label], sets[0 if shared else label]
            order = [k for k in np.argsort(-score, kind="stable")
                     if score[k] > params.get("confidence_threshold", -1e38)][:each]
            kept = []
            for k in order:
                if all(overlap(boxes[k], boxes[o]) <= nms.get("nms_threshold", 0.3)
                       for o in kept):
                    kept.append(k)
            found += [(score[k], label, boxes[k]) for k in kept]
        rows = each * len(labels)
        keep = params.get("keep_top_k", -1)
        if 0 <= keep < rows:
            rows = keep
            found = sorted(found, key=lambda f: -f[0])[:keep]
            found.sort(key=lambda f: (f[1], -f[0]))
        out += [[image, label, score, *box] for score, label, box in found]
        out += [[-1] * 7] * (rows - len(found))
        limit += rows
    return np.array(out).reshape(1, 1, limit, 7)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(xs, params, blobs, tops):
    x, cont = xs[:2]
    steps, count = x.shape[:2]
    units = params["num_output"]
    exposed = params.get("expose_hidden", False)
    h, c = ((xs[-2].reshape(count, units), xs[-1].reshape(count, units)) if exposed
            else np.zeros((2, count, units)))
    fixed = 0
    if len(blobs) == 4:
        fixed = xs[2].reshape(count, -1) @ blobs[2].T
    out = []
    for t in range(steps):
        mark = cont[t][:, None]
        gates = x[t].reshape(count, -1) @ blobs[0].T + blobs[1] + fixed + (h * mark) @ blobs[-1].T
        i, f, o, g = np.split(gates, 4, 1)
        c = sigmoid(f) * mark * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return [np.stack(out), h[None], c[None]][:tops]


def rnn(xs, params, blobs):
    x, cont = xs[:2]
    h, out = np.zeros((x.shape[1], params["num_output"])), []
    for t in range(x.shape[0]):
        h = np.tanh(x[t].reshape(x.shape[1], -1) @ blobs[0].T + blobs[1]
                    + (h * cont[t][:, None]) @ blobs[2].T)
        out.append(np.tanh(h @ blobs[3].T + blobs[4]))
    return np.stack(out)


def arg_max(x, params):
    count = params.get("top_k", 1)
    if count == 1 and "axis" in params and not params.get("out_max_val"):
        # The last of equal elements.
        size = x.shape[params["axis"]]
        return size - 1 - np.flip(x, params["axis"]).argmax(params["axis"], keepdims=True)
    if "axis" in params:
        places = np.argsort(-x, axis=params["axis"], kind="stable").take(
            range(count), params["axis"])
        return (np.take_along_axis(x, places, params["axis"]) if params.get("out_max_val")
                else places)
    flat = x.reshape(len(x), -1)
    places = np.argsort(-flat, axis=1, kind="stable")[:, :count]
    parts = [places] + ([np.take_along_axis(flat, places, 1)] if params.get("out_max_val")
                        else [])
    return np.stack(parts, 1).reshape(len(x), len(parts), count, *[1] * (x.ndim - 3))


def batch_norm(x, params, blobs):
    eps = params.get("eps", 1e-5)
    if params.get("use_global_stats", True):
        mean, variance = blobs[0] / blobs[2], blobs[1] / blobs[2]
    else:
        axes = (0, *range(2, x.ndim))
        mean, variance = x.mean(axes), x.var(axes)
    return (x - spread(mean, x, 1)) / np.sqrt(spread(variance, x, 1) + eps)


def slices(x, params, tops):
    axis = params.get("axis", params.get("slice_dim", 1))
    points = params.get("slice_point", [])
    return np.split(x, points if points else tops, axis)


def reshape(x, params):
    axis, count = params.get("axis", 0), params.get("num_axes", -1)
    axis = axis + x.ndim + 1 if axis < 0 else axis
    changed = x.shape[axis:] if count < 0 else x.shape[axis:axis + count]
    dims = params["shape"]["dim"]
    dims = dims if isinstance(dims, list) else [dims]
    sizes = [changed[i] if d == 0 else d for i, d in enumerate(dims)]
    return x.reshape(*x.shape[:axis], *sizes, *x.shape[axis + len(changed):]
                     ) if -1 not in sizes else x.reshape(
        *x.shape[:axis],
        *[int(np.prod(changed)) // -int(np.prod(sizes)) if s == -1 else s for s in sizes],
        *x.shape[axis + len(changed):])


def crop(x, like, params):
    axis = params.get("axis", 2) % x.ndim
    offset = params.get("offset", 0)
    offset = offset if isinstance(offset, list) else [offset] * (x.ndim - axis)
    for i in range(axis, x.ndim):
        start = offset[i - axis]
        x = x.take(range(start, start + like.shape[i]), i)
    return x


def reduction(x, params):
    kind, axis = params.get("operation", "SUM"), params.get("axis", 0) % max(x.ndim, 1)
    flat = x.reshape(*x.shape[:axis], -1)
    y = {"SUM": flat.sum(-1), "ASUM": abs(flat).sum(-1), "SUMSQ": (flat ** 2).sum(-1),
         "MEAN": flat.mean(-1)}[kind]
    return y * params.get("coeff", 1.0)


def mvn(x, params):
    axes = tuple(range(1 if params.get("across_channels") else 2, x.ndim))
    y = x - x.mean(axes, keepdims=True)
    if params.get("normalize_variance", True):
        y = y / (np.sqrt((y ** 2).mean(axes, keepdims=True)) + params.get("eps", 1e-9))
    return y


def normalize(x, params, scale):
    axes = tuple(range(1, x.ndim)) if params.get("across_spatial", True) else 1
    length = np.sqrt((x ** 2).sum(axes, keepdims=True) + params.get("eps", 1e-10))
    return x / length * spread(scale, x, 1)


def eltwise(xs, params):
    kind = params.get("operation", "SUM")
    if kind == "PROD":
        return np.prod(xs, axis=0)
    if kind == "MAX":
        return np.max(xs, axis=0)
    return sum(c * x for c, x in zip(params.get("coeff", [1] * len(xs)), xs))


def softmax(x, params):
    axis = params.get("axis", 1)
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def base(params):
    value = params.get("base", -1.0)
    return math.e if value == -1 else value


def inner_product(x, params, weights, bias=0):
    axis = params.get("axis", 1) % x.ndim
    matrix = weights if params.get("transpose") else weights.T
    return (x.reshape(int(np.prod(x.shape[:axis])), -1) @ matrix + bias).reshape(
        *x.shape[:axis], -1)


def scale(xs, params, blobs):
    x, axis = xs[0], params.get("axis", 1)
    factors = xs[1] if len(xs) > 1 else blobs[0]
    y = x * spread(factors, x, axis)
    return y + spread(blobs[-1], x, axis) if params.get("bias_term") else y


def bn(x, params, blobs):
    a, b = (spread(v, x, 1) for v in blobs[:2])
    if len(blobs) == 2:
        return x * a + b
    mean, variance = (spread(v, x, 1) for v in blobs[2:])
    return (x - mean) / np.sqrt(variance + params.get("eps", 1e-5)) * a + b


def compute(kind, xs, params, blobs, tops):
    """The tops of a layer of type `kind`."""
    x = xs[0] if xs else None
    many = {
        "Pooling": lambda: pooling(x, params, tops),
        "Slice": lambda: slices(x, params, tops),
        "Split": lambda: [x] * tops,
        "LSTM": lambda: lstm(xs, params, blobs, tops),
        "Convolution": lambda: [
            volume_convolution(v, params, *blobs) if v.ndim == 5 else
            convolution(v[:, :, None], line_of(params), blobs[0][:, :, None], *blobs[1:])[:, :, 0]
            if v.ndim == 3 else convolution(v, params, *blobs) for v in xs],
        "Silence": lambda: [],
    }
    if kind in many:
        return many[kind]()
    return [{
        "AbsVal": lambda: abs(x),
        "ArgMax": lambda: arg_max(x, params),
        "Axpy": lambda: xs[0].reshape(*xs[1].shape[:2], 1, 1) * xs[1] + xs[2],
        "BN": lambda: bn(x, params, blobs),
        "BNLL": lambda: np.log1p(np.exp(x)),
        "BatchNorm": lambda: batch_norm(x, params, blobs),
        "Bias": lambda: x + spread(xs[1] if len(xs) > 1 else blobs[0], x, params.get("axis", 1)),
        "Clip": lambda: np.clip(x, params["min"], params["max"]),
        "Concat": lambda: np.concatenate(xs, params.get("axis", params.get("concat_dim", 1))),
        "ConvolutionDepthwise": lambda: convolution(x, {**params, "group": x.shape[1]}, *blobs),
        "Crop": lambda: crop(x, xs[1], params),
        "Deconvolution": lambda: deconvolution(x, params, *blobs),
        "DetectionOutput": lambda: detection_output(xs, params),
        "Dropout": lambda: x,
        "ELU": lambda: np.where(x > 0, x, params.get("alpha", 1.0) * np.expm1(np.minimum(x, 0))),
        "Eltwise": lambda: eltwise(xs, params),
        "Embed": lambda: blobs[0][x.astype(int)] + (blobs[1] if len(blobs) > 1 else 0),
        "Exp": lambda: base(params) ** (params.get("shift", 0) + params.get("scale", 1) * x),
        "Flatten": lambda: x.reshape(
            *x.shape[:params.get("axis", 1)], -1,
            *x.shape[params.get("end_axis", -1) % x.ndim + 1:]),
        "InnerProduct": lambda: inner_product(x, params, *blobs),
        "Interp": lambda: interp(xs, params),
        "LRN": lambda: lrn(x, params),
        "Log": lambda: np.log(params.get("shift", 0) + params.get("scale", 1) * x) / math.log(
            base(params)),
        "MVN": lambda: mvn(x, params),
        "Normalize": lambda: normalize(x, params, blobs[0]),
        "PReLU": lambda: np.where(x > 0, x, x * (
            blobs[0] if blobs[0].size == 1 else spread(blobs[0], x, 1))),
        "Parameter": lambda: blobs[0],
        "Permute": lambda: x.transpose(params["order"]),
        "Power": lambda: (params.get("shift", 0) + params.get("scale", 1) * x) ** params.get(
            "power", 1),
        "PriorBox": lambda: prior_box(xs, params),
        "RNN": lambda: rnn(xs, params, blobs),
        "ROIPooling": lambda: roi_pooling(x, xs[1], params),
        "ReLU": lambda: np.where(x > 0, x, x * params.get("negative_slope", 0)),
        "ReLU6": lambda: np.clip(x, 0, 6),
        "Reduction": lambda: reduction(x, params),
        "Reshape": lambda: reshape(x, params),
        "SPP": lambda: spp(x, params),
        "Scale": lambda: scale(xs, params, blobs),
        "Reorg": lambda: reorg(x, params["stride"], params.get("reverse", False)),
        "ShuffleChannel": lambda: x.reshape(
            x.shape[0], params["group"], -1, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape),
        "Sigmoid": lambda: sigmoid(x),
        "Softmax": lambda: softmax(x, params),
        "Swish": lambda: x * sigmoid(params.get("beta", 1) * x),
        "TanH": lambda: np.tanh(x),
        "Threshold": lambda: (x > params.get("threshold", 0)).astype(float),
        "Tile": lambda: np.concatenate([x] * params["tiles"], params.get("axis", 1)),
        "Upsample": lambda: upsample(xs, params),
    }[kind]()]
