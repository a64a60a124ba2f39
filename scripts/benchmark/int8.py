"""Times networks in 8 bits in nnc and in other engines, beside nnc's float32."""

import dataclasses
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent

# Measured unless others are asked for.
NETWORKS = ["resnet18", "resnet50", "vgg16", "inception_v3", "mobilenet_v1", "mobilenet_v2",
            "mobilenet_v3_large", "squeezenet1_1", "bert_base"]

OWN, FLOAT = "nnc", "nnc float32"


def quantize(models, folder, cache):
    """The models in 8 bits. The field `floats` of each is the float model."""
    for model in models:
        subprocess.run([cache / "venv/bin/python", "-B", HERE / "quantized.py", model.name, "-o",
                        folder], check=True, stdout=subprocess.DEVNULL)
        path = (folder / f"{model.name}.onnx").resolve()
        yield dataclasses.replace(model, path=path, floats=model.path)


def geometric_means(kinds):
    """A sentence for each kind of ratio that has values."""
    for what, ratios in kinds.items():
        if ratios:
            yield (f"\nGeometric mean of {what}: {statistics.geometric_mean(ratios):.2f} ×, "
                   f"least {min(ratios):.2f} ×.")


def table(rows, engines, threads):
    """The table in Markdown. A row has the name of a model and its results by engine."""
    kinds = {f"best int8 peer / {OWN}": [], f"{FLOAT} / {OWN}": []}
    heads = [f"network in 8 bits, {threads} thread{'s' * (threads > 1)}, ms", *engines, *kinds]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for name, results in rows:
        medians = {engine: result.median for engine, result in results.items()}
        peers = [median for engine, median in medians.items() if engine not in (OWN, FLOAT)]
        others = [min(peers, default=None), medians.get(FLOAT)]
        cells = [f"{1e3 * medians[e]:.2f}" if e in medians else "–" for e in engines]
        for other, ratios in zip(others, kinds.values()):
            if other is None or OWN not in medians:
                cells.append("–")
            else:
                ratios.append(other / medians[OWN])
                cells.append(f"{ratios[-1]:.2f} ×")
        yield "| " + " | ".join([name, *cells]) + " |"
    yield from geometric_means(kinds)
