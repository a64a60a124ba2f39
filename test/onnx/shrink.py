"""Makes a failing random graph smaller, as long as it fails in the same way."""

import copy
import re

import numpy as np


def kind_of(problem):
    """The part of a failure that failures with the same cause share: the step that fails,
    without numbers."""
    if problem is None:
        return None
    if "expected" in problem and "differ" in problem:
        return "wrong values"
    text = re.sub(r"'[^']*'|[0-9][0-9.e+-]*|/\S+", "", problem)
    return text[:60]


def size(graph):
    """The measures that shrinking reduces: nodes, outputs, operands and elements."""
    arrays = [*graph.feeds.values(), *graph.constants.values()]
    return (len(graph.nodes), len(graph.outputs), sum(len(n.input) for n in graph.nodes),
            sum(array.size for array in arrays))


def shrink(graph, fails):
    """The smallest graph found for which fails(graph) holds."""
    changed = True
    while changed:
        changed = False
        for candidate in candidates(graph):
            if size(candidate) >= size(graph):
                continue
            try:
                candidate.expected()
            except Exception:  # no valid graph any more
                continue
            if fails(candidate):
                graph, changed = candidate, True
                break
    return graph


def candidates(graph):
    """Smaller graphs, those first that leave out most."""
    for name in graph.outputs if len(graph.outputs) > 1 else ():
        yield keep_outputs(graph, [name])
    for name in graph.outputs if len(graph.outputs) > 2 else ():
        yield keep_outputs(graph, [n for n in graph.outputs if n != name])
    for node in graph.nodes:
        yield feed_results(graph, node)
    for node in graph.nodes:
        if node.output[0] in graph.outputs:
            for name in node.input:
                if any(name in other.output for other in graph.nodes):
                    yield keep_outputs(graph, [name])
    for node in graph.nodes:
        for name in node.input[:1]:
            yield pass_over(graph, node, name)
    for node in graph.nodes:
        if len(node.input) > 2 and node.op_type in ("Sum", "Max", "Min", "Mean", "Concat"):
            yield drop_operand(graph, node)
    lengths = sorted({d for a in graph.feeds.values() for d in a.shape if d > 1}, reverse=True)
    for length in lengths:
        for smaller in sorted({1, 2, length // 2, length - 1} - {length, 0}):
            yield shorten(graph, length, smaller)


def clean(graph):
    """Removes nodes, inputs and constants that no output needs."""
    needed, nodes = set(graph.outputs), []
    for node in reversed(graph.nodes):
        if needed & set(node.output):
            nodes.append(node)
            needed |= set(node.input)
    graph.nodes = nodes[::-1]
    graph.feeds = {n: a for n, a in graph.feeds.items() if n in needed}
    graph.constants = {n: a for n, a in graph.constants.items() if n in needed}
    return graph


def keep_outputs(graph, names):
    smaller = copy.deepcopy(graph)
    smaller.outputs = list(names)
    return clean(smaller)


def feed_results(graph, node):
    """The graph with the results of a node as inputs."""
    smaller = copy.deepcopy(graph)
    every = copy.deepcopy(graph)
    every.outputs = list(node.output)
    values = every.expected()
    smaller.nodes = [n for n in smaller.nodes if n.name != node.name]
    smaller.outputs = [n for n in smaller.outputs if n not in node.output]
    if not smaller.outputs:
        return graph
    smaller.feeds |= values
    return clean(smaller)


def pass_over(graph, node, name):
    """The graph without a node. Readers of its result read its operand instead."""
    smaller = copy.deepcopy(graph)
    smaller.nodes = [n for n in smaller.nodes if n.name != node.name]
    for other in smaller.nodes:
        other.input[:] = [name if n == node.output[0] else n for n in other.input]
    smaller.outputs = [n for n in smaller.outputs if n not in node.output]
    return clean(smaller) if smaller.outputs else graph


def drop_operand(graph, node):
    smaller = copy.deepcopy(graph)
    for other in smaller.nodes:
        if other.name == node.name:
            del other.input[-1]
    return clean(smaller)


def shorten(graph, length, shorter):
    """The graph with only the first elements along all axes of one length."""
    smaller = copy.deepcopy(graph)

    def cut(array):
        if array.dtype.kind == "i" and array.ndim == 1:
            return np.where(array == length, shorter, array).astype(array.dtype)
        return array[tuple(slice(shorter if d == length else d) for d in array.shape)]

    smaller.feeds = {n: cut(a) for n, a in smaller.feeds.items()}
    smaller.constants = {n: cut(a) for n, a in smaller.constants.items()}
    return smaller
