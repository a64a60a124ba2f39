"""The IR is text between any two passes: nnc-opt can stop there, what it prints can
be edited, and the rest still runs.

A network goes through the passes in one process, then stops after each of them in
turn, is printed, read again, and goes on: nnc-codegen must write the same bytes. Then
single decisions are edited, to good and to bad values."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin"
CACHE = pathlib.Path(os.environ["NNC_CACHE"])
TARGET = "x86-64-v3"

# Passes of the pipeline that only some models and options need.
OPTIONAL = {"QnnFuse", "QnnLegalize", "Tabulate", "AssignThreads"}


def list_passes():
    """The passes that Pipeline.cpp runs, in its order, as nnc-opt takes them."""
    compiler = pathlib.Path(__file__).resolve().parents[2] / "compiler"
    declared = {name: (flag, op) for name, flag, op in re.findall(
        r'^def (\w+) : Pass<"([a-z-]+)", "::mlir::(?:func::)?(\w+)">',
        "".join((compiler / "passes" / file).read_text()
                for file in ("Passes.td", "PlanPasses.td")), re.M)}
    for name in re.findall(r"addPass\(\s*create(\w+)\(",
                           (compiler / "pipelines/Pipeline.cpp").read_text()):
        flag, op = declared[name]
        if name in ("FuseLayers", "ChooseRoutines"):
            flag += f"{{target={TARGET}}}"
        if name not in OPTIONAL:
            yield f"func.func({flag})" if op == "FuncOp" else flag


PASSES = list(list_passes())


def count_up_to(flag):
    """The number of passes up to one, with it."""
    return next(i for i, name in enumerate(PASSES) if name.startswith(flag)) + 1


# Passes until routines are chosen, until places are planned.
CHOSEN, PLANNED = count_up_to("nnc-choose-routines"), count_up_to("nnc-plan-memory")


def opt(text, passes):
    """What nnc-opt prints after `passes`, or raises CalledProcessError."""
    return subprocess.run(
        [BIN / "nnc-opt", f"--pass-pipeline=builtin.module({','.join(passes)})",
         "--mlir-print-debuginfo"],
        input=text, text=True, check=True, capture_output=True).stdout


def codegen(text, folder):
    """The files that nnc-codegen writes, by name."""
    subprocess.run([BIN / "nnc-codegen", "-", "-o", folder], input=text, text=True,
                   check=True, capture_output=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def complaint(text, passes):
    """The first error of passes that must fail."""
    try:
        opt(text, passes)
    except subprocess.CalledProcessError as error:
        if error.returncode < 0:
            raise
        return next(line for line in error.stderr.splitlines() if "error:" in line)
    raise AssertionError("accepted what it should refuse")


def edit(text, pattern, replacement):
    edited, count = re.subn(pattern, replacement, text, count=1)
    assert count == 1, f"nothing matches {pattern}"
    return edited


def stops_anywhere(imported, want, top):
    text = imported
    for i, name in enumerate(PASSES):
        text = opt(text, [name])
        got = codegen(opt(text, PASSES[i + 1:]) if PASSES[i + 1:] else text, top / str(i))
        assert got.keys() == want.keys(), name
        differing = [file for file in want if got[file] != want[file]]
        assert not differing, f"stopped after {name}: {', '.join(differing)} differs"
        print(f"{name}: {len(text)} characters, the same module")


def takes_another_routine(imported, want, top):
    """A tile of other size computes the same; it is in the code that is written."""
    chosen = opt(imported, PASSES[:CHOSEN])
    pattern = r'(params = array<i64: )1, (\d)(, 2>, routine = "conv2d_f32_nchw8c_direct_avx2")'
    other = "4" if re.search(pattern, chosen)[2] != "4" else "5"
    edited = edit(chosen, pattern, rf"\g<1>1, {other}\g<3>")
    got = codegen(opt(edited, PASSES[CHOSEN:]), top / "edited")
    assert got["model_weights.bin"] == want["model_weights.bin"]
    tile = f"/*COLS=*/{other},".encode()
    assert got["model.cpp"].count(tile) > want["model.cpp"].count(tile)


def refuses_bad_decisions(imported):
    chosen = opt(imported, PASSES[:CHOSEN])
    unknown = edit(chosen, r'routine = "conv2d_f32_nchw8c_direct_avx2"',
                   'routine = "conv2d_f32_fastest"')
    assert "conv2d_f32_fastest" in complaint(unknown, PASSES[CHOSEN:])
    planned = opt(imported, PASSES[:PLANNED])
    place = r"(exec\.place = #exec\.place<arena at )(\d+)"
    first, second = [match[2] for match in re.finditer(place, planned)][:2]
    assert first != second
    after_first = rf"(?s)(arena at {first}>.*?arena at ){second}"
    for bad, pattern in [("1", place), ("1073741824", place), (first, after_first)]:
        moved = edit(planned, pattern, rf"\g<1>{bad}")
        for passes in (["nnc-verify-memory"], PASSES[PLANNED:]):
            print(f"a value moved to {bad}:", complaint(moved, passes))


def main():
    model = next(iter(sorted(CACHE.glob("ocr-*/ch_ppocr_mobile_v2.0_cls_infer.onnx"))))
    imported = subprocess.run(
        [BIN / "nnc-translate", "--import", "--complete", "--name=model",
         "--shape=x=1x3x48x192", model],
        text=True, check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        subprocess.run(
            [BIN / "nnc", "compile", model, "-o", top / "whole", "--name=model",
             "--shape=x=1x3x48x192", f"--target={TARGET}", "--threads=off"],
            check=True, capture_output=True)
        want = {path.name: path.read_bytes() for path in (top / "whole").iterdir()}
        stops_anywhere(imported, want, top)
        takes_another_routine(imported, want, top)
        refuses_bad_decisions(imported)
    return 0


if __name__ == "__main__":
    sys.exit(main())
