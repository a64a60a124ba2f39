"""Every op's documentation has an example, and every example parses.

usage: examples_test.py DIALECT TD_FILE OP_WITHOUT_EXAMPLE..."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])
TBLGEN = "/usr/lib/llvm-19/bin/mlir-tblgen"

EXAMPLE = re.compile(r"Examples?:\s*(?:```mlir\n(.*?)```|`([^`]*)`)", re.S)
USED = re.compile(r"%[a-zA-Z0-9_]+")
DEFINED = re.compile(r"^\s*((?:%[\w:]+,?\s*)+)=|\^\w+\(([^)]*)\)", re.M)
EXPECTS = re.compile(r"use of value '(%\w+)' expects different type than prior "
                     r"uses: '(.*?)' vs '")


def documented(dialect, td_file):
    """(op, its documentation) for each op."""
    text = subprocess.run(
        [TBLGEN, "-gen-op-doc", f"-dialect={dialect}", "-I", ROOT,
         "-I", "/usr/lib/llvm-19/include", ROOT / td_file],
        check=True, capture_output=True, text=True).stdout
    parts = re.split(r"^### `(\w+\.\w+)`.*$", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def parse(example):
    """nnc-opt's complaint about the example, or None. Values that it takes from
    nowhere become arguments, of the type that the parser asks for. Examples of whole
    functions have none."""
    if "func.func" in example:
        done = subprocess.run([BUILD / "bin/nnc-opt"], capture_output=True, text=True,
                              input=example)
        return done.stderr if done.returncode else None
    defined = set()
    for results, arguments in DEFINED.findall(example):
        defined |= set(USED.findall(results + arguments))
    types = {name: "i1" for name in dict.fromkeys(USED.findall(example))
             if name not in defined}
    for _ in range(len(types) + 1):
        arguments = ", ".join(f"{name}: {type}" for name, type in types.items())
        done = subprocess.run(
            [BUILD / "bin/nnc-opt"], capture_output=True, text=True,
            input=f"func.func @example({arguments}) {{\n{example}\nreturn\n}}\n")
        expects = EXPECTS.search(done.stderr)
        if done.returncode == 0 or not expects:
            break
        types[expects[1]] = expects[2]
    return done.stderr if done.returncode else None


def main():
    dialect, td_file, *exempt = sys.argv[1:]
    ops = documented(dialect, td_file)
    failures = 0
    for op, text in ops:
        examples = [fenced or inline for fenced, inline in EXAMPLE.findall(text)]
        if op in exempt:
            continue
        complaints = [parse(e) for e in examples] or ["has no example"]
        for example, complaint in zip(examples or [""], complaints):
            if complaint is None and op not in example:
                complaint = "is not in its own example"
            if complaint:
                failures += 1
                print(f"{op}: {complaint}\n{example}\n")
    print(f"{len(ops)} ops, {failures} failures")
    return 1 if failures or not ops else 0


if __name__ == "__main__":
    sys.exit(main())
