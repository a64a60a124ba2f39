"""Starts the program nnc and reads what it says."""

from __future__ import annotations

import json
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from nnc._model import Model
from nnc._problems import CompileWarning, Problem, error_of
from nnc._program import find_program

#: a dimension: a number, (lowest, highest) or (lowest, highest, step)
Dim = Union[int, "tuple[int, int]", "tuple[int, int, int]"]
#: the shape of an input as on the command line, "1x3x160..640:32", or as a sequence
Shape = Union[str, Sequence[Dim]]


def compile(model: Any, *, target: str = "native",
            shape: Mapping[str, Shape] | Sequence[Mapping[str, Shape]] | None = None,
            value: Mapping[str, Any] | None = None, threads: int = 1,
            name: str | None = None, tuning: str | os.PathLike[str] | None = None,
            compiler: str | None = None, **options: Any) -> Model:
    """Compiles a model and builds it with the machine's C++ compiler.

    `model` is the path of an ONNX or TFLite file, the bytes of one, or an onnx.ModelProto.
    `shape` binds dimensions that the model leaves open, by input: (1, 3, 224, 224), or
    ((1, 8), 3, (160, 640, 32), (160, 640, 32)) where sizes vary. A list of such mappings makes a
    function for each. `value` has inputs that become constants. `threads` is the number of
    threads of a run. `tuning` is a file that nnc tune wrote. Other options are those of
    `nnc compile`, with underscores: max_error=1e-3, weights="file", optimize="size"; True gives
    one without a value, and a list gives one several times.

    For a target that is another kind of machine the model has no library: it can be saved, and
    not run. Raises an `Error` that has all problems; warnings are `CompileWarning`s.
    """
    with tempfile.TemporaryDirectory(prefix="nnc-") as inputs:
        path = _as_file(model, pathlib.Path(inputs), name)
        arguments = [str(path), f"--target={target}"]
        for shapes in [shape] if isinstance(shape, Mapping) else shape or ():
            arguments += [f"--shape={key}={_shape_text(dims)}" for key, dims in shapes.items()]
        for i, (key, given) in enumerate((value or {}).items()):
            file = pathlib.Path(inputs) / f"value{i}.npy"
            np.save(file, np.asarray(given))
            arguments.append(f"--value={key}={file}")
        options = {"name": name, "tuning": tuning, "compiler": compiler, **options}
        if threads > 1:
            options.setdefault("threads", threads)
        runs_here = _runs_here(target)
        if runs_here:
            options["library"] = True
        folder = tempfile.mkdtemp(prefix="nnc-")
        try:
            code = pathlib.Path(folder) / "code"
            _call("compile", [*arguments, f"--output={code}", *_flags(options)])
            return Model(code, threads if runs_here else 1, owned=folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def command(name: str, *arguments: str | os.PathLike[str], **options: Any) -> Any:
    """Runs `nnc NAME ARGUMENTS --json` and returns the document that it prints, such as
    command("check", "model.onnx", target="cortex-m4"). compiler/tools/README.md of the project
    describes the documents. Raises an `Error` where the command fails."""
    return _call(name, [*(os.fspath(a) for a in arguments), *_flags(options)])


def version() -> str:
    """The version of nnc, such as "0.1.0"."""
    try:
        said = subprocess.run([find_program(), "--version"], capture_output=True, text=True,
                              check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return said.split()[1]


def _call(name: str, arguments: Sequence[str]) -> Any:
    done = subprocess.run([find_program(), name, *arguments, "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        said = json.loads(done.stdout)
    except ValueError:
        text = (done.stderr or done.stdout).strip() or "nnc printed nothing"
        raise error_of([Problem("error", text)], done.returncode or 1) from None
    listed = said.get("problems", ()) if isinstance(said, dict) else ()
    problems = [Problem.of(problem) for problem in listed]
    if done.returncode:
        raise error_of(problems, done.returncode)
    for problem in problems:
        if problem.severity == "warning":
            warnings.warn(str(problem), CompileWarning, stacklevel=3)
    return said


def _flags(options: Mapping[str, Any]) -> list[str]:
    """The options of a command line for Python's: max_error=1e-3 is --max-error=0.001."""
    flags = []
    for key, value in options.items():
        flag = "--" + key.replace("_", "-")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is True:
                flags.append(flag)
            elif item is not None and item is not False:
                flags.append(f"{flag}={os.fspath(item) if isinstance(item, os.PathLike) else item}")
    return flags


def _shape_text(shape: Shape) -> str:
    """A shape as --shape takes it."""
    if isinstance(shape, str):
        return shape

    def text(dim: Dim) -> str:
        if not isinstance(dim, (tuple, list)):
            return str(int(dim))
        if len(dim) not in (2, 3):
            raise ValueError(f"{dim!r} is no dimension; give a number, (lowest, highest) or "
                             "(lowest, highest, step)")
        low, high, *step = map(int, dim)
        return f"{low}..{high}" + "".join(f":{s}" for s in step)

    return "x".join(map(text, shape))


def _as_file(model: Any, folder: pathlib.Path, name: str | None) -> pathlib.Path:
    """The path of the model's file, which is written where the model is in memory."""
    if isinstance(model, (str, os.PathLike)):
        return pathlib.Path(model)
    data = model.SerializeToString() if hasattr(model, "SerializeToString") else model
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError("a model is a path, bytes or an onnx.ModelProto, not "
                        f"{type(model).__name__}")
    is_tflite = bytes(data[4:8]) == b"TFL3"
    path = folder / f"{name or 'model'}{'.tflite' if is_tflite else '.onnx'}"
    path.write_bytes(data)
    return path


def _runs_here(target: str) -> bool:
    """Whether this machine loads libraries for the target; its processor may still lack
    instructions."""
    if target in ("native", "portable"):
        return True
    for row in _call("targets", []):
        if row["name"] == target:
            return str(row["triple"]).startswith(platform.machine() + "-linux")
    return True  # nnc says what is wrong with the name
