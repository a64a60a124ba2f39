"""What `ocr` does, with onnxruntime and NumPy, to compare with: the same options,
the same lines printed.

    reference.py --networks=FOLDER [--line] [--quiet] [--runs=N] PICTURE..."""

import argparse
import math
import pathlib
import time

import numpy as np
import onnxruntime
from PIL import Image

DETECTOR_SIZE = 960
CLASSIFIER_WIDTH, LINE_HEIGHT = 192, 48
RECOGNIZER_WIDTHS = (320, 640, 960)
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
HALF = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
PIXEL_THRESHOLD, BOX_THRESHOLD, UNCLIP, SMALLEST_SIDE = 0.3, 0.5, 1.6, 3


def cut(picture, corner, along, down, width, height):
    """The rectangle at another size, by linear interpolation."""
    u = (np.arange(width, dtype=np.float32) + 0.5) / width
    v = ((np.arange(height, dtype=np.float32) + 0.5) / height)[:, None]
    x = np.clip(corner[0] + u * along[0] + v * down[0] - 0.5, 0, picture.shape[1] - 1)
    y = np.clip(corner[1] + u * along[1] + v * down[1] - 0.5, 0, picture.shape[0] - 1)
    x0, y0 = x.astype(int), y.astype(int)
    x1 = np.minimum(x0 + 1, picture.shape[1] - 1)
    y1 = np.minimum(y0 + 1, picture.shape[0] - 1)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]
    above = picture[y0, x0] * (1 - fx) + picture[y0, x1] * fx
    below = picture[y1, x0] * (1 - fx) + picture[y1, x1] * fx
    return (above * (1 - fy) + below * fy + 0.5).astype(np.uint8)


def resize(picture, width, height):
    h, w = picture.shape[:2]
    return cut(picture, (0, 0), (w, 0), (0, h), width, height)


def planes(picture, normal, width, height):
    """Blue, green and red, normalised, zero where the picture does not reach."""
    mean, deviation = (np.array(n, np.float32) for n in normal)
    h, w = picture.shape[:2]
    x = np.zeros((1, 3, height, width), np.float32)
    x[0, :, :h, :w] = ((picture[:, :, ::-1] / np.float32(255) - mean) / deviation).transpose(2, 0, 1)
    return x


def at_line_height(line, width):
    h, w = line.shape[:2]
    return resize(line, min(max(math.ceil(LINE_HEIGHT * w / h), 1), width), LINE_HEIGHT)


def regions(text):
    """Corners (x, y) of the pixels of each connected region of a map of booleans."""
    text = np.pad(text, 1)
    for start in np.argwhere(text):
        if not text[tuple(start)]:
            continue
        text[tuple(start)] = False
        found = [tuple(start)]
        for y, x in found:
            for ny, nx in np.argwhere(text[y - 1:y + 2, x - 1:x + 2]) + (y - 1, x - 1):
                text[ny, nx] = False
                found.append((ny, nx))
        pixels = np.array(found)[:, ::-1] - 1.0
        yield np.concatenate([pixels + corner for corner in ((0, 0), (0, 1), (1, 0), (1, 1))])


def hull_of(points):
    """The convex hull, by Andrew's monotone chain."""
    hull = []
    points = sorted(map(tuple, points))
    for side in points, points[::-1]:
        start = len(hull)
        for p in side:
            while len(hull) >= start + 2 and cross(hull[-2], hull[-1], p) <= 0:
                hull.pop()
            hull.append(p)
        hull.pop()
    return np.array(hull)


def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def smallest_rectangle(points):
    """Where it begins along its axes, its two sides, and its axes. One side of the
    smallest rectangle lies along the hull."""
    hull = hull_of(points)
    best = None
    for a, b in [((0, 0), (1, 0)), *zip(hull, np.roll(hull, -1, axis=0))]:
        ux, uy = np.subtract(b, a) / math.dist(a, b)
        if abs(ux) < abs(uy):
            ux, uy = uy, -ux
        if ux < 0:
            ux, uy = -ux, -uy
        u, v = hull @ (ux, uy), hull @ (-uy, ux)
        w, h = np.ptp(u), np.ptp(v)
        if best is None or w * h < best[2] * best[3]:
            best = u.min(), v.min(), w, h, np.array((ux, uy)), np.array((-uy, ux))
    return best


def find_boxes(probabilities):
    boxes = []
    height, width = probabilities.shape
    for points in regions(probabilities > PIXEL_THRESHOLD):
        u0, v0, w, h, u, v = smallest_rectangle(points)
        if min(w, h) < SMALLEST_SIDE:
            continue
        ys, xs = np.mgrid[0:height, 0:width]
        xs, ys = xs + 0.5, ys + 0.5
        pu, pv = xs * u[0] + ys * u[1] - u0, xs * v[0] + ys * v[1] - v0
        inside = (pu >= 0) & (pv >= 0) & (pu <= w) & (pv <= h)
        if not inside.any() or probabilities[inside].mean() < BOX_THRESHOLD:
            continue
        by = w * h * UNCLIP / (2 * (w + h))
        corner = (u0 - by) * u + (v0 - by) * v
        boxes.append((corner, u * (w + 2 * by), v * (h + 2 * by)))
    return sort_for_reading(boxes)


def sort_for_reading(boxes):
    middle = lambda box: box[0] + (box[1] + box[2]) / 2
    boxes = sorted(boxes, key=lambda box: middle(box)[1])
    result = []
    while boxes:
        end = middle(boxes[0])[1] + np.hypot(*boxes[0][2]) / 2
        row = [box for box in boxes if middle(box)[1] <= end]
        result += sorted(row, key=lambda box: middle(box)[0])
        boxes = boxes[len(row):]
    return result


class Networks:
    def __init__(self, folder, runs):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        load = lambda name: onnxruntime.InferenceSession(
            folder / name, options, providers=["CPUExecutionProvider"])
        self.detector = load("ch_PP-OCRv4_det_infer.onnx")
        self.classifier = load("ch_ppocr_mobile_v2.0_cls_infer.onnx")
        self.recognizer = load("ch_PP-OCRv4_rec_infer.onnx")
        table = self.recognizer.get_modelmeta().custom_metadata_map["character"]
        self.characters = ["", *table.split("\n"), " "]
        self.runs = runs

    def run(self, session, x):
        best = math.inf
        for _ in range(self.runs):
            start = time.perf_counter()
            y = session.run(None, {"x": x})[0]
            best = min(best, time.perf_counter() - start)
        return y, best * 1e3

    def detect(self, page):
        scale = DETECTOR_SIZE / max(page.shape[:2])
        height, width = (max(1, math.floor(n * scale + 0.5)) for n in page.shape[:2])
        x = planes(resize(page, width, height), IMAGENET, DETECTOR_SIZE, DETECTOR_SIZE)
        y, took = self.run(self.detector, x)
        return [tuple(np.array(p) / scale for p in box) for box in find_boxes(y[0, 0])], took

    def is_turned(self, line):
        x = planes(at_line_height(line, CLASSIFIER_WIDTH), HALF, CLASSIFIER_WIDTH, LINE_HEIGHT)
        return self.run(self.classifier, x)[0][0, 1] > 0.9

    def read(self, line):
        line = at_line_height(line, RECOGNIZER_WIDTHS[-1])
        width = next(w for w in RECOGNIZER_WIDTHS if line.shape[1] <= w)
        y, took = self.run(self.recognizer, planes(line, HALF, width, LINE_HEIGHT))
        best = y[0].argmax(1)
        kept = [i for i, c in enumerate(best) if c != 0 and (i == 0 or c != best[i - 1])]
        text = "".join(self.characters[best[i]] for i in kept)
        confidence = float(np.mean([y[0, i, best[i]] for i in kept])) if kept else 0.0
        return text, confidence, width, took


def lines_of(networks, page, quiet):
    boxes, took = networks.detect(page)
    if not quiet:
        print(f"{len(boxes)} lines, found in {took:.2f} ms")
    for corner, along, down in boxes:
        if np.hypot(*down) >= 1.5 * np.hypot(*along):
            corner, along, down = corner + along, down, -along
        width = max(1, int(np.hypot(*along) + 0.5))
        height = max(1, int(np.hypot(*down) + 0.5))
        line = cut(page, corner, along, down, width, height)
        if networks.is_turned(line):
            line = line[::-1, ::-1]
        text, confidence, width, took = networks.read(line)
        if confidence >= 0.5:
            box = corner, corner + along, corner + along + down, corner + down
            yield text, confidence, width, took, box


def columns(text, confidence, width, took, box=()):
    corners = [" ".join(f"{x:.1f},{y:.1f}" for x, y in box)] if box else []
    return "\t".join([text, f"{confidence:.3f}", str(width), f"{took:.2f} ms", *corners])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", type=pathlib.Path, required=True)
    parser.add_argument("--line", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("pictures", nargs="+")
    options = parser.parse_args()
    networks = Networks(options.networks, options.runs)
    for path in options.pictures:
        picture = np.asarray(Image.open(path).convert("RGB"))
        lines = ([networks.read(picture)] if options.line
                 else lines_of(networks, picture, options.quiet))
        for line in lines:
            print(line[0] if options.quiet else columns(*line))


if __name__ == "__main__":
    main()
