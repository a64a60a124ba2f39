#!/usr/bin/env python3
"""Runs clang-tidy over every source that the build compiles, or a sample of them.

    tidy.py [--sample I/N] [PATH ...]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import tree

BUILD = pathlib.Path(os.environ.get("NNC_BUILD_DIR", tree.ROOT / "build"))


def compiled_sources():
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    tracked = {str(tree.ROOT / p) for p in tree.files("*.cpp")}
    return sorted({c["file"] for c in commands} & tracked)


def tidy(source):
    done = subprocess.run(["clang-tidy-19", "-p", BUILD, "--quiet", source],
                          capture_output=True, text=True)
    return source, done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", default="1/1", metavar="I/N")
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.sample.split("/"))
    sources = [os.path.abspath(p) for p in arguments.paths] or compiled_sources()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, code, said in pool.map(tidy, sources[part - 1::parts]):
            if code:
                failed += 1
                print(f"{os.path.relpath(source, tree.ROOT)}:\n{said}", flush=True)
    print(f"{len(sources[part - 1::parts])} files checked, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
