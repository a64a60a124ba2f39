#!/usr/bin/env python3
"""Measures how much accuracy PP-OCRv4's recognizer loses when `nnc quantize` quantizes it to 8
bits.

    ocr_accuracy.py --nnc build/bin/nnc -o DIR -- --per-channel --method=mse
    ocr_accuracy.py --nnc build/bin/nnc -o DIR -- --per-channel --mixed --max-drop=0.2%

Lines of two to four words are rendered in the fonts of Debian's fonts-dejavu-core, in several
sizes, colours and degrees of noise, and read at 48 x 640. The options after `--` are passed to
`nnc quantize`, with the first lines as its samples; the other lines test both models. All lines
follow from a seed, and no line is in both sets.

The models are compiled by nnc for this machine, built as shared libraries and called in this
process. The character accuracy is 1 - (edit distances of all lines) / (characters of all
lines). `nnc bench` times both models in turns, and the least times count.

With --metric-of=MODEL the script prints the character accuracy of a model on the samples and
ends: a command for --metric of `nnc quantize`.
"""

import argparse
import ctypes
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from PIL import Image, ImageFilter

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "examples/ocr"))
import reference  # noqa: E402
import render  # noqa: E402

WORDS = """
able above accept across action address advice after again agree almost alone along already answer
apple area arrive artist aspect autumn avenue balance bank basket beach because before begin behind
below better between bicycle board book border bottle branch bread bridge bright bring brother
budget build busy camera capital castle centre chain change chapter choice circle clear climate
clock coffee colour common concert contract corner cotton country course cousin custom daily danger
daughter decide degree deliver dinner direct doctor double dream during early earth economy editor
effect either empty engine enough evening example express factory family famous farmer field figure
finger finish flight flower follow foreign forest forward freedom friend future garden gather
general glass ground growth guard guest habit harbour health heart heavy height history holiday
honest hospital house human hundred husband image include increase indeed inside island jacket
journey judge junior justice keep kitchen knife language large laugh lawyer learn leather letter
library light limit listen little local machine magazine manager market master matter meeting
memory middle minute mirror modern moment morning mountain museum narrow nation nature needle
network never newspaper night nobody noise north notice number object ocean office often opinion
orange order other output owner package palace paper parent pattern people perfect person picture
planet plastic player pocket police popular position power present price private process produce
project public purple quality quarter question quick quiet rabbit railway rather reason record
region remain repair report result return river rocket rubber safety sample school science season
second secret section sentence service seven shadow sharp short shoulder signal silver simple
sister sleep smooth society soldier south special spring square station steel stone strange street
strong student subject sudden sugar summer surface system table teacher theatre thing thirty
thought through ticket together tomorrow towards traffic travel trouble twelve umbrella uncle
under useful valley vehicle victory village violet visit voice volume waiter warm water weather
wedding welcome west wheel whether white window winter without woman wonder wooden world write
yellow yesterday young zebra zone
""".split()
FONTS = ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf",
         "DejaVuSerif.ttf", "DejaVuSerif-Bold.ttf"]
SIZES = [14, 18, 24, 32, 40, 48]
WIDTH = 640
SEED = 20


def make_text(choose):
    """Two to four words, some of them capitalized, and numbers."""
    words = []
    for _ in range(choose.choice([2, 3, 3, 4])):
        kind = choose.random()
        word = choose.choice(WORDS)
        if kind < 0.15:
            word = str(choose.randrange(10 ** choose.randrange(1, 7)))
        elif kind < 0.4:
            word = word.capitalize()
        elif kind < 0.5:
            word = word.upper()
        words.append(word)
    return " ".join(words) + choose.choice(["", "", "", ".", ",", ":", "!", "?"])


def make_line(choose):
    """A text, and the picture of it: [height, width, 3] of bytes."""
    while True:
        text = make_text(choose)
        paper = [choose.randrange(150, 256) for _ in range(3)]
        ink = [choose.randrange(0, 90) for _ in range(3)]
        if choose.random() < 0.3:
            ink, paper = paper, ink
        picture = render.line(choose.choice(FONTS), choose.choice(SIZES), tuple(ink), tuple(paper),
                              text, margin=choose.randrange(2, 9))
        picture = picture.rotate(choose.uniform(-1.5, 1.5), Image.Resampling.BICUBIC, expand=True,
                                 fillcolor=tuple(paper))
        picture = picture.filter(ImageFilter.GaussianBlur(choose.uniform(0, 0.8)))
        noise = np.random.default_rng(choose.randrange(2 ** 32))
        pixels = np.asarray(picture) + noise.normal(0, choose.uniform(0, 16),
                                                    (picture.height, picture.width, 3))
        # A line that is longer would be read at another width.
        if reference.LINE_HEIGHT * picture.width <= WIDTH * picture.height:
            return text, np.clip(pixels, 0, 255).astype(np.uint8)


def make_lines(calibration, test):
    """The texts of the lines and the inputs of the network, for the samples and for the test."""
    choose = random.Random(SEED)
    known, lines = set(), []
    while len(lines) < calibration + test:
        text, picture = make_line(choose)
        if text in known:
            continue
        known.add(text)
        line = reference.at_line_height(picture, WIDTH)
        lines.append((text, reference.planes(line, reference.HALF, WIDTH, reference.LINE_HEIGHT)))
    return lines[:calibration], lines[calibration:]


class Module:
    """A model compiled by nnc for this machine, and called in this process."""

    def __init__(self, nnc, model, folder, optimize="-O2"):
        code = folder / "code"
        subprocess.run([nnc, "compile", model, f"--shape=x=1x3x48x{WIDTH}", "--name=net",
                        "-o", code], check=True, stdout=subprocess.DEVNULL)
        manifest = json.loads((code / "manifest.json").read_text())
        library = folder / "net.so"
        sources = [code / name for name in manifest["files"] if name.endswith((".cpp", ".S"))]
        subprocess.run(["c++", "-shared", "-fPIC", "-std=c++17", optimize, *manifest["flags"],
                        "-I", code, *sources, "-o", library], check=True)
        self.run_module = ctypes.CDLL(str(library)).net_run
        self.shape = manifest["outputs"][0]["shape"]
        self.holder = np.zeros(manifest["arena_bytes"] + 4096, np.uint8)
        address = self.holder.ctypes.data
        self.arena = ctypes.c_void_p(address + -address % 4096)

    def __call__(self, x):
        x, y = np.ascontiguousarray(x), np.empty(self.shape, np.float32)
        inputs, outputs = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)
        status = self.run_module(ctypes.byref(inputs), ctypes.byref(outputs), self.arena)
        if status:
            raise RuntimeError(f"the module returned {status}")
        return y


def read(scores, characters):
    """The text of the best class of each step, without repetitions and blanks."""
    best = scores[0].argmax(1)
    return "".join(characters[c] for i, c in enumerate(best)
                   if c != 0 and (i == 0 or c != best[i - 1]))


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, diagonal + (x != y))
    return row[-1]


def measure(module, lines, characters):
    """The character accuracy, and the texts that were read."""
    texts = [read(module(x), characters) for _, x in lines]
    wrong = sum(edit_distance(text, found) for (text, _), found in zip(lines, texts))
    return 1 - wrong / sum(len(text) for text, _ in lines), texts


def get_characters(model):
    properties = {p.key: p.value for p in onnx.load(model).metadata_props}
    return ["", *properties["character"].split("\n"), " "]


def time_models(nnc, models, turns):
    """The least time of each model in seconds. The models run in turns, because other programs
    may use the machine."""
    times = [[] for _ in models]
    for _ in range(turns):
        for model, own in zip(models, times):
            done = subprocess.run([nnc, "bench", model, f"--shape=x=1x3x48x{WIDTH}", "--runs=60",
                                   "--json"], check=True, capture_output=True, text=True)
            own.append(json.loads(done.stdout)["min_seconds"])
    return [min(own) for own in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nnc", default="nnc")
    parser.add_argument("--networks", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("NNC_CACHE",
                                                            "~/.cache/nnc")).expanduser()
                        / "ocr-1.4.4", help="folder of PP-OCRv4's networks")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("ocr-accuracy"))
    parser.add_argument("--calibration", type=int, default=200, metavar="LINES")
    parser.add_argument("--test", type=int, default=500, metavar="LINES")
    parser.add_argument("--turns", type=int, default=3, help="of timing; 0 for none")
    parser.add_argument("--metric-of", type=pathlib.Path, metavar="MODEL")
    parser.add_argument("options", nargs="*", help="options of nnc quantize, behind --")
    arguments = parser.parse_args()
    model = arguments.networks / "ch_PP-OCRv4_rec_infer.onnx"
    samples, test = make_lines(arguments.calibration, arguments.test)
    characters = get_characters(model)
    if arguments.metric_of:
        with tempfile.TemporaryDirectory() as scratch:
            module = Module(arguments.nnc, arguments.metric_of, pathlib.Path(scratch), "-O1")
            print(measure(module, samples, characters)[0])
        return 0
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "samples.npz", x=np.concatenate([x for _, x in samples]))
    quantized = folder / "int8.onnx"
    done = subprocess.run([arguments.nnc, "quantize", model, f"--shape=x=1x3x48x{WIDTH}",
                           f"--calibration={folder / 'samples.npz'}", "-o", quantized, "--json",
                           *arguments.options], stdout=subprocess.PIPE, text=True)
    (folder / "report.json").write_text(done.stdout)
    report = json.loads(done.stdout)
    if done.returncode:
        print(json.dumps(report["problems"], indent=1))
        return done.returncode
    print(f"nnc quantize {' '.join(arguments.options)}: {len(report['layers'])} layers in 8 bits, "
          f"{report['bytes'] / report['float_bytes']:.2f} of the size, "
          f"{report['evaluated']} models evaluated, {report['seconds']:.0f} s, "
          f"{report['metric']} {report['quantized_metric']:.5f}")
    results = []
    for path in model, quantized:
        with tempfile.TemporaryDirectory() as scratch:
            module = Module(arguments.nnc, path, pathlib.Path(scratch))
            results.append(measure(module, test, characters))
    (float_accuracy, read_before), (accuracy, read_after) = results
    count = sum(len(text) for text, _ in test)
    changed = sum(a != b for a, b in zip(read_before, read_after))
    print(f"{len(test)} lines, {count} characters: {100 * float_accuracy:.2f} % right in float32, "
          f"{100 * accuracy:.2f} % in 8 bits, a drop of "
          f"{100 * (float_accuracy - accuracy):.2f} points; {changed} lines are read differently")
    if arguments.turns:
        before, after = time_models(arguments.nnc, [model, quantized], arguments.turns)
        print(f"{1e3 * before:.2f} ms in float32, {1e3 * after:.2f} ms in 8 bits: "
              f"{before / after:.2f} times as fast")
    return 0


if __name__ == "__main__":
    sys.exit(main())
