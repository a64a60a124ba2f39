#!/usr/bin/env python3
"""Imports sound networks of Caffe in which something at random has been changed: a number, a word,
a line or a layer of the text, or a byte, a length or the end of the weights. Each import has to end
within ten seconds, and to call the network sound, broken, too large or more than nnc does. Every
twentieth network is compiled as well.

    fuzz.py --count 3000            mutations 0 to 2999
    fuzz.py --from 1234 --count 1   one of them again
    fuzz.py --keep DIR              the networks that failed, in DIR

NNC_BUILD_DIR says where nnc was built; without nnc there, networks are imported only. A mutation's
number decides all of it.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import formats
import layers_test
from caffemodel import Net, caffemodel

sys.path.append(str(pathlib.Path(__file__).parents[1] / "broken"))
import outcome

TRANSLATE = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc-translate"
STATUS = re.compile(r"^status: (broken|unsupported|unbound|limit)$", re.MULTILINE)
ALLOWED = {outcome.DONE, outcome.BROKEN, outcome.LACKING, outcome.LIMIT, outcome.USAGE}
BATCH = 40

NUMBERS = ["0", "1", "-1", "2", "3", "7", "8", "64", "255", "65536", "1073741824", "2147483647",
           "-2147483648", "4294967295", "4294967296", "9223372036854775807",
           "-9223372036854775808", "0.5", "-0.5", "1e30", "1e-45", "nan", "inf", "true", "false"]
WORDS = ["layer", "layers", "{", "}", "bottom:", "top:", "name:", "type:", '"in0"', '"x"', '""',
         '"\\377"', "#", "input:", "input_dim:", "shape", "dim:", "[", "]", ":", "include",
         "phase: TRAIN", "AVE", "SUM", "blobs", "data:", "convolution_param"]


def pick(random, items):
    return items[int(random.integers(len(items)))]


def change_text(random, text):
    """The text after a few changes of words."""
    words = re.split(r"(\s+)", text)
    numbers = [i for i, w in enumerate(words) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", w)]
    names = [i for i, w in enumerate(words) if w.startswith('"')]
    for _ in range(int(random.integers(1, 4))):
        how = int(random.integers(16))
        at = int(random.integers(len(words)))
        if how < 9 and numbers:
            # Seldom a number of another kind, of which the text's parser complains.
            at = pick(random, numbers)
            is_whole = words[at].lstrip("-").isdigit() and random.random() < 0.95
            words[at] = pick(random, [n for n in NUMBERS if n.lstrip("-").isdigit()]
                             if is_whole else NUMBERS)
        elif how < 12 and names:
            words[pick(random, names)] = words[pick(random, names)]
        elif how == 12:
            words[at] = pick(random, WORDS)
        elif how == 13:
            words[at] = ""
        elif how == 14:
            other = int(random.integers(len(words)))
            words[at], words[other] = words[other], words[at]
        else:
            lines = "".join(words).split("\n")
            first = int(random.integers(len(lines)))
            count = int(random.integers(1, 12))
            part = lines[first:first + count]
            to = int(random.integers(len(lines)))
            lines[to:to] = part
            return "\n".join(lines)
    return "".join(words)


def damage(random, data):
    """The bytes of a file after changing, removing or repeating some of them."""
    data = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        how = int(random.integers(6))
        # Most of a file are weights, which mean nothing; its start has lengths.
        most = len(data) if random.random() < 0.5 else min(len(data), 64)
        at, other = (int(random.integers(max(most, 1))) for _ in range(2))
        if how == 0 and data:
            data[at] ^= 1 << int(random.integers(8))
        elif how == 1 and data:
            data[at] = int(random.integers(256))
        elif how == 2:
            data[at:at] = bytes([0xFF] * int(random.integers(1, 11)))
        elif how == 3:
            data[at:at] = data[other:other + int(random.integers(1, 40))]
        elif how == 4:
            del data[at:at + int(random.integers(1, 40))]
        elif random.random() < 0.3:
            del data[at:]
    return bytes(data)


def seeds():
    """(text, weights) of sound networks."""
    for build in layers_test.CASES:
        net = Net(seed=1)
        build(net)
        yield net.text(), caffemodel(net.blobs) if net.blobs else b""
    for text, weights in formats.networks():
        yield text, weights


def write(networks, number, folder):
    """Writes the mutation with this number; returns its path."""
    random = np.random.default_rng(number)
    text, weights = pick(random, networks)
    path = folder / f"m{number:06}.prototxt"
    data = text.encode()
    how = number % 4 if weights else number % 2
    if how < 2:
        data = change_text(random, text).encode()
    elif how == 2:
        weights = damage(random, weights)
    if how == 1 and random.random() < 0.3:
        data = damage(random, data)
    if how == 3:  # The weights alone, which may hold a network, too.
        path = path.with_suffix(".caffemodel")
        path.write_bytes(damage(random, weights))
        return path
    path.write_bytes(data)
    if weights:
        path.with_suffix(".caffemodel").write_bytes(weights)
    return path


def translate(paths, seconds):
    """Imports the networks. Returns (exit code or None, output)."""
    try:
        done = subprocess.run([TRANSLATE, "--import", "--quiet", *paths], capture_output=True,
                              text=True, errors="replace", timeout=seconds,
                              preexec_fn=outcome.limit_memory)
    except subprocess.TimeoutExpired:
        return None, "it took too long"
    return done.returncode, done.stderr


def judge(paths, ends):
    """Yields (path, fault) of the networks whose import does not end as required."""
    code, said = translate(paths, 10 + 2 * len(paths))
    found = STATUS.findall(said)
    if code in (0, 1) and not outcome.CRASH.search(said) and "status: fault" not in said:
        for status in found:
            ends[status] = ends.get(status, 0) + 1
        ends["sound"] = ends.get("sound", 0) + len(paths) - len(found)
        return
    for path in paths if len(paths) > 1 else []:
        yield from judge([path], ends)
    if len(paths) == 1:
        yield paths[0], f"exit code {code}: {said[-1500:]}"


def compile_it(path):
    try:
        code, said, fault = outcome.compile_model(path)
    except subprocess.TimeoutExpired:
        return "compiling took too long"
    shutil.rmtree(path.parent / "out", ignore_errors=True)
    if code not in ALLOWED:
        fault = fault or f"exit code {code}"
    return f"{fault}\n{said[:1500]}" if fault else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400, metavar="N")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    networks, ends, faults = [*seeds()], {}, 0
    for first in range(arguments.first, arguments.first + arguments.count, BATCH):
        numbers = range(first, min(first + BATCH, arguments.first + arguments.count))
        with tempfile.TemporaryDirectory() as folder:
            paths = [write(networks, number, pathlib.Path(folder)) for number in numbers]
            found = [*judge(paths, ends)]
            if outcome.NNC.exists():
                some = [p for p in paths if int(p.stem[1:]) % 20 == 0]
                found += [(p, fault) for p in some if (fault := compile_it(p))]
            for path, fault in found:
                faults += 1
                print(f"FAILED {int(path.stem[1:])}: {fault}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    for file in path.parent.glob(path.stem + ".*"):
                        shutil.copy(file, arguments.keep)
    print(f"{arguments.count} mutations, {faults} failed:",
          ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
