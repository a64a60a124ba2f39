"""Operators that run subgraphs. Each function adds one to a Streamed net, with random operands,
and computes the expected results of several consecutive runs by TFLite's definition."""

import numpy as np

import flat
from fixed import f32
from recurrent import STEPS


def subgraph(net, inputs, build):
    """Adds a subgraph with inputs of these (dtype, shape), where None is the handle of a
    variable. build(graph, tensors) adds its operators and returns its outputs. Returns the
    index of the subgraph."""
    graph = flat.Net(f"g{len(net.subgraphs) + 1}")
    graph.codes, graph.buffers, graph.subgraphs = net.codes, net.buffers, net.subgraphs
    graph.used = net.used
    for given in inputs:
        if given is None:
            graph.tensors.append({"shape": [], "type": "RESOURCE", "buffer": 0,
                                  "name": f"h{len(graph.tensors)}"})
            graph.inputs.append(len(graph.tensors) - 1)
        else:
            graph.inputs.append(graph.tensor(*given))
    graph.outputs = build(graph, graph.inputs)
    net.subgraphs.append(graph.graph())
    return len(net.subgraphs)


def make(graph, name, inputs, dtype, shape, **options):
    """An operator with one result."""
    return graph.op(name, inputs, [graph.tensor(dtype, shape)], **options)


def branches(net, dtype, shape):
    """The branches (then, else), which read two tensors. They return the sum and the first, or
    the second and the product."""
    both = [(dtype, shape)] * 2
    return (subgraph(net, both, lambda g, t: [make(g, "ADD", t, dtype, shape), t[0]]),
            subgraph(net, both, lambda g, t: [t[1], make(g, "MUL", t, dtype, shape)]))


def if_known(net, taken):
    """An IF with a known condition. The other branch may have results of another shape."""
    x = net.floats(STEPS, 2, 3)
    one = [(f32, (2, 3))]
    yes = subgraph(net, one, lambda g, t: [make(g, "NEG", t, f32, (2, 3))])
    no = subgraph(net, one, lambda g, t: [make(g, "SUM", [
        t[0], g.const(np.array([1], np.int32))], f32, (2,), keep_dims=False)])
    y = net.tensor(f32, (2, 3) if taken else (2,))
    net.op("IF", [net.const(np.array(taken)), net.stream(x)], [y], then_subgraph=yes,
           else_subgraph=no)
    net.expect(y, -x if taken else x.sum(2), 1e-5)


def if_computed(net, dtype):
    """An IF whose condition differs between runs."""
    shape = (3, 2)
    draw = lambda: (net.floats(STEPS, *shape) if dtype == f32 else  # noqa: E731
                    net.random.integers(0, 100, (STEPS, *shape)).astype(dtype))
    x, y, bound = draw(), draw(), net.floats(STEPS)
    bound[:2] = 0.5, -0.5
    condition = make(net, "GREATER", [net.stream(bound), net.const(f32(0))], np.bool_, ())
    yes, no = branches(net, dtype, shape)
    outputs = [net.tensor(dtype, shape) for _ in range(2)]
    net.op("IF", [condition, net.stream(x), net.stream(y)], outputs, then_subgraph=yes,
           else_subgraph=no)
    holds = (bound > 0)[:, None, None]
    for output, values in zip(outputs, (np.where(holds, x + y, y), np.where(holds, x, x * y))):
        net.expect(output, values.astype(dtype), 1e-5 if dtype == f32 else 0)


def if_moves(net, dtype):
    """An IF whose branches exchange their operands, which have any type."""
    shape = (2, 5)
    x, y = (net.random.integers(0, 2 if dtype == np.bool_ else 100, (STEPS, *shape)).astype(dtype)
            for _ in range(2))
    condition = net.random.integers(0, 2, (STEPS, 1)).astype(np.bool_)
    condition[:2, 0] = True, False
    both = [(dtype, shape)] * 2
    yes = subgraph(net, both, lambda g, t: [t[0], t[1]])
    no = subgraph(net, both, lambda g, t: [t[1], t[0]])
    outputs = [net.tensor(dtype, shape) for _ in range(2)]
    net.op("IF", [net.stream(condition), net.stream(x), net.stream(y)], outputs,
           then_subgraph=yes, else_subgraph=no)
    for output, (a, b) in zip(outputs, ((x, y), (y, x))):
        net.expect(output, np.where(condition[:, :, None], a, b), 0)


def handle(net):
    """The handle of a new variable."""
    name = f"kept{len(net.operators)}"
    net.tensors.append({"shape": [], "type": "RESOURCE", "buffer": 0, "name": name})
    return net.op("VAR_HANDLE", [], [len(net.tensors) - 1], container="", shared_name=name)


def if_keeps(net):
    """An IF without results: one branch leaves a variable unchanged, the other adds to it and
    has another variable."""
    x = net.floats(STEPS, 4)
    condition = np.array([True, False, True, True])
    variable = handle(net)

    def change(graph, tensors):
        old = make(graph, "READ_VARIABLE", tensors[:1], f32, (4,))
        graph.op("ASSIGN_VARIABLE", [tensors[0], make(graph, "ADD", [old, tensors[1]], f32, (4,))],
                 [])
        own = handle(graph)
        more = make(graph, "READ_VARIABLE", [own], f32, (4,))
        graph.op("ASSIGN_VARIABLE", [own, make(graph, "ADD", [more, tensors[1]], f32, (4,))], [])
        return []

    given = [None, (f32, (4,))]
    yes, no = subgraph(net, given, change), subgraph(net, given, lambda g, t: [])
    net.op("IF", [net.stream(condition), variable, net.stream(x)], [], then_subgraph=yes,
           else_subgraph=no)
    y = make(net, "READ_VARIABLE", [variable], f32, (4,))
    net.expect(y, np.cumsum(x * condition[:, None], axis=0, dtype=np.float64).astype(f32), 1e-5)


def counts_to(net, end, more):
    """A condition: the first of the values is less than `end`."""
    return subgraph(net, [(np.int32, ())] + more, lambda g, t: [
        make(g, "LESS", [t[0], g.const(np.int32(end))], np.bool_, ())])


def recurrence(net, steps, inputs, units):
    """h = tanh(x[i] W + h U) for each i, in the form that converters give to a loop over time.
    The weights are constants of the body. The results of all steps are appended to a growing
    tensor."""
    x = net.floats(STEPS, steps, inputs)
    w, u = net.floats(units, inputs), net.floats(units, units)
    values = [(f32, (1, units)), (f32, (0, units)), (f32, (steps, inputs))]
    condition = counts_to(net, steps, values)

    def body(graph, tensors):
        i, h, whole, sequence = tensors
        graph.tensors[whole]["shape_signature"] = [-1, units]
        row = make(graph, "GATHER", [sequence, i], f32, (inputs,), axis=0)
        row = make(graph, "EXPAND_DIMS", [row, graph.const(np.int32(0))], f32, (1, inputs))
        parts = [make(graph, "FULLY_CONNECTED", [v, graph.const(m), -1], f32, (1, units))
                 for v, m in ((row, w), (h, u))]
        h = make(graph, "TANH", [make(graph, "ADD", parts, f32, (1, units))], f32, (1, units))
        joined = graph.tensor(f32, (1, units), shape_signature=[-1, units])
        graph.op("CONCATENATION", [whole, h], [joined], axis=0)
        after = make(graph, "ADD", [i, graph.const(np.int32(1))], np.int32, ())
        return [after, h, joined, sequence]

    inner = subgraph(net, [(np.int32, ())] + values, body)
    outputs = [net.tensor(np.int32, ()), net.tensor(f32, (1, units)),
               net.tensor(f32, (steps, units)), net.tensor(f32, (steps, inputs))]
    net.op("WHILE", [net.const(np.int32(0)), net.const(np.zeros((1, units), f32)),
                     net.const(np.zeros((0, units), f32)), net.stream(x)], outputs,
           cond_subgraph=condition, body_subgraph=inner)
    results = []
    for sequence in x.astype(np.float64):
        h = np.zeros(units)
        for row in sequence:
            h = np.tanh(w @ row + u @ h)
            results.append(h)
    results = np.array(results).reshape(STEPS, steps, units).astype(f32)
    net.expect(outputs[2], results, 1e-5)
    net.expect(outputs[1], results[:, -1:], 1e-5)


def loop_of_none(net):
    """A loop whose condition is false at the start."""
    x = net.floats(STEPS, 3)
    condition = counts_to(net, 0, [(f32, (3,))])
    inner = subgraph(net, [(np.int32, ()), (f32, (3,))], lambda g, t: [
        t[0], make(g, "NEG", t[1:], f32, (3,))])
    outputs = [net.tensor(np.int32, ()), net.tensor(f32, (3,))]
    net.op("WHILE", [net.const(np.int32(0)), net.stream(x)], outputs, cond_subgraph=condition,
           body_subgraph=inner)
    y = make(net, "ABS", [outputs[1]], f32, (3,))
    net.expect(y, np.abs(x), 0)


def loop_of_loops(net):
    """A loop with three iterations. Its body has an IF with a computed condition, a loop and a
    variable: x is doubled twice, or halved, and added to the variable."""
    x = net.floats(STEPS, 2)
    variable = handle(net)
    given = [(np.int32, ()), (f32, (2,)), None]
    condition = counts_to(net, 3, given[1:])
    twice = counts_to(net, 2, given[1:2])
    step = lambda g, t: make(g, "ADD", [t, g.const(np.int32(1))], np.int32, ())  # noqa: E731
    double = subgraph(net, given[:2], lambda g, t: [
        step(g, t[0]), make(g, "ADD", [t[1], t[1]], f32, (2,))])

    def doubled(graph, tensors):
        outputs = [graph.tensor(np.int32, ()), graph.tensor(f32, (2,))]
        graph.op("WHILE", [graph.const(np.int32(0)), *tensors], outputs, cond_subgraph=twice,
                 body_subgraph=double)
        return outputs[1:]

    yes = subgraph(net, given[1:2], doubled)
    no = subgraph(net, given[1:2], lambda g, t: [
        make(g, "MUL", [t[0], g.const(f32(0.5))], f32, (2,))])

    def body(graph, tensors):
        first = make(graph, "REDUCE_MAX", [tensors[1], graph.const(np.array([0], np.int32))], f32,
                     (), keep_dims=False)
        isSmall = make(graph, "LESS", [first, graph.const(f32(1))], np.bool_, ())
        value = graph.op("IF", [isSmall, tensors[1]], [graph.tensor(f32, (2,))],
                         then_subgraph=yes, else_subgraph=no)
        old = make(graph, "READ_VARIABLE", tensors[2:], f32, (2,))
        new = make(graph, "ADD", [old, value], f32, (2,))
        graph.op("ASSIGN_VARIABLE", [tensors[2], new], [])
        return [step(graph, tensors[0]), value, tensors[2]]

    inner = subgraph(net, given, body)
    net.tensors.append({"shape": [], "type": "RESOURCE", "buffer": 0, "name": "passed"})
    passed = len(net.tensors) - 1
    outputs = [net.tensor(np.int32, ()), net.tensor(f32, (2,)), passed]
    net.op("WHILE", [net.const(np.int32(0)), net.stream(x), variable], outputs,
           cond_subgraph=condition, body_subgraph=inner)
    kept = make(net, "READ_VARIABLE", [passed], f32, (2,))
    total, values, sums = np.zeros(2), [], []
    for value in x.astype(np.float64):
        for _ in range(3):
            value = value * 4 if value.max() < 1 else value * 0.5
            total = total + value
        values.append(value)
        sums.append(total)
    net.expect(outputs[1], np.array(values, f32), 1e-5)
    net.expect(kept, np.array(sums, f32), 1e-5)


def loop_computed(net, dtype):
    """A loop that ends when the largest element is large enough, which the network computes. It
    carries x, two values that are swapped, and a variable that counts the iterations."""
    shape = (4,)
    x = np.abs(net.floats(STEPS, 4)) + f32(0.1)
    x = (100 * x).astype(np.int32) + 1 if dtype == np.int32 else x
    limit = dtype(1000 if dtype == np.int32 else 5)
    variable = handle(net)
    given = [(dtype, shape)] * 3 + [None]

    def goes_on(graph, tensors):
        most = make(graph, "REDUCE_MAX", [tensors[0], graph.const(np.array([0], np.int32))],
                    dtype, (), keep_dims=False)
        return [make(graph, "LESS", [most, graph.const(limit)], np.bool_, ())]

    def body(graph, tensors):
        twice = make(graph, "ADD", [tensors[0]] * 2, dtype, shape)
        old = make(graph, "READ_VARIABLE", tensors[3:], f32, (2,))
        new = make(graph, "ADD", [old, graph.const(f32(1))], f32, (2,))
        graph.op("ASSIGN_VARIABLE", [tensors[3], new], [])
        return [twice, tensors[2], tensors[1], tensors[3]]

    net.tensors.append({"shape": [], "type": "RESOURCE", "buffer": 0, "name": "counted"})
    passed = len(net.tensors) - 1
    outputs = [net.tensor(dtype, shape) for _ in range(3)] + [passed]
    a = net.const(np.arange(4).astype(dtype))
    b = make(net, "ADD", [net.stream(x), a], dtype, shape)
    net.op("WHILE", [net.stream(x), a, b, variable], outputs,
           cond_subgraph=subgraph(net, given, goes_on), body_subgraph=subgraph(net, given, body))
    kept = make(net, "READ_VARIABLE", [passed], f32, (2,))
    ends, firsts, seconds, counts, count = [], [], [], [], 0
    for value in x:
        first, second = np.arange(4).astype(dtype), value + np.arange(4).astype(dtype)
        while value.max() < limit:
            value, first, second, count = value + value, second, first, count + 1
        ends.append(value), firsts.append(first), seconds.append(second)
        counts.append([count, count])
    for tensor, values in zip(outputs, (ends, firsts, seconds)):
        net.expect(tensor, np.array(values), 0)
    net.expect(kept, np.array(counts, f32), 0)
