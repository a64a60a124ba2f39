"""The operators that layers_test.py runs, in nets of many operators each."""

import numpy as np

import branches
import cells
import integers as q
import plain
import quotients
import recurrent
import signals
import sparse
import wide
from fixed import f32


def convolutions():
    net = q.Checked(1)
    q.conv(net, (1, 9, 7, 3), (5, 3, 3, 3), strides=(2, 1), activation="RELU6")
    q.conv(net, (2, 7, 8, 4), (6, 2, 3, 4), padding="VALID", dilations=(2, 2), channels=False,
           zero=127, out_zero=127)
    q.conv(net, (1, 5, 6, 8), (7, 1, 1, 8), bias=False, activation="RELU", out_zero=-3, zero=0)
    q.conv(net, (1, 8, 7, 6), (4, 3, 2, 3), strides=(1, 2), activation="RELU_N1_TO_1", out_zero=2)
    q.conv(net, (1, 6, 5, 3), (4, 3, 3, 3), channels=False, dtype=np.uint8, zero=255, out_zero=0)
    q.conv(net, (1, 9, 8, 5), (1, 3, 3, 5), kind="DEPTHWISE_CONV_2D", strides=(2, 2), zero=-3)
    q.conv(net, (2, 6, 7, 3), (1, 5, 3, 6), kind="DEPTHWISE_CONV_2D", padding="VALID",
           channels=False, activation="RELU6", zero=127)
    q.conv(net, (1, 9, 9, 4), (1, 3, 3, 4), kind="DEPTHWISE_CONV_2D", dilations=(2, 3),
           bias=False, out_zero=17)
    q.conv(net, (1, 7, 5, 1), (1, 4, 3, 8), kind="DEPTHWISE_CONV_2D", strides=(2, 1),
           activation="RELU")
    q.dense(net, (1,), 37, 11)
    q.dense(net, (3,), 16, 5, channels=True, activation="RELU", zero=-128)
    q.dense(net, (2, 3), 9, 4, bias=False, activation="RELU6", out_zero=-128)
    q.dense(net, (2, 3), 8, 7, keep=True, zero=3)
    q.dense(net, (2,), 21, 6, dtype=np.uint8, zero=1, out_zero=131)
    q.batch_matmul(net, (2, 3, 7), (2, 7, 5))
    q.batch_matmul(net, (2, 7, 3), (5, 7), adj_x=True, adj_y=True)
    return net


def elementwise():
    net = q.Checked(2)
    for kind in ("ADD", "SUB"):
        q.add(net, kind, (2, 5, 7), (2, 5, 7), zeros=(-128, 127, -5))
        q.add(net, kind, (3, 4, 5), (5,), "RELU", zeros=(4, -9, 1))
        q.add(net, kind, (3, 1, 5), (4, 1), "RELU6", scales=(0.004, 0.9, 0.05))
        q.add(net, kind, (65,), (65,), dtype=np.int16)
        q.add(net, kind, (2, 9), (2, 9), dtype=np.uint8, zeros=(255, 0, 128))
    q.mul(net, (2, 5, 7), (2, 5, 7))
    q.mul(net, (3, 4, 5), (5,), "RELU6", zeros=(2, 3, -128))
    q.mul(net, (67,), (67,), dtype=np.int16)
    q.mul(net, (2, 9), (2, 9), "RELU", dtype=np.uint8, zeros=(255, 0, 100))
    q.squared_difference(net, (3, 7), (7,))
    quotients.divide(net, (3, 5, 7), (3, 5, 7))
    quotients.divide(net, (3, 4, 5), (5,), "RELU", zeros=(-128, 127, -9), scales=(0.1, 0.5, 0.001))
    quotients.divide(net, (4, 1), (3, 1, 5), "RELU6", np.uint8, (0, 200, 131), (0.05, 0.01, 0.3))
    q.add_n(net, 2, (3, 5))
    q.add_n(net, 5, (2, 3, 4), (127, -128), (0.02, 0.07))
    for kind in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
        q.compare(net, kind, (5, 13))
    q.relu(net, "RELU", (4, 31), (0.06, 0.05))
    q.relu(net, "RELU6", (4, 31), (0.06, 0.03), zeros=(127, -128))
    q.relu(net, "RELU_N1_TO_1", (4, 31), (0.02, 0.02), zeros=(0, 3))
    q.leaky_relu(net, 0.1)
    q.leaky_relu(net, -0.5, scales=(0.05, 0.05), zeros=(0, 0))
    q.leaky_relu(net, 1.5)
    q.prelu(net, (2, 3, 7))
    q.rescale(net, np.int8, np.int8, (0.05, 0.03), (-128, 127))
    q.rescale(net, np.int8, np.int8, (0.05, 0.05), (0, -1))
    q.rescale(net, np.uint8, np.int8, (0.05, 0.05), (128, 0))
    q.rescale(net, np.int8, np.uint8, (0.01, 0.05), (1, 7))
    q.rescale(net, np.int16, np.int8, (0.0005, 0.1), (0, -5))
    q.rescale(net, np.int8, np.int16, (0.1, 0.0005), (3, 0))
    for dtype, zero in ((np.int8, -128), (np.uint8, 255), (np.int16, 0)):
        q.quantize(net, dtype, 0.037, zero)
        q.dequantize(net, dtype, 0.037, zero)
    return net


def pools():
    net = q.Checked(3)
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        q.pool(net, kind, (1, 7, 9, 3), (3, 2), (2, 2), "SAME", "RELU6")
        q.pool(net, kind, (2, 8, 5, 4), (2, 3), (1, 2), "VALID")
        q.pool(net, kind, (1, 4, 5, 2), (5, 5), (1, 1), "SAME", "RELU", np.uint8)
        q.pool(net, kind, (1, 5, 4, 3), (5, 4), (1, 1), "VALID", dtype=np.int16)
    for kind in ("MEAN", "SUM"):
        q.reduce(net, kind, (2, 5, 7, 3), (1, 2), False)
        q.reduce(net, kind, (2, 5, 7, 3), (1, 2), True, zero=127, out_zero=-128)
        q.reduce(net, kind, (3, 4, 5), (-1,), True)
        q.reduce(net, kind, (3, 4, 5), (0, 2), False, np.uint8, 3, 200)
    q.reduce(net, "MEAN", (3, 64), (1,), False, np.int16, 0, 0)
    q.reduce(net, "SUM", (2, 3, 5, 2), (1, 2), True, np.int16, 0, 0)
    q.pool(net, "AVERAGE_POOL_2D", (2, 7, 9, 3), (3, 2), (2, 2), "SAME", "RELU6", np.int16)
    q.pool(net, "MAX_POOL_2D", (2, 7, 9, 3), (3, 2), (2, 2), "SAME", "RELU", np.int16)
    q.reduce_order(net, "REDUCE_MAX", (3, 4, 5), (0, -1), True)
    q.reduce_order(net, "REDUCE_MIN", (3, 4, 5), (1,), False)
    q.softmax(net, (3, 10))
    q.softmax(net, (2, 3, 65), scale=0.01)
    q.softmax(net, (7, 5), scale=1.5, beta=0.7)
    q.softmax(net, (2, 1))
    q.softmax(net, (4, 12), out_dtype=np.int16)
    q.softmax(net, (4, 12), np.uint8, np.uint8)
    quotients.log_softmax(net, (3, 10), 0.1)
    quotients.log_softmax(net, (2, 3, 65), 0.01)
    quotients.log_softmax(net, (7, 5), 1.5)
    quotients.log_softmax(net, (4, 12), 0.05, np.uint8)
    quotients.log_softmax(net, (2, 300), 0.1, values=np.full((2, 300), -50, np.int8))
    q.l2_normalization(net, (3, 17), -7)
    q.l2_normalization(net, (2, 3, 129), 127)
    q.l2_normalization(net, (3, 2), 0, np.array([[0, 0], [1, 0], [-1, 2]], np.int8))
    q.rsqrt(net, 0.05, 0.04, -128, -128)
    q.rsqrt(net, 0.01, 0.1, -5, 100)
    for kind in ("LOGISTIC", "TANH"):
        q.gate(net, kind, 0.05)
        q.gate(net, kind, 0.003, -128)
        q.gate(net, kind, 0.3, 127)
        q.gate(net, kind, 0.07, 128, np.uint8)
    q.hard_swish(net, 0.05, 0.03)
    q.hard_swish(net, 0.3, 0.2, 127, -128)
    q.hard_swish(net, 0.004, 0.002)
    q.table(net, "ABS", np.abs, 0.05, -7, 0.06, -128)
    q.table(net, "EXP", np.exp, 0.02, 3, 0.05, -128)
    q.table(net, "LOG", np.log, 0.05, -128, 0.05, 10)
    q.root(net, 0.05, -128, 0.02, -128)
    q.root(net, 0.013, -20, 0.0071, 3)
    q.table(net, "ELU", lambda v: np.where(v < 0, np.expm1(v), v), 0.05, -7, 0.04, -100)
    return net


def wides():
    """Activations of 16 bits."""
    net = q.Checked(7)
    wide.conv(net, (1, 9, 7, 3), (5, 3, 3, 3), strides=(2, 1), activation="RELU6")
    wide.conv(net, (2, 7, 8, 4), (6, 2, 3, 4), padding="VALID", dilations=(2, 2), channels=False)
    wide.conv(net, (1, 5, 6, 8), (7, 1, 1, 8), bias=None, activation="RELU")
    wide.conv(net, (1, 6, 5, 3), (4, 3, 2, 3), bias=np.int32, activation="RELU_N1_TO_1")
    wide.conv(net, (1, 8, 7, 6), (4, 3, 3, 3), strides=(1, 2))
    wide.conv(net, (1, 5, 4, 70), (5, 3, 3, 70), largest=True)
    wide.conv(net, (2, 9, 8, 5), (1, 3, 3, 5), kind="DEPTHWISE_CONV_2D", strides=(2, 2))
    wide.conv(net, (1, 6, 7, 3), (1, 5, 3, 6), kind="DEPTHWISE_CONV_2D", padding="VALID",
              channels=False, activation="RELU6")
    wide.conv(net, (1, 9, 9, 4), (1, 3, 3, 4), kind="DEPTHWISE_CONV_2D", dilations=(2, 3),
              bias=None)
    wide.conv(net, (1, 30, 25, 2), (1, 29, 24, 2), kind="DEPTHWISE_CONV_2D", padding="VALID",
              largest=True)
    wide.dense(net, (1,), 37, 11)
    wide.dense(net, (3,), 16, 5, channels=True, activation="RELU")
    wide.dense(net, (2, 3), 9, 4, bias=None, activation="RELU6")
    wide.dense(net, (2, 3), 8, 7, bias=np.int32, keep=True)
    wide.dense(net, (2,), 700, 3, largest=True)
    wide.dense(net, (2,), 700, 3, channels=True, bias=None, largest=True)
    wide.transpose_conv(net, (1, 4, 3, 2), (3, 3, 4, 2), (8, 6), activation="RELU")
    wide.transpose_conv(net, (2, 3, 5, 4), (2, 2, 3, 4), (9, 12), strides=(3, 2),
                        padding="VALID", channels=False, bias=None)
    wide.transpose_conv(net, (1, 3, 3, 90), (2, 3, 3, 90), (3, 3), strides=(1, 1), largest=True)
    wide.batch_matmul(net, (2, 3, 7), (2, 7, 5))
    wide.batch_matmul(net, (2, 7, 3), (5, 7), adj_x=True, adj_y=True, largest=True)
    wide.transpose_conv_bytes(net, (1, 4, 3, 2), (3, 3, 4, 2), (8, 6), activation="RELU6")
    wide.transpose_conv_bytes(net, (2, 3, 5, 4), (2, 2, 3, 4), (9, 12), strides=(3, 2),
                              padding="VALID", channels=False, bias=False, zero=127)
    wide.transpose_conv_bytes(net, (1, 3, 2, 3), (4, 3, 3, 3), (6, 4), dtype=np.uint8, zero=255,
                              channels=False)
    return net


def wide_elementwise():
    net = q.Checked(8)
    for kind in ("LOGISTIC", "TANH"):
        for scale in (2.0 ** -12, 2.0 ** -11, 0.0003, 0.001, 1.9, 0.00001):
            wide.gate(net, kind, scale)
    wide.softmax(net, (3, 10), 0.001)
    wide.softmax(net, (2, 3, 65), 0.0001)
    wide.softmax(net, (7, 5), 0.0007, beta=0.7)
    wide.softmax(net, (2, 1), 0.001)
    # Sums of these rows meet an entry of a table in which LiteRT has another number.
    wide.softmax(net, (40, 20), 0.0003, values=np.random.default_rng(50).integers(
        -32768, 32768, (40, 20)).astype(np.int16))
    wide.softmax(net, (2, 300), 0.001, values=np.full((2, 300), 1234, np.int16))
    wide.table(net, "EXP", lambda v: f32(np.exp(v)), 0.0001, 0.001)
    wide.table(net, "LOG", wide.log(0.0003), 0.002, 0.0003)
    wide.root(net, 0.0004, 0.0002)
    wide.table(net, "RSQRT", wide.rsqrt(0.0005), 0.0003, 0.0005, False)
    wide.leaky_relu(net, 0.1, (0.0005, 0.0004))
    wide.leaky_relu(net, -0.5, (0.0005, 0.0005))
    wide.prelu(net, (2, 3, 7), (1, 1, 7))
    wide.prelu(net, (2, 3, 7), (3, 1))
    wide.magnitudes(net, (0.001, 0.001))
    wide.magnitudes(net, (0.001, 0.0007))
    wide.squared_difference(net, (3, 7), (7,))
    q.relu(net, "RELU", (4, 31), (0.0006, 0.0005), (0, 0), np.int16)
    q.relu(net, "RELU6", (4, 31), (0.0006, 0.0003), (0, 0), np.int16)
    q.rescale(net, np.int16, np.int16, (0.0005, 0.0003), (0, 0))
    q.rescale(net, np.int16, np.int32, (0.0005, 0.00001), (0, 0))
    q.rescale(net, np.int8, np.int32, (0.05, 0.00001), (3, 0))
    q.rescale(net, np.int32, np.int16, (0.00001, 20.0), (0, 0))
    q.rescale(net, np.int32, np.int8, (0.00001, 3000.0), (0, -5))
    for dtype in (np.int8, np.uint8, np.int16):
        wide.resize(net, (2, 3, 4, 3), (7, 9), dtype)
        wide.resize(net, (1, 5, 4, 2), (3, 7), dtype, align_corners=True)
        wide.resize(net, (1, 4, 5, 1), (9, 3), dtype, half_pixel_centers=True)
    wide.resize(net, (1, 1, 3, 2), (4, 1), align_corners=True)
    return net


def streams():
    """Operators that keep values between runs."""
    net = recurrent.Streamed(4)
    recurrent.svdf_float(net, 1, 6, 5, 2, 4)
    recurrent.svdf_float(net, 2, 3, 4, 1, 1, "RELU", bias=False)
    recurrent.svdf(net, 1, 7, 3, 2, 5, np.int16)
    recurrent.svdf(net, 2, 4, 5, 1, 3, np.int16, bias=False)
    recurrent.svdf(net, 1, 9, 4, 3, 6, np.int8, state_zero=-7)
    recurrent.lstm_float(net, 1, 5, 7, 6)
    recurrent.lstm_float(net, 3, 4, 5, 9, time_major=True, clip=0.3)
    recurrent.lstm(net, 1, 5, 7, 6)
    recurrent.lstm(net, 2, 3, 5, 3, time_major=True, cell_bits=13, clip=1.5)
    recurrent.lstm(net, 3, 2, 9, 4, cell_bits=12, h_zero=20)
    recurrent.lstm(net, 2, 3, 5, 6, dtype=np.int16)
    recurrent.lstm(net, 1, 2, 9, 4, time_major=True, cell_bits=12, clip=1.5, dtype=np.int16)
    cells.lstm(net, 2, 3, 5, 6, coupled=True)
    cells.lstm(net, 1, 4, 3, 5, peepholes=True, clip=0.4)
    cells.lstm(net, 2, 3, 4, 6, 3, projection=True, projection_bias=True, out_clip=0.3,
               time_major=True)
    cells.lstm(net, 3, 2, 5, 4, norm=True)
    cells.lstm(net, 2, 3, 4, 7, 5, coupled=True, peepholes=True, norm=True, projection=True)
    cells.step_lstm(net, 2, 5, 4)
    cells.step_lstm(net, 1, 3, 5, 4, coupled=True, peepholes=True, norm=True, projection=True,
                    projection_bias=True)
    cells.plain_lstm(net, 2, 5, 3)
    cells.two_way_lstm(net, 2, 3, 4, 5, time_major=False, merges=True)
    cells.two_way_lstm(net, 1, 4, 3, 5, time_major=True, merges=False, peepholes=True)
    cells.rnn(net, 2, 3, 5, 4)
    cells.rnn(net, 1, 4, 3, 6, time_major=True, activation="RELU")
    cells.step_rnn(net, 2, 5, 3)
    cells.two_way_rnn(net, 2, 3, 4, 5, time_major=False, merges=True)
    cells.two_way_rnn(net, 1, 4, 3, 5, time_major=True, merges=False)
    recurrent.counter(net)
    recurrent.counter(net, net.floats(2, 3))
    recurrent.counter(net, np.full((2, 3), 1.5, np.float32))
    recurrent.delays(net)
    return net


def sounds():
    """TFLite Micro's signal operators."""
    i16, i32 = np.int16, np.int32
    net = recurrent.Streamed(6)
    signals.framer(net, 5, 2, False)
    signals.framer(net, 5, 2, True, frames=3, outer=(2, 2))
    signals.framer(net, 7, 2, False, frames=2, outer=(3,))
    signals.framer(net, 3, 3, True)
    signals.framer(net, 2, 3, False, frames=2)
    signals.delay(net, (4,), 3)
    signals.delay(net, (2, 3), 7)
    signals.delay(net, (5,), 0)
    signals.circular_buffer(net, 4, 3, cycles_max=1)
    signals.circular_buffer(net, 13, 2)
    signals.stacker(net, 3, 2, 1, 2)
    signals.stacker(net, 2, 1, 0, 1)
    signals.stacker(net, 4, 0, 0, 1)
    signals.stacker(net, 2, 0, 3, 4)
    signals.overlap_add(net, (), 2, 6, 4, i16)
    signals.overlap_add(net, (2,), 3, 5, 2, i16)
    signals.overlap_add(net, (), 1, 4, 4, i16)
    signals.overlap_add(net, (2,), 2, 7, 3, f32)
    for dtype in i16, i32, f32:
        signals.rfft(net, (32,), 64, dtype)
        signals.rfft(net, (2, 3, 30), 32, dtype)
        signals.rfft(net, (4,), 4, dtype)
        signals.rfft(net, (50,), 60, dtype)
        signals.irfft(net, (2,), 16, dtype)
        signals.irfft(net, (), 60, dtype)
        signals.irfft(net, (), 6, dtype)
    signals.window(net, (10,), 10, 12)
    signals.window(net, (2, 3, 4), 6, 15)
    signals.auto_scale(net, 20)
    signals.auto_scale(net, 7, (1, 0, 12, 14))
    signals.energy(net, 17, 3, 11)
    signals.energy(net, 9, 0, 9)
    signals.filter_bank(net, 40, [3, 5, 0, 9, 4])
    signals.square_root(net, 30)
    signals.spectral_subtraction(net, 13, False)
    signals.spectral_subtraction(net, 6, True)
    signals.pcan(net, 60, 6)
    signals.pcan(net, 8, 20)
    signals.log(net, 60, 3, 64)
    signals.log(net, 20, 0, 1600)
    return net


def control():
    """Operators that run subgraphs."""
    net = recurrent.Streamed(7)
    branches.if_known(net, True)
    branches.if_known(net, False)
    for dtype in np.float32, np.int32, np.int64:
        branches.if_computed(net, dtype)
    for dtype in np.bool_, np.int8, np.uint8, np.int16, np.uint32, np.uint64:
        branches.if_moves(net, dtype)
    branches.if_keeps(net)
    branches.recurrence(net, 6, 3, 4)
    branches.loop_of_none(net)
    branches.loop_of_loops(net)
    for dtype in (f32, np.int32):
        branches.loop_computed(net, dtype)
    return net


# Their results do not depend on how fixed-point products round.
PLAIN = (plain.floats, plain.functions, plain.moves, plain.indexed, sparse.weights, sounds,
         control)
NETS = {f.__name__: f for f in (convolutions, elementwise, pools, wides, wide_elementwise,
                                streams, *PLAIN)}

# Operators that other tests run.
ELSEWHERE = {"TFLite_Detection_PostProcess"}
