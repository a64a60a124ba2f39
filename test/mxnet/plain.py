"""MXNet's operators in numpy, from their published definitions."""

import itertools
import math

import numpy as np


def windows(x, kernel, stride, pad, dilate, sizes, fill):
    """Windows over the last axes: (sizes, leading axes of x, kernel)."""
    spatial = len(kernel)
    sides = [(0, 0)] * (x.ndim - spatial)
    for axis in range(spatial):
        reach = (sizes[axis] - 1) * stride[axis] + (kernel[axis] - 1) * dilate[axis] + 1
        behind = max(reach - x.shape[x.ndim - spatial + axis] - pad[axis], 0)
        sides.append((pad[axis], behind))
    padded = np.pad(x, sides, constant_values=fill)
    for place in itertools.product(*map(range, sizes)):
        at = tuple(slice(p * s, p * s + (k - 1) * d + 1, d)
                   for p, s, k, d in zip(place, stride, kernel, dilate))
        yield place, padded[(Ellipsis, *at)]


def conv(x, w, b=None, stride=None, pad=None, dilate=None, groups=1):
    spatial = x.ndim - 2
    stride, pad, dilate = (v or (d,) * spatial
                           for v, d in ((stride, 1), (pad, 0), (dilate, 1)))
    kernel = w.shape[2:]
    sizes = [(n + 2 * p - (k - 1) * d - 1) // s + 1
             for n, p, k, d, s in zip(x.shape[2:], pad, kernel, dilate, stride)]
    y = np.zeros((x.shape[0], w.shape[0], *sizes))
    part, made = x.shape[1] // groups, w.shape[0] // groups
    for place, window in windows(x.astype(np.float64), kernel, stride, pad, dilate, sizes, 0):
        for g in range(groups):
            some = window[:, g * part:(g + 1) * part].reshape(x.shape[0], -1)
            filters = w[g * made:(g + 1) * made].reshape(made, -1)
            y[(slice(None), slice(g * made, (g + 1) * made), *place)] = some @ filters.T
    return y if b is None else y + b.reshape(1, -1, *[1] * spatial)


def deconv(x, w, b=None, stride=None, pad=None, dilate=None, adj=None, groups=1):
    spatial = x.ndim - 2
    stride, pad, dilate, adj = (v or (d,) * spatial for v, d in
                                ((stride, 1), (pad, 0), (dilate, 1), (adj, 0)))
    kernel = w.shape[2:]
    whole = [(n - 1) * s + (k - 1) * d + 1 + a for n, s, k, d, a in
             zip(x.shape[2:], stride, kernel, dilate, adj)]
    y = np.zeros((x.shape[0], w.shape[1] * groups, *whole))
    part, made = x.shape[1] // groups, w.shape[1]
    for place in np.ndindex(*x.shape[2:]):
        for tap in np.ndindex(*kernel):
            at = tuple(p * s + t * d for p, s, t, d in zip(place, stride, tap, dilate))
            for g in range(groups):
                some = x[(slice(None), slice(g * part, (g + 1) * part), *place)]
                filters = w[(slice(g * part, (g + 1) * part), slice(None), *tap)]
                y[(slice(None), slice(g * made, (g + 1) * made), *at)] += some @ filters
    cut = tuple(slice(p, n - p) for p, n in zip(pad, whole))
    y = y[(slice(None), slice(None), *cut)]
    return y if b is None else y + b.reshape(1, -1, *[1] * spatial)


def pool(x, kernel, kind="max", stride=None, pad=None, convention="valid", include=True, p=2):
    spatial = len(kernel)
    stride, pad = stride or (1,) * spatial, pad or (0,) * spatial
    round_up = {"valid": lambda n, k, q, s: (n + 2 * q - k) // s + 1,
                "full": lambda n, k, q, s: math.ceil((n + 2 * q - k) / s) + 1,
                "same": lambda n, k, q, s: math.ceil((n + 2 * q) / s)}[convention]
    sizes = [round_up(*v) for v in zip(x.shape[2:], kernel, pad, stride)]
    y = np.zeros((*x.shape[:2], *sizes))
    for place in np.ndindex(*sizes):
        begins = [o * s - q for o, s, q in zip(place, stride, pad)]
        ends = [min(b + k, n + q) for b, k, n, q in zip(begins, kernel, x.shape[2:], pad)]
        count = np.prod([e - b for b, e in zip(begins, ends)])
        inner = tuple(slice(max(b, 0), min(e, n))
                      for b, e, n in zip(begins, ends, x.shape[2:]))
        some = x[(Ellipsis, *inner)].reshape(*x.shape[:2], -1).astype(np.float64)
        if not include:
            count = some.shape[2]
        y[(Ellipsis, *place)] = {
            "max": lambda: some.max(2), "sum": lambda: some.sum(2),
            "avg": lambda: some.sum(2) / count,
            "lp": lambda: (np.abs(some)**p).sum(2)**(1 / p)}[kind]()
    return y


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def batch_norm(x, gamma, beta, mean, var, eps=1e-3, axis=1):
    shape = [1] * x.ndim
    shape[axis] = -1
    gamma, beta, mean, var = (v.reshape(shape).astype(np.float64)
                              for v in (gamma, beta, mean, var))
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def standardize(x, axes, eps):
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)


def lrn(x, n, alpha=1e-4, beta=0.75, knorm=2.0):
    sums = np.zeros_like(x)
    for c in range(x.shape[1]):
        sums[:, c] = (x[:, max(c - n // 2, 0):c + n // 2 + 1]**2).sum(1)
    return x / (knorm + alpha / n * sums)**beta


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn(x, params, mode, units, layers, bidirectional=False, h=None, c=None, lengths=None):
    """(outputs, last outputs, last states) of the fused operator RNN, step by step."""
    gates = {"lstm": 4, "gru": 3}.get(mode, 1)
    steps, batch, width = x.shape
    directions = 2 if bidirectional else 1
    place = 0

    def take(*shape):
        nonlocal place
        count = int(np.prod(shape))
        place += count
        return params[place - count:place].reshape(shape).astype(np.float64)

    weights, biases, wide = [], [], width
    for _ in range(layers):
        for _ in range(directions):
            weights.append((take(gates * units, wide), take(gates * units, units)))
        wide = units * directions
    for _ in range(layers * directions):
        biases.append((take(gates * units), take(gates * units)))
    outs, last_h, last_c = x.astype(np.float64), [], []
    for layer in range(layers):
        sides = []
        for direction in range(directions):
            row = layer * directions + direction
            (w, r), (bw, br) = weights[row], biases[row]
            y = np.zeros((steps, batch, units))
            state_h, state_c = np.zeros((batch, units)), np.zeros((batch, units))
            for b in range(batch):
                hb = np.zeros(units) if h is None else h[row, b].astype(np.float64)
                cb = np.zeros(units) if c is None else c[row, b].astype(np.float64)
                length = steps if lengths is None else int(lengths[b])
                order = range(length) if direction == 0 else reversed(range(length))
                for t in order:
                    i, o = outs[t, b] @ w.T + bw, hb @ r.T + br
                    if mode == "lstm":
                        gi, gf, gc, go = np.split(i + o, 4)
                        cb = sigmoid(gf) * cb + sigmoid(gi) * np.tanh(gc)
                        hb = sigmoid(go) * np.tanh(cb)
                    elif mode == "gru":
                        ir, iz, inew = np.split(i, 3)
                        hr, hz, hnew = np.split(o, 3)
                        z = sigmoid(iz + hz)
                        hb = (1 - z) * np.tanh(inew + sigmoid(ir + hr) * hnew) + z * hb
                    else:
                        hb = (np.tanh if mode == "rnn_tanh" else
                              lambda v: np.maximum(v, 0))(i + o)
                    y[t, b] = hb
                state_h[b], state_c[b] = hb, cb
            sides.append(y)
            last_h.append(state_h)
            last_c.append(state_c)
        outs = np.concatenate(sides, 2)
    return outs, np.stack(last_h), np.stack(last_c)
