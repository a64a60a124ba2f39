"""Renders lines of text, and a page, for `ocr` to read: render.py FOLDER

Writes line-0.png, line-1.png, ..., page.png, and what stands in them: lines.txt
and page.txt."""

import pathlib
import sys

from PIL import Image, ImageDraw, ImageFont

FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")

# font, size, ink, paper, text
LINES = [
    ("DejaVuSans.ttf", 32, "black", "white", "Hello, nnc!"),
    ("DejaVuSans.ttf", 36, "black", "white", "From a model file to a library"),
    ("DejaVuSerif.ttf", 40, "navy", "ivory", "1 arena, 0 calls of malloc: 100%"),
    ("DejaVuSans-Bold.ttf", 28, "white", "darkgreen", "Platform 9, express at 16:45"),
    ("DejaVuSansMono.ttf", 30, "black", "lightgrey", "conv2d_f32_nchw16c_direct_avx512"),
    ("DejaVuSerif-Bold.ttf", 44, "maroon", "white",
     "The quick brown fox jumps over the lazy dog, twice a day"),
]

PAGE = (900, 640)
# x, y, turned by (degrees), font, size, text
PAGE_LINES = [
    (60, 40, 0, "DejaVuSans-Bold.ttf", 44, "Reading a page"),
    (60, 130, 0, "DejaVuSans.ttf", 28, "One network finds the lines of text,"),
    (60, 175, 0, "DejaVuSans.ttf", 28, "one turns those that are upside down,"),
    (60, 220, 0, "DejaVuSans.ttf", 28, "and one reads them."),
    (60, 310, 0, "DejaVuSansMono.ttf", 26, "arena: 2408448 bytes"),
    (520, 310, 0, "DejaVuSansMono.ttf", 26, "library calls: 0"),
    (90, 400, 4, "DejaVuSans.ttf", 30, "This line is not quite level."),
    (300, 530, 180, "DejaVuSans.ttf", 30, "This one stands on its head."),
]


def font(name, size):
    return ImageFont.truetype(str(FONTS / name), size)


def line(name, size, ink, paper, text, margin=8):
    face = font(name, size)
    left, top, right, bottom = face.getbbox(text)
    picture = Image.new("RGB", (right - left + 2 * margin, bottom - top + 2 * margin), paper)
    ImageDraw.Draw(picture).text((margin - left, margin - top), text, ink, face)
    return picture


def page(size=PAGE, lines=PAGE_LINES, ink=(30, 30, 40), paper=(250, 248, 240)):
    picture = Image.new("RGB", size, paper)
    for x, y, angle, name, height, text in lines:
        strip = line(name, height, ink, paper, text)
        strip = strip.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=paper)
        picture.paste(strip, (x, y))
    return picture


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for i, spec in enumerate(LINES):
        line(*spec).save(folder / f"line-{i}.png")
    page().save(folder / "page.png")
    (folder / "lines.txt").write_text("".join(spec[-1] + "\n" for spec in LINES))
    (folder / "page.txt").write_text("".join(spec[-1] + "\n" for spec in PAGE_LINES))


if __name__ == "__main__":
    main()
