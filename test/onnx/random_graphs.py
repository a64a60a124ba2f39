#!/usr/bin/env python3
"""Random valid ONNX graphs on emitted code, against onnxruntime.

    random_graphs.py --graphs 200            graphs of the seeds 0 to 199
    random_graphs.py --seconds 60            as many as that takes
    random_graphs.py --first 17 --graphs 1   the graph of seed 17; where it fails, shrinks it

Each graph grows node by node, of operators that random_ops.py draws: as in NNSmith (Liu et
al., ASPLOS 2023) an operator is drawn first, then operands for which it is valid. onnxruntime
computes every value when its node is added, so that rules can look at numbers.

A result may differ from onnxruntime's by TOLERANCE of its largest element, and by what the
conditions of the graph make of such an error: SENSITIVITY times the change that it causes where
inputs and results of nodes are changed by 1e-6 of their values. Integers and bools are equal.

Graphs are compiled many at a time, as parts of one model. NNC_BUILD_DIR says where nnc was
built."""

import argparse
import collections
import os
import pathlib
import shutil
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import emitted
import random_ops
import shrink

TOLERANCE = 2e-5
SMALL = 2e-2   # a smaller result may be off as one of this size: by a few units in the last
               # place of 1, which Gelu adds to an error function of almost -1
SENSITIVITY = 30
LARGEST = 1e4  # magnitude of a value, and
MOST = 4096    # its number of elements
OPSET = 20

Value = collections.namedtuple("Value", "name array")

onnxruntime.set_default_logger_severity(4)


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def type_info(name, array):
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


class Graph:
    """Nodes, the values of inputs and constants, and the names of outputs."""

    def __init__(self):
        self.nodes, self.feeds, self.constants, self.outputs = [], {}, {}, []

    def model(self):
        graph = helper.make_graph(
            self.nodes, "random", [type_info(n, a) for n, a in self.feeds.items()],
            [helper.make_empty_tensor_value_info(name) for name in self.outputs],
            [numpy_helper.from_array(a, n) for n, a in self.constants.items()])
        return helper.make_model(graph, ir_version=9,
                                 opset_imports=[helper.make_opsetid("", OPSET)])

    def expected(self):
        return dict(zip(self.outputs, session(self.model()).run(self.outputs, self.feeds)))

    def expected_with(self, noise):
        """The outputs where each float of the inputs and of the nodes' results has an error."""
        model = self.model()
        inferred = onnx.shape_inference.infer_shapes(model).graph
        kinds = {v.name: v.type.tensor_type.elem_type
                 for v in [*inferred.value_info, *inferred.output]}
        del model.graph.node[:]
        for node in self.nodes:
            copy = model.graph.node.add()
            copy.CopyFrom(node)
            for i, name in enumerate(node.output):
                if kinds.get(name) not in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
                    continue
                copy.output[i] = f"{name}_exact"
                factor = np.asarray(1 + 1e-6 * noise.choice([-1, 1]),
                                    helper.tensor_dtype_to_np_dtype(kinds[name]))
                model.graph.initializer.append(
                    numpy_helper.from_array(factor, f"{name}_error"))
                model.graph.node.append(helper.make_node(
                    "Mul", [f"{name}_exact", f"{name}_error"], [name]))
        feeds = {n: np.asarray(a * (1 + 1e-6 * noise.choice([-1, 1], a.shape)), a.dtype)
                 if a.dtype.kind == "f" else a for n, a in self.feeds.items()}
        return dict(zip(self.outputs, session(model).run(self.outputs, feeds)))

    def tolerances(self, expected):
        """By output: how far an element may be from what is expected."""
        noise = np.random.default_rng(1)
        bounds = {name: TOLERANCE * np.abs(value).max(initial=SMALL)
                  for name, value in expected.items() if value.dtype.kind == "f"}
        for _ in range(2):
            moved = self.expected_with(noise)
            for name in bounds:
                bounds[name] = bounds[name] + SENSITIVITY * np.abs(
                    moved[name] - expected[name]).max(initial=0)
        return bounds


class Net:
    """A growing graph, with its values so far."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.graph = Graph()
        self.values = []
        for _ in range(int(self.random.integers(1, 4))):
            kind = self.random.random()
            dtype = np.float32 if kind < 0.85 else self.choice([np.float64, np.int64, np.int32,
                                                                np.bool_])
            shape = self.shape(2, 4) if kind < 0.6 else self.shape(0, 4)
            self.values.append(Value(self.input(self.numbers(shape, dtype)),
                                     list(self.graph.feeds.values())[-1]))
        size = int(self.random.integers(3, 26))
        tries = 0
        while not self.graph.nodes or len(self.graph.nodes) < size and tries < 8 * size:
            self.choice(random_ops.RULES)(self)
            tries += 1
        self.choose_outputs()

    # What rules draw.

    def choice(self, options):
        return options[int(self.random.integers(len(options)))]

    def coin(self):
        return self.random.random() < 0.5

    def shuffle(self, items):
        order = self.random.permutation(len(items))
        items[:] = [items[i] for i in order]

    def shape(self, least, most):
        rank = int(self.random.integers(least, most + 1))
        return [int(d) for d in self.random.choice([1, 2, 3, 4, 5, 7, 8, 16], rank,
                                                   p=[.15, .15, .15, .15, .1, .1, .15, .05])]

    def numbers(self, shape, dtype):
        dtype = np.dtype(dtype)
        if dtype == np.bool_:
            return self.random.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            return np.asarray(self.random.integers(0, 6, shape)).astype(dtype)
        return np.asarray(self.random.uniform(-2, 2, shape)).astype(dtype)

    def pick(self, suits):
        """A value that suits, more likely a late one; None if there is none."""
        fitting = [value for value in self.values if suits(value)]
        if not fitting:
            return None
        late = len(fitting) - 1 - int(self.random.exponential(3))
        return fitting[late] if late >= 0 else self.choice(fitting)

    # What rules make.

    def input(self, array):
        name = f"x{len(self.graph.feeds)}"
        self.graph.feeds[name] = np.asarray(array)
        return name

    def constant(self, array):
        name = f"k{len(self.graph.constants)}"
        self.graph.constants[name] = np.asarray(array)
        return name

    def weight(self, shape, dtype=np.float32):
        scale = 1 / np.sqrt(max(1, np.prod(shape[1:], dtype=int)))
        return self.constant(np.asarray(self.random.standard_normal(shape) * scale, dtype))

    def fresh(self, shape, dtype):
        """A new constant or input."""
        array = self.numbers(shape, dtype)
        if self.coin():
            return Value(self.constant(array), array)
        name = self.input(array)
        self.values.insert(0, Value(name, array))
        return self.values[0]

    @staticmethod
    def onnx_type(dtype):
        return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def add(self, op, *operands, results=1, **attributes):
        """Adds a node, computes its results and returns the name of the first; None where
        onnxruntime refuses it, or a result is too large."""
        names = [o.name if isinstance(o, Value) else o for o in operands]
        made = [f"t{len(self.graph.nodes)}" + (f"_{i}" if results > 1 else "")
                for i in range(results)]
        node = helper.make_node(op, names, made, f"{op}_{len(self.graph.nodes)}", **attributes)
        known = {v.name: v.array for v in self.values}
        single = Graph()
        single.nodes, single.outputs = [node], made
        for name in names:
            if name in known:
                single.feeds[name] = known[name]
            elif name in self.graph.constants:
                single.constants[name] = self.graph.constants[name]
            elif name:
                single.feeds[name] = self.graph.feeds[name]
        try:
            runner = session(single.model())
            computed = dict(zip(made, runner.run(made, single.feeds)))
        except Exception:  # onnxruntime lacks the type, or the draw was not valid
            return None
        for array, inferred in zip(computed.values(), runner.get_outputs()):
            if array.size > MOST or array.ndim > 6:
                return None
            # With ceil_mode, ONNX's own inference may see a pool's last window where
            # onnxruntime has none.
            if any(isinstance(d, int) and d != size
                   for d, size in zip(inferred.shape, array.shape)):
                return None
            if array.dtype.kind in "fiu" and not (
                    np.isfinite(array).all() and np.abs(array.astype(float)).max(initial=0)
                    <= LARGEST):
                return None
        self.graph.nodes.append(node)
        self.values += [Value(n, computed[n]) for n in made]
        return made[0]

    def choose_outputs(self):
        """What no node reads, and now and then what one reads, too."""
        read = {name for node in self.graph.nodes for name in node.input}
        computed = [name for node in self.graph.nodes for name in node.output]
        self.graph.outputs = [name for name in computed
                              if name not in read or self.random.random() < 0.1]
        used = read | set(self.graph.outputs)
        for table in (self.graph.feeds, self.graph.constants):
            for name in [n for n in table if n not in used]:
                del table[name]


def rename(graph, prefix):
    """The graph with other names, for a model that contains several graphs."""
    part = Graph()
    put = lambda name: prefix + name if name else ""
    for node in graph.nodes:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = put(node.name)
        copy.input[:] = map(put, node.input)
        copy.output[:] = map(put, node.output)
        part.nodes.append(copy)
    part.feeds = {put(n): a for n, a in graph.feeds.items()}
    part.constants = {put(n): a for n, a in graph.constants.items()}
    part.outputs = [put(n) for n in graph.outputs]
    return part


def join(graphs):
    whole = Graph()
    for i, graph in enumerate(graphs):
        part = rename(graph, f"g{i}_")
        whole.nodes += part.nodes
        whole.feeds |= part.feeds
        whole.constants |= part.constants
        whole.outputs += part.outputs
    return whole


def run(graph, target):
    """The results of emitted code. Raises Failure."""
    folder = tempfile.mkdtemp()
    try:
        path = pathlib.Path(folder) / "graph.onnx"
        onnx.save(graph.model(), path)
        module = emitted.compile_model(path, path.parent / "out", target=target)
        module.build(optimize="-O0")
        return emitted.run_apart(module, graph.feeds)
    finally:
        shutil.rmtree(folder)


def differences(graph, actual, prefix=""):
    """How the outputs differ from the expected ones, or None."""
    expected = graph.expected()
    bounds = graph.tolerances(expected)
    for name, want in expected.items():
        got = actual[prefix + name]
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"{name} is {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
        if want.dtype.kind == "f":
            wrong = ~(np.abs(got.astype(float) - want.astype(float)) <= bounds[name])
        else:
            wrong = got != want
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return (f"{name}{list(at)} is {got[at]}, expected {want[at]}; {int(wrong.sum())} of "
                    f"{want.size} differ")
    return None


def check(graph, target):
    """Why the graph fails, or None."""
    try:
        return differences(graph, run(graph, target))
    except emitted.Failure as failure:
        return str(failure)


def check_batch(graphs, target):
    """The problems of graphs, by index. If a batch fails as a whole, its halves are checked."""
    try:
        actual = run(join(graphs), target)
    except emitted.Failure as failure:
        if len(graphs) == 1:
            return {0: str(failure)}
        half = len(graphs) // 2
        problems = check_batch(graphs[:half], target)
        more = check_batch(graphs[half:], target)
        return problems | {half + i: problem for i, problem in more.items()}
    problems = {}
    for i, graph in enumerate(graphs):
        problem = differences(graph, actual, f"g{i}_")
        if problem:
            problems[i] = problem
    return problems


def report(seed, problem, graph, target, keep):
    """Prints the smallest graph that fails in the same way, and keeps its file."""
    print(f"FAILED seed {seed} ({len(graph.nodes)} nodes) on {target}: {problem}", flush=True)
    kind = shrink.kind_of(problem)
    small = shrink.shrink(graph, lambda g: shrink.kind_of(check(g, target)) == kind)
    print(f"shrunk to {len(small.nodes)} nodes: {check(small, target)}")
    print(onnx.printer.to_text(small.model()))
    print(f"again: random_graphs.py --first {seed} --graphs 1 --target={target}", flush=True)
    if keep:
        os.makedirs(keep, exist_ok=True)
        onnx.save(small.model(), pathlib.Path(keep) / f"seed{seed}.onnx")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--graphs", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--target", default="portable")
    parser.add_argument("--keep", default="", metavar="FOLDER", help="where failing models go")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    os.environ["CCACHE_DISABLE"] = "1"  # no two batches are the same
    start, seed, failed = time.monotonic(), arguments.first, 0
    last = arguments.first + arguments.graphs
    used = collections.Counter()
    while seed < last and time.monotonic() - start < arguments.seconds:
        seeds = list(range(seed, min(seed + arguments.batch, last)))
        graphs = [Net(s).graph for s in seeds]
        used.update(node.op_type for graph in graphs for node in graph.nodes)
        for i, problem in check_batch(graphs, arguments.target).items():
            failed += 1
            report(seeds[i], problem, graphs[i], arguments.target, arguments.keep)
        seed = seeds[-1] + 1
    count = seed - arguments.first
    print(f"{count} graphs of {sum(used.values())} nodes and {len(used)} operators: "
          f"{count - failed} right, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
