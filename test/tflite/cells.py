"""Recurrent layers of floats with all of their variants. Each function adds one to a Streamed
net, with random operands, and computes the expected results of several consecutive runs by
TFLite's definition."""

import numpy as np

from fixed import f32
from recurrent import STEPS, sequences


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


class Cells:
    """LSTM cells with random weights, and their results on sequences."""

    def __init__(self, net, batch, inputs, units, output=None, *, coupled=False, peepholes=False,
                 norm=False, projection=False, projection_bias=False, clip=0.0, out_clip=0.0):
        self.net, self.batch, self.units = net, batch, units
        self.output = output or units
        self.coupled, self.norm, self.clip, self.out_clip = coupled, norm, clip, out_clip
        gates = range(1 if coupled else 0, 4)
        self.w = {g: net.floats(units, inputs) for g in gates}
        self.r = {g: net.floats(units, self.output) for g in gates}
        self.b = {g: net.floats(units) for g in gates}
        self.n = {g: net.floats(units) + 1 for g in gates} if norm else {}
        self.p = {g: net.floats(units) for g in gates if g != 2} if peepholes else {}
        self.v = net.floats(self.output, units) if projection else None
        self.vb = net.floats(self.output) if projection_bias else None

    def run(self, runs, time_major, reverse=False):
        """Results of all runs."""
        h, c, results = np.zeros((self.batch, self.output)), np.zeros((self.batch, self.units)), []
        for run in runs.astype(np.float64):
            vectors, put = sequences(run, time_major)
            given = []
            for x in vectors[::-1] if reverse else vectors:
                h, c = self.step(x, h, c)
                given.append(h)
            results.append(put(given[::-1] if reverse else given))
        return np.array(results, f32)

    def step(self, x, h, c):
        def total(g):
            y = x @ self.w[g].T + h @ self.r[g].T + (self.p[g] * c if g in self.p else 0)
            if self.norm:
                spread = np.sqrt(y.var(1, keepdims=True) + 1e-8)
                y = (y - y.mean(1, keepdims=True)) / spread * self.n[g]
            return y + self.b[g]
        f = sigmoid(total(1))
        i = 1 - f if self.coupled else sigmoid(total(0))
        c = f * c + i * np.tanh(total(2))
        c = c.clip(-self.clip, self.clip) if self.clip else c
        h = sigmoid(total(3)) * np.tanh(c)
        if self.v is not None:
            h = h @ self.v.T + (0 if self.vb is None else self.vb)
            h = h.clip(-self.out_clip, self.out_clip) if self.out_clip else h
        return h, c

    def operands(self):
        """The 17 operands of weights."""
        const = lambda values: -1 if values is None else self.net.const(values)  # noqa: E731
        gates = lambda of: [const(of.get(g)) for g in range(4)]  # noqa: E731
        peepholes = [const(self.p.get(g)) for g in (0, 1, 3)]
        return [*gates(self.w), *gates(self.r), *peepholes, *gates(self.b), const(self.v),
                const(self.vb)]

    def states(self):
        return [self.net.variable(f32, (self.batch, self.output)),
                self.net.variable(f32, (self.batch, self.units))]

    def norms(self):
        return [self.net.const(self.n[g]) if g in self.n else -1 for g in range(4)]


def sequence(net, batch, steps, inputs, time_major):
    return net.floats(STEPS, *((steps, batch) if time_major else (batch, steps)), inputs, size=2.0)


def lstm(net, batch, steps, inputs, units, output=None, *, time_major=False, **variants):
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""
    x = sequence(net, batch, steps, inputs, time_major)
    cells = Cells(net, batch, inputs, units, output, **variants)
    y = cells.run(x, time_major)
    out = net.tensor(f32, y.shape[1:])
    net.op("UNIDIRECTIONAL_SEQUENCE_LSTM",
           [net.stream(x), *cells.operands(), *cells.states(), *cells.norms()], [out],
           activation="TANH", cell_clip=cells.clip, proj_clip=cells.out_clip,
           time_major=time_major)
    net.expect(out, y, 1e-5)


def step_lstm(net, batch, inputs, units, output=None, **variants):
    """LSTM: one vector of each sequence in a run."""
    x = net.floats(STEPS, batch, inputs, size=2.0)
    cells = Cells(net, batch, inputs, units, output, **variants)
    y = cells.run(x[:, :, None], False)[:, :, 0]
    out = net.tensor(f32, y.shape[1:])
    net.op("LSTM", [net.stream(x), *cells.operands(), *cells.states(), *cells.norms()], [out],
           activation="TANH", cell_clip=cells.clip, proj_clip=cells.out_clip, kernel=0)
    net.expect(out, y, 1e-5)


def plain_lstm(net, batch, inputs, units):
    """The LSTM with five operands, which returns its states to the caller."""
    cells = Cells(net, batch, inputs, units)
    x, h, c = (net.floats(STEPS, batch, size) for size in (inputs, units, units))
    pairs = [cells.step(*(v[run].astype(np.float64) for v in (x, h, c))) for run in range(STEPS)]
    order = (0, 2, 1, 3)
    w = np.concatenate([np.concatenate([cells.w[g], cells.r[g]], 1) for g in order])
    b = np.concatenate([cells.b[g] for g in order])
    outs = [net.tensor(f32, (batch, size)) for size in (units, units, inputs + units, 4 * units)]
    net.op("LSTM", [net.stream(x), net.stream(h), net.const(w), net.const(b), net.stream(c)],
           outs, activation="TANH", kernel=1)
    for i in range(2):
        net.expect(outs[i], np.array([pair[i] for pair in pairs], f32), 1e-5)


def two_way_lstm(net, batch, steps, inputs, units, *, time_major, merges, **variants):
    """BIDIRECTIONAL_SEQUENCE_LSTM."""
    x = sequence(net, batch, steps, inputs, time_major)
    ways = [Cells(net, batch, inputs, units, **variants) for _ in range(2)]
    finish(net, "BIDIRECTIONAL_SEQUENCE_LSTM",
           [cells.run(x, time_major, reverse) for reverse, cells in enumerate(ways)],
           [net.stream(x), *ways[0].operands(), *ways[1].operands(), *ways[0].states(),
            *ways[1].states()] + [-1] * 9, merges,
           activation="TANH", cell_clip=ways[0].clip, proj_clip=0.0, time_major=time_major)


def finish(net, name, ways, operands, merges, **options):
    """Adds a layer of both directions. Its results are concatenated, or stay two results."""
    if merges:
        ways = [np.concatenate(ways, 3)]
    outs = [net.tensor(f32, y.shape[1:]) for y in ways]
    net.op(name, operands, outs, merges=merges, **options)
    for out, y in zip(outs, ways):
        net.expect(out, y, 1e-5)


class Rnn:
    def __init__(self, net, batch, inputs, units, activation="TANH"):
        self.net, self.batch, self.activation = net, batch, activation
        self.w, self.r = net.floats(units, inputs), net.floats(units, units, size=0.5)
        self.b = net.floats(units)

    def run(self, runs, time_major, reverse=False):
        apply = {"TANH": np.tanh, "RELU": lambda v: np.maximum(v, 0)}[self.activation]
        h, results = np.zeros((self.batch, len(self.b))), []
        for run in runs.astype(np.float64):
            vectors, put = sequences(run, time_major)
            given = []
            for x in vectors[::-1] if reverse else vectors:
                h = apply(x @ self.w.T + h @ self.r.T + self.b)
                given.append(h)
            results.append(put(given[::-1] if reverse else given))
        return np.array(results, f32)

    def operands(self):
        return [*map(self.net.const, (self.w, self.r, self.b)),
                self.net.variable(f32, (self.batch, len(self.b)))]


def rnn(net, batch, steps, inputs, units, *, time_major=False, activation="TANH"):
    """UNIDIRECTIONAL_SEQUENCE_RNN."""
    x = sequence(net, batch, steps, inputs, time_major)
    cells = Rnn(net, batch, inputs, units, activation)
    y = cells.run(x, time_major)
    out = net.tensor(f32, y.shape[1:])
    net.op("UNIDIRECTIONAL_SEQUENCE_RNN", [net.stream(x), *cells.operands()], [out],
           activation=activation, time_major=time_major)
    net.expect(out, y, 1e-5)


def step_rnn(net, batch, inputs, units):
    """RNN: one vector of each sequence in a run."""
    x = net.floats(STEPS, batch, inputs, size=2.0)
    cells = Rnn(net, batch, inputs, units)
    y = cells.run(x[:, :, None], False)[:, :, 0]
    out = net.tensor(f32, y.shape[1:])
    net.op("RNN", [net.stream(x), *cells.operands()], [out], activation="TANH")
    net.expect(out, y, 1e-5)


def two_way_rnn(net, batch, steps, inputs, units, *, time_major, merges):
    """BIDIRECTIONAL_SEQUENCE_RNN."""
    x = sequence(net, batch, steps, inputs, time_major)
    ways = [Rnn(net, batch, inputs, units) for _ in range(2)]
    finish(net, "BIDIRECTIONAL_SEQUENCE_RNN",
           [cells.run(x, time_major, reverse) for reverse, cells in enumerate(ways)],
           [net.stream(x), *ways[0].operands(), *ways[1].operands()] + [-1] * 3, merges,
           activation="TANH", time_major=time_major)
