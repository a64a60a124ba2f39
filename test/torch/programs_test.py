#!/usr/bin/env python3
"""Programs of PyTorch as torch.export saves them and after run_decompositions(), against PyTorch:
integers equal, floats within 1e-5 of the largest number.

    programs_test.py [--folder DIR] [--keep] [--only REGEX] [--sample I/N] [--split]
                     [--target T] [--check] [--jobs N]

Exports by programs.py into DIR, or a folder that is removed, with PyTorch from
$NNC_CACHE/exports-venv, which `scripts/setup --exports` makes; where that fails, the test is
skipped. --keep takes programs from DIR that are there already. --check imports programs only. It
fails where an output is wrong, and where less than 97 % of the programs in a form compile and
agree.
"""

import argparse
import collections
import multiprocessing
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "onnx"))
import emitted  # noqa: E402
import made_models  # noqa: E402

EXPORT = pathlib.Path(__file__).resolve().with_name("programs.py")
SHARE = 1e-5  # of the largest number, by which an output may differ
WANTED = 0.97  # of the programs in a form
FORMS = ("exported", "decomposed")
# Programs whose order of sums alone makes more of a difference, with that.
LOOSE = {}


class Wrong(Exception):
    """An output that differs from that of PyTorch."""


def load(path):
    """The inputs by name, and the expected outputs in order."""
    arrays = np.load(path)
    return ({str(name): arrays[f"in{i}"] for i, name in enumerate(arrays["names"])},
            [arrays[f"out{i}"] for i in range(len(arrays["outputs"]))])


def check(path, options):
    """Compiles one program and runs it."""
    if options.check:
        emitted.nnc("check", path)
        return
    name = path.name.split(".")[0]
    feeds, wanted = load(path.with_name(f"{name}.npz"))
    with tempfile.TemporaryDirectory() as folder:
        module = emitted.compile_model(path, folder, target=options.target)
        # Outputs that say how much of another one the run has written.
        counts = {port["name"] for port in module.manifest["outputs"] if "size" in port}
        if module.manifest.get("state") or counts:  # which nnc run initializes and reads
            outputs = emitted.run_in_emulator(path, folder, feeds, target=options.target)
        else:
            module.build()
            outputs = emitted.run_apart(module, feeds)
    outputs = [value for name, value in outputs.items() if name not in counts]
    if len(outputs) != len(wanted):
        raise Wrong(f"has {len(outputs)} outputs instead of {len(wanted)}")
    faults = [made_models.compare(got, want, LOOSE.get(name, SHARE))
              for got, want in zip(outputs, wanted)]
    if any(faults):
        raise Wrong("; ".join(f"output {i}: {fault}" for i, fault in enumerate(faults) if fault))


def report(work):
    """The name of the file, the kind of fault and its message; None and "" if there is none."""
    path, options = work
    try:
        check(path, options)
    except Wrong as error:
        return path.stem, "wrong", str(error)
    except emitted.Failure as error:
        kind = {emitted.LACKING: "lacking", emitted.USAGE: "usage",
                emitted.BROKEN: "broken"}.get(error.code, "failed")
        return path.stem, kind, str(error)
    return path.stem, None, ""


def run_all(programs, options):
    right, counts, wrong = collections.Counter(), collections.Counter(), 0
    lacking = collections.Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for stem, kind, said in pool.imap(report, [(p, options) for p in programs]):
            form = stem.rsplit(".", 1)[-1]
            counts[form] += 1
            right[form] += kind is None
            wrong += kind in ("wrong", "failed")
            if kind == "lacking":
                lacking.update(set(re.findall(r"\baten\.\w+\.\w+|\b\w+\.\w+\.\w+\b(?=')", said)))
            if kind:
                print(f"{kind.upper()} {stem}: {' '.join(said.split())[:options.width]}",
                      flush=True)
    is_enough = bool(programs)
    for form, count in sorted(counts.items()):
        print(f"{form}: {right[form]} of {count} agree, {100 * right[form] / count:.1f} %")
        is_enough &= right[form] >= WANTED * count
    if lacking:
        print("lacking:", " ".join(f"{name}:{n}" for name, n in lacking.most_common()))
    return 0 if is_enough and not wrong else 1


def find_programs(folder, options):
    found = [p for p in sorted(folder.glob("*.pt2")) if re.search(options.only, p.name)]
    index, count = map(int, options.sample.split("/"))
    return found[index - 1::count] if options.keep else found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--sample", default="1/1", metavar="I/N")
    parser.add_argument("--split", action="store_true")
    parser.add_argument("--target", default="native")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--width", type=int, default=400, help="of what is said of a fault")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        if not options.keep:
            python = made_models.find_python("exports")
            if not python:
                print("skipped: PyTorch does not install; scripts/setup --exports says why")
                return made_models.SKIPPED
            subprocess.run([python, "-B", EXPORT, folder, "--only", options.only,
                            "--sample", options.sample, *["--split"] * options.split], check=True)
        programs = find_programs(folder, options)
        if not programs and not options.keep:
            print("skipped: no program was exported; see what is said above")
            return made_models.SKIPPED
        return run_all(programs, options)


if __name__ == "__main__":
    sys.exit(main())
