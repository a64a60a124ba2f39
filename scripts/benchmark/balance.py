#!/usr/bin/env python3
"""Computes how evenly the work of the layers of a network divides among more threads than the
machine has.

    balance.py MODEL [--threads 2,8,16,32,64] [--nnc PROGRAM] [OPTION OF nnc bench ...]

The program that nnc builds runs the share of each thread one after another and times it. The
balance is the mean time of a share over the largest one: 1 if the division is even. The
speed-up is that of the whole network, without the cost of caches, memory and barriers. The
layer in which threads wait longest is printed with its own balance.
"""

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Shares:
    """The times of a layer in seconds: outside of the pool, the sum of all shares, and the sum
    of the largest share of each call of the pool."""
    rest: float = 0
    sum: float = 0
    largest: float = 0

    def balance(self, threads):
        return self.sum / threads / self.largest if self.largest > 0 else 1

    def speed_up(self):
        return (self.rest + self.sum) / (self.rest + self.largest)


def parse(text):
    """The shares of each layer, read from the output of the program."""
    lines = (line.split() for line in text.splitlines())
    return [Shares(*map(float, words[2:])) for words in lines if words[:1] == ["simulated"]]


def summarize(names, layers, threads):
    """The balance and speed-up of a network, and the layer in which threads wait longest."""
    whole = Shares(*(sum(getattr(layer, field.name) for layer in layers)
                     for field in dataclasses.fields(Shares)))
    waits = [layer.largest - layer.sum / threads for layer in layers]
    worst = waits.index(max(waits))
    return {"threads": threads, "balance": whole.balance(threads), "speed_up": whole.speed_up(),
            "worst_layer": names[worst], "worst_layer_balance": layers[worst].balance(threads)}


def measure(nnc, model, counts, options):
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(folder, "kept")
        said = json.loads(subprocess.check_output(
            [nnc, "bench", model, f"--threads={max(counts)}", "--runs=1", "--json",
             f"--keep={kept}", *options]))
        names = [layer["name"] for layer in said["layers"]]
        for threads in counts:
            text = subprocess.check_output([kept / "run", f"--simulate={threads}", "--runs=20"],
                                           text=True)
            yield summarize(names, parse(text), threads)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--threads", default="2,8,16,32,64",
                        type=lambda text: [int(count) for count in text.split(",")])
    parser.add_argument("--nnc", default=ROOT / "build/bin/nnc")
    options, others = parser.parse_known_args(arguments)
    if min(options.threads) < 2:
        parser.error("--threads: work is divided among 2 threads or more")
    print(f"{'threads':>7} {'balance':>8} {'speed-up':>9}  most waits")
    for row in measure(options.nnc, options.model, options.threads, others):
        print(f"{row['threads']:7} {row['balance']:8.2f} {row['speed_up']:9.1f}  "
              f"{row['worst_layer']} ({row['worst_layer_balance']:.2f})")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
