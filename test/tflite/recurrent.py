"""Operators that keep values between runs. Each function adds one to a Streamed net, with
random operands, and computes the expected results of several consecutive runs by TFLite's
definition."""

import math

import numpy as np

import fixed
from fixed import f32
from integers import Checked

STEPS = 4


class Streamed(Checked):
    """A net that runs STEPS times. The first axis of inputs and expected outputs is the number
    of the run."""

    steps = STEPS

    def stream(self, values, scale=None, zero=0):
        """An input with a value for each run."""
        number = self.tensor(values.dtype, values.shape[1:], scale, zero)
        self.inputs.append(number)
        self.feeds[number] = values
        return number

    def variable(self, dtype, shape, scale=None, zero=0):
        return self.tensor(dtype, shape, scale, zero, is_variable=True)

    def floats(self, *shape, size=1.0):
        return self.random.uniform(-size, size, shape).astype(f32)

    def handle(self, name, net_tensors=None):
        """The handle of a resource variable."""
        tensors = self.tensors if net_tensors is None else net_tensors
        tensors.append({"shape": [], "type": "RESOURCE", "buffer": 0, "name": f"handle{name}"})
        return len(tensors) - 1


# -- SVDF -------------------------------------------------------------------------------


def svdf_float(net, batch, inputs, units, rank, memory, activation="NONE", bias=True):
    filters = units * rank
    x = net.floats(STEPS, batch, inputs)
    feature, time = net.floats(filters, inputs), net.floats(filters, memory)
    b = net.floats(units)
    state, results = np.zeros((batch, filters, memory)), []
    for step in x.astype(np.float64):
        state = np.concatenate([state[:, :, 1:], (step @ feature.T)[:, :, None]], axis=2)
        y = (state * time).sum(axis=2).reshape(batch, units, rank).sum(axis=2)
        y = y + (b if bias else 0)
        results.append(np.maximum(y, 0) if activation == "RELU" else y)
    out = net.tensor(f32, (batch, units))
    net.op("SVDF", [net.stream(x), net.const(feature), net.const(time),
                    net.const(b) if bias else -1,
                    net.variable(f32, (batch, filters * memory))], [out],
           rank=rank, activation=activation)
    net.expect(out, np.array(results, f32), 1e-5)


def svdf(net, batch, inputs, units, rank, memory, state_type, state_zero=0, bias=True):
    filters = units * rank
    x = net.integers(np.int8, STEPS, batch, inputs)
    feature = net.integers(np.int8, filters, inputs)
    time = net.integers(state_type, filters, memory)
    b = net.random.integers(-3000, 3000, units).astype(np.int32)
    scales = net.scale(), net.scale()
    sums = (x.astype(np.int64) + 11) @ feature.T.astype(np.int64)
    info = np.iinfo(state_type)
    state_scale = float(f32(np.abs(sums).max() * scales[0] * scales[1] / info.max / 0.8))
    time_scale = float(f32(0.01 * 127 / info.max))
    first = float(f32(f32(scales[0]) * f32(scales[1])) / f32(state_scale))
    out_scale = float(f32(state_scale * time_scale * info.max * info.max * rank / 200))
    second = float(f32(f32(state_scale) * f32(time_scale)) / f32(out_scale))

    def compute(rounding):
        state = np.full((batch, filters, memory), state_zero, np.int64)
        results = []
        for step in sums:
            new = fixed.scale_by(step, first, rounding).clip(info.min, info.max) + state_zero
            # The zero point is added without a limit, and wraps around.
            new = new.astype(state_type).astype(np.int64)
            state = np.concatenate([state[:, :, 1:], new[:, :, None]], axis=2)
            y = ((state - state_zero) * time.astype(np.int64)).sum(axis=2)
            y = y.reshape(batch, units, rank).sum(axis=2) + (b if bias else 0)
            results.append(fixed.stored(fixed.scale_by(y, second, rounding), np.int8, out_scale,
                                        -4))
        return np.array(results)

    wants = {rounding: compute(rounding) for rounding in (fixed.DOUBLE, fixed.SINGLE)}
    out = net.tensor(np.int8, (batch, units), out_scale, -4)
    net.op("SVDF", [net.stream(x, scales[0], -11), net.const(feature, scales[1]),
                    net.const(time, time_scale),
                    net.const(b, state_scale * time_scale) if bias else -1,
                    net.variable(state_type, (batch, filters * memory), state_scale, state_zero)],
           [out], rank=rank, activation="RELU")  # which kernels of integers ask for and skip
    net.expect(out, wants, 0)


# -- LSTM -------------------------------------------------------------------------------


def sequences(x, time_major):
    """The vectors of all sequences for each step, and a function that restores the order of the
    results."""
    order = (0, 1, 2) if time_major else (1, 0, 2)
    return x.transpose(order), lambda steps: np.array(steps).transpose(order)


def lstm_float(net, batch, steps, inputs, units, time_major=False, clip=0.0):
    shape = (steps, batch, inputs) if time_major else (batch, steps, inputs)
    x = net.floats(STEPS, *shape, size=2.0)
    w, r = net.floats(4, units, inputs), net.floats(4, units, units)
    b = net.floats(4, units)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    h, c, results = np.zeros((batch, units)), np.zeros((batch, units)), []
    for run in x.astype(np.float64):
        vectors, put = sequences(run, time_major)
        given = []
        for v in vectors:
            i, f, g, o = (v @ w[gate].T + h @ r[gate].T + b[gate] for gate in range(4))
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            c = c.clip(-clip, clip) if clip else c
            h = sigmoid(o) * np.tanh(c)
            given.append(h)
        results.append(put(given))
    out = net.tensor(f32, results[0].shape)
    inputs = [net.stream(x), *map(net.const, (*w, *r)), -1, -1, -1, *map(net.const, b), -1, -1,
              net.variable(f32, (batch, units)), net.variable(f32, (batch, units))]
    net.op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs + [-1] * 4, [out], activation="TANH",
           cell_clip=clip, time_major=time_major)
    net.expect(out, np.array(results, f32), 1e-5)


def sigmoid_table():
    """TFLite's table of sigmoid(k / 24) in units of 2^-16. It is optimized for linear
    interpolation, so that 44 entries are one unit above the nearest number."""
    above = (4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37,
             39, 40, 41, 43, 44, 45, 46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112,
             116, 135, 255)
    return [min(65535, round(65536 / (1 + math.exp(-k / 24)))) + (k in above)
            for k in range(256)]


def gate16(x, table, is_tanh):
    """2^15 times the logistic function or tanh of x / 12288, by linear interpolation in a table."""
    bits = 8 if is_tanh else 9
    at, rest = abs(x) >> bits, abs(x) & ((1 << bits) - 1)
    if is_tanh:
        y = 0xFFFF << 8 if at >= 255 else (table[at] << 8) + rest * (table[at + 1] - table[at])
        return (y - (1 << 23) + (1 << 7) if x >= 0 else -y + (1 << 23) + (1 << 7) - 1) >> 8
    y = 0x7FFF << 10 if at >= 255 else (table[at] << 9) + rest * (table[at + 1] - table[at])
    return (y + (1 << 9) if x >= 0 else (1 << 25) - y + (1 << 9) - 1) >> 10


def lstm(net, batch, steps, inputs, units, time_major=False, cell_bits=11, clip=0.0, zero=3,
         h_zero=-5, dtype=np.int8):
    """UNIDIRECTIONAL_SEQUENCE_LSTM with inputs and results of 8 bits, or of 16 bits with 64-bit
    sums."""
    table, wide = sigmoid_table(), dtype == np.int16
    shape = (steps, batch, inputs) if time_major else (batch, steps, inputs)
    x = net.integers(dtype, STEPS, *shape)
    w, r = net.integers(np.int8, 4, units, inputs), net.integers(np.int8, 4, units, units)
    b = net.random.integers(-2000, 2000, (4, units)).astype(np.int32)
    x_scale, h_scale = net.scale(0.005, 0.02), float(f32(1 / 128))
    if wide:
        zero, h_zero, b = 0, 0, b.astype(np.int64) * 300
        x_scale, h_scale = float(f32(x_scale / 256)), 2.0 ** -15
    scale_sum = lambda v, factor, rounding: (  # noqa: E731
        fixed.short_times(v, factor) if wide else fixed.times(v, factor, rounding))
    info = np.iinfo(dtype)
    w_scales, r_scales = ([net.scale(0.002, 0.01) for _ in range(4)] for _ in range(2))
    cell_scale = 2.0 ** -cell_bits
    limit = min(int(clip / cell_scale), 32767) if clip else 0
    saturate = lambda v: max(-32768, min(32767, v))  # noqa: E731
    gate_factors = [[fixed.factor_of(float(f32(a) * f32(s)) * 4096) for a, s in
                     ((x_scale, w_scales[g]), (h_scale, r_scales[g]))] for g in range(4)]
    cell_factors = [fixed.factor_of(v) for v in
                    (2.0 ** -15, 2.0 ** -30 / cell_scale, 2.0 ** -30 / h_scale)]
    shift = 12 - cell_bits

    def gate(total, is_tanh, rounding):
        if rounding == fixed.LITERT:
            return (fixed.tanh if is_tanh else fixed.logistic)(total, 3, 16)
        return gate16(3 * total, table, is_tanh)

    def add_up(forgotten, new, rounding):
        if rounding == fixed.LITERT:
            return fixed.shift_right(forgotten, 15) + fixed.shift_right(new, 30 - cell_bits)
        return (saturate(fixed.times(forgotten, cell_factors[0], rounding)) +
                saturate(fixed.times(new, cell_factors[1], rounding)))

    def bend(c, rounding):
        """tanh of a cell."""
        if rounding == fixed.LITERT:
            return fixed.tanh(c, 15 - cell_bits, 16)
        return gate16(3 * c << shift if shift >= 0 else (3 * c + (1 << -shift >> 1)) >> -shift,
                      table, True)

    def compute(rounding):
        h = np.full((batch, units), h_zero, np.int64)
        c = np.zeros((batch, units), np.int64)
        results = []
        for run in x.astype(np.int64):
            vectors, put = sequences(run, time_major)
            given = []
            for v in vectors:
                new = np.zeros_like(h)
                for n, u in np.ndindex(batch, units):
                    gates = []
                    for g in range(4):
                        ofx = int(((v[n] - zero) * w[g, u].astype(np.int64)).sum() + b[g, u])
                        ofh = int(((h[n] - h_zero) * r[g, u].astype(np.int64)).sum())
                        first = saturate(scale_sum(ofx, gate_factors[g][0], rounding))
                        second = scale_sum(ofh, gate_factors[g][1], rounding)
                        if rounding != fixed.LITERT:
                            second = saturate(second)
                        gates.append(gate(saturate(first + second), g == 2, rounding))
                    i, f, cell, o = gates
                    kept = saturate(add_up(f * int(c[n, u]), i * cell, rounding))
                    c[n, u] = max(-limit, min(limit, kept)) if limit else kept
                    y = fixed.times(bend(int(c[n, u]), rounding) * o, cell_factors[2], rounding)
                    new[n, u] = max(info.min, min(info.max, y + h_zero))
                h = new
                given.append(h)
            results.append(put(given))
        return np.array(results, dtype)

    # LiteRT has none of 16 bits.
    wants = {rounding: compute(rounding) for rounding in
             (fixed.ALL[:2] if wide else fixed.ALL)}
    out = net.tensor(dtype, wants[fixed.DOUBLE].shape[1:], h_scale, h_zero)
    operands = [net.stream(x, x_scale, zero)]
    operands += [net.const(w[g], w_scales[g]) for g in range(4)]
    operands += [net.const(r[g], r_scales[g]) for g in range(4)] + [-1] * 3
    operands += [net.const(b[g], x_scale * w_scales[g]) for g in range(4)] + [-1] * 2
    operands += [net.variable(dtype, (batch, units), h_scale, h_zero),
                 net.variable(np.int16, (batch, units), cell_scale)] + [-1] * 4
    net.op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [out], activation="TANH", cell_clip=clip,
           time_major=time_major)
    # Only the last is read: it is what cells give before a projection.
    net.operators[-1]["intermediates"] = [
        *(net.tensor(np.int16, (), 2.0 ** -12) for _ in range(4)),
        net.tensor(dtype, (), h_scale, h_zero)]
    net.expect(out, wants, 0)


# -- resource variables -----------------------------------------------------------------


def counter(net, first=None):
    """v = v * 2 + x and y = v. A subgraph assigns the first value once."""
    x = net.floats(STEPS, 2, 3)
    name = f"v{len(net.operators)}"
    handle, old, doubled, new, y = (net.handle(name), *(net.tensor(f32, (2, 3)) for _ in range(4)))
    value = np.zeros((2, 3))
    if first is not None:
        value = first.astype(np.float64)
        tensors = []
        inner_handle = net.handle(name, tensors)
        net.buffers.append({"data": list(first.tobytes())})
        tensors.append({"shape": [2, 3], "type": "FLOAT32", "buffer": len(net.buffers) - 1,
                        "name": "first"})
        net.subgraphs.append({
            "tensors": tensors, "inputs": [], "outputs": [], "name": "prepare", "operators": [
                {"opcode": net.code("VAR_HANDLE"), "inputs": [], "outputs": [inner_handle],
                 "options_type": "VarHandle", "options": {"container": "", "shared_name": name}},
                {"opcode": net.code("ASSIGN_VARIABLE"), "inputs": [inner_handle, 1],
                 "outputs": []}]})
        net.op("CALL_ONCE", [], [], init_subgraph=len(net.subgraphs))
    results = []
    for step in x.astype(np.float64):
        value = value * 2 + step
        results.append(value)
    net.op("VAR_HANDLE", [], [handle], container="", shared_name=name)
    net.op("READ_VARIABLE", [handle], [old])
    net.op("ADD", [old, old], [doubled], activation="NONE")
    net.op("ADD", [doubled, net.stream(x)], [new], activation="NONE")
    net.op("ASSIGN_VARIABLE", [handle, new], [])
    net.op("READ_VARIABLE", [handle], [y])
    net.expect(y, np.array(results, f32), 1e-5)


def delays(net):
    """Two variables that pass on a value: y is the input two runs before."""
    x = net.floats(STEPS, 5)
    one, two = net.handle("one"), net.handle("two")
    was, y, minus = (net.tensor(f32, (5,)) for _ in range(3))
    net.op("VAR_HANDLE", [], [one], container="", shared_name="one")
    net.op("VAR_HANDLE", [], [two], container="", shared_name="two")
    net.op("READ_VARIABLE", [one], [was])
    net.op("READ_VARIABLE", [two], [y])
    net.op("ASSIGN_VARIABLE", [two, was], [])
    net.op("ASSIGN_VARIABLE", [one, net.stream(x)], [])
    net.op("NEG", [y], [minus])
    net.expect(minus, -np.concatenate([np.zeros((2, 5), f32), x[:-2]]), 0)
