"""TFLite Micro's signal operators. Each function adds one to a Streamed net, with random
operands, and computes the expected results of several consecutive runs by TFLite's definition.
Python's integers have any size; wrap() reduces them to the size that TFLite Micro has."""

import math
import struct

import numpy as np

from recurrent import STEPS, Streamed  # noqa: F401

i16, i32, u32, u64, f32 = np.int16, np.int32, np.uint32, np.uint64, np.float32


def flexbuffer(values):
    """A map of integers, floats and bools in the form of flexbuffers, of 4 bytes each."""
    data, places = b"", []
    for name in sorted(values):
        places.append(len(data))
        data += name.encode() + b"\0"
    data += bytes(-len(data) % 4) + struct.pack("<I", len(places))
    keys = len(data)
    for place in places:
        data += struct.pack("<I", len(data) - place)
    data += struct.pack("<III", len(data) - keys, 4, len(places))
    start, types = len(data), b""
    for name in sorted(values):
        value = values[name]
        kind = 26 if isinstance(value, bool) else 3 if isinstance(value, float) else 1
        data += struct.pack("<f" if kind == 3 else "<i", value)
        types += bytes([kind << 2 | 2])
    data += types
    data += bytes(-len(data) % 4)
    return data + struct.pack("<I", len(data) - start) + bytes([9 << 2 | 2, 4])


def wrap(x, bits, signed=True):
    x &= (1 << bits) - 1
    return x - (1 << bits) if signed and x >> (bits - 1) else x


def clamp16(x):
    return max(-32768, min(32767, x))


def wide(net, dtype, *shape):
    """Random integers of every magnitude."""
    info = np.iinfo(dtype)
    values = net.random.integers(info.min, info.max, shape, dtype, endpoint=True)
    shifts = net.random.integers(0, info.bits, shape)
    return (values >> shifts.astype(dtype)).astype(dtype)


def add(net, name, inputs, results, **options):
    """Adds the operator. `results` are pairs of an array, whose first axis is the number of the
    run, and an allowed error."""
    outputs = [net.tensor(array.dtype, array.shape[1:]) for array, _ in results]
    net.custom(name, inputs, outputs, flexbuffer(options) if options else b"")
    for output, (array, error) in zip(outputs, results):
        net.expect(output, array, error)


def rowwise(function, x):
    """The function applied to each row along the last axis, for each run."""
    rows = [np.asarray(function(row.tolist())) for row in x.reshape(-1, x.shape[-1])]
    return np.stack(rows).reshape(*x.shape[:-1], -1)


# -- streams of samples -----------------------------------------------------------------


def framer(net, size, step, prefill, frames=1, outer=()):
    x = wide(net, i16, STEPS, *outer, step * frames)
    # Samples wait until there are `size`; then the oldest go, and `step` are dropped.
    waiting = {row: [0] * (size - step) if prefill else [] for row in np.ndindex(*outer)}
    whole = np.zeros((STEPS, *outer, frames, size), i16)
    valid = np.ones(STEPS, bool)
    for run in range(STEPS):
        for row in np.ndindex(*outer):
            queue, reach = waiting[row], (size if prefill else -(-size // step) * step)
            for frame in range(frames):
                queue += x[(run, *row)][frame * step:(frame + 1) * step].tolist()
                if len(queue) >= size:
                    whole[(run, *row, frame)] = queue[:size]
                    del queue[:step]
                else:  # nnc gives zeros for the samples that are to come first.
                    valid[run] = False
                    whole[(run, *row, frame)] = ([0] * (reach - len(queue)) + queue)[:size]
    add(net, "SignalFramer", [net.stream(x)], [(whole, 0), (valid, 0)], frame_size=size,
        frame_step=step, prefill=prefill)


def delay(net, shape, by):
    x = wide(net, i16, STEPS, *shape)
    late = np.concatenate([np.zeros((*shape[:-1], by), i16), *x], axis=-1)
    results = np.stack([late[..., i * shape[-1]:(i + 1) * shape[-1]] for i in range(STEPS)])
    add(net, "SignalDelay", [net.stream(x)], [(results, 0)], delay_length=by)


def circular_buffer(net, slots, depth, **options):
    """CIRCULAR_BUFFER: the newest frames, in the order of time."""
    x = net.integers(np.int8, STEPS, 1, 1, 2, depth)
    queue, results = np.zeros((1, slots, 2, depth), np.int8), []
    for frame in x:
        queue = np.concatenate([queue[:, 1:], frame], 1)
        results.append(queue)
    add(net, "CIRCULAR_BUFFER", [net.stream(x)], [(np.array(results), 0)], **options)


def stacker(net, channels, past, future, step):
    x = wide(net, i16, STEPS, channels)
    count = past + 1 + future
    history, waiting, valid, results = [], 0, [], []
    for frame in x:
        new = past + 1 if not history else 1
        history += [frame] * (past + 1 + future if not history else 1)
        waiting += new
        valid.append(waiting >= count)
        results.append(np.concatenate(history[-count:]))
        waiting -= step if valid[-1] else 0
    add(net, "SignalStacker", [net.stream(x)], [(np.array(results, i16), 0),
                                                (np.array(valid), 0)],
        num_channels=channels, stacker_left_context=past, stacker_right_context=future,
        stacker_step=step)


def overlap_add(net, outer, frames, size, step, dtype):
    shape = (*outer, frames, size)
    x = (wide(net, i16, STEPS, *shape) if dtype == i16 else net.floats(STEPS, *shape))
    sums, results = np.zeros((*outer, size), np.int64 if dtype == i16 else f32), []
    for run in x:
        joined = []
        for frame in range(frames):
            sums = sums + run[..., frame, :]
            sums = sums.clip(-32768, 32767) if dtype == i16 else sums
            joined.append(sums[..., :step])
            sums = np.concatenate([sums[..., step:], np.zeros((*outer, step), sums.dtype)], -1)
        results.append(np.concatenate(joined, axis=-1))
    add(net, "SignalOverlapAdd", [net.stream(x)], [(np.array(results, dtype), 0)],
        frame_step=step, T=7)


# -- Fourier transforms -----------------------------------------------------------------


class Fixed:
    """Arithmetic on complex numbers of `bits` bits, as in kissfft."""

    def __init__(self, bits):
        self.bits, self.largest = bits, (1 << (bits - 1)) - 1

    def angle(self, phase):
        return complex(math.floor(0.5 + self.largest * math.cos(phase)),
                       math.floor(0.5 + self.largest * math.sin(phase)))

    def wrap(self, re, im):
        return wrap(re, self.bits), wrap(im, self.bits)

    def round(self, x):
        return wrap((x + (1 << (self.bits - 2))) >> (self.bits - 1), self.bits)

    def times(self, a, b):
        return (self.round(a[0] * b[0] - a[1] * b[1]), self.round(a[0] * b[1] + a[1] * b[0]))

    def scale(self, a, factor):
        return self.round(a[0] * factor), self.round(a[1] * factor)

    def divide(self, a, by):
        return self.scale(a, self.largest // by)

    def add(self, a, b):
        return self.wrap(a[0] + b[0], a[1] + b[1])

    def sub(self, a, b):
        return self.wrap(a[0] - b[0], a[1] - b[1])

    def circle(self, phase):
        z = self.angle(phase)
        return int(z.real), int(z.imag)

    def transform(self, z, radices, sign):
        """The transform of z, divided by its length; sign is that of the exponent."""
        if not radices:
            return z
        radix, n = radices[0], len(z)
        m = n // radix
        parts = [self.transform(z[i::radix], radices[1:], sign) for i in range(radix)]
        turn = lambda k: self.circle(sign * 2 * math.pi * k / n)  # noqa: E731
        result = [None] * n
        for k in range(m):
            a = [self.divide(part[k], radix) for part in parts]
            a[1:] = [self.times(v, turn(i * k)) for i, v in enumerate(a[1:], 1)]
            for i, v in enumerate(self.butterfly(a, sign, lambda q: turn(q * m))):
                result[i * m + k] = v
        return result

    def butterfly(self, a, sign, root):
        turn = lambda v: (-v[1] * sign, v[0] * sign)  # noqa: E731
        if len(a) == 2:
            return [self.add(a[0], a[1]), self.sub(a[0], a[1])]
        if len(a) == 4:
            even, odd = self.add(a[0], a[2]), self.add(a[1], a[3])
            other, side = self.sub(a[0], a[2]), turn(self.sub(a[1], a[3]))
            return [self.add(even, odd), self.add(other, side), self.sub(even, odd),
                    self.sub(other, side)]
        # Sines of the table have the sign already.
        turn = lambda v: (-v[1], v[0])  # noqa: E731
        if len(a) == 3:
            total = self.add(a[1], a[2])
            middle = self.sub(a[0], (total[0] >> 1, total[1] >> 1))
            side = turn(self.scale(self.sub(a[1], a[2]), root(1)[1]))
            return [self.add(a[0], total), self.add(middle, side), self.sub(middle, side)]
        one, two = root(1), root(2)
        outer, inner = self.add(a[1], a[4]), self.add(a[2], a[3])
        far, near = self.sub(a[1], a[4]), self.sub(a[2], a[3])
        add, sub, scale = self.add, self.sub, self.scale
        first = add(add(a[0], scale(outer, one[0])), scale(inner, two[0]))
        second = add(add(a[0], scale(outer, two[0])), scale(inner, one[0]))
        side = turn(add(scale(far, one[1]), scale(near, two[1])))
        slant = turn(sub(scale(far, two[1]), scale(near, one[1])))
        return [add(a[0], add(outer, inner)), add(first, side), add(second, slant),
                sub(second, slant), sub(first, side)]

    def split(self, a, b, k, n, sign):
        """Half the sum of a and the conjugate of b, and half the difference, turned."""
        a, b = self.divide(a, 2), self.divide(self.wrap(b[0], -b[1]), 2)
        root = self.circle(sign * math.pi * (k / n + 0.5))
        return self.add(a, b), self.times(self.sub(a, b), root)

    def forward(self, x, length):
        x = x + [0] * (length - len(x))
        n = length // 2
        z = self.transform(list(zip(x[::2], x[1::2])), radices(n), -1)
        dc = self.divide(z[0], 2)
        result = [None] * (n + 1)
        result[0] = self.wrap(dc[0] + dc[1], 0)
        result[n] = self.wrap(dc[0] - dc[1], 0)
        # Sums of 16 bits have room; those of 32 wrap around.
        room = 32
        for k in range(1, n // 2 + 1):
            even, odd = self.split(z[k], z[n - k], k, n, -1)
            halves = [wrap(v, room) >> 1 for v in (even[0] + odd[0], even[1] + odd[1],
                                                   even[0] - odd[0], odd[1] - even[1])]
            result[k], result[n - k] = self.wrap(*halves[:2]), self.wrap(*halves[2:])
        return [part for v in result for part in v]

    def backward(self, x, length):
        n = length // 2
        x = list(zip(x[::2], x[1::2]))
        z = [None] * n
        z[0] = self.divide(self.wrap(x[0][0] + x[n][0], x[0][0] - x[n][0]), 2)
        for k in range(1, n // 2 + 1):
            even, odd = self.split(x[k], x[n - k], k, n, 1)
            z[k] = self.add(even, odd)
            other = self.sub(even, odd)
            z[n - k] = self.wrap(other[0], -other[1])
        return [part for v in self.transform(z, radices(n), 1) for part in v]


def radices(n):
    found = []
    for radix in 4, 2, 3, 5:
        while n % radix == 0:
            found.append(radix)
            n //= radix
    return found


def rfft(net, shape, length, dtype):
    if dtype == f32:
        x = net.floats(STEPS, *shape)
        y = np.fft.rfft(x.astype(np.float64), length)
        results = np.stack([y.real, y.imag], -1).reshape(*x.shape[:-1], length + 2)
    else:
        x = wide(net, dtype, STEPS, *shape)
        fixed = Fixed(np.iinfo(dtype).bits)
        results = rowwise(lambda row: fixed.forward(row, length), x)
    add(net, "SignalRfft", [net.stream(x)], [(results.astype(dtype), 1e-5 if dtype == f32 else 0)],
        fft_length=length, T=7)


def irfft(net, outer, length, dtype):
    shape = (STEPS, *outer, length + 2)
    if dtype == f32:
        x = net.floats(*shape)
        z = x[..., ::2] + 1j * x[..., 1::2].astype(np.float64)
        results = np.fft.irfft(z, length)
    else:
        x = wide(net, dtype, *shape)
        fixed = Fixed(np.iinfo(dtype).bits)
        results = rowwise(lambda row: fixed.backward(row, length), x)
    add(net, "SignalIrfft", [net.stream(x)],
        [(results.astype(dtype), 1e-5 if dtype == f32 else 0)], fft_length=length, T=7)


# -- features of spectra ----------------------------------------------------------------


def window(net, shape, count, shift):
    x, w = wide(net, i16, STEPS, *shape), net.integers(i16, count)
    tiled = np.tile(w.astype(np.int64), x[0].size // count).reshape(shape)
    results = ((x.astype(np.int64) * tiled) >> shift).clip(-32768, 32767).astype(i16)
    add(net, "SignalWindow", [net.stream(x), net.const(w)], [(results, 0)], shift=shift)


def auto_scale(net, count, sizes=(4, 9, 15, 0)):
    """Samples with given numbers of bits in each run. One run has 15 bits and -32768, whose
    magnitude does not fit in 16 bits."""
    x = np.stack([net.integers(i16, count) >> (15 - bits) for bits in sizes]).astype(i16)
    results, shifts = [], []
    for row in x.tolist():
        most = 0
        for v in row:
            if v > most:
                most = v
            elif -v > most:
                most = wrap(-v, 16)
        bits = 32 if most <= 0 else most.bit_length()
        shifts.append(max(0, 15 - bits))
        results.append([wrap(v << shifts[-1], 16) for v in row])
    add(net, "SignalFftAutoScale", [net.stream(x)],
        [(np.array(results, i16), 0), (np.array(shifts, i32), 0)])


def energy(net, count, start, end):
    x = net.integers(i16, STEPS, 2 * count)
    z = x.astype(np.int64).reshape(STEPS, count, 2)
    results = (z**2).sum(-1)
    results[:, :start] = results[:, end:] = 0
    add(net, "SignalEnergy", [net.stream(x)], [(results.astype(u32), 0)], start_index=start,
        end_index=end)


def filter_bank(net, count, widths):
    """A filter bank of adjacent channels. Only the falling half of the first channel is used."""
    x, total = wide(net, u32, STEPS, count), sum(widths)
    up, down = net.integers(i16, total), net.integers(i16, total)
    starts = np.cumsum([0] + widths)[:-1]
    results = []
    for row in x.tolist():
        sums = [[sum(int(w[s + j]) * row[1 + s + j] for j in range(width)) for w in (up, down)]
                for s, width in zip(starts, widths)]
        results.append([wrap(rising + before[1], 64, False)
                        for before, (rising, _) in zip(sums, sums[1:])])
    tables = [np.array(t, i16) for t in (starts + 1, starts, widths)]
    add(net, "SignalFilterBank", [net.stream(x), *map(net.const, (up, down, *tables))],
        [(np.array(results, u64), 0)], num_channels=len(widths) - 1)


def square_root(net, count):
    x = wide(net, u64, STEPS, count)
    x[0, :6] = 0, 1, 2, 2**32 - 1, 2**32, 2**64 - 1
    shifts = np.array([0, 3, 7, 1], i32)
    results = []
    for row, shift in zip(x.tolist(), shifts.tolist()):
        roots = [math.isqrt(v) + (v > math.isqrt(v) * (math.isqrt(v) + 1)) for v in row]
        most = [2**16 - 1 if v < 2**32 else 2**32 - 1 for v in row]
        results.append([min(pair) >> shift for pair in zip(roots, most)])
    add(net, "SignalFilterBankSquareRoot", [net.stream(x), net.stream(shifts)],
        [(np.array(results, u32), 0)])


def spectral_subtraction(net, count, clamping):
    x, bits, more = wide(net, u32, STEPS, count) >> u32(8), 14, 10
    factors = {False: (409, 15975), True: (983, 15401)}
    noise, left, estimates = [0] * count, [], []
    for row in x.tolist():
        left.append([])
        for i, v in enumerate(row):
            smoothing, keeping = factors[i % 2 == 1]
            signal = wrap(v << more, 32, False)
            noise[i] = wrap((signal * smoothing + noise[i] * keeping) >> bits, 32, False)
            removed = min(noise[i], signal)
            noise[i] = removed if clamping else noise[i]
            left[-1].append(max((signal - removed) >> more, (v * 819) >> bits))
        estimates.append(list(noise))
    add(net, "SignalFilterBankSpectralSubtraction", [net.stream(x)],
        [(np.array(left, u32), 0), (np.array(estimates, u32), 0)], smoothing=409,
        one_minus_smoothing=15975, alternate_smoothing=983, alternate_one_minus_smoothing=15401,
        min_signal_remaining=819, smoothing_bits=more, spectral_subtraction_bits=bits,
        clamping=clamping, num_channels=count)


def pcan(net, count, shift):
    x, noise, table = (wide(net, u32, STEPS, count), wide(net, u32, STEPS, count),
                       net.integers(i16, 125))
    noise[0, :4] = 0, 1, 2, 3

    def gain(v):
        if v <= 2:
            return int(table[v])
        bits = v.bit_length()
        base, slope, bend = (int(t) for t in table[4 * bits - 6:4 * bits - 3])
        at = (v << 11 >> bits) & 1023
        return wrap((((((bend * at) >> 5) + slope * 32) * at + 16384) >> 15) + base, 16)

    def compress(v):
        return wrap(v * v, 32, False) >> 20 if v < 8192 else (v >> 6) - 64

    results = [[compress(wrap((v * wrap(gain(n), 32, False)) >> shift, 32, False))
                for v, n in zip(*rows)] for rows in zip(x.tolist(), noise.tolist())]
    add(net, "SignalPCAN", [net.stream(x), net.stream(noise), net.const(table)],
        [(np.array(results, u32), 0)], snr_shift=shift)


def log(net, count, correction, scale):
    x = wide(net, u32, STEPS, count)
    x[0, :4] = 0, 1, 2, 2**32 - 1
    table = [round(65536 * (math.log2(1 + i / 128) - i / 128)) for i in range(129)]

    def one(v):
        v = wrap(v << correction, 32, False)
        if v <= 1:
            return 0
        power = v.bit_length() - 1
        fraction = (v << 16 >> power) - 65536
        low, high = table[fraction >> 9], table[(fraction >> 9) + 1]
        binary = (power << 16) + fraction + low + (((high - low) * (fraction % 512)) >> 16)
        natural = (45426 * binary + 32768) >> 16
        return min(32767, wrap(scale * natural + 32768, 32, False) >> 16)

    results = [[one(v) for v in row] for row in x.tolist()]
    add(net, "SignalFilterBankLog", [net.stream(x)], [(np.array(results, i16), 0)],
        input_correction_bits=correction, output_scale=scale)
