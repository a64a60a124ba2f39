"""A compiled model: the emitted code in a folder, and its shared library."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nnc import _module, _sizes

_DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16,
           "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
           "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
           "bool": np.bool_}

# What a run of emitted code may return, see codegen/calling.md.
_STATUS = {7: "the weights are not those of this code",
           8: "the weights are cut off or changed",
           11: "a size is out of its bounds, or between its steps",
           21: "the system does not let this process use the tiles of AMX"}


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output of a model."""

    name: str  #: the model's own
    #: of the arrays; the bits of a bfloat16 are a uint16
    dtype: np.dtype
    #: dimensions, the largest ones where they vary
    shape: tuple[int, ...]
    #: the dimensions as expressions of the model's sizes, () where none varies
    dims: tuple[str, ...] = ()
    #: what quantized integers stand for: (integer - zero_point) * scale; tuples
    #: of one for each index of `axis`, None where elements are not quantized
    scale: float | tuple[float, ...] | None = None
    zero_point: int | tuple[int, ...] | None = None
    axis: int | None = None
    #: how the model's framework quantizes: "half_even" or "half_away"
    rounding: str | None = None
    #: the model's element type where that of the arrays is wider: "i4", "f8e4m3fn"
    model_type: str | None = None

    def quantize(self, real: Any) -> np.ndarray:
        """The integers that are nearest to real numbers, rounded as the model's framework
        does, and saturated."""
        scale, zero_point = self._parameters()
        least, most = self._limits()
        steps = np.asarray(real, np.float32) / scale
        if self.rounding == "half_away":
            whole = np.trunc(steps)
            with np.errstate(invalid="ignore"):  # infinities have no fraction
                steps = whole + (np.abs(steps - whole) >= 0.5) * np.sign(steps)
        nearest = np.clip(np.rint(steps) + zero_point, least, most)
        return np.where(np.isnan(nearest), least, nearest).astype(self.dtype)

    def dequantize(self, integers: Any) -> np.ndarray:
        """The real numbers that integers stand for, as float32."""
        scale, zero_point = self._parameters()
        return (np.asarray(integers).astype(np.int64) - zero_point).astype(np.float32) * scale

    def _limits(self) -> tuple[int, int]:
        """The least and the greatest integer of the model's element type."""
        if self.model_type is None:
            limits = np.iinfo(self.dtype)
            return int(limits.min), int(limits.max)
        bits = int(self.model_type[1:])
        return ((-(1 << bits - 1), (1 << bits - 1) - 1) if self.model_type[0] == "i" else
                (0, (1 << bits) - 1))

    def _parameters(self) -> tuple[np.ndarray, np.ndarray]:
        if self.scale is None:
            raise TypeError(f"'{self.name}' has elements that are not quantized")
        # One scale for all elements leaves the shape of an array as it is.
        shape: list[int] = []
        if self.axis is not None:
            shape = [1] * len(self.shape)
            shape[self.axis] = -1
        return (np.asarray(self.scale, np.float32).reshape(shape),
                np.asarray(self.zero_point, np.int64).reshape(shape))

    def __str__(self) -> str:
        dims = ", ".join(self.dims or map(str, self.shape))
        return f"{self.name}: {self.model_type or self.dtype}[{dims}]"


class Outputs(tuple[Any, ...]):
    """The outputs of a run in the model's order: outputs[0], or by name: outputs["boxes"]."""

    names: tuple[str, ...]

    def __new__(cls, arrays: Sequence[np.ndarray], names: Sequence[str]) -> Outputs:
        self = super().__new__(cls, arrays)
        self.names = tuple(names)
        return self

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self.names:
            raise KeyError(f"the model has no output '{key}'; it has {', '.join(self.names)}")
        return super().__getitem__(self.names.index(key))

    def keys(self) -> tuple[str, ...]:
        """The names, so that dict(outputs) has each array by its name."""
        return self.names

    def __reduce__(self) -> tuple[Any, ...]:
        return Outputs, (tuple(self), self.names)


class _Function:
    """One function of a module, for inputs of its shapes."""

    def __init__(self, manifest: Mapping[str, Any], folder: pathlib.Path, library: str,
                 threads: int):
        self.manifest = manifest
        self.inputs = _make_ports(manifest, "inputs")
        self.outputs = _make_ports(manifest, "outputs")
        sizes = manifest.get("sizes", [])
        self.sizes = [size for size in sizes if not size["found"]]
        self.found = [size for size in sizes if size["found"]]
        self.dims = {text: _sizes.parse(text) for port in (*self.inputs, *self.outputs)
                     for text in port.dims}
        # Which output tells a size that is found in a run.
        self.told_by = {port["size"]: i for i, port in enumerate(manifest["outputs"])
                        if "size" in port}
        # Weights in a file are one more input.
        self.weights = []
        if manifest["weights"] == "file":
            name = manifest.get("module", manifest["name"])
            path = folder / f"{name}_weights.bin"
            self.weights = [np.memmap(path, np.uint8, "r")]
        parts = [part["bytes"] for part in manifest.get("memories", [])]
        self.built = _module.Function(
            library, manifest["name"],
            parts or [manifest["arena_bytes"]], bool(parts), manifest["align"],
            _count_state(manifest["state"]),
            any("arena_offset" in port for kind in ("inputs", "outputs")
                for port in manifest[kind]), threads)

    def shape_of(self, port: Port, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(self.dims[dim](sizes) for dim in port.dims) or port.shape

    def find_sizes(self, arrays: Sequence[np.ndarray],
                   given: Mapping[str, int]) -> dict[str, int]:
        """The sizes of a run with these inputs, which their shapes tell."""
        told = dict(given)
        for port, array in zip(self.inputs, arrays):
            if array.ndim == len(port.dims):
                for dim, length in zip(port.dims, array.shape):
                    told.setdefault(dim, length)
        names = [size["name"] for size in self.sizes]
        for name in given:
            if name not in names:
                raise TypeError(f"the model has no size '{name}'" +
                                (f"; it has {', '.join(names)}" if names else ""))
        sizes = {}
        for size in self.sizes:
            value = int(told.get(size["name"], size["high"]))
            if not (size["low"] <= value <= size["high"] and
                    (value - size["low"]) % size["step"] == 0):
                raise ValueError(f"{size['name']} is {value}; the model takes {size['low']} "
                                 f"to {size['high']} in steps of {size['step']}")
            sizes[size["name"]] = value
        return sizes

    def find_problems(self, arrays: Sequence[np.ndarray], sizes: Mapping[str, int]) -> list[str]:
        """What is wrong with the shapes of inputs."""
        problems = []
        for port, array in zip(self.inputs, arrays):
            wanted = self.shape_of(port, sizes)
            if array.shape != wanted:
                varies = f" ({', '.join(port.dims)})" if port.dims else ""
                problems.append(f"input '{port.name}' has the shape {list(array.shape)}; the "
                                f"model takes {list(wanted)}{varies}")
        return problems

    def run(self, arrays: Sequence[np.ndarray], sizes: Mapping[str, int],
            given: Mapping[str, np.ndarray]) -> Outputs:
        # Outputs of a length that data decide get room for the longest.
        most = {**sizes, **{size["name"]: size["high"] for size in self.found}}
        outputs: list[np.ndarray] = []
        for port in self.outputs:
            shape = self.shape_of(port, most)
            outputs.append(_check_output(given[port.name], port, shape, [*arrays, *outputs])
                           if port.name in given else np.empty(shape, port.dtype))
        status = self.built.call([*arrays, *self.weights], list(sizes.values()), outputs)
        if status:
            raise ValueError(_STATUS.get(status, f"the model returned {status}"))
        if self.found:
            known = dict(sizes)
            for size in self.found:
                known[size["name"]] = int(outputs[self.told_by[size["name"]]].reshape(-1)[0])
            outputs = [_take_first(output, self.shape_of(port, known))
                       for port, output in zip(self.outputs, outputs)]
        # Those that tell a length are the module's, not the model's.
        own = [i for i in range(len(outputs)) if i not in self.told_by.values()]
        return Outputs([outputs[i] for i in own], [self.outputs[i].name for i in own])


def _read_manifest(folder: pathlib.Path) -> dict[str, Any]:
    """What nnc says about the code in a folder. Raises ValueError for what is not nnc's."""
    path = folder / "manifest.json"
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no manifest of nnc: {error}") from None
    if not isinstance(said, dict) or not {"name", "files", "inputs", "outputs",
                                          "arena_bytes"} <= said.keys():
        raise ValueError(f"{path} is no manifest of nnc")
    return said


def _make_ports(manifest: Mapping[str, Any], kind: str) -> tuple[Port, ...]:
    """The inputs or outputs, of dimensions that vary the largest."""
    most = {size["name"]: size["high"] for size in manifest.get("sizes", [])}

    def shape_of(port: Mapping[str, Any]) -> tuple[int, ...]:
        return (tuple(_sizes.parse(dim)(most) for dim in port.get("dims", ())) or
                tuple(port["shape"]))

    def number_of(value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    return tuple(Port(port["name"], _dtype_of(port), shape_of(port),
                      tuple(port.get("dims", ())), number_of(port.get("scale")),
                      number_of(port.get("zero_point")), port.get("axis"),
                      port.get("rounding"),
                      port["dtype"] if "storage" in port else None)
                 for port in manifest[kind])


def _dtype_of(port: Mapping[str, Any]) -> np.dtype:
    """The type of the elements of an input, output or state in memory."""
    return np.dtype(_DTYPES[port.get("storage", port["dtype"])])


def _count_state(ports: Sequence[Mapping[str, Any]]) -> int:
    """At least the size of the struct of what a model keeps between runs: each field may
    have padding in front, and the struct at its end."""
    bytes_of = [int(np.prod(port["shape"], dtype=np.int64)) *
                _dtype_of(port).itemsize for port in ports]
    return sum(count + 8 for count in bytes_of) + 8 if ports else 0


def _take_first(output: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The elements in front of unused memory, which lie one behind the other."""
    if output.shape == shape:
        return output
    return output.reshape(-1)[:int(np.prod(shape, dtype=np.int64))].reshape(shape)


def _check_output(array: np.ndarray, port: Port, shape: tuple[int, ...],
                  inputs: Sequence[np.ndarray]) -> np.ndarray:
    if not isinstance(array, np.ndarray) or array.dtype != port.dtype or \
            array.shape != shape or not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError(f"output '{port.name}' needs a writeable array of {port.dtype} and "
                         f"of the shape {list(shape)}, whose elements lie one behind the other")
    if any(np.may_share_memory(array, other) for other in inputs):
        raise ValueError(f"output '{port.name}' lies in the memory of an input")
    return array


def _to_array(value: Any, port: Port) -> np.ndarray:
    """The input as the model reads it: its own memory where that is possible."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"input '{port.name}' has a mask; the model takes all elements")
    array = np.asarray(value)
    if array.dtype.name in ("int2", "int4", "uint2", "uint4"):  # of the package ml_dtypes
        array = array.astype(port.dtype)
    elif array.dtype.isbuiltin == 2 and array.dtype.itemsize == port.dtype.itemsize:
        # A type that a package has added to numpy, such as bfloat16.
        array = np.ascontiguousarray(array).view(port.dtype)
    elif array.dtype != port.dtype and not isinstance(value, (np.ndarray, np.generic)):
        # Numbers and lists have no type of their own: any that holds them will do.
        if np.can_cast(array.dtype, port.dtype, "same_kind") or (
                array.dtype.kind in "iub" and
                (array.astype(port.dtype).astype(array.dtype) == array).all()):
            array = array.astype(port.dtype)
    if array.dtype != port.dtype:
        raise TypeError(f"input '{port.name}' is {array.dtype}; the model takes {port.dtype}: "
                        f"x.astype(numpy.{port.dtype})")
    return np.asarray(array, order="C")


class Model:
    """A compiled model, from `compile` or `load`. Calling it runs it.

    Any number of threads may call it at once; while it runs, other threads of Python do, too.
    """

    def __init__(self, folder: pathlib.Path, threads: int = 1, owned: str | None = None):
        self._folder = folder
        if owned:  # a temporary folder, which is there as long as the model
            weakref.finalize(self, _remove, owned, os.getpid())
        #: what manifest.json says: layers, arena, flags, ...
        self.manifest: dict[str, Any] = _read_manifest(folder)
        self._functions: list[_Function] = []
        self._why = ""
        if "library" not in self.manifest:
            self._why = "it has no library: nnc compile --library or nnc.compile makes one"
        elif missing := _find_missing(self.manifest["isa"]):
            self._why = f"this machine lacks {' and '.join(missing)}"
        else:
            if threads > 1 and not self.manifest["threads"]:
                raise ValueError(f"{folder}: the code was made without threads")
            with _as_new(folder / self.manifest["library"]) as library:
                self._functions = [
                    _Function(part, folder, library, threads)
                    for part in (self.manifest, *self.manifest.get("others", ()))]

    @property
    def name(self) -> str:
        """The name of the code, with which its functions begin."""
        return str(self.manifest["name"])

    @property
    def target(self) -> str:
        """The machine that the code is for."""
        return str(self.manifest["target"])

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The inputs in the model's order."""
        return _make_ports(self.manifest, "inputs")

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The outputs in the model's order."""
        # Others tell the lengths of these, which arrays have as their shapes.
        return tuple(port for port, said in
                     zip(_make_ports(self.manifest, "outputs"), self.manifest["outputs"])
                     if "size" not in said)

    @property
    def arena_bytes(self) -> int:
        """Working memory of a call."""
        return int(self.manifest["arena_bytes"])

    @property
    def weight_bytes(self) -> int:
        """Bytes of the weights as the code has them."""
        return int(self.manifest["weight_bytes"])

    @property
    def metadata(self) -> dict[str, str]:
        """What the model says about itself, such as its labels."""
        return dict(self.manifest.get("metadata", {}))

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        return f"<nnc.Model {self.name} for {self.target}: ({inputs}) -> ({outputs})>"

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Runs the model on arrays, in the model's order or by name, and returns its output,
        or `Outputs` where there are several."""
        outputs = self.run(*inputs, **named)
        return outputs[0] if len(outputs) == 1 else outputs

    def run(self, *inputs: Any, out: Mapping[str, np.ndarray] | None = None,
            sizes: Mapping[str, int] | None = None, **named: Any) -> Outputs:
        """Runs the model and returns all outputs.

        `inputs` are arrays in the model's order, or one mapping of names to arrays; `named` are
        inputs whose names are Python's, too. Arrays of the right type whose elements lie one
        behind the other are read where they are. `out` has arrays for outputs by name, else
        they are new. `sizes` are those of the run that no shape of an input tells.

        Raises TypeError and ValueError for inputs that the model does not take.
        """
        if self._why:
            raise RuntimeError(f"{self.name} cannot run here: {self._why}")
        ports = self._functions[0].inputs
        arrays = [_to_array(value, port)
                  for value, port in zip(self._sort(inputs, named), ports)]
        if out is not None and not isinstance(out, Mapping):
            raise TypeError("out is a mapping of names of outputs to arrays")
        for name in out or ():
            if name not in [port.name for port in self.outputs]:
                raise TypeError(f"the model has no output '{name}'; it has "
                                f"{', '.join(port.name for port in self.outputs)}")
        function, found = self._choose(arrays, sizes or {})
        return function.run(arrays, found, out or {})

    def _sort(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The inputs in the model's order."""
        names = [port.name for port in self._functions[0].inputs]
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            named, inputs = {**inputs[0], **named}, ()
        if len(inputs) > len(names):
            raise TypeError(f"the model has {len(names)} inputs, not {len(inputs)}")
        values = dict(zip(names, inputs))
        for name, value in named.items():
            if name not in names:
                raise TypeError(f"the model has no input '{name}'; it has {', '.join(names)}")
            if name in values:
                raise TypeError(f"input '{name}' is given twice")
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(f"inputs are missing: {', '.join(missing)}")
        return [values[name] for name in names]

    def _choose(self, arrays: Sequence[np.ndarray],
                given: Mapping[str, int]) -> tuple[_Function, dict[str, int]]:
        """The function that takes inputs of these shapes, and the sizes of the run."""
        problems = []
        for function in self._functions:
            sizes = function.find_sizes(arrays, given)
            wrong = function.find_problems(arrays, sizes)
            if not wrong:
                return function, sizes
            problems += wrong
        raise ValueError("; or ".join(problems) if len(self._functions) > 1
                         else "; ".join(problems))

    def reset(self) -> None:
        """Forgets what the model keeps from one run to the next."""
        for function in self._functions:
            function.built.reset()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the code and its library to a folder, which `load` reads and a C or C++ build
        takes. The folder is new, empty, or one that nnc has written before, of which other
        files than nnc's stay."""
        target = pathlib.Path(folder).absolute()
        earlier: list[str] = []
        if target.exists() and any(target.iterdir()):
            try:
                earlier = _list_files(_read_manifest(target))
            except (OSError, ValueError):
                raise FileExistsError(f"{target} holds files that are not nnc's") from None
        names = _list_files(self.manifest)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _staging(target) as staging:
            for name in names:
                (staging / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self._folder / name, staging / name)
            if not earlier:
                staging.rename(target)
                return
            for name in names:  # the manifest last
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (staging / name).replace(target / name)
            for name in set(earlier) - set(names):
                (target / name).unlink(missing_ok=True)


# Features of processors as Linux calls them, where it does so otherwise than LLVM.
_FEATURES = {"amx-bf16": "amx_bf16", "amx-int8": "amx_int8", "amx-tile": "amx_tile",
             "avx512bf16": "avx512_bf16", "avx512vnni": "avx512_vnni", "avxvnni": "avx_vnni",
             "sse4.2": "sse4_2", "neon": "asimd", "fullfp16": "asimdhp", "dotprod": "asimddp"}


def _find_missing(features: Sequence[str]) -> list[str]:
    """Which of the features this machine lacks; none where it does not say what it has."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return []
    lines = [line for line in text.splitlines() if line.lower().startswith(("flags", "features"))]
    has = set(lines[0].split()) if lines else set(features)
    return [name for name in features if not {name, _FEATURES.get(name, name)} & has]


def _list_files(manifest: Mapping[str, Any]) -> list[str]:
    """All files of nnc's in a folder with this manifest, itself as the last one."""
    library = [manifest["library"]] if "library" in manifest else []
    return [*manifest["files"], *library, "manifest.json"]


def _remove(folder: str, owner: int) -> None:
    """Removes a folder of the process `owner`, of which this one may be a fork."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _as_new(library: pathlib.Path) -> Iterator[str]:
    """A path of the library that was never used: the system takes a path that it knows for
    the library that it loaded from there, whatever the file is by now."""
    try:
        folder = tempfile.mkdtemp(prefix="nnc-")
    except OSError:
        yield str(library)
        return
    try:
        link = pathlib.Path(folder) / library.name
        link.symlink_to(library)
        yield str(link)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _staging(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder beside `target`, which is gone in the end unless it was renamed."""
    with tempfile.TemporaryDirectory(prefix=".nnc-", dir=target.parent) as folder:
        path = pathlib.Path(folder) / "saved"
        path.mkdir()
        yield path


def _check_threads(threads: Any) -> None:
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ValueError(f"threads is {threads!r}; give a number from 1 on")


def load(folder: str | os.PathLike[str], *, threads: int = 1) -> Model:
    """Loads a model from a folder that `Model.save` or `nnc compile --library` wrote.

    `threads` is the number of threads that a run uses, of a model that was compiled for some.
    """
    _check_threads(threads)
    path = pathlib.Path(folder).absolute()
    if not (path / "manifest.json").exists():
        raise FileNotFoundError(f"{path} has no manifest.json; give a folder that Model.save "
                                "or nnc compile wrote")
    return Model(path, threads)
