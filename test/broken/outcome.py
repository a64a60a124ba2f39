"""Runs nnc on a model of any kind, and finds faults in how it ends."""

import os
import pathlib
import re
import resource
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from exit_codes import (BROKEN, DIFFERS, DONE, ENVIRONMENT, LACKING, LIMIT,  # noqa: E402
                        OWN_FAULT, USAGE)

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
SECONDS = 10
MEMORY = 8 << 30
# What a crash or an assertion leaves on stderr, whatever the exit code.
CRASH = re.compile(r"Assertion|UNREACHABLE|LLVM ERROR|Stack dump|PLEASE submit|"
                   r"terminate called|std::|Sanitizer|runtime error")
MESSAGE = re.compile(r".+: (error|warning): ")
SANITIZED = "asan" in os.environ["NNC_BUILD_DIR"]


def limit_memory():
    # AddressSanitizer reserves terabytes of address space.
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(*arguments):
    """The exit code of nnc and its output on stderr. Raises TimeoutExpired."""
    done = subprocess.run([NNC, *arguments], capture_output=True, text=True, errors="replace",
                          timeout=SECONDS * (5 if SANITIZED else 1), preexec_fn=limit_memory)
    return done.returncode, done.stderr


def find_fault(path, code, said):
    """Why nnc must not end like that on the model at `path`, or None."""
    if CRASH.search(said):
        return "a crash"
    if code and path.name not in said:
        return "the message does not name the file"
    if not all(MESSAGE.match(line) and len(line) < 1500 for line in said.splitlines()):
        return "the message is no message but a dump"
    return None


def compile_model(path):
    """Compiles the model at `path`. Returns (exit code, stderr, fault or None). A folder of
    code is written only on success."""
    output = path.parent / "out"
    before = set(path.parent.iterdir())
    code, said = run("compile", str(path), "--target=x86-64-v3", "-o", str(output))
    fault = find_fault(path, code, said)
    if set(path.parent.iterdir()) - before != ({output} if code == 0 else set()):
        fault = fault or "output left behind"
    return code, said, fault
