"""Starts the program nnc and reads what it says."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from nnc._model import Model, _check_threads
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
    ((1, 8), 3, (160, 640, 32), (160, 640, 32)) where sizes vary, from the lowest to the highest, in
    steps. A list of mappings with fixed shapes makes a function for each. `value` has inputs that
    become constants. `threads` is the number of threads of a run. `tuning` is a file that nnc tune wrote. Other options are those of
    `nnc compile`, with underscores: max_error=1e-3, weights="file", optimize="size"; True gives
    one without a value, and a list gives one several times.

    For a target that is another kind of machine the model has no library: it can be saved, and
    not run. Raises an `Error` that has all problems; warnings are `CompileWarning`s.
    """
    _check_threads(threads)
    with tempfile.TemporaryDirectory(prefix="nnc-") as inputs:
        arguments = [_as_file(model, pathlib.Path(inputs)), f"--target={target}",
                     *_shape_flags(shape)]
        for i, (key, given) in enumerate((value or {}).items()):
            arguments.append(f"--value={key}={_value_text(given, inputs, i)}")
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
    command("check", "model.onnx", target="cortex-m4"); `shape` is as that of `compile`.
    compiler/tools/README.md of the project describes the documents. Raises an `Error` where the
    command fails, whose `document` is what it printed."""
    shapes = _shape_flags(options.pop("shape", None))
    return _call(name.replace("_", "-"),
                 [*map(_as_argument, arguments), *shapes, *_flags(options)])


def version() -> str:
    """The version of nnc, such as "0.2.0"."""
    try:
        said = subprocess.run([find_program(), "--version"], capture_output=True, text=True,
                              check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return said.split()[1]


def _call(name: str, arguments: Sequence[str]) -> Any:
    # A session of its own, so that what nnc starts ends with it.
    with subprocess.Popen([find_program(), name, *arguments, "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                          start_new_session=True) as done:
        try:
            output, errors = done.communicate()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(done.pid, signal.SIGTERM)
            raise
    try:
        said = json.loads(output)
    except ValueError:
        text = (errors or output).strip() or "nnc printed nothing"
        raise error_of([Problem("error", text)], done.returncode or 1) from None
    listed = said.get("problems", ()) if isinstance(said, dict) else ()
    problems = [Problem.of(problem) for problem in listed]
    if done.returncode:
        raise error_of(problems, done.returncode, said)
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
                if item == "":
                    raise ValueError(f"{key} is empty")
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


def _shape_flags(shape: Any) -> list[str]:
    """--shape for a mapping of inputs to shapes, or for several."""
    flags: list[str] = []
    for shapes in [shape] if isinstance(shape, Mapping) else shape or ():
        if not isinstance(shapes, Mapping):
            raise TypeError("shape is a mapping of inputs to their shapes, such as "
                            '{"image": (1, 3, 224, 224)}, or a list of such mappings')
        flags += [f"--shape={key}={_shape_text(dims)}" for key, dims in shapes.items()]
    return flags


def _value_text(value: Any, folder: str, number: int) -> str:
    """What an input holds, as --value takes it: numbers, which have the input's type, or a
    file."""
    array = np.asarray(value)
    if not isinstance(value, (np.ndarray, np.generic)) and array.dtype.kind in "iufb" and \
            0 < array.size <= 64 and array.ndim <= 1:
        return ",".join(str(int(item)) if array.dtype.kind in "iub" else repr(float(item))
                        for item in array.reshape(-1))
    file = pathlib.Path(folder) / f"value{number}.npy"
    np.save(file, np.ascontiguousarray(array, array.dtype.newbyteorder("=")))
    return str(file)


def _as_argument(text: str | os.PathLike[str]) -> str:
    """An argument of a command, which is no option."""
    argument = os.fspath(text)
    return f"./{argument}" if argument.startswith("-") else argument


def _as_file(model: Any, folder: pathlib.Path) -> str:
    """The path of the model's file, which is written where the model is in memory."""
    if isinstance(model, (str, os.PathLike)):
        return _as_argument(model)
    data = model.SerializeToString() if hasattr(model, "SerializeToString") else model
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError("a model is a path, bytes or an onnx.ModelProto, not "
                        f"{type(model).__name__}")
    is_tflite = bytes(data[4:8]) == b"TFL3"
    path = folder / ("model.tflite" if is_tflite else "model.onnx")
    path.write_bytes(data)
    return str(path)


def _runs_here(target: str) -> bool:
    """Whether this machine loads libraries for the target; its processor may still lack
    instructions."""
    if target in ("native", "portable"):
        return True
    for row in _call("targets", []):
        if row["name"] == target:
            return str(row["triple"]).startswith(platform.machine() + "-linux")
    return True  # nnc says what is wrong with the name
