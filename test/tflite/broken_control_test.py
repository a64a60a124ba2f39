#!/usr/bin/env python3
"""Tests models with IF and WHILE that have one fault, or whose iterations nnc cannot determine:
the message names the fault in bounded time, without a crash."""

import unittest

import numpy as np

from branches import handle, make, subgraph
from recurrent import Streamed
import refusals  # also makes the modules of test/broken known
from outcome import BROKEN, DONE, LACKING, LIMIT

F32, COUNTER = np.float32, (np.int32, ())
VECTOR = (F32, (3,))


def empty():
    net = Streamed()
    net.steps = 0
    return net


def condition(net, dtype=np.bool_, shape=()):
    return net.input(np.ones(shape, dtype))


def branch(net, dtype=F32, shape=(3,), results=1, inputs=1):
    """A subgraph that returns its input `results` times, or casts it to `dtype`."""
    def build(graph, tensors):
        y = tensors[0]
        if dtype != F32:
            y = make(graph, "CAST", tensors[:1], dtype, (3,))
        if shape != (3,):
            y = make(graph, "RESHAPE", [y, graph.const(np.array(shape, np.int32))], dtype, shape)
        return [y] * results
    return subgraph(net, [VECTOR] * inputs, build)


def branching(then=None, other=None, results=1, given=1, **of_condition):
    net = empty()
    first = condition(net, **of_condition)
    x = net.input(np.ones(3, F32))
    indices = [branch(net, **part) if isinstance(part, dict) else part
               for part in (then if then is not None else {}, other if other is not None else {})]
    outputs = [net.tensor(*VECTOR) for _ in range(results)]
    net.op("IF", [first, *[x] * given], outputs, then_subgraph=indices[0],
           else_subgraph=indices[1])
    net.outputs = outputs or [x]
    return net


IFS = {
    "sound": (branching(), DONE, ""),
    "condition-type": (branching(dtype=np.int32), BROKEN, "one BOOL"),
    "condition-shape": (branching(shape=(2,)), BROKEN, "one BOOL"),
    "condition-one": (branching(shape=(1, 1)), DONE, ""),
    "then-index": (branching(then=7), BROKEN, "subgraph 7"),
    "else-index": (branching(other=7), BROKEN, "subgraph 7"),
    "negative-index": (branching(then=-1), BROKEN, "subgraph -1"),
    "main": (branching(then=0), BROKEN, "within itself"),
    "few-values": (branching(given=0), BROKEN, "with 0 values; it takes 1"),
    "many-values": (branching(given=3), BROKEN, "with 3 values; it takes 1"),
    "results": (branching(results=2), BROKEN, "2 results; its subgraph has 1"),
    "no-results": (branching(results=0), BROKEN, "0 results; its subgraph has 1"),
    "other-results": (branching(other={"results": 2}), BROKEN, "with 1 and 2 results"),
    "other-type": (branching(other={"dtype": np.int32}), LACKING, "INT32 of shape 3"),
    "other-shape": (branching(other={"shape": (3, 1)}), LACKING, "of shape 3x1"),
}


def counting(end=3, start=0, body=None, cond=None, computed=False):
    """A loop that negates x once for each step of a counter from `start` to `end`."""
    net = empty()
    one = lambda g: g.const(np.int32(1))  # noqa: E731
    given = [COUNTER, VECTOR]
    holds = subgraph(net, given, cond or (lambda g, t: [
        make(g, "LESS", [t[0], g.const(np.int32(end))], np.bool_, ())]))
    inner = subgraph(net, given, body or (lambda g, t: [
        make(g, "ADD", [t[0], one(g)], *COUNTER), make(g, "NEG", t[1:], *VECTOR)]))
    first = net.input(np.int32(start)) if computed else net.const(np.int32(start))
    outputs = [net.tensor(*COUNTER), net.tensor(*VECTOR)]
    net.op("WHILE", [first, net.input(np.ones(3, F32))], outputs, cond_subgraph=holds,
           body_subgraph=inner)
    net.outputs = outputs[1:]
    return net


def changed(edit):
    net = counting()
    edit(net.operators[-1], net)
    return net


def option(key, value):
    return changed(lambda op, net: op["options"].update({key: value}))


WHILES = {
    "sound": (counting(), DONE, ""),
    "never-ends": (counting(body=lambda g, t: t), LIMIT, "more than 4096 times"),
    "long": (counting(end=2**31 - 1), LIMIT, "more than"),
    "computed": (counting(computed=True), DONE, ""),
    "computed-shapes": (counting(computed=True, body=lambda g, t: [
        make(g, "ADD", [t[0], g.const(np.int32(1))], *COUNTER),
        g.op("CONCATENATION", [t[1], t[1]], [g.tensor(F32, (6,), shape_signature=[-1])],
             axis=0)]), LACKING, "of another shape in the next run"),
    "no-condition": (counting(cond=lambda g, t: []), BROKEN, "with 0 results; needs one BOOL"),
    "condition-type": (counting(cond=lambda g, t: t[:1]), BROKEN, "one BOOL, not INT32"),
    "few-results": (counting(body=lambda g, t: t[:1]), BROKEN, "another number"),
    "swapped-results": (counting(body=lambda g, t: t[::-1]), BROKEN, "other types"),
    "body-index": (option("body_subgraph", 9), BROKEN, "subgraph 9"),
    "condition-index": (option("cond_subgraph", -4), BROKEN, "subgraph -4"),
    "main": (option("body_subgraph", 0), BROKEN, "within itself"),
    "few-values": (changed(lambda op, net: op["inputs"].pop()), BROKEN, "with 1 values"),
    "no-value": (changed(lambda op, net: op["inputs"].__setitem__(1, -1)), BROKEN,
                 "lacks operand 1"),
    "types": (changed(lambda op, net: op["inputs"].reverse()), BROKEN, "of type INT32"),
    "more-outputs": (changed(lambda op, net: op["outputs"].append(net.tensor(*VECTOR))), BROKEN,
                     "3 results; its subgraph has 2"),
    "no-options": (changed(lambda op, net: [op.pop("options"), op.pop("options_type")]), BROKEN,
                   "no options"),
}


class BrokenControl(refusals.TestCase):
    def test_if(self):
        for name, (net, code, said) in IFS.items():
            with self.subTest(name):
                self.check(net, code, said)

    def test_while(self):
        for name, (net, code, said) in WHILES.items():
            with self.subTest(name):
                self.check(net, code, said)

    def test_loop_in_itself(self):
        """A body that runs its own loop."""
        net = counting()
        body = net.subgraphs[1]
        body["operators"].append({**net.operators[0], "inputs": body["inputs"],
                                  "outputs": body["outputs"]})
        del body["operators"][:2]
        self.check(net, BROKEN, "within itself")

    def check_nested_loops(self, body, code, said):
        """Four loops of 300 runs within one another; the innermost has this body."""
        net = counting(end=300, body=body)
        given = [COUNTER, VECTOR]
        holds = net.operators[0]["options"]["cond_subgraph"]
        inner = net.operators[0]["options"]["body_subgraph"]
        for _ in range(3):
            def around(graph, tensors, inner=inner):
                outputs = [graph.tensor(*COUNTER),
                           graph.tensor(*VECTOR, shape_signature=[-1])]
                graph.op("WHILE", [graph.const(np.int32(0)), tensors[1]], outputs,
                         cond_subgraph=holds, body_subgraph=inner)
                more = make(graph, "ADD", [tensors[0], graph.const(np.int32(1))], *COUNTER)
                return [more, outputs[1]]
            inner = subgraph(net, given, around)
        net.operators[0]["options"]["body_subgraph"] = inner
        self.check(net, code, said)

    def test_nested_loops(self):
        """Loops of loops that stay loops, and those whose runs have too many operators together,
        as their shapes differ."""
        self.check_nested_loops(None, DONE, "")
        shape = dict(shape_signature=[-1])
        self.check_nested_loops(lambda g, t: [
            make(g, "ADD", [t[0], g.const(np.int32(1))], *COUNTER),
            g.op("CONCATENATION", [g.op("NEG", t[1:], [g.tensor(*VECTOR, **shape)]),
                                   g.const(np.ones(1, F32))],
                 [g.tensor(F32, (4,), **shape)], axis=0)], LIMIT, "operators")

    def test_variables(self):
        """Branches that choose a variable, or have a handle where a value is needed."""
        for results, code, said in ((None, LACKING, "chooses a variable"),
                                    (VECTOR, BROKEN, "handle of a variable")):
            net = empty()
            first, one, two = condition(net), handle(net), handle(net)
            yes = subgraph(net, [None, None], lambda g, t: t[:1])
            no = subgraph(net, [None, results], lambda g, t: t[1:])
            net.tensors.append({"shape": [], "type": "RESOURCE", "buffer": 0, "name": "chosen"})
            chosen = len(net.tensors) - 1
            net.op("IF", [first, one, two], [chosen], then_subgraph=yes, else_subgraph=no)
            net.outputs = [make(net, "READ_VARIABLE", [chosen], *VECTOR)]
            with self.subTest(said):
                self.check(net, code, said)

    def test_preparing(self):
        """A first value that depends on what the network computes."""
        net = empty()
        first, variable = condition(net), handle(net)

        def prepare(graph, tensors):
            own = handle(graph)
            graph.op("ASSIGN_VARIABLE", [own, graph.const(np.ones(3, F32))], [])
            return []

        def once(graph, tensors):
            graph.op("CALL_ONCE", [], [], init_subgraph=inner)
            return []

        inner = subgraph(net, [], prepare)
        yes, no = subgraph(net, [], once), subgraph(net, [], lambda g, t: [])
        net.op("IF", [first], [], then_subgraph=yes, else_subgraph=no)
        net.outputs = [make(net, "READ_VARIABLE", [variable], *VECTOR)]
        self.check(net, LACKING, "may not be taken")


if __name__ == "__main__":
    unittest.main(verbosity=2)
