#!/usr/bin/env python3
"""Tests signal operators of TFLite Micro with one fault: the message names the fault, nothing
crashes, and the code reads only its own memory."""

import unittest

import numpy as np

import flat
from signals import flexbuffer
import refusals  # also makes the modules of test/broken known
from outcome import BROKEN, DONE, LACKING

i16, i32, u32, u64, f32 = np.int16, np.int32, np.uint32, np.uint64, np.float32


def plain(*shape, dtype=i16):
    return np.ones(shape, dtype)


# Operator: inputs, types and shapes of results, options. Inputs that are tuples are
# constants. All are sound.
BANK = (plain(6, dtype=u32), (plain(8),), (plain(8),), (np.array([0, 1, 3], i16),),
        (np.array([0, 2, 4], i16),), (np.array([2, 2, 3], i16),))
SUBTRACTION = {"smoothing": 1, "one_minus_smoothing": 1, "alternate_smoothing": 1,
               "alternate_one_minus_smoothing": 1, "min_signal_remaining": 1,
               "smoothing_bits": 10, "spectral_subtraction_bits": 14, "clamping": False,
               "num_channels": 4}
STACKER = {"num_channels": 3, "stacker_left_context": 1, "stacker_right_context": 1,
           "stacker_step": 2}
SOUND = {
    "SignalDelay": ([plain(3)], [(i16, (3,))], {"delay_length": 2}),
    "SignalEnergy": ([plain(6)], [(u32, (3,))], {"start_index": 1, "end_index": 3}),
    "SignalFftAutoScale": ([plain(6)], [(i16, (6,)), (i32, ())], None),
    "SignalFilterBank": (BANK, [(u64, (2,))], {"num_channels": 2}),
    "SignalFilterBankLog": ([plain(4, dtype=u32)], [(i16, (4,))],
                            {"input_correction_bits": 3, "output_scale": 64}),
    "SignalFilterBankSpectralSubtraction": ([plain(4, dtype=u32)], [(u32, (4,))] * 2,
                                            SUBTRACTION),
    "SignalFilterBankSquareRoot": ([plain(4, dtype=u64), i32(3)], [(u32, (4,))], None),
    "SignalFramer": ([plain(4)], [(i16, (2, 3)), (np.bool_, ())],
                     {"frame_size": 3, "frame_step": 2, "prefill": False}),
    "SignalIrfft": ([plain(10)], [(i16, (8,))], {"fft_length": 8, "T": 7}),
    "SignalOverlapAdd": ([plain(2, 3)], [(i16, (4,))], {"frame_step": 2, "T": 7}),
    "SignalPCAN": ([plain(4, dtype=u32), plain(4, dtype=u32), (plain(125),)], [(u32, (4,))],
                   {"snr_shift": 6}),
    "SignalRfft": ([plain(8)], [(i16, (10,))], {"fft_length": 8, "T": 7}),
    "SignalStacker": ([plain(3)], [(i16, (9,)), (np.bool_, ())], STACKER),
    "SignalWindow": ([plain(6), (plain(3),)], [(i16, (6,))], {"shift": 12}),
}
# (operator, changed option, value, text of the message)
OPTIONS = [
    ("SignalDelay", "delay_length", -1, "delay_length"),
    ("SignalDelay", "delay_length", 2**31 - 1, "delay_length"),
    ("SignalEnergy", "start_index", -1, "start_index"),
    ("SignalEnergy", "end_index", 4, "end_index"),
    ("SignalFilterBank", "num_channels", 3, "one more than channels"),
    ("SignalFilterBank", "num_channels", 0, "num_channels"),
    ("SignalFilterBankLog", "input_correction_bits", 32, "input_correction_bits"),
    ("SignalFilterBankSpectralSubtraction", "smoothing_bits", 32, "smoothing_bits"),
    ("SignalFilterBankSpectralSubtraction", "spectral_subtraction_bits", -1, "bits"),
    ("SignalFilterBankSpectralSubtraction", "num_channels", 5, "reads 4 channels"),
    ("SignalFilterBankSpectralSubtraction", "clamping", 0.5, "true or false"),
    ("SignalFramer", "frame_step", 3, "no multiple of its step of 3"),
    ("SignalFramer", "frame_step", 0, "frame_step"),
    ("SignalFramer", "frame_size", 0, "frame_size"),
    ("SignalFramer", "frame_size", 2**31 - 1, "frame_size"),
    ("SignalIrfft", "fft_length", 16, "needs 18"),
    ("SignalIrfft", "fft_length", 2, "fft_length"),
    ("SignalOverlapAdd", "frame_step", 4, "frame_step"),
    ("SignalPCAN", "snr_shift", 64, "snr_shift"),
    ("SignalRfft", "fft_length", 6, "at most 6"),
    ("SignalRfft", "fft_length", 8.0, "fft_length"),
    ("SignalRfft", "fft_length", 2**30, "fft_length"),
    ("SignalStacker", "num_channels", 4, "reads 3 channels"),
    ("SignalStacker", "stacker_step", 4, "stacker_step"),
    ("SignalStacker", "stacker_step", 0, "stacker_step"),
    ("SignalStacker", "stacker_left_context", -1, "stacker_left_context"),
    ("SignalWindow", "shift", 32, "shift"),
]
# (operator, changed input, its values, text)
INPUTS = [
    ("SignalDelay", 0, plain(3, dtype=i32), "needs INT16"),
    ("SignalDelay", 0, i16(1), "any rank but 0"),
    ("SignalEnergy", 0, plain(5), "odd number"),
    ("SignalFftAutoScale", 0, plain(2, 3), "of rank 1"),
    ("SignalFftAutoScale", 0, plain(0), "not empty"),
    ("SignalFilterBank", 0, plain(5, dtype=u32), "there are 5 energies"),
    ("SignalFilterBank", 1, (plain(6),), "6 weights"),
    ("SignalFilterBank", 3, (np.array([0, -1, 3], i16),), "from -1 on"),
    ("SignalFilterBank", 4, (np.array([0, 2, -4], i16),), "from -4 on"),
    ("SignalFilterBank", 5, (np.array([2, 2, 32767], i16),), "32767 energies"),
    ("SignalFilterBank", 5, (np.array([2, 2], i16),), "one more than channels"),
    ("SignalFilterBankSquareRoot", 1, plain(1, dtype=i32), "of rank 0"),
    ("SignalFilterBankSquareRoot", 0, plain(4, dtype=u32), "needs UINT64"),
    ("SignalIrfft", 0, plain(9), "needs 10"),
    ("SignalOverlapAdd", 0, plain(6), "axis of frames"),
    ("SignalOverlapAdd", 0, plain(2, 3, dtype=i32), "INT16 or FLOAT32"),
    ("SignalPCAN", 1, plain(3, dtype=u32), "as many estimates"),
    ("SignalPCAN", 2, (plain(124),), "125 gains"),
    ("SignalRfft", 0, plain(9), "at most 8"),
    ("SignalRfft", 0, plain(8, dtype=np.int8), "INT16 or INT32 or FLOAT32"),
    ("SignalWindow", 0, plain(7), "no multiple"),
    ("SignalWindow", 1, (plain(1, 3),), "of rank 1"),
]


def network(name, inputs, results, options, edit=None):
    net = flat.Net()
    given = [net.const(x[0]) if isinstance(x, tuple) else net.input(x) for x in inputs]
    net.outputs = [net.tensor(*result) for result in results]
    data = b"" if options is None else flexbuffer(options)
    net.custom(name, given, list(net.outputs), edit(data) if edit else data)
    return net


class BrokenSignal(refusals.TestCase):
    def test_sound(self):
        for name, parts in SOUND.items():
            with self.subTest(name):
                self.check(network(name, *parts), DONE, "")

    def test_options(self):
        for name, option, value, said in OPTIONS:
            inputs, results, options = SOUND[name]
            with self.subTest(name, option=option, value=value):
                self.check(network(name, inputs, results, {**options, option: value}), BROKEN,
                           said)

    def test_absent_options(self):
        for name, (inputs, results, options) in SOUND.items():
            for option in set(options or {}) - {"T"}:
                rest = {key: value for key, value in options.items() if key != option}
                with self.subTest(name, option=option):
                    self.check(network(name, inputs, results, rest), BROKEN, option)
            if not options:
                continue
            for edit in (lambda data: b"", lambda data: data[:-2], lambda data: b"\xff" * 9,
                         lambda data: data[:4] + b"\xff" * 6 + data[10:]):
                with self.subTest(name, data=edit(bytes(20))):
                    self.check(network(name, *SOUND[name], edit), BROKEN, "option")

    def test_inputs(self):
        for name, which, values, said in INPUTS:
            inputs, results, options = SOUND[name]
            changed = [values if i == which else x for i, x in enumerate(inputs)]
            with self.subTest(name, values=values):
                self.check(network(name, changed, results, options), BROKEN, said)

    def test_inputs_that_are_not_known(self):
        inputs, results, options = SOUND["SignalFilterBank"]
        for which in (3, 4, 5):
            changed = [x[0] if i == which else x for i, x in enumerate(inputs)]
            self.check(network("SignalFilterBank", changed, results, options), LACKING, "known")

    def test_numbers_of_inputs_and_results(self):
        for name, (inputs, results, options) in SOUND.items():
            with self.subTest(name):
                self.check(network(name, [], results, options), BROKEN, "inputs")
                self.check(network(name, [*inputs, plain(2)], results, options), BROKEN, "inputs")
                more = [*results, (i16, (2,))]
                self.check(network(name, inputs, more, options), BROKEN, "results")

    def test_results_of_other_shapes_and_types(self):
        for name, (inputs, results, options) in SOUND.items():
            dtype, shape = results[0]
            with self.subTest(name):
                wrong = [(dtype, (*shape[:-1], shape[-1] + 1)), *results[1:]]
                self.check(network(name, inputs, wrong, options), BROKEN, "model states")
                wrong = [(np.float64, shape), *results[1:]]
                self.check(network(name, inputs, wrong, options), BROKEN, "model states")

    def test_lengths(self):
        """Fourier transforms whose length has other factors than 2, 3 and 5."""
        for length, code in ((14, LACKING), (15, LACKING), (22, LACKING), (30, DONE)):
            with self.subTest(length):
                self.check(network("SignalRfft", [plain(length)], [(i16, (length + 2,))],
                                   {"fft_length": length, "T": 7}), code, "prime factors")


if __name__ == "__main__":
    unittest.main(verbosity=2)
