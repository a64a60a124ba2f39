#!/usr/bin/env python3
"""Runs ONNX's own tests of backends on code that nnc emits: all cases that the onnx package
generates for operators that `nnc ops` lists, and the models that it stores.

    node_tests.py                     every case; prints what is left out and why
    node_tests.py --sample 2/10       the second tenth of them
    node_tests.py --only 'conv|pool'  the cases whose names match
    node_tests.py --constants         with all inputs but the first as weights
    node_tests.py --target=cuda-sm80 --nvcc   compiled by nvcc instead of run
    node_tests.py --as-written        with no input as a weight; prints the share that passes,
                                      and fails where it is less than --share

NNC_BUILD_DIR says where nnc was built.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

import constants
import emitted

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cuda"))
import toolkit  # noqa: E402

# What nnc declines although it has the operator: part of its message, and why that is
# no fault. Anything else that it declines is a failure.
DECLINED = [
    (r"is in training mode", "trains, and nnc compiles inference"),
]

# Cases of which ONNX's text says something else than its reference implementation.
DISPUTED = {
    # The "length of the resized tensor" is the whole number of its elements, also to
    # onnxruntime and PyTorch; the reference counts a fraction.
    "test_resize_downsample_scales_cubic_align_corners",
    "test_resize_downsample_scales_linear_align_corners",
}

# Cases of sums whose terms cancel: their error is one of the largest result. Some of the
# expected values were made in double precision and some in single.
CANCELLING = re.compile("test_dft|test_stft")

# Cases of operators that draw random numbers: only shapes and types are compared.
RANDOM = re.compile("test_bernoulli")

TYPES = {getattr(TensorProto, name) for name in
         ("FLOAT DOUBLE FLOAT16 BFLOAT16 INT2 INT4 INT8 INT16 INT32 INT64 "
          "UINT2 UINT4 UINT8 UINT16 UINT32 UINT64 BOOL FLOAT8E4M3FN FLOAT8E4M3FNUZ "
          "FLOAT8E5M2 FLOAT8E5M2FNUZ FLOAT8E8M0 FLOAT6E2M3 FLOAT6E3M2 FLOAT4E2M1").split()}

# Relative tolerances of what is rounded to 16 bits: two units in the last place.
ROUNDED = {"f16": 2e-3, "bf16": 16e-3}


def load_stored_case(case):
    """A stored case with its model. The model and the tensors are files."""
    return dataclasses.replace(case, model=onnx.load(f"{case.model_dir}/model.onnx"))


def get_data(case):
    """The inputs and outputs of a case, in pairs."""
    if case.data_sets is not None:
        return case.data_sets
    return [[[onnx.load_tensor(path) for path in
              sorted(data.glob(f"{kind}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))]
             for kind in ("input", "output")]
            for data in sorted(pathlib.Path(case.model_dir).glob("test_data_set_*"))]


def load_cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the generators divide by zero on purpose
        from onnx.backend.test import loader
        cases = loader.load_node_model_tests()
        for kind in ("simple", "pytorch-converted", "pytorch-operator"):
            cases += map(load_stored_case, loader.load_model_tests(kind=kind))
        return sorted(cases, key=lambda case: case.name)


def supported_ops():
    return {row["name"] for row in json.loads(emitted.nnc("ops", "--frontend=onnx", "--json"))}


def out_of_scope(case, supported):
    """Why nnc need not run a case, or None."""
    if case.name in DISPUTED:
        return "is disputed"
    graph = case.model.graph
    for port in [*graph.input, *graph.output]:
        kind = port.type.WhichOneof("value")
        if kind != "tensor_type":
            return f"has a {kind.removesuffix('_type')} for an input or output"
        if port.type.tensor_type.elem_type not in TYPES:
            return "has elements of " + TensorProto.DataType.Name(
                port.type.tensor_type.elem_type).lower()
    missing = sorted({".".join(filter(None, (n.domain, n.op_type))) for n in graph.node} -
                     supported)
    if missing:
        return "needs " + ", ".join(missing)
    return None


def compare(case, outputs, expected, ports):
    """Raises Failure if outputs differ from those that the test expects."""
    for port, want in zip(ports, expected):
        got, want = outputs[port["name"]], emitted.as_stored(to_array(want))
        if got.shape != want.shape or got.dtype != want.dtype:
            raise emitted.Failure(f"{port['name']} is {got.dtype}{list(got.shape)}, expected "
                                  f"{want.dtype}{list(want.shape)}")
        if RANDOM.match(case.name):
            continue
        if port["dtype"] in ("f64", "f32", *ROUNDED):
            rtol = max(case.rtol, ROUNDED.get(port["dtype"], 0))
            exact = np.float64
            atol = case.atol
            if CANCELLING.match(case.name):
                atol = max(atol, 1e-6 * float(np.abs(want).max()))
            same = np.isclose(got.astype(exact), want.astype(exact), rtol=rtol,
                              atol=atol, equal_nan=True)
        else:
            same = got == want
        if not same.all():
            where = tuple(int(i) for i in np.argwhere(~same)[0])
            raise emitted.Failure(f"{port['name']}{list(where)} is {got[where]}, expected "
                                  f"{want[where]}; {int((~same).sum())} of {same.size} differ")


def to_array(value):
    is_proto = isinstance(value, TensorProto)
    return numpy_helper.to_array(value) if is_proto else np.asarray(value)


def check(case, target, frozen, with_nvcc=False):
    """Raises Failure if a case does not pass. `frozen` says which inputs become constants:
    those that nnc "needs", "all" but the first, or "none". `with_nvcc` tells nvcc to compile
    the module, which does not run then."""
    names = [port.name for port in case.model.graph.input]
    for inputs, expected in get_data(case):
        arrays = {name: to_array(array) for name, array in zip(names, inputs)}
        model, given = case.model, arrays
        if frozen != "none":
            model, given = constants.freeze(model, arrays, names[1:] if frozen == "all" else ())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, case.name + ".onnx")
            onnx.save(model, path)
            module = emitted.compile_model(path, os.path.join(folder, "out"), target=target)
            if with_nvcc:
                compile_with_nvcc(module)
                return
            module.build()
            given = {name: emitted.as_stored(array) for name, array in given.items()}
            outputs = emitted.run_apart(module, given)
        compare(case, outputs, expected, module.manifest["outputs"])


def compile_with_nvcc(module):
    try:
        _, said = toolkit.compile_module(module.folder, module.manifest)
    except AssertionError as error:
        raise emitted.Failure(str(error)) from None
    if said:
        raise emitted.Failure(f"nvcc warns: {said}")


def outcome(index):
    """("passed" | "declined" | "lacking" | "failed", message) of a case, by index into CASES.
    It is "lacking" if nnc reports that it lacks something, and "failed" if nnc is at fault."""
    try:
        check(CASES[index], *HOW)
        return "passed", ""
    except emitted.Failure as failure:
        if failure.code == emitted.LACKING:
            for pattern, why in DECLINED:
                if re.search(pattern, str(failure)):
                    return "declined", why
            return "lacking", str(failure)
        return "failed", str(failure)


def report_left_out(left_out):
    by_reason = collections.defaultdict(list)
    for name, reason in left_out:
        by_reason[reason].append(name.removeprefix("test_"))
    print("left out:")
    for reason, names in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
        shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
        print(f"  {len(names):4} {reason}: {shown}")


def report_constants(cases):
    ops = collections.Counter(op for case in cases for op in {
        op for name, op in constants.fixed_values(case.model.graph).items()
        if name in {port.name for port in case.model.graph.input}})
    if ops:
        print("with inputs made constants, as the operator needs to know them when compiling:")
        print("  " + ", ".join(f"{count} {op}" for op, count in sorted(ops.items())))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", default="1/1", metavar="I/N", help="each N-th case, from I")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--constants", action="store_true")
    parser.add_argument("--as-written", action="store_true")
    parser.add_argument("--share", type=float, default=0, metavar="PERCENT",
                        help="of the cases that have to pass as written")
    parser.add_argument("--target", default="native")
    parser.add_argument("--nvcc", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def main():
    global CASES, HOW
    arguments = parse_arguments()
    HOW = arguments.target, ("none" if arguments.as_written else
                             "all" if arguments.constants else "needs"), arguments.nvcc
    if arguments.nvcc and not toolkit.find("nvcc"):
        print(toolkit.WHY_SKIPPED)
        return 77
    part, parts = map(int, arguments.sample.split("/"))
    supported = supported_ops()
    CASES, left_out = [], []
    for case in load_cases():
        reason = out_of_scope(case, supported)
        if not re.search(arguments.only, case.name):
            continue
        if reason:
            left_out.append((case.name, reason))
        else:
            CASES.append(case)
    CASES = CASES[part - 1::parts]

    failures, wrong = [], []
    workers = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs, workers) as pool:
        for case, (kind, message) in zip(CASES, pool.map(outcome, range(len(CASES)))):
            if kind == "declined":
                left_out.append((case.name, message))
            elif kind != "passed":
                failures.append(case.name)
                if kind == "failed":
                    wrong.append(case.name)
                print(f"FAILED {case.name}: {message}", flush=True)
    if not arguments.as_written:
        report_constants(CASES)
    report_left_out(left_out)
    declined = sum(1 for name, _ in left_out if name in {c.name for c in CASES})
    passed = len(CASES) - declined - len(failures)
    print(f"{passed} passed, {len(failures)} failed, {len(left_out)} left out")
    if arguments.as_written:
        share = 100 * passed / max(1, len(CASES) - declined)
        print(f"{share:.1f} % pass as written")
        return 0 if share >= arguments.share and not wrong else 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
