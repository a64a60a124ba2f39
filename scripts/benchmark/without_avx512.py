"""Runs engines as on a chip without AVX-512, or without AMX, on a chip that has it. The clock and
the caches are those of the actual chip.

Engines find the features of the chip with the instruction cpuid. In a copy of the engines it is
replaced by an undefined instruction, and the preloaded library hide_avx512.cpp answers instead.
"""

import contextlib
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

CPUID, UNDEFINED = b"\x0f\xa2", b"\x0f\x0b"

# Of site-packages: what the usual engines compute with.
LIBRARIES = ["onnxruntime/capi/*.so*", "openvino/libs/*.so*", "_mnncengine*.so", "mnn.libs/*.so*",
             "ncnn/*.so*", "ncnn.libs/*.so*"]


def find_cpuid(library):
    """The addresses of all cpuid instructions, found by disassembly: the same bytes can also be
    part of other instructions."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library], check=True,
                          capture_output=True, text=True).stdout
    return [int(line.split(":", 1)[0], 16) for line in code.splitlines()
            if line.endswith("cpuid") and line.split()[1] == "cpuid"]


def segments(data):
    """The loaded segments of an ELF file: (address, offset in the file, bytes in the file)."""
    first, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, first + i * size)
        if kind == 1:  # PT_LOAD
            yield address, offset, length


def hide(library):
    """Replaces each cpuid instruction of the library, and returns how many there were. Other
    links to the old file are not changed."""
    data = bytearray(library.read_bytes())
    if CPUID not in data:
        return 0
    found = find_cpuid(library)
    for address in found:
        for begin, offset, length in segments(data):
            if begin <= address < begin + length:
                at = address - begin + offset
                assert data[at:at + 2] == CPUID, f"{library}: no cpuid at {address:#x}"
                data[at:at + 2] = UNDEFINED
    changed = library.with_name(library.name + ".changed")
    changed.write_bytes(data)
    shutil.copymode(library, changed)
    changed.replace(library)  # others have links to the old one
    return len(found)


def make_copy(venv):
    """A copy of the environment in which engines do not detect AVX-512. It is created once."""
    copy = venv.with_name(venv.name + "-without-avx512")
    if copy.exists():
        return copy
    print("hiding AVX-512 from a copy of the engines, once", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=venv.parent) as scratch:
        new = pathlib.Path(scratch) / "venv"
        shutil.copytree(venv, new, symlinks=True, copy_function=os.link)
        packages = next(new.glob("lib/python*/site-packages"))
        for pattern in LIBRARIES:
            for library in packages.glob(pattern):
                if library.is_file() and not library.is_symlink():
                    hide(library)
        with contextlib.suppress(OSError):  # another process was first
            new.rename(copy)
    return copy


def hidden():
    """The name of what is hidden: "avx512", with what came later, "amx", or nothing."""
    return os.environ.get("NNC_BENCH_HIDES", "")


def begin_again(venv, library, what):
    """Restarts this program in the environment in which engines ask the library, which hides
    `what`, for the features of the chip."""
    python = make_copy(venv.resolve()) / "bin/python"
    os.execve(python, [python, "-B", *sys.argv],
              {**os.environ, "LD_PRELOAD": str(library), "NNC_BENCH_HIDES": what})
