"""Times networks in nnc and in other engines, in one run on one machine.

Each engine runs in a process of its own that is pinned to as many cores as it has threads, and
that is stopped while others run. The engines take short turns in many rounds, so that other
load on the machine slows all of them alike. Times are medians over all runs of all rounds. The
speed-up by several threads is the median of the ratios of the rounds. The table also has three
other figures: the speed-up by the lower quartiles of all runs, which other load hardly affects;
the median speed-up of the rounds in which the cores were near each other, so that a cache line
moved quickly between them; and the throughput of as many processes with one thread, each on a
core of its own, over that of one process, which shows how much of the machine can be gained at
all. Engines that are not installed are named as missing.
"""

import argparse
import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import ablation  # noqa: E402
import compressed  # noqa: E402
import cost  # noqa: E402
import instructions  # noqa: E402
import picture  # noqa: E402
import tuning  # noqa: E402
import without_avx512  # noqa: E402
import int8  # noqa: E402
from engines import (BF16, COMPRESSED, ENGINES, INT8, STEPS, USUAL, Model, Nnc,  # noqa: E402
                     NncFloat, Unsupported, is_installed)

CACHE = pathlib.Path(os.environ["NNC_CACHE"])
BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])

OPEN_DIM = 1  # batch

# Models that are not made by test/networks: file and shapes.
OCR = {
    "ppocr_det": ("ch_PP-OCRv4_det_infer.onnx", {"x": [1, 3, 736, 736]}),
    "ppocr_rec": ("ch_PP-OCRv4_rec_infer.onnx", {"x": [1, 3, 48, 320]}),
}

MADE = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "vgg11", "vgg13", "vgg16",
        "vgg19", "densenet121", "densenet161", "densenet169", "densenet201", "inception_v3",
        "ssd_resnet50", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_large", "squeezenet1_1",
        "efficientnet_b0", "bert_base"]

# Tuned, unless others are asked for.
TUNED = ["resnet50", "mobilenet_v2", "densenet121", "squeezenet1_1", "resnet18"]

# Emulated, unless others are asked for.
COUNTED = ["squeezenet1_1", "mobilenet_v2", "resnet18", "resnet50"]


def say(text):
    print(text, file=sys.stderr, flush=True)


def read_model(name, path, shapes):
    """The model in the file. `shapes` are the shapes of inputs with open dimensions."""
    import onnx
    graph = onnx.load(path, load_external_data=False).graph
    dims = {i.name: [d.dim_value or OPEN_DIM for d in i.type.tensor_type.shape.dim]
            for i in graph.input}
    types = {i.name: onnx.helper.tensor_dtype_to_np_dtype(
        i.type.tensor_type.elem_type).name for i in graph.input}
    return Model(name, path.resolve(), {**dims, **shapes}, types,
                 [o.name for o in graph.output])


def find_models(names, folder):
    """The models with these names. Those of test/networks are created if the cache lacks them."""
    made = [name for name in names if name in MADE]
    if made:
        subprocess.run([CACHE / "venv/bin/python", "-B", ROOT / "test/networks/make.py", *made,
                        "-o", folder], check=True, stdout=subprocess.DEVNULL)
    for name in names:
        if name in OCR:
            file, shapes = OCR[name]
            path = next(CACHE.glob(f"ocr-*/{file}"), None)
            if path is None:
                say(f"{name}: missing, {file} is not in {CACHE}")
                continue
        else:
            path, shapes = folder / f"{name}.onnx", {}
        yield read_model(name, path, shapes)


@dataclasses.dataclass
class Result:
    median: float
    turns: list  # the median of each
    resident: int  # bytes of memory at most
    details: dict  # what else the engine said of itself
    # Where it has several threads: what so many processes of one thread do at once, each on
    # a core of its own, over what one does alone; of each round.
    copies: list = dataclasses.field(default_factory=list)
    # Seconds that its threads took to hand over work around each turn, the longer.
    handovers: list = dataclasses.field(default_factory=list)


def select(names):
    """The engines among `names` that are installed. The names of the others are printed."""
    engines = {name: ENGINES[name] for name in names if is_installed(ENGINES[name])}
    for name in names:
        if name not in engines:
            say(f"missing: {name}")
    return engines


class Worker:
    """A process of engines.py on the cores from number `first` on. It is stopped between its
    turns."""

    def __init__(self, engine, folder, threads, first=0):
        mine = sorted(os.sched_getaffinity(0))[first:first + threads]
        cores = ",".join(map(str, mine))
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        # In a group of its own, with what it starts.
        self.process = subprocess.Popen(
            ["taskset", "-c", cores, sys.executable, "-B", HERE / "engines.py", engine, folder,
             str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            text=True, errors="replace", process_group=0)
        self.turns, self.handovers = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.signal(signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.communicate()
        self.errors.close()

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def listen(self):
        for line in self.process.stdout:
            if line.startswith("answer "):
                self.signal(signal.SIGSTOP)
                return json.loads(line.removeprefix("answer "))
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().strip().splitlines() or [f"exit code {code}"]
        raise Unsupported(said[-1])

    def begin(self, seconds):
        self.signal(signal.SIGCONT)
        print(seconds, file=self.process.stdin, flush=True)

    def end(self):
        self.details = self.listen()
        self.turns.append(self.details["times"])
        self.handovers.append(self.details.get("handover_seconds", 0))

    def turn(self, seconds):
        self.begin(seconds)
        self.end()

    def last(self):
        return statistics.median(self.turns[-1])

    def result(self):
        times = list(itertools.chain.from_iterable(self.turns))
        return Result(statistics.median(times), [statistics.median(turn) for turn in self.turns],
                      self.details["peak_resident_bytes"], {**self.details, "times": times},
                      handovers=self.handovers)


class Copies:
    """`count` processes with one thread each, every one on a core of its own."""

    def __init__(self, stack, engine, folder, count):
        self.workers = [stack.enter_context(Worker(engine, folder, 1, first))
                        for first in range(count)]
        for worker in self.workers:
            worker.listen()
        self.ratios = []

    def turn(self, seconds, alone):
        """Runs all processes at once. `alone` is the time that one process takes by itself."""
        for worker in self.workers:
            worker.begin(seconds)
        for worker in self.workers:
            worker.end()
        self.ratios.append(sum(alone / worker.last() for worker in self.workers))


def measure(model, engines, folder, threads, rounds, seconds):
    """The results of the engines for each number of threads. An engine that cannot run the
    model is left out, and the reason is printed. The turns of one engine with all numbers of
    threads follow one another, so that the load of the machine is about the same in them. The
    same holds for the copies of nnc, which run if nnc also runs with one thread."""
    with contextlib.ExitStack() as stack:
        workers, copies = {}, {}
        for name, count in itertools.product(engines, sorted(threads)):
            worker = stack.enter_context(Worker(name, folder / name, count))
            try:
                worker.listen()
                workers[name, count] = worker
            except Unsupported as problem:
                say(f"{model.name}: {name}: {problem}")
        cores = len(os.sched_getaffinity(0))
        for count in threads:
            if ("nnc", 1) in workers and 1 < count <= cores:
                copies[count] = Copies(stack, "nnc", folder / "nnc", count)
        for _ in range(rounds):
            for (name, count), worker in list(workers.items()):
                try:
                    worker.turn(seconds)
                    if name == "nnc" and count in copies and ("nnc", 1) in workers:
                        copies[count].turn(seconds, workers["nnc", 1].last())
                except (Unsupported, BrokenPipeError) as problem:
                    say(f"{model.name}: {name}: {problem}")
                    del workers[name, count]
        results = {count: {name: workers[name, count].result() for name in engines
                           if (name, count) in workers} for count in threads}
        for count, those in copies.items():
            if "nnc" in results[count]:
                results[count]["nnc"].copies = those.ratios
        return results


def gain(results, single, near=None):
    """The speed-up over one thread: the median of the rounds or, if `near` is given, of the
    rounds in whose turns threads handed over work in at most `near` seconds. None if there are
    none."""
    ratios = [one / several for one, several in zip(single.turns, results.turns)]
    if near is not None:
        ratios = [ratio for ratio, handover in zip(ratios, results.handovers) if handover <= near]
    return statistics.median(ratios) if ratios else None


def quiet_gain(results, single):
    """The speed-up over one thread by the lower quartiles of all runs."""
    def quartile(result):
        return statistics.quantiles(result.details["times"], n=4, method="inclusive")[0]
    return quartile(single) / quartile(results)


def handovers(rows):
    """The seconds that nnc's threads took to hand over work, for all turns."""
    return [handover for _, results in rows if "nnc" in results
            for handover in results["nnc"].handovers]


def prepare(model, engines, folder):
    """The names of the engines that support the model, which is prepared for each of them."""
    taken = []
    for name, engine in engines.items():
        own = folder / name
        own.mkdir(parents=True)
        model.save(own)
        try:
            engine.prepare(model, own)
            taken.append(name)
        except Unsupported as problem:
            say(f"{model.name}: {name}: {problem}")
    return taken


def chip():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            flags = pathlib.Path("/proc/cpuinfo").read_text()
            isa = next((i for i in ("avx512f", "avx2", "sse4_2") if f" {i} " in flags), "")
            if without_avx512.hidden() == "avx512" and isa == "avx512f":
                isa = "avx2: avx512f is hidden"
            if without_avx512.hidden() == "amx":
                isa += ", amx is hidden"
            return f"{name} ({isa})" if isa else name
    return "unknown"


def versions(engines):
    import importlib.metadata
    known = {"onnxruntime": "onnxruntime", "OpenVINO": "openvino", "MNN": "mnn", "ncnn": "ncnn",
             "TVM": "apache-tvm", "scipy": "scipy", "PyTorch": "torch",
             "LiteRT": "ai-edge-litert"}
    names = dict.fromkeys(e.removesuffix(" int8").removesuffix(" bf16") for e in engines)
    return ", ".join(f"{e} {importlib.metadata.version(known[e])}" for e in names if e in known)


def table(rows, engines, threads, single):
    """The times as a table in Markdown. A row has the name of a model and its results by
    engine. `single` has the results of nnc on one thread by model if the table should compare
    with them."""
    peers = [e for e in engines if e != "nnc"]
    heads = [f"network, {threads} thread{'s' * (threads > 1)}, ms", *engines,
             "best peer / nnc", "share of peak",
             *["nnc over 1 thread", "in the fastest quarter of runs", "cores near each other",
               f"{threads} copies over 1"] * bool(single)]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    # Where cores have a cache together. Those of a virtual machine may be moved apart, and
    # back, within seconds.
    near = 2 * min(handovers(rows), default=0)
    ratios = []
    for name, results in rows:
        cells = [f"{1e3 * results[e].median:.2f}" if e in results else "–" for e in engines]
        ratio, share, more, quiet, nearer, copies = ["–"] * 6
        if "nnc" in results:
            best = min((results[e].median for e in peers if e in results), default=None)
            own = results["nnc"]
            if best:
                ratios.append(best / own.median)
                ratio = f"{ratios[-1]:.2f} ×"
            rate = own.details["multiply_adds"] / own.median
            share = f"{100 * rate / own.details['peak_multiply_adds_per_second']:.0f} %"
            if name in single:
                more = f"{gain(own, single[name]):.2f} ×"
                quiet = f"{quiet_gain(own, single[name]):.2f} ×"
                if those := gain(own, single[name], near):
                    nearer = f"{those:.2f} ×"
            if own.copies:
                copies = f"{statistics.median(own.copies):.2f} ×"
        yield "| " + " | ".join([name, *cells, ratio, share,
                                 *[more, quiet, nearer, copies] * bool(single)]) + " |"
    if ratios:
        yield f"\nGeometric mean of best peer / nnc: {statistics.geometric_mean(ratios):.2f} ×"
    if single and near:
        turns = handovers(rows)
        yield (f"\nCores are near each other where they hand over work in {1e9 * near:.0f} ns at "
               f"most: in {sum(turn <= near for turn in turns)} of {len(turns)} turns of nnc's; "
               f"in others in {1e9 * max(turns):.0f} ns at most.")


def memory_table(rows, engines, threads):
    """The peak memory as a table in Markdown, for the same rows."""
    heads = [f"network, {threads} thread{'s' * (threads > 1)}, MB resident at most", *engines]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for name, results in rows:
        cells = [f"{1e-6 * results[e].resident:.0f}" if e in results else "–" for e in engines]
        yield "| " + " | ".join([name, *cells]) + " |"
    python = [result.details["python_bytes"] for _, results in rows
              for result in results.values() if "python_bytes" in result.details]
    if python:
        yield (f"\nThat of the whole process. The peers' hold Python with numpy, "
               f"{1e-6 * max(python):.0f} MB before they load anything.")


def report_cost(names, seconds, threads, folder, measurements):
    """Prints both tables of cost.py. The measurements are kept in `folder`, if it is given."""
    nnc = BUILD / "bin/nnc"
    networks = {}
    with tempfile.TemporaryDirectory() as scratch:
        files = pathlib.Path(folder or scratch)
        files.mkdir(parents=True, exist_ok=True)
        for model in find_models(names, pathlib.Path(scratch)):
            say(f"{model.name}, {threads} threads")
            networks[model.name] = cost.compare(nnc, model, files, seconds, threads,
                                                measurements)
    print(f"{chip()}, {threads} threads\n")
    for table_of in cost.network_table, cost.method_table:
        print("\n".join(table_of(networks)) + "\n")


def report_ablation(names, threads, rounds, seconds):
    rows = {count: [] for count in threads}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for model in find_models(names, scratch):
            own = scratch / model.name
            taken = prepare(model, STEPS, own)
            say(model.name)
            for count, results in measure(model, taken, own, threads, rounds, seconds).items():
                if len(results) == len(STEPS):
                    rows[count].append((model.name, {step: result.median
                                                     for step, result in results.items()}))
    print(f"{chip()}; median of {rounds} turns of {seconds:g} s")
    for count in threads:
        print("\n" + "\n".join(ablation.table(rows[count], count)))


def report_int8(names, threads, rounds, seconds, file):
    rows = {count: [] for count in threads}
    engines = {name: engine for name, engine in INT8.items() if is_installed(engine)}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for model in int8.quantize(find_models(names, scratch), scratch / "int8", CACHE):
            say(model.name)
            own = scratch / f"{model.name}-engines"
            taken = prepare(model, engines, own)
            for count, results in measure(model, taken, own, threads, rounds, seconds).items():
                rows[count].append((model.name, results))
            shutil.rmtree(own)
    print(f"{chip()}; {versions(engines)}; median of {rounds} turns of {seconds:g} s")
    for count in threads:
        print("\n" + "\n".join(int8.table(rows[count], list(engines), count)))
    if file:
        write_json(rows, file)


def report_compressed(names, threads, rounds, seconds, file):
    engines = {name: engine for name, engine in COMPRESSED.items() if is_installed(engine)}
    measured = {count: [] for count in threads}
    print(f"{chip()}; {versions(engines)}; median of {rounds} turns of {seconds:g} s", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name, path in compressed.make(names, scratch, CACHE):
            say(name)
            # Gigabytes for each network: none stays behind.
            own = scratch / f"{name}-engines"
            own.mkdir()
            model = compressed.quantize(read_model(name, path, {}), own)
            taken = prepare(model, engines, own)
            results = measure(model, taken, own, threads, rounds, seconds)
            sizes = {engine: engines[engine].sizes(model, own / engine) for engine in taken}
            print("\n" + "\n".join(compressed.table(name, results, sizes)), flush=True)
            for count in threads:
                measured[count].append((name, results[count]))
            shutil.rmtree(own)
    if file:
        write_json(measured, file)


def write_json(rows, file):
    pathlib.Path(file).write_text(json.dumps(
        {threads: {name: {e: dataclasses.asdict(r) for e, r in results.items()}
                   for name, results in rows[threads]} for threads in rows}, indent=1))


def report_instructions(names, precision):
    nnc = BUILD / "bin/nnc"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for line in instructions.report(find_models(names, scratch), nnc, CACHE / "arm64",
                                        scratch / "counted", precision):
            print(line, flush=True)


def report_tuning(names, budget, threads):
    nnc = BUILD / "bin/nnc"
    print(f"{chip()}\n", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for line in tuning.table(nnc, find_models(names, pathlib.Path(scratch)), threads, budget):
            print(line, flush=True)


def main():
    known = [*MADE, *OCR]
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK",
                        help=f"all unless given: {', '.join(known)}")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N")
    more = [name for name in ENGINES if name not in USUAL]
    parser.add_argument("--engines", nargs="+", default=USUAL, choices=[*USUAL, *more],
                        metavar="ENGINE", help=f"{', '.join(USUAL)} unless given; "
                        f"there are also {', '.join(more)}")
    parser.add_argument("--rounds", type=int, default=8, help="turns of each engine")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each turn")
    parser.add_argument("--without-avx512", action="store_true",
                        help="the usual engines, on x86-64, as if the chip had AVX2 at most: a "
                        "model of such chips; see scripts/benchmark/without_avx512.py")
    parser.add_argument("--without-amx", action="store_true",
                        help="the usual engines, or those of --int8, on x86-64, as if the chip "
                        "had VNNI and no AMX")
    parser.add_argument("--int8", action="store_true",
                        help="instead: networks quantized by onnxruntime in nnc, onnxruntime, "
                        "OpenVINO and MNN, beside the float networks in nnc; "
                        f"{', '.join(int8.NETWORKS)} unless others are given; "
                        "see scripts/benchmark/quantized.py")
    parser.add_argument("--compressed", action="store_true",
                        help="instead: AlexNet and VGG-16, pruned and with few values, and "
                        "their fully connected layers alone: each encoding of weights in nnc "
                        "beside dense weights, onnxruntime and sparse matrices of scipy; "
                        f"{', '.join(compressed.NETWORKS)} unless others are given, with "
                        "_70, _80 or _90 at the end for so many percent pruned everywhere; "
                        "see scripts/benchmark/pruned.py")
    parser.add_argument("--json", metavar="FILE", help="also write every figure here")
    parser.add_argument("--picture", metavar="FILE", help="also draw the times: an SVG")
    parser.add_argument("--cost", type=float, metavar="SECONDS",
                        help="instead: nnc's estimates beside times that nnc tune takes so "
                        "long to measure, for each network and number of threads")
    parser.add_argument("--tunings", metavar="FOLDER",
                        help="where --cost keeps what it measures, and adds to it later")
    parser.add_argument("--measurements", type=int, default=1, metavar="N",
                        help="--cost measures so many times, each time for SECONDS, and takes "
                        "medians: what lies beside a candidate differs from time to time")
    parser.add_argument("--ablation", action="store_true",
                        help="instead: nnc with and without blocked layouts, adapts removed, "
                        "the global search; see scripts/benchmark/ablation.py")
    parser.add_argument("--tune", type=float, metavar="SECONDS",
                        help="instead: what nnc tune with so long a budget and no cache gains; "
                        f"{', '.join(TUNED)} unless others are given")
    parser.add_argument("--instructions", action="store_true",
                        help="instead: how many instructions each network takes on aarch64, "
                        f"in an emulator; {', '.join(COUNTED)} unless others are given")
    parser.add_argument("--precision", choices=[*instructions.PRECISIONS, "bf16"], default="f32",
                        help="of what --instructions counts; bf16, for a chip with AMX: instead, "
                        "the float networks with bf16 in nnc and in OpenVINO")
    args = parser.parse_args()
    names = compressed.KNOWN if args.compressed else known
    for name in args.networks:
        if name not in names:
            parser.error(f"no network is called {name}; there are: {', '.join(names)}")

    if args.without_avx512 and (args.instructions or args.ablation or args.compressed
                                or args.cost is not None
                                or args.tune is not None):
        parser.error("--without-avx512 is for a run of the usual engines or of --int8")
    if args.precision == "bf16" and (
            args.without_avx512 or args.without_amx or args.int8 or args.instructions
            or args.ablation or args.compressed or args.cost is not None
            or args.tune is not None or args.engines != USUAL):
        parser.error("--precision=bf16 is for a run of nnc and OpenVINO on a chip with AMX")
    if args.without_amx and (args.without_avx512 or args.instructions or args.ablation
                             or args.compressed or args.cost is not None
                             or args.tune is not None):
        parser.error("--without-amx is for a run of the usual engines or of --int8")
    if args.measurements < 1:
        parser.error("--measurements counts from 1")
    if args.without_avx512 or args.without_amx:
        what, target = ("avx512", "x86-64-v3") if args.without_avx512 else ("amx", "x86-64-v4-vnni")
        if not args.int8 and not set(args.engines) <= set(USUAL):
            parser.error(f"{'AVX-512' if args.without_avx512 else 'AMX'} is hidden from "
                         f"{', '.join(USUAL)} only")
        library = BUILD / "lib/libnnc_hide_avx512.so"
        if not library.exists():
            parser.error(f"--without-{what} is for x86-64")
        if args.without_amx:
            os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_VNNI"
        if without_avx512.hidden() != what:
            without_avx512.begin_again(CACHE / "bench-venv", library, what)
        ENGINES["nnc"] = Nnc(target=target)
        INT8.update({engine.name: engine for engine in (NncFloat("nnc float32", target=target),
                                                        ENGINES["nnc"])})
    if args.int8:
        if wrong := sorted(set(args.networks) - set(MADE)):
            parser.error(f"--int8 does not quantize {', '.join(wrong)}")
        return report_int8(args.networks or int8.NETWORKS, args.threads, args.rounds,
                           args.seconds, args.json)
    if args.compressed:
        return report_compressed(args.networks or compressed.NETWORKS, args.threads, args.rounds,
                                 args.seconds, args.json)
    if args.instructions:
        return report_instructions(args.networks or COUNTED, args.precision)
    if args.tune is not None:
        for threads in args.threads:
            report_tuning(args.networks or TUNED, args.tune, threads)
        return
    if args.cost is not None:
        for threads in args.threads:
            folder = args.tunings and f"{args.tunings}/{threads}"
            report_cost(args.networks or known, args.cost, threads, folder,
                        args.measurements)
        return
    if args.ablation:
        return report_ablation(args.networks or known, args.threads, args.rounds, args.seconds)
    engines = select(args.engines)
    if args.precision == "bf16":
        engines = {name: engine for name, engine in BF16.items() if is_installed(engine)}
    rows = {threads: [] for threads in args.threads}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for model in find_models(args.networks or known, scratch):
            taken = prepare(model, engines, scratch / model.name)
            say(model.name)
            for threads, results in measure(model, taken, scratch / model.name, args.threads,
                                            args.rounds, args.seconds).items():
                rows[threads].append((model.name, results))
    print(f"{chip()}; {versions(engines)}; median of {args.rounds} turns of {args.seconds:g} s")
    single = {name: results["nnc"] for name, results in rows.get(1, []) if "nnc" in results}
    for threads in args.threads:
        print("\n" + "\n".join(table(rows[threads], engines, threads,
                                     single if threads > 1 else {})))
    for threads in args.threads:
        print("\n" + "\n".join(memory_table(rows[threads], engines, threads)))
    if args.picture:
        pathlib.Path(args.picture).write_text(picture.draw(
            f"{chip()}; {versions(engines)}", rows, engines))
    if args.json:
        write_json(rows, args.json)


if __name__ == "__main__":
    main()
