"""The engines: how each reads an ONNX file, and a process that times one engine.

    engines.py ENGINE ARTIFACT THREADS

The process reads lines, each with a number of seconds to run, and answers each line with the
times of the runs in seconds.

The function prepare() of an engine converts a model once into the form that the process loads,
independent of the number of threads. All engines compute in float32 what the model does not
quantize.
"""

import dataclasses
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import time

NNC = pathlib.Path(os.environ.get("NNC_BUILD_DIR", "build-release")) / "bin" / "nnc"
WARM_UP_SECONDS = 0.3


class Unsupported(Exception):
    """The engine cannot run the model."""


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    path: pathlib.Path
    shapes: dict  # dims of each input
    dtypes: dict  # numpy's name for each input's element type
    outputs: list  # names
    floats: pathlib.Path = None  # of a quantized network the float one

    def inputs(self):
        import numpy as np
        random = np.random.default_rng(0)
        return {name: random.standard_normal(dims).astype(np.float32)
                if self.dtypes[name] == "float32" else
                random.integers(0, 2, dims).astype(self.dtypes[name])
                for name, dims in self.shapes.items()}

    def save(self, folder):
        (folder / "model.json").write_text(json.dumps(dataclasses.asdict(self), default=str))

    @staticmethod
    def load(folder):
        return Model(**json.loads((pathlib.Path(folder) / "model.json").read_text()))


def call(command, folder=None):
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True,
                          errors="replace")
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["nothing"]
        raise Unsupported(f"{pathlib.Path(str(command[0])).name}: {said[-1]}")
    return done.stdout


def peak_resident_bytes():
    """The peak resident memory of this process. getrusage() is not used, because its result may
    be that of the process that started this one."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)[1])


def repeat(run, seconds):
    """The seconds of each run: as many runs as fit into `seconds`, but at least three. One run
    before them fills the caches, which other processes have used in between."""
    run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


@dataclasses.dataclass(frozen=True)
class Nnc:
    name: str = "nnc"
    options: tuple = ()  # of nnc compile
    target: str = "native"
    module = None

    def prepare(self, model, folder):
        bound = [f"--shape={name}={'x'.join(map(str, dims))}"
                 for name, dims in model.shapes.items()]
        call([NNC, "compile", model.path, f"--target={self.target}", "--threads=on", "--name=model",
              "-o", folder / "module", *bound, *self.options])
        said = call([NNC, "bench", folder / "module", "--runs=1", f"--keep={folder / 'kept'}",
                     "--json"])
        (folder / "bench.json").write_text(said)

    def sizes(self, model, folder):
        """Bytes of the weights and of the arena."""
        manifest = json.loads((folder / "module/manifest.json").read_text())
        return manifest["weight_bytes"], manifest["arena_bytes"]

    def start(self, folder, threads):
        program = subprocess.Popen([folder / "kept/run", f"--threads={threads}", "--peak",
                                    "--turns"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True)
        said = json.loads((folder / "bench.json").read_text())
        # Without the layers' times, which are of that one run on one thread.
        result = {"multiply_adds": said["multiply_adds"],
                  "layers": [{key: value for key, value in layer.items() if key != "seconds"}
                             for layer in said["layers"]]}

        def turn(seconds):
            print(seconds, file=program.stdin, flush=True)
            result["times"] = []
            for line in program.stdout:
                word, number = line.split()
                if word == "run":
                    result["times"].append(float(number))
                elif word == "peak":
                    result["peak_multiply_adds_per_second"] = float(number)
                elif word == "handover":
                    result["handover_seconds"] = float(number)
                elif word == "resident":
                    return {**result, "peak_resident_bytes": int(number)}
            raise Unsupported("nnc's program ended")
        return turn


class NncFloat(Nnc):
    """Runs the float network, for comparison with the quantized one."""

    def prepare(self, model, folder):
        super().prepare(dataclasses.replace(model, path=model.floats), folder)


class NncBelow(NncFloat):
    """Runs the float network with a limit of the bytes of weights: the share `share` of the
    bytes that the engine `dense` has. nnc chooses how to store each weight."""
    dense, share = "nnc float32", 0.1

    def prepare(self, model, folder):
        manifest = folder.parent / self.dense / "module/manifest.json"
        if not manifest.exists():
            raise Unsupported(f"{self.dense} did not compile it")
        limit = int(self.share * json.loads(manifest.read_text())["weight_bytes"])
        own = dataclasses.replace(self, options=(*self.options, f"--max-weights={limit}"))
        super(NncBelow, own).prepare(model, folder)


class Peer:
    """An engine that runs in this process, which load() loads it into."""

    def sizes(self, model, folder):
        """The bytes of the model's file, and None because the file does not tell the working
        memory."""
        return model.path.stat().st_size, None

    def start(self, folder, threads):
        before = peak_resident_bytes()
        run = self.load(Model.load(folder), folder, threads)
        return lambda seconds: {"times": repeat(run, seconds), "python_bytes": before,
                                "peak_resident_bytes": peak_resident_bytes()}


class OnnxRuntime(Peer):
    module = "onnxruntime"

    def __init__(self, name="onnxruntime"):
        self.name = name

    def prepare(self, model, folder):
        pass

    def load(self, model, folder, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.path, options, ["CPUExecutionProvider"])
        inputs = model.inputs()
        return lambda: session.run(None, inputs)


class OnnxRuntimeFloat(OnnxRuntime):
    """Runs the float network, for comparison with the quantized one."""

    def prepare(self, model, folder):
        dataclasses.replace(model, path=model.floats).save(folder)

    def sizes(self, model, folder):
        return model.floats.stat().st_size, None


class SciPy(Peer):
    """Runs fully connected layers as sparse matrices. Each thread multiplies by some of the
    rows, because scipy releases Python's lock while it multiplies. scipy is faster with
    matrices stored by columns than by rows and, on one thread, faster than the sparse matrices
    of MKL through their wrapper on PyPI."""
    name, module = "scipy", "scipy"

    def prepare(self, model, folder):
        import onnx
        import numpy as np
        import scipy.sparse
        graph = onnx.load(model.floats).graph
        known = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
        layers, kinds = [], []
        for node in graph.node:
            if node.op_type not in ("Gemm", "Relu", "Softmax"):
                raise Unsupported(f"scipy has no {node.op_type}")
            if node.op_type == "Gemm":
                weight, bias = (known[name] for name in node.input[1:])
                layers.append((scipy.sparse.csc_array(weight), bias))
            else:
                kinds.append(node.op_type)
        if kinds != ["Relu"] * (len(layers) - 1) + ["Softmax"]:
            raise Unsupported("scipy is for layers with a Relu in between and a Softmax last")
        for i, (matrix, bias) in enumerate(layers):
            scipy.sparse.save_npz(folder / f"{i}.npz", matrix, compressed=False)
            np.save(folder / f"{i}.npy", bias)

    def sizes(self, model, folder):
        return sum(path.stat().st_size for path in folder.glob("*.np?")), None

    def load(self, model, folder, threads):
        import concurrent.futures
        import numpy as np
        import scipy.sparse
        layers = []
        for path in sorted(folder.glob("*.npz")):
            rows = scipy.sparse.load_npz(path).tocsr()
            ends = [rows.shape[0] * i // threads for i in range(threads + 1)]
            layers.append(([rows[begin:end].tocsc() for begin, end in zip(ends, ends[1:])],
                           np.load(path.with_suffix(".npy"))))
        pool = concurrent.futures.ThreadPoolExecutor(threads)
        x, = model.inputs().values()

        def multiply(parts, y):
            if len(parts) == 1:
                return parts[0] @ y
            return np.concatenate(list(pool.map(lambda part: part @ y, parts)))

        def run():
            y = x[0]
            for i, (parts, bias) in enumerate(layers):
                y = multiply(parts, y) + bias
                if i + 1 < len(layers):
                    y = np.maximum(y, 0)
            y = np.exp(y - y.max())
            return y / y.sum()
        return run


class OpenVino(Peer):
    module = "openvino"

    def __init__(self, name="OpenVINO", precision="f32"):
        self.name, self.precision = name, precision

    def prepare(self, model, folder):
        pass

    def load(self, model, folder, threads):
        import openvino
        core = openvino.Core()
        network = core.read_model(model.path)
        network.reshape({name: list(dims) for name, dims in model.shapes.items()})
        request = core.compile_model(network, "CPU", {
            "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": self.precision}).create_infer_request()
        for name, array in model.inputs().items():
            request.set_tensor(name, openvino.Tensor(array))
        return request.infer


class Mnn(Peer):
    name, module = "MNN", "MNN"

    def prepare(self, model, folder):
        # Its converter's command sends usage logs; its library does not. It may
        # end the process, so it has one of its own.
        call([sys.executable, "-c", "import sys, _tools; _tools.mnnconvert(sys.argv)",
              "-f", "ONNX", "--modelFile", model.path, "--MNNModel", "model.mnn",
              "--bizCode", "nnc"], folder)
        if not (folder / "model.mnn").exists():
            raise Unsupported("MNN's converter wrote no model")

    def load(self, model, folder, threads):
        import MNN
        manager = MNN.nn.create_runtime_manager(({
            "backend": "CPU", "precision": "high", "memory": "high", "power": "high",
            "numThread": threads},))
        net = MNN.nn.load_module_from_file(
            str(pathlib.Path(folder) / "model.mnn"), list(model.shapes),
            model.outputs, runtime_manager=manager)
        types = {"float32": MNN.numpy.float32, "int64": MNN.numpy.int32}
        variables = []
        for name, array in model.inputs().items():
            variable = MNN.expr.placeholder(list(array.shape), MNN.expr.NCHW,
                                            types[model.dtypes[name]])
            variable.write(array.astype("int32") if model.dtypes[name] == "int64" else array)
            variables.append(variable)

        def run():
            for output in net.forward(variables):
                output.read()
        return run


class MnnInt8(Mnn):
    """Runs the model that MNN's own quantizer makes from the float network and one sample.
    MNN's converter fails on QDQ models of onnxruntime's quantizer, or writes models that do not
    run."""
    name = "MNN int8"

    def prepare(self, model, folder):
        import numpy as np
        super().prepare(dataclasses.replace(model, path=model.floats), folder)
        sample = folder / "samples/0"
        sample.mkdir(parents=True)
        for name, array in model.inputs().items():
            np.savetxt(sample / f"{name}.txt", array.ravel(), fmt="%g")
        (sample / "input.json").write_text(json.dumps({
            "inputs": [{"name": name, "shape": dims} for name, dims in model.shapes.items()],
            "outputs": model.outputs}))
        (folder / "quantize.json").write_text(json.dumps({
            "path": "samples/", "input_type": "sequence", "used_sample_num": 1, "batch_size": 1,
            "feature_quantize_method": "EMA", "weight_quantize_method": "MAX_ABS",
            "winogradOpt": True}))
        (folder / "model.mnn").rename(folder / "float.mnn")
        # Its command sends usage logs, as the converter's does.
        call([sys.executable, "-c", "import sys, _tools; _tools.mnnquant(sys.argv)",
              "float.mnn", "model.mnn", "quantize.json"], folder)
        if not (folder / "model.mnn").exists():
            raise Unsupported("MNN's quantizer wrote no model")


def convert_with_pnnx(model, folder):
    """Converts the network to ncnn's format and to PyTorch source, each with its weights."""
    if any(dtype != "float32" for dtype in model.dtypes.values()):
        raise Unsupported("pnnx converts networks of float32 inputs")
    link = folder / "model.onnx"
    link.symlink_to(model.path)
    found = importlib.util.find_spec("pnnx")
    converter = pathlib.Path(found.origin).parent / "pnnx"
    shapes = ",".join(str(list(dims)).replace(" ", "") for dims in model.shapes.values())
    call([converter, "model.onnx", f"inputshape={shapes}", "fp16=0"], folder)


class Ncnn(Peer):
    name, module = "ncnn", "ncnn"

    def prepare(self, model, folder):
        convert_with_pnnx(model, folder)
        if not (folder / "model.ncnn.param").exists():
            raise Unsupported("pnnx wrote no model")

    def load(self, model, folder, threads):
        import ncnn
        net = ncnn.Net()
        net.opt.num_threads = threads
        for half in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
            setattr(net.opt, f"use_{half}", False)
        if net.load_param(f"{folder}/model.ncnn.param") or \
                net.load_model(f"{folder}/model.ncnn.bin"):
            raise Unsupported("ncnn does not read what pnnx wrote")
        inputs = [ncnn.Mat(array[0]) for array in model.inputs().values()]
        outputs = net.output_names()

        def run():
            extractor = net.create_extractor()
            for i, mat in enumerate(inputs):
                extractor.input(f"in{i}", mat)
            for output in outputs:
                if extractor.extract(output)[0]:
                    raise Unsupported("ncnn's extract failed")
        return run


class Tvm(Peer):
    """Runs the default schedules of TVM without its tuner, which takes hours for a network."""
    name, module = "TVM", "tvm"

    def prepare(self, model, folder):
        import onnx
        import tvm
        from tvm.relax.frontend.onnx import from_onnx
        try:
            network = from_onnx(onnx.load(model.path), shape_dict=dict(model.shapes))
            target = tvm.target.Target(
                {"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu()})
            tvm.relax.build(network, target).export_library(str(folder / "model.so"))
        except Exception as problem:  # its importer's are of many types
            raise Unsupported(f"TVM: {str(problem).splitlines()[-1]}") from problem

    def load(self, model, folder, threads):
        os.environ["TVM_NUM_THREADS"] = str(threads)
        import tvm
        machine = tvm.relax.VirtualMachine(
            tvm.runtime.load_module(str(pathlib.Path(folder) / "model.so")), tvm.cpu())
        inputs = [tvm.runtime.tensor(array) for array in model.inputs().values()]
        return lambda: machine["main"](*inputs)


def load_module(folder):
    """The PyTorch module that pnnx wrote. Changes to `folder`, from which the module reads its
    weights."""
    os.chdir(folder)
    found = importlib.util.spec_from_file_location("model_pnnx", "model_pnnx.py")
    source = importlib.util.module_from_spec(found)
    found.loader.exec_module(source)
    return source.Model().float().eval()


class PyTorch(Peer):
    """Runs the PyTorch module after freezing and optimize_for_inference(), which fuses layers
    and calls oneDNN."""
    name, module = "PyTorch", "torch"

    def prepare(self, model, folder):
        convert_with_pnnx(model, folder)
        if not (folder / "model_pnnx.py").exists():
            raise Unsupported("pnnx wrote no module")

    def load(self, model, folder, threads):
        import torch
        torch.set_num_threads(threads)
        inputs = [torch.from_numpy(array) for array in model.inputs().values()]
        with torch.inference_mode():
            traced = torch.jit.trace(load_module(folder), inputs)
            network = torch.jit.optimize_for_inference(torch.jit.freeze(traced))

        def run():
            with torch.inference_mode():
                network(*inputs)
        return run


class LiteRt(PyTorch):
    """Runs the model that LiteRT's converter makes from the PyTorch module."""
    name, module = "LiteRT", "litert_torch"

    def prepare(self, model, folder):
        super().prepare(model, folder)
        # In a process of its own: it loads more than a gigabyte.
        call([sys.executable, "-B", "-c", "import sys; sys.path.insert(0, sys.argv[1]); "
              "import engines; engines.LiteRt.convert(sys.argv[2])",
              pathlib.Path(__file__).parent, folder])

    @staticmethod
    def convert(folder):
        import litert_torch
        import torch
        inputs = tuple(torch.from_numpy(array) for array in Model.load(folder).inputs().values())
        litert_torch.convert(load_module(folder), inputs).export("model.tflite")

    def load(self, model, folder, threads):
        from ai_edge_litert.interpreter import Interpreter
        network = Interpreter(f"{folder}/model.tflite", num_threads=threads)
        network.allocate_tensors()
        for details, array in zip(network.get_input_details(), model.inputs().values()):
            network.set_tensor(details["index"], array)
        return network.invoke


ENGINES = {engine.name: engine for engine in
           (Nnc(), OnnxRuntime(), OpenVino(), Mnn(), Ncnn(), Tvm(), PyTorch(), LiteRt())}

# Measured unless others are asked for.
USUAL = ["nnc", "onnxruntime", "OpenVINO", "MNN", "ncnn"]

# Measured with --int8. ncnn's quantizer is not on PyPI: see README.md.
INT8 = {engine.name: engine for engine in
        (NncFloat("nnc float32"), Nnc("nnc"), OnnxRuntime(), OpenVino(), MnnInt8())}

# Measured with --compressed: the float network as it is and compressed, and in 8 bits.
COMPRESSED = {engine.name: engine for engine in (
    NncFloat("nnc float32", ("--weights-encoding=dense",)),
    Nnc("nnc int8", ("--weights-encoding=dense",)),
    *(NncFloat(f"nnc {form}", (f"--weights-encoding={form}",))
      for form in ("codebook", "csr", "huffman")),
    NncBelow("nnc of a tenth"),
    OnnxRuntimeFloat(), OnnxRuntime("onnxruntime int8"), SciPy())}

# Measured with --precision=bf16. OpenVINO computes with bf16 by default on chips with AMX.
BF16 = {engine.name: engine for engine in
        (Nnc(options=("--precision=bf16",)),
         OpenVino("OpenVINO bf16", "bf16"))}

# NeoCPU's ablation (its table 3): nnc with less and less left out. Methods that compute
# less, which the paper does not have, come last.
STEPS = {step.name: step for step in
         (Nnc("plain", ("--layouts=plain", "--max-error=0")),
          Nnc("local", ("--layouts=local", "--max-error=0")),
          Nnc("fixed", ("--layouts=fixed", "--max-error=0")),
          Nnc("global", ("--layouts=global", "--max-error=0")),
          Nnc("all"))}


def is_installed(engine):
    return engine.module is None or importlib.util.find_spec(engine.module) is not None


def answer(value):
    # Libraries may write to the standard output: an answer has a line of its own.
    print("\nanswer " + json.dumps(value), flush=True)


if __name__ == "__main__":
    name, folder, threads = sys.argv[1:]
    try:
        known = {**ENGINES, **INT8, **BF16, **COMPRESSED, **STEPS}
        turn = known[name].start(pathlib.Path(folder), int(threads))
        turn(WARM_UP_SECONDS)
        answer("ready")
        for line in sys.stdin:
            answer(turn(float(line)))
    except Unsupported as problem:
        sys.exit(str(problem))
