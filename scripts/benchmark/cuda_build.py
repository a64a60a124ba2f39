"""Builds what `scripts/bench --cuda --run DIR` measures, on a machine without a GPU.

For each network, precision and batch, DIR has a folder with the program that `nnc bench --keep`
makes, its inputs, the outputs that are expected, and network.json, which says what they are. It is
small, because weights follow a short pattern and are compressed: a network's own weights would be
random numbers. Batch norms and scales are measured for these weights, as in test/networks, so that
values stay near 1 and every channel counts.

Outputs are expected to be those of onnxruntime in floats, and, of networks in 8 bits, those of nnc
on this CPU.
"""

import dataclasses
import json
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "test/networks"), str(HERE)]
import graph  # noqa: E402
import make  # noqa: E402
import quantized  # noqa: E402
import zoo  # noqa: E402

PATTERN = 64  # weights of a row repeat after so many
FEW = 4096    # elements up to which an initializer keeps its own numbers
SEED = 5      # of inputs
DISTINCT = 5  # samples of a batch that differ; the others repeat them

# (network, precision, batch), the most valuable first.
USUAL = [("resnet50", "f16", 1), ("bert_base", "f16", 1), ("resnet50", "f16", 64),
         ("mobilenet_v2", "f16", 1), ("bert_base", "f16", 32), ("efficientnet_b0", "f16", 1),
         ("squeezenet1_1", "f16", 1), ("vit_b16", "f16", 1), ("resnet50", "int8", 1),
         ("resnet50", "f32", 1), ("mobilenet_v2", "int8", 1), ("mobilenet_v2", "f32", 1)]

# The relative error in the L2 norm that an output may have.
TOLERANCE = {"f16": 1e-2, "f32": 1e-4, "int8": 1e-5}


def pattern(rows, columns, deviation, random):
    """Numbers [rows][columns] with this standard deviation and a mean of zero: a row repeats
    after PATTERN of them and begins elsewhere in the pattern than its neighbours."""
    table = random.standard_normal(PATTERN)
    table = (table - table.mean()) / table.std() * deviation
    at = (5 * np.arange(rows)[:, None] + np.arange(columns)) % PATTERN
    return table.astype(np.float32)[at]


class PatternRandom:
    """A generator whose large arrays of normal numbers follow a pattern."""

    def __init__(self, random):
        self.random = random

    def __getattr__(self, name):
        return getattr(self.random, name)

    def standard_normal(self, size=None, dtype=np.float64):
        count = int(np.prod(size or 1))
        if count <= FEW:
            return self.random.standard_normal(size, dtype)
        rows = size[0]
        return pattern(rows, count // rows, 1, self.random).reshape(size).astype(dtype)


class PatternGraph(graph.Graph):
    """A network of test/networks whose large weights follow a pattern."""

    def random(self, leaf):
        return PatternRandom(super().random(leaf))


def with_pattern(model):
    """The model with patterns of the same deviation in place of large weights of floats."""
    random = np.random.default_rng(SEED)
    for one in model.graph.initializer:
        if one.data_type == onnx.TensorProto.FLOAT and int(np.prod(one.dims)) > FEW:
            old = numpy_helper.to_array(one)
            new = pattern(old.shape[0], old.size // old.shape[0], old.std(), random)
            one.CopyFrom(numpy_helper.from_array(new.reshape(old.shape), one.name))
    return model


def make_model(name, folder):
    """The network as a file: one of test/networks, or a path."""
    if name.endswith(".onnx"):
        model = with_pattern(onnx.load(name))
        path = folder / pathlib.Path(name).name
    elif name in zoo.NETWORKS:
        make.Graph = PatternGraph
        model, path = make.build(name), folder / f"{name}.onnx"
    else:
        return None
    onnx.save(model, path)
    return path


def inputs_of(path, name, batch):
    """The inputs by their names: those of test/networks, or random numbers."""
    described = onnx.load(path, load_external_data=False).graph.input
    if name in zoo.NETWORKS:
        feeds = zoo.feeds(zoo.NETWORKS[name], [i.name for i in described], SEED,
                          min(batch, DISTINCT))
        return {one: np.resize(array, (batch, *array.shape[1:])) for one, array in feeds.items()}
    random = np.random.default_rng(SEED)

    def draw(tensor):
        shape = [d.dim_value or batch for d in tensor.type.tensor_type.shape.dim]
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.type.tensor_type.elem_type)
        if np.issubdtype(kind, np.integer):
            return random.integers(0, 1000, shape).astype(kind)
        return random.standard_normal(shape).astype(kind)
    return {tensor.name: draw(tensor) for tensor in described}


def shape_options(feeds):
    return [f"--shape={name}={'x'.join(map(str, array.shape))}" for name, array in feeds.items()]


def run_nnc(nnc, *arguments):
    done = subprocess.run([nnc, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"nnc {arguments[0]}: {(done.stderr + done.stdout)[-2000:]}")
    return json.loads(done.stdout)


def expected_outputs(nnc, path, feeds, precision, scratch):
    """The outputs in order, as arrays with their names."""
    names = [o.name for o in onnx.load(path, load_external_data=False).graph.output]
    if precision != "int8":
        return list(zip(names, make.session(onnx.load(path)).run(names, feeds)))
    given = []
    for i, (name, array) in enumerate(feeds.items()):
        np.save(scratch / f"{i}.npy", array)
        given += ["--input", f"{name}={scratch / str(i)}.npy"]
    run_nnc(nnc, "run", path, *shape_options(feeds), *given, "--output-dir", scratch / "outputs")
    files = sorted((scratch / "outputs").glob("*.npy"))
    by_name = {file.stem: np.load(file) for file in files}
    return [(name, by_name[name] if name in by_name else np.load(files[i]))
            for i, name in enumerate(names)]


@dataclasses.dataclass
class Case:
    name: str
    precision: str
    batch: int

    @property
    def key(self):
        return f"{pathlib.Path(self.name).stem}-{self.precision}-b{self.batch}"


def peak_of(target, precision):
    """The multiply-adds per cycle and multiprocessor that targets.inc states, or None."""
    entry = re.search(rf'NNC_TARGET\("{target.split(",")[0]}",.*?\n(?=NNC_)',
                      (ROOT / "dialects/target/targets.inc").read_text(), re.S)
    tensors = entry and re.search(r"TENSORS\((\d+), (\d+)\)", entry[0])
    if not tensors:
        return None
    speed = re.search(r"SPEED\((\d+),", entry[0])[1]
    processors = re.search(r"MULTIPROCESSORS\((\d+),", entry[0])[1]
    return {"f16": int(tensors[1]), "int8": int(tensors[2]),
            "f32": int(speed) / int(processors)}[precision]


def pack(nnc, case, path, target, compiler, to, scratch):
    """Builds the program of a case into the folder `to`."""
    feeds = inputs_of(path, pathlib.Path(case.name).stem, case.batch)
    options = [path, *shape_options(feeds), f"--target={target}"]
    # The precision changes no number of multiply-adds.
    checked = run_nnc(nnc, "check", *options)
    if case.precision == "f16":
        options.append("--precision=f16")
    kept = scratch / "kept"
    run_nnc(nnc, "bench", *options, *([f"--compiler={compiler}"] if compiler else []),
            "--weights=file", "--runs=1", f"--keep={kept}")
    explained = run_nnc(nnc, "explain", *options)
    to.mkdir(parents=True)
    shutil.copy2(kept / "program", to / "program")
    subprocess.run(["strip", to / "program"], check=False)
    script = (kept / "run").read_text()
    files = re.findall(r"--input=(\S+)", script)
    sizes = [int(size) for size in re.findall(r"--output=:(\d+)", script)]
    weights = kept / "weights.bin"
    if files and files[-1] == weights.name:
        files.pop()
    for file, array in zip(files, feeds.values(), strict=True):
        if (kept / file).stat().st_size != array.nbytes:
            raise RuntimeError(f"{file} has another size than the network's input")
        # With a window that holds the distinct samples of a batch.
        (to / f"{file}.xz").write_bytes(lzma.compress(np.ascontiguousarray(array).tobytes(),
                                                      preset=6))
    if weights.exists():
        (to / "weights.bin.xz").write_bytes(lzma.compress(weights.read_bytes(), preset=1))
    outputs = []
    expected = expected_outputs(nnc, path, feeds, case.precision, scratch)
    for (name, array), size in zip(expected, sizes, strict=True):
        array = np.ascontiguousarray(array)
        if array.nbytes != size or array.dtype not in (np.float32, np.int64):
            raise RuntimeError(f"output {name} is {array.dtype} in {array.nbytes} bytes, and the "
                               f"program's has {size}")
        if not np.isfinite(array).all():
            raise RuntimeError(f"output {name} is expected to have infinite values")
        file = f"expected{len(outputs)}.bin.xz"
        (to / file).write_bytes(lzma.compress(array.tobytes(), preset=1))
        outputs.append({"name": name, "bytes": size, "dtype": str(array.dtype), "file": file})
    (to / "network.json").write_text(json.dumps({
        "key": case.key, "network": pathlib.Path(case.name).stem, "precision": case.precision,
        "batch": case.batch, "target": target, "inputs": files,
        "weight_bytes": weights.stat().st_size if weights.exists() else 0, "outputs": outputs,
        "tolerance": TOLERANCE[case.precision], "multiply_adds": checked["multiply_adds"],
        "peak_per_multiprocessor": peak_of(target, case.precision),
        "estimated_seconds": explained.get("seconds")}, indent=1))


def build(nnc, folder, target, cases, compiler=""):
    """Builds all cases, and returns the keys of those that failed, with the reasons."""
    folder.mkdir(parents=True, exist_ok=True)
    models, failed, order = {}, {}, []
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for case in cases:
            to = folder / case.key
            shutil.rmtree(to, ignore_errors=True)
            try:
                if case.name not in models:
                    models[case.name] = make_model(case.name, top)
                path = models[case.name]
                if not path:
                    raise RuntimeError("test/networks has no such network")
                scratch = top / case.key
                scratch.mkdir()
                if case.precision == "int8":
                    quantized.quantize(pathlib.Path(case.name).stem, path, scratch / path.name)
                    path = scratch / path.name
                pack(nnc, case, path, target, compiler, to, scratch)
                shutil.rmtree(scratch)
                order.append(case.key)
                size = sum(file.stat().st_size for file in to.iterdir())
                print(f"{case.key}: {size / 1e6:.1f} MB", flush=True)
            except (RuntimeError, ValueError, KeyError) as problem:
                failed[case.key] = str(problem)
                shutil.rmtree(to, ignore_errors=True)
                print(f"{case.key}: left out: {problem}", flush=True)
    (folder / "cases.json").write_text(json.dumps({"target": target, "cases": order,
                                                   "left_out": failed}, indent=1))
    return failed


def parse(text):
    """A case from text such as resnet50:f16:64; without the rest f16 and 1."""
    name, precision, batch, *_ = [*text.split(":"), "", ""]
    return Case(name, precision or "f16", int(batch or 1))
