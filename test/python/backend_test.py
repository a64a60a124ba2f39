"""Runs ONNX's backend tests on nnc with ONNX's own runner through the Python package, and the
same cases on emitted code with test/onnx/node_tests.py. Each case must end in the same way.

    backend_test.py [--sample 1/10]     NNC_BUILD_DIR is the folder of the build
"""

import argparse
import sys
import unittest

import numpy as np
import onnx
import onnx.backend.test

import wheel
from wheel import ROOT

sys.path.insert(0, str(ROOT / "test" / "onnx"))
import node_tests  # noqa: E402

wheel.use()
import nnc.backend  # noqa: E402

COMPILER = "clang++-19 -O1"


class Recorder(nnc.backend.Backend):
    """The backend. It also records the cases that it declines, which the runner skips silently."""

    declined = False

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        try:
            return super().prepare(model, device, compiler=COMPILER, **kwargs)
        except onnx.backend.test.runner.BackendIsNotSupposedToImplementIt:
            cls.declined = True
            raise


def by_name():
    """The runner's tests for the CPU by the names of their cases."""
    cases = onnx.backend.test.BackendTest(Recorder, __name__).test_cases
    suite = unittest.TestSuite()
    for kind in cases.values():
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(kind))
    return {test._testMethodName.removesuffix("_cpu"): test for test in suite
            if test._testMethodName.endswith("_cpu")}


def run(test):
    """How a test of the runner ended, in the form of node_tests.outcome(), and why."""
    Recorder.declined = False
    result = unittest.TestResult()
    test.run(result)
    for problems in (result.failures, result.errors):
        if problems:
            return "failed", problems[0][1]
    return ("lacking" if Recorder.declined or result.skipped else "passed"), ""


def check_run_node():
    """Checks a single node whose result has no declared type."""
    node = onnx.helper.make_node("Softmax", ["x"], ["y"], axis=0)
    (y,) = nnc.backend.run_node(node, [np.zeros(4, np.float32)], compiler=COMPILER)
    if y.tolist() != [0.25] * 4:
        raise AssertionError(y)


def main():
    check_run_node()
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", default="1/1", metavar="I/N", help="each N-th case, from I")
    part, parts = map(int, parser.parse_args().sample.split("/"))
    supported = node_tests.supported_ops()
    # The runner has one tolerance for all cases.
    cases = [case for case in node_tests.load_cases()
             if not node_tests.out_of_scope(case, supported)
             and not node_tests.CANCELLING.match(case.name)
             and not node_tests.RANDOM.match(case.name)][part - 1::parts]
    node_tests.CASES, node_tests.HOW = cases, ("native", "none")
    tests = by_name()
    differ, counts = 0, {}
    for index, case in enumerate(cases):
        (kind, why), (expected, message) = run(tests[case.name]), node_tests.outcome(index)
        expected = "lacking" if expected == "declined" else expected
        counts[kind] = counts.get(kind, 0) + 1
        if kind != expected:
            differ += 1
            print(f"FAILED {case.name}: {kind} by Python, {expected} by emitted code\n"
                  f"{why}{message}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) +
          f" of {len(cases)}; {differ} differ")
    return 1 if differ or not counts.get("passed") else 0


if __name__ == "__main__":
    sys.exit(main())
