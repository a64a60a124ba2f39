#!/usr/bin/env python3
"""Measures the bytes of code of one layer of each routine for microcontrollers, and
writes runtime/routines/costs/code.inc.

    fit_code.py                    writes the table
    fit_code.py --check [NAME...]  fails where the table is more than a third off,
                                   for all routines or for these

A layer's own code is what the compiler makes of the routine for a common shape and an
epilogue of a bias and a ReLU. Functions that a module has once are counted apart if no
other routine of the table calls them, and not at all otherwise."""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import routine_tables

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "runtime/routines/costs/code.inc"
CXX = ["arm-none-eabi-g++", "-mthumb", "-mfloat-abi=hard", "-std=c++17", "-Os",
       "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-fno-math-errno",
       "-ffunction-sections", f"-I{ROOT}"]
CORTEX_M7 = ["-mcpu=cortex-m7", "-mfpu=fpv5-d16"]
CORTEX_M55 = ["-mcpu=cortex-m55"]  # for the routines of helium
CORTEX_M0 = ["-mcpu=cortex-m0plus", "-mfloat-abi=soft"]  # for portable routines of bytes
# Functions that a module has once.
SHARED = re.compile(r"nnc::(dsp_|helium_|thumb_|pool_range)")

HEAD = """\
// NNC_CODE(routine, first parameter or -1, bytes of a layer with constant sizes,
//          bytes of a function that gets its sizes as arguments,
//          bytes of functions that all layers of this routine share)
//
// The code sizes of layers on microcontrollers, compiled by {compiler}
// at -Os for a Cortex-M7, for a Cortex-M55 if the routine is for helium, and for a
// Cortex-M0+ if it is a portable one of bytes. The functions that layers of several
// routines share are not counted. Written by scripts/benchmark/fit_code.py.
"""

CONV = dict(n=1, c=16, h=12, w=12, k=16, kh=3, kw=3, sh=1, sw=1, dh=1, dw=1, pt=1, pl=1,
            oh=12, ow=12, groups=1, fill=0)
DEPTHWISE = dict(CONV, groups=16)
DEPTHWISE_FIVES = dict(DEPTHWISE, kh=5, kw=5, pt=2, pl=2)
FIRST = dict(CONV, c=1)
TRANSPOSE = {k: v for k, v in dict(CONV, kh=2, kw=2, sh=2, sw=2, pt=0, pl=0, oh=24,
                                   ow=24).items() if k != "fill"}
MATMUL = dict(batch=1, m=1, n=32, k=64, a_batch_stride=64, b_batch_stride=0,
              transpose_a=0, transpose_b=0)
POOL = dict(n=1, c=16, h=12, w=12, kh=2, kw=2, sh=2, sw=2, dh=1, dw=1, pt=0, pl=0, pb=0,
            pr=0, oh=6, ow=6, count_include_pad=0)

# Routine, parameters, shape, element type, whether it takes weights, and scratch.
ROUTINES = [
    ("avg_pool2d_f32_nhwc_portable", [], POOL, "float", False, False),
    ("avg_pool2d_f32_portable", [], POOL, "float", False, False),
    ("conv2d_f32_nchw_depthwise_fpu", [0, 1], DEPTHWISE, "float", True, False),
    ("conv2d_f32_nchw_few_fpu", [0, 1], CONV, "float", True, False),
    ("conv2d_f32_nchw_fpu", [0, 1], CONV, "float", True, False),
    ("conv2d_f32_nhwc_depthwise_fpu", [0, 1], DEPTHWISE, "float", True, False),
    ("conv2d_f32_nhwc_depthwise_portable", [], DEPTHWISE, "float", True, False),
    ("conv2d_f32_nhwc_few_fpu", [0, 1], CONV, "float", True, False),
    ("conv2d_f32_nhwc_fpu", [0, 1], CONV, "float", True, False),
    ("conv2d_f32_nhwc_portable", [], CONV, "float", True, False),
    ("conv2d_f32_portable", [], CONV, "float", True, False),
    ("conv2d_i32_nhwc_armdsp", [], CONV, "int8_t", True, True),
    ("conv2d_i32_nhwc_depthwise_armdsp", [], DEPTHWISE, "int8_t", True, True),
    ("conv2d_i32_nhwc_depthwise_helium", [], DEPTHWISE, "int8_t", True, True),
    ("conv2d_i32_nhwc_depthwise_portable", [], DEPTHWISE, "int8_t", True, False),
    ("conv2d_i32_nhwc_depthwise_taps_armdsp", [], DEPTHWISE_FIVES, "int8_t", True, True),
    ("conv2d_i32_nhwc_first_armdsp", [], FIRST, "int8_t", True, True),
    ("conv2d_i32_nhwc_helium", [], CONV, "int8_t", True, True),
    ("conv2d_i32_portable", [], CONV, "int8_t", True, False),
    ("conv_transpose2d_f32_nchw_fpu", [0, 1], TRANSPOSE, "float", True, False),
    ("matmul_f32_fpu", [0, 1], MATMUL, "float", True, False),
    ("matmul_i32_armdsp", [], MATMUL, "int8_t", True, False),
    ("matmul_i32_helium", [], MATMUL, "int8_t", True, False),
    ("matmul_i32_portable", [], MATMUL, "int8_t", True, False),
    ("matmul_portable", [], MATMUL, "float", True, False),
    ("max_pool2d_nhwc_helium", [], POOL, "int8_t", False, False),
    ("max_pool2d_nhwc_portable", [], POOL, "float", False, False),
    ("max_pool2d_portable", [], POOL, "float", False, False),
]

SOURCE = """\
#include "{header}"
#include "{folder}/shape.h"
using namespace nnc;
struct expression {{
  float operator()(float v, float bias) const {{
    v += bias;
    return v > 0 ? v : 0;
  }}
  int8_t operator()(int32_t v, int32_t bias, int32_t multiplier, int32_t shift) const {{
    return int8_t((v + bias) * multiplier >> shift);
  }}
  using requantization = requantization_of<-3, -128, 127>;
}};
using epilogue = {epilogue};
struct constant_shape {{
{fields}}};
using shape = {shape};
void layer(const shape &s, const {type} *x, {weights}{operands}, {type} *y{memory}) {{
  using routine = {routine}<shape, {params}epilogue>;
  routine::run(s, x, {w}y, {scratch}epilogue{{{passed}}}, 0, routine::units(s));
}}
"""


def headers():
    return {row["name"]: (row["family"], row["header"]) for row in routine_tables.read()[1]}


def measure(name, param, shape, kind, weights, scratch, constant):
    """Returns the bytes of a layer's own functions, and those of each shared function by
    its name."""
    family, header = headers()[name]
    floats = kind == "float"
    source = SOURCE.format(
        header=header, folder=pathlib.Path(header).parent, routine=name, type=kind,
        epilogue="fused<expression, channel_of<float>>" if floats else
        "fused<expression, channel_of<int32_t>, channel_of<int32_t>, channel_of<int32_t>>",
        fields="".join(f"  static constexpr int {k} = {v};\n" for k, v in shape.items()),
        shape="constant_shape" if constant else family + "_shape",
        weights=f"const {kind} *w, " if weights else "",
        operands="const float *b" if floats else
        "const int32_t *b, const int32_t *m, const int32_t *r",
        memory=", unsigned char *scratch" if scratch else "",
        params="" if param is None else f"{param}, ", w="w, " if weights else "",
        scratch="scratch, " if scratch else "", passed="b" if floats else "b, m, r")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "layer.cpp").write_text(source)
        core = (CORTEX_M55 if name.endswith("_helium") else
                CORTEX_M0 if name.endswith("_portable") and not floats else CORTEX_M7)
        subprocess.run([*CXX, *core, "-c", path / "layer.cpp", "-o", path / "layer.o"], check=True)
        symbols = subprocess.run(["arm-none-eabi-nm", "-C", "-S", path / "layer.o"],
                                 check=True, capture_output=True, text=True).stdout
    own, shared = 0, {}
    for size, function in re.findall(r"^\w+ (\w+) [tTwW] (.*)$", symbols, re.M):
        if SHARED.search(function):
            shared[function] = int(size, 16)
        else:
            own += int(size, 16)
    return own, shared


def table(names=()):
    version = subprocess.run([CXX[0], "-dumpfullversion"], check=True, capture_output=True,
                             text=True).stdout.strip()
    lines, callers = [], collections.defaultdict(set)
    for name, params, shape, *rest in ROUTINES:
        for param in params or [None]:
            constant, shared = measure(name, param, shape, *rest, True)
            for function in shared:
                callers[function].add(name)
            if not names or name in names:
                sized, _ = measure(name, param, shape, *rest, False)
                lines.append((name, -1 if param is None else param, constant, sized, shared))
    return HEAD.format(compiler=f"{CXX[0]} {version}"), [
        (name, param, constant, sized,
         sum(size for function, size in shared.items() if callers[function] == {name}))
        for name, param, constant, sized, shared in lines]


def read():
    return {(m[1], int(m[2])): tuple(map(int, m.groups()[2:])) for m in
            re.finditer(r"^NNC_CODE\((\w+), (-?\d+), (\d+), (\d+), (\d+)\)$",
                        TABLE.read_text(), re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.names and not arguments.check:
        parser.error("names are for --check: the table is written as a whole")
    head, lines = table(arguments.names)
    if not arguments.check:
        TABLE.write_text(head + "".join(f"NNC_CODE({', '.join(map(str, line))})\n"
                                        for line in lines) + "#undef NNC_CODE\n")
        return 0
    known, wrong = read(), 0
    for name, param, *measured in lines:
        for stated, found in zip(known.get((name, param), (0, 0, 0)), measured):
            if not 2 / 3 < (stated or 1) / (found or 1) < 1.5:
                print(f"{name} {param}: the table says {stated} bytes, it takes {found}")
                wrong += 1
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
