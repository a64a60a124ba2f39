"""Builds the tests of kernels for a GPU, runs them there, and times the kernels' routines.

    on_device.py                    builds in a temporary folder, and runs where there is a GPU
    on_device.py --build DIR        only builds, for a machine with a GPU but without compilers
    on_device.py --run DIR          only runs, and writes DIR/results.json
    on_device.py --build DIR --stub builds for the CPU, on which kernels run on its block policy

The tests are those that run on the CPU's block policy: nvcc compiles the same sources, with the
references and random shapes in them, and kernel_grid.h launches the kernels on the GPU. The routines
that are timed are those of the tables in runtime/routines/, for layers of real networks
(timings.h).

Without nvcc, or without a GPU, it ends with exit status 77; see test/cuda/toolkit.py.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import machine_code
import timed_routines

HERE = machine_code.HERE
ROOT = machine_code.ROOT

TESTS = ["attention_blocks", "attention_floats", "depthwise_nhwc", "float_gemm", "grouped",
         "implicit_gemm", "implicit_gemm_types", "layer_norm_rows", "move_copy",
         "move_elementwise", "move_resize", "move_rows", "phases", "pixels", "plain_gemm", "planes",
         "pool2d_nhwc", "reduce_rows", "softmax_rows"]
FLAGS = ["-std=c++17", f"-I{ROOT}"]


def compiler_of(arch, stub):
    """The command that compiles a source for the GPU or, if `stub`, for the CPU; or None."""
    if stub:
        compiler = os.environ.get("NNC_CXX") or shutil.which("clang++-19") or "c++"
        return [compiler, *FLAGS, "-O1", "-x", "c++", "-DNNC_PORTABLE_SIMD=1",
                "-DNNC_EMULATE_CUDA=1", "-ffp-contract=off"]
    tools = machine_code.find_tools()
    return tools and [tools[0], *FLAGS, "-O2", "-fmad=false", "-x", "cu", "-Wno-deprecated-gpu-targets",
                      *(f"-gencode=arch=compute_{one},code=sm_{one}" for one in arch)]


def run_all(commands, jobs):
    """Runs the commands, `jobs` at a time. Ends the script if one fails."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(lambda command: subprocess.run(command, capture_output=True,
                                                            text=True), commands):
            if done.returncode:
                sys.exit(f"{' '.join(map(str, done.args))}\n{done.stdout}{done.stderr}")


def build(folder, arch, stub, tests, families, jobs):
    """Builds the programs into the folder, and returns False if there is no compiler."""
    compiler = compiler_of(arch, stub)
    if not compiler:
        return False
    link = [compiler[0], *(["-s"] if stub else ["-arch=sm_" + arch[0], "-Xlinker=-s"])]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        sources = {test: HERE / f"{test}.cpp" for test in tests}
        flags, timed = {}, []
        for table in timed_routines.write_tables(scratch, families):
            timed.append(f"time_{table.stem}")
            sources[timed[-1]] = HERE / "timings.cpp"
            flags[timed[-1]] = [f"-I{scratch}", f'-DNNC_TIMED_ROUTINES="{table.name}"']
        sources["times"] = HERE / "timings_main.cpp"
        sources["check"] = ROOT / "test/runtime/check.cpp"
        objects = {name: scratch / f"{name}.o" for name in sources}
        run_all([[*compiler, *flags.get(name, []), "-c", source, "-o", objects[name]]
                 for name, source in sources.items()], jobs)
        programs = {test: [test, "check"] for test in tests}
        if timed:
            programs["times"] = [*timed, "times"]
        run_all([[*link, *(objects[part] for part in parts), "-o", folder / name]
                 for name, parts in programs.items()], jobs)
    (folder / "programs.json").write_text(json.dumps(
        {"arch": arch, "stub": stub, "tests": list(tests), "times": bool(timed)}))
    return True


def has_gpu():
    return pathlib.Path("/dev/nvidia0").exists()


def describe_card():
    """The GPU's name and its driver's version."""
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                               "--format=csv,noheader"], capture_output=True, text=True,
                              check=True, timeout=30).stdout
        card, driver = said.splitlines()[0].split(", ")
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return {"card": "unknown", "driver": "unknown"}
    return {"card": card, "driver": driver}


def run_program(path, arguments, seconds):
    """Returns the text that a program printed, its exit status (None if stopped), and its time."""
    begin = time.monotonic()
    try:
        done = subprocess.run([path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=max(seconds, 0.1))
        said, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as stopped:
        said, status = stopped.stdout or "", None
        said = said if isinstance(said, str) else said.decode(errors="replace")
    return said, status, round(time.monotonic() - begin, 2)


class Results:
    """The results of a machine, in a file that is written anew after each step."""

    def __init__(self, path, head):
        self.path = path
        self.all = {**head, "checks": [], "times": []}
        self.write()

    def write(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.all, indent=1))
        new.replace(self.path)

    def add_check(self, name, said, status, seconds):
        passed = status == 0
        self.all["checks"].append({"program": name, "passed": passed, "status": status,
                                   "seconds": seconds, "said": said[-2000:]})
        self.write()
        lines = said.strip().splitlines() or [""]
        how = "passed" if passed else "stopped: no time left" if status is None else "FAILED"
        print(f"{name:20} {how}, {seconds} s: {lines[-1]}", flush=True)
        if not passed:
            print("\n".join(lines[:12]), flush=True)
        return passed

    def add_times(self, name, said, status, seconds):
        rows = [{**row, "params": " ".join(re.findall(r"\d+", row["params"]))}
                for row in map(json.loads, (line for line in said.splitlines()
                                            if line.startswith("{") and line.endswith("}")))]
        self.all["times"] += rows
        self.write()
        how = {0: "", None: ", stopped: no time left"}.get(status, f", FAILED: {said[-500:]}")
        print(f"{name:20} {len(rows)} times, {seconds} s{how}", flush=True)
        return status == 0


def run(folder, seconds, jobs, output):
    """Runs the checks, some at a time, and then the program that takes times."""
    end = time.monotonic() + seconds
    known = json.loads((folder / "programs.json").read_text())
    if not known["stub"] and not has_gpu():
        print("skipped: there is no GPU")
        return machine_code.SKIPPED
    results = Results(output or folder / "results.json", {
        **describe_card(), "date": datetime.date.today().isoformat(), "stub": known["stub"]})
    if known["stub"]:
        results.all["card"] = results.all["driver"] = "none, emulated"
    good = True
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(run_program, folder / name, [], end - time.monotonic()): name
                for name in known["tests"]}
        for done in concurrent.futures.as_completed(runs):
            good &= results.add_check(runs[done], *done.result())
    left = end - time.monotonic()
    if known["times"] and left > 2:
        good &= results.add_times("times", *run_program(folder / "times", [f"{left - 2:.2f}"],
                                                        left))
    elif known["times"]:
        print("times: no time left", flush=True)
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--run", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--stub", action="store_true")
    parser.add_argument("--arch", default="90", help="such as 80,90")
    parser.add_argument("--tests", default=",".join(TESTS))
    parser.add_argument("--families", default="all", help="those to time: all, none, or names")
    parser.add_argument("--seconds", type=float, default=120, help="of --run, at most")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=pathlib.Path, help="of --run: the results")
    options = parser.parse_args()
    make = (options.arch.split(","), options.stub, list(filter(None, options.tests.split(","))),
            options.families, options.jobs)
    if options.run:
        return run(options.run, options.seconds, options.jobs, options.output)
    if options.build:
        return 0 if build(options.build, *make) else machine_code.SKIPPED
    if not options.stub and not has_gpu():
        print("skipped: there is no GPU")
        return machine_code.SKIPPED
    with tempfile.TemporaryDirectory() as name:
        if not build(pathlib.Path(name), *make):
            print("skipped: there is no nvcc; scripts/setup --cuda installs it")
            return machine_code.SKIPPED
        return run(pathlib.Path(name), options.seconds, options.jobs, options.output)


if __name__ == "__main__":
    sys.exit(main())
