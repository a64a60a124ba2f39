#!/usr/bin/env python3
"""Imports and compiles mutated models of ONNX, ai.onnx.ml and TFLite, many in one process. Each
has to end within ten seconds and 4 GiB, without a crash, a sanitizer's report or a fault of nnc.

    mutations.py --count 100000           mutations 0 to 99999
    mutations.py --from 1234 --count 1    one of them again
    mutations.py --keep DIR               the models that failed, in DIR

Every third mutation is of a TFLite model. fuzz.py, here and in test/tflite, says what is changed; it
runs nnc itself, a process for each model. NNC_BUILD_DIR says where nnc was built; with the preset
asan that is what has AddressSanitizer and UndefinedBehaviorSanitizer. A number decides all of a
mutation.
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import fuzz
import models

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "test-try-models"
SANITIZED = "asan" in os.environ["NNC_BUILD_DIR"]
SECONDS = 10 * (3 if SANITIZED else 1)
BATCH = 60
ENDS = {"compiled", "broken", "unsupported", "unbound", "limit", "lacking"}


def tflite():
    """The fuzzer of test/tflite, some of whose modules have the same names as modules here."""
    sys.path.insert(0, str(ROOT / "test/tflite"))
    del sys.modules["fuzz"]
    import fuzz as module
    return module


def prepare():
    """The models that a worker mutates. Each worker imports the modules itself."""
    global seeds, other, flat_models
    seeds = [*models.sound_ones(), *fuzz.node_test_models()]
    other = tflite()
    flat_models = [*other.seeds()]


class Server:
    """A process that compiles models. If a model ends it, a new one is started."""

    def __init__(self, log):
        self.log = log
        self.process = None

    def start(self):
        arguments = [PROGRAM, str(SECONDS), *(["sanitized"] if SANITIZED else [])]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, text=True,
                                            stdout=subprocess.PIPE, stderr=log)

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None

    def run(self, path):
        """How compiling the model ended, and why it must not end like that, or None."""
        if not self.process:
            self.start()
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        word = self.process.stdout.readline().strip()
        if word in ENDS:
            return word, None
        if not word or word == "timeout":
            code = self.process.wait()
            self.process = None
            said = pathlib.Path(self.log).read_text(errors="replace")
            word = word or f"exit code {code}"
        else:
            said = pathlib.Path(self.log).read_text(errors="replace")
        return word, f"{word}\n{summarise(said)}"


def summarise(said):
    """The lines of a report by which reports are distinguished."""
    lines = [line for line in said.splitlines()
             if re.search(r"ERROR|runtime error|Assertion|LLVM ERROR|#\d+ .* (in|at) .*nnc|what\(\)",
                          line)]
    return "\n".join(line[:300] for line in (lines[:12] or said.splitlines()[-5:]))


def run_batch(numbers, keep):
    """(number of runs by how they ended, [(number, fault)]) for the mutations of these numbers."""
    ends, faults = {}, []
    shared = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as holder:
        folder = pathlib.Path(holder)
        server = Server(folder / "log")
        paths = other.write(flat_models, [n for n in numbers if n % 3 == 0], folder)
        for number in (n for n in numbers if n % 3):
            (own := folder / str(number)).mkdir()
            fuzz.write_case(seeds, number, own / f"m{number:06}.onnx")
            paths.append(own / f"m{number:06}.onnx")
        for path in paths:
            word, fault = server.run(path)
            ends[word] = ends.get(word, 0) + 1
            if fault:
                faults.append((int(path.stem[1:]), fault))
                if keep:
                    shutil.copy(path, keep)
        server.close()
    return ends, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, metavar="N")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    last = arguments.first + arguments.count
    batches = [range(first, min(first + BATCH, last))
               for first in range(arguments.first, last, BATCH)]
    ends, faults, run = {}, 0, 0
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs, context, prepare) as pool:
        jobs = [pool.submit(run_batch, batch, arguments.keep) for batch in batches]
        for job in concurrent.futures.as_completed(jobs):
            counted, found = job.result()
            for end, count in counted.items():
                ends[end] = ends.get(end, 0) + count
            before, run = run, run + sum(counted.values())
            for number, fault in found:
                faults += 1
                print(f"FAILED {number}: {fault}", flush=True)
            if before // 5000 != run // 5000:
                print(f"{run} run", flush=True)
    print(f"{run} mutations, {faults} failed:",
          ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    return 1 if faults or run < 0.8 * arguments.count else 0


if __name__ == "__main__":
    sys.exit(main())
