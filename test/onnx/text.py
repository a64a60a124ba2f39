"""Pictures of text, as PP-OCR's networks take them: lines and pages, [1, 3, h, w]."""

import pathlib

import numpy as np
import onnx
from PIL import Image, ImageDraw, ImageFont

FONT = pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
LINES = ["An ahead-of-time compiler", "reads this line of text", "ResNet-50 runs in 24.8 ms",
         "Weights: 25,557,032 (97.5 MB)", "x = (a + b) / 2", "Hello, world!"]


def _tensor(picture):
    """BGR, (x / 255 - 0.5) / 0.5, channels first."""
    pixels = np.asarray(picture, np.float32)[..., ::-1] / 255
    return np.ascontiguousarray(((pixels - 0.5) / 0.5).transpose(2, 0, 1)[None])


def _font(size):
    return ImageFont.truetype(str(FONT), size)


def _draw(picture, where, words, size, colour=(20, 20, 30)):
    ImageDraw.Draw(picture).text(where, words, fill=colour, font=_font(size))


def line(index, height=48, width=320):
    """A line with as many words as fit."""
    size, left = height * 5 // 9, 6
    words = " ".join(LINES[index % len(LINES):] + LINES).split()
    while _font(size).getlength(" ".join(words)) > width - 2 * left:
        words.pop()
    picture = Image.new("RGB", (width, height), (245, 244, 240))
    _draw(picture, (left, height // 6), " ".join(words), size)
    return _tensor(picture)


def page(index, height, width):
    picture = Image.new("RGB", (width, height), (250, 250, 248))
    for row, words in enumerate(LINES):
        _draw(picture, (16 + 4 * row, 20 + row * (height - 40) // len(LINES)), words,
              18 + (row + index) % 3 * 4)
    return _tensor(picture)


def reader(path):
    """The text in a recognizer's output: the best classes without repetitions and blanks."""
    metadata = {p.key: p.value for p in onnx.load(path).metadata_props}
    characters = ["", *metadata["character"].split("\n"), " "]

    def read(probabilities):
        best = probabilities[0].argmax(1)
        return "".join(characters[c] for i, c in enumerate(best) if i == 0 or c != best[i - 1])
    return read
