"""Times pruned networks whose weights share values: nnc with each encoding of weights and with
dense weights, in floats and in 8 bits; onnxruntime; and, if all layers are fully connected,
sparse matrices of scipy."""

import dataclasses
import pathlib
import subprocess

from engines import NNC

HERE = pathlib.Path(__file__).resolve().parent

# Measured unless others are asked for; pruned.py has more.
NETWORKS = ["alexnet", "alexnet_dense", "vgg16", "vgg16_dense"]
KNOWN = [network + part + share for network in ("alexnet", "vgg16") for part in ("", "_dense")
         for share in ("", "_70", "_80", "_90")]

DENSE = "nnc float32"  # what others are compared with


def make(names, folder, cache):
    """The names and paths of the networks. Networks that are not in the cache are created."""
    for name in names:
        subprocess.run([cache / "venv/bin/python", "-B", HERE / "pruned.py", name, "-o", folder],
                       check=True, stdout=subprocess.DEVNULL)
        yield name, folder / f"{name}.onnx"


def quantize(model, folder):
    """The model in 8 bits, with the float one as `floats`. `nnc quantize` writes it in a form
    that all engines read, with a scale for each channel of the weights. Calibration uses random
    inputs."""
    import numpy as np
    samples, path = folder / "samples.npz", folder / f"{model.name}-int8.onnx"
    np.savez(samples, **model.inputs())
    bound = [f"--shape={name}={'x'.join(map(str, dims))}" for name, dims in model.shapes.items()]
    subprocess.run([NNC, "quantize", model.path, *bound, f"--calibration={samples}",
                    "--per-channel", "-o", path, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    return dataclasses.replace(model, path=path.resolve(), floats=model.path)


def table(name, results, sizes):
    """The table in Markdown, with a row for each engine. `results` are by number of threads,
    then by engine. `sizes` are the bytes of the weights and of the arena by engine."""
    counts = sorted(results)
    heads = [name, "weights, MB", "arena, MB", "resident at most, MB"]
    for count in counts:
        heads += [f"{count} thread{'s' * (count > 1)}, ms", f"{DENSE} / it"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for engine, (weights, arena) in sizes.items():
        cells = [engine, f"{1e-6 * weights:.2f}", "–" if arena is None else f"{1e-6 * arena:.2f}"]
        first = results[counts[0]].get(engine)
        cells.append(f"{1e-6 * first.resident:.0f}" if first else "–")
        for count in counts:
            own, dense = results[count].get(engine), results[count].get(DENSE)
            cells.append(f"{1e3 * own.median:.2f}" if own else "–")
            cells.append(f"{dense.median / own.median:.2f} ×" if own and dense else "–")
        yield "| " + " | ".join(cells) + " |"
