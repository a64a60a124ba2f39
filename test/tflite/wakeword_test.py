#!/usr/bin/env python3
"""The streaming network of examples/firmware/wakeword: 50 frames in a row, on what the example
hears in its clip and on random numbers, equal what LiteRT 2.3 makes of them."""

import pathlib
import shutil
import tempfile
import unittest
import wave

import numpy as np

import running

FIRMWARE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "firmware"
MODEL = FIRMWARE / "wakeword" / "model" / "hey_jarvis.tflite"
WANTED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 14, 65, 162, 246,
          255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
          255, 255, 255, 249, 199, 49, 5]
HAS_BOARD = all(map(shutil.which, ("arm-none-eabi-g++", "qemu-system-arm")))


def read_samples():
    with wave.open(str(MODEL.with_name("hey_jarvis.wav"))) as clip:
        return np.frombuffer(clip.readframes(clip.getnframes()), np.int16)


class WakewordTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        samples = read_samples()
        frames = np.stack([samples[i:i + 480] for i in range(0, len(samples) - 479, 160)])
        (features,) = running.run(FIRMWARE / "keyword" / "model" / "spectrum.tflite",
                                  [("audio_frame", frames[:90, None])], cls.folder,
                                  "--target=portable")
        random = np.random.default_rng(0).integers(-128, 128, (20, 1, 3, 40))
        cls.frames = np.concatenate([features.reshape(30, 1, 3, 40), random]).astype(np.int8)

    def check(self, *options):
        (y,) = running.run(MODEL, [("input_audio", self.frames)], self.folder, *options)
        self.assertEqual(y.ravel().tolist(), WANTED)

    def test_host(self):
        for rounding in "double", "litert":
            self.check("--target=portable", f"--tflite-rounding={rounding}")

    @unittest.skipUnless(HAS_BOARD, "needs a compiler and an emulator of Arm boards")
    def test_microcontroller(self):
        self.check("--target=cortex-m4", "--compiler=arm-none-eabi-g++ -O1")

    @unittest.skipUnless(running.HAS_LITERT, "LiteRT is not installed; NNC_LITERT says where")
    def test_litert(self):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
        interpreter = Interpreter(
            str(MODEL), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        interpreter.allocate_tensors()
        (x,), (y,) = interpreter.get_input_details(), interpreter.get_output_details()
        got = [int(running.invoke(interpreter, {x["index"]: frame}, [y["index"]])[y["index"]][0, 0])
               for frame in self.frames]
        self.assertEqual(got, WANTED)


if __name__ == "__main__":
    unittest.main(verbosity=2)
