"""Counts the instructions that networks execute on aarch64, in an emulator.

The counts are a model of speed, not a measurement: they ignore caches and pipelines. A vector
multiply-add computes 4 multiply-adds of f32 or 8 of f16, so direct methods take at least 1/4 or
1/8 of an instruction for each multiply-add of the network. Methods that multiply less
(Winograd's and Strassen's) can take fewer.

    instructions.py FOLDER RUNS    runs the model in FOLDER in onnxruntime RUNS times;
                                   the emulator starts this command
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CHIP = "neoverse-n1"


@dataclasses.dataclass(frozen=True)
class Precision:
    target: str
    lanes: int


PRECISIONS = {"f32": Precision("aarch64", 4), "f16": Precision("aarch64-fp16", 8)}
# What the emitted module, built with NNC_HOOKS, calls after each layer.
HOOK = "nnc_layer_done"


@dataclasses.dataclass
class Counts:
    """Counts in the order in which count_instructions.cpp prints them. `inner` are the
    instructions of blocks that contain multiply-adds."""
    instructions: int = 0
    multiply_adds: int = 0
    loads: int = 0
    stores: int = 0
    inner: int = 0

    def combine(self, other, sign):
        return Counts(*(a + sign * b for a, b in zip(dataclasses.astuple(self),
                                                     dataclasses.astuple(other))))

    def __add__(self, other):
        return self.combine(other, 1)

    def __sub__(self, other):
        return self.combine(other, -1)


def count(command, mark=None, **environment):
    """The standard output of the command, and the Counts of each section. Each call of the
    function `mark` begins a new section. The instructions that the command runs in qemu-aarch64
    are counted."""
    plugin = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "lib/libnnc_count_instructions.so"
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "counts"
        options = f"{plugin},out={out}" + (f",mark={mark}" if mark else "")
        done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                              check=True, env={**os.environ, **environment,
                                               "QEMU_PLUGIN": options, "QEMU_CPU": CHIP})
        lines = out.read_text().splitlines()
    return done.stdout, [Counts(*map(int, line.split())) for line in lines]


def count_nnc(nnc, model, folder, precision):
    """The report of `nnc bench` for the model, with the field "counts" added to each layer."""
    shapes = [f"--shape={name}={'x'.join(map(str, dims))}" for name, dims in model.shapes.items()]
    subprocess.run([nnc, "compile", model.path, f"--target={PRECISIONS[precision].target}",
                    f"--precision={precision}", "--name=model", "-o", folder, *shapes],
                   check=True, stdout=subprocess.DEVNULL)
    printed, sections = count([nnc, "bench", folder, "--runs=1", "--json"], mark=HOOK)
    result = json.loads(printed)
    layers = result["layers"]
    # It runs the network to try it, then for its time, then for its layers' times; what
    # follows the last layer is a section, too. The last of the runs has nothing but the
    # clock between the layers.
    assert len(sections) == 3 * len(layers) + 1, "nnc bench has run the network otherwise"
    for layer, counts in zip(layers, sections[2 * len(layers):]):
        layer["counts"] = counts
    return result


def count_onnxruntime(system, model, folder):
    """The counts of an inference without the set-up: the difference between two inferences and
    one."""
    model.save(folder)

    def run(times):
        return count(["qemu-aarch64", "-L", system, system / "usr/bin/python3.11", "-B",
                      HERE / "instructions.py", folder, times],
                     PYTHONPATH=str(system / "wheels"))[1][0]
    return run(2) - run(1)


def run_onnxruntime(folder, times):
    from engines import ENGINES, Model
    infer = ENGINES["onnxruntime"].load(Model.load(folder), folder, threads=1)
    for _ in range(times):
        infer()


def heads(lanes):
    return ("instructions, millions", "a multiply-add", f"of the bound 1/{lanes}",
            "multiply-adds among them", "in inner blocks", "loads", "stores")


def cells(counts, multiply_adds, lanes):
    def share(part, whole):
        return f"{100 * part / whole:.0f} %" if whole else "–"
    each = counts.instructions / multiply_adds if multiply_adds else 0
    return [f"{counts.instructions / 1e6:.2f}", f"{each:.3f}" if each else "–",
            f"{each * lanes:.2f} ×" if each else "–",
            share(counts.multiply_adds, counts.instructions),
            share(counts.multiply_adds, counts.inner),
            share(counts.loads, counts.instructions),
            share(counts.stores, counts.instructions)]


def markdown(heads, rows):
    yield from ("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows))


def report(models, nnc, system, scratch, precision):
    """The lines of the report: a table of all networks, then a table of the layers of each
    network. onnxruntime is included for f32 only."""
    rows, tables, lanes = [], [], PRECISIONS[precision].lanes
    for model in models:
        print(model.name, file=sys.stderr, flush=True)
        own = scratch / model.name
        own.mkdir(parents=True)
        result = count_nnc(nnc, model, own / "module", precision)
        work = result["multiply_adds"]
        total = sum((layer["counts"] for layer in result["layers"]), Counts())
        rows.append([model.name, "nnc", *cells(total, work, lanes)])
        if precision == "f32":
            rows.append(["", "onnxruntime",
                         *cells(count_onnxruntime(system, model, own), work, lanes)])
        tables.append((model.name, [
            [layer["name"], layer["routine"], " ".join(map(str, layer["params"])),
             *cells(layer["counts"], layer["multiply_adds"], lanes)] for layer in result["layers"]]))
    yield (f"Instructions that aarch64 code executes in an emulator ({CHIP}), {precision}, one "
           "thread: modelled speed, not time.\n")
    yield from markdown(["network", "engine", *heads(lanes)], rows)
    for name, layers in tables:
        yield f"\n{name}\n"
        yield from markdown(["layer", "routine", "parameters", *heads(lanes)], layers)


if __name__ == "__main__":
    run_onnxruntime(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
