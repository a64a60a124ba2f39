#!/usr/bin/env python3
"""Runs clang-tidy over every source that the build compiles, or a sample of them.

    tidy.py [--sample I/N] [PATH ...]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

BUILD = pathlib.Path(os.environ.get("NNC_BUILD_DIR", tree.ROOT / "build"))


def compile_commands():
    """One command for each source, even if the build joins several sources."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    for command in commands:
        if "/Unity/" not in command["file"]:
            yield command
            continue
        joined = pathlib.Path(command["file"]).read_text()
        for source in re.findall(r'#include "(.+\.cpp)"', joined):
            source = str(tree.ROOT / source)  # an absolute path stays as it is
            yield {**command, "file": source,
                   "command": command["command"].replace(command["file"], source)}


def tidy(source, folder):
    done = subprocess.run(["clang-tidy-19", "-p", folder, "--quiet", source],
                          capture_output=True, text=True)
    return source, done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", default="1/1", metavar="I/N")
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.sample.split("/"))
    commands = list(compile_commands())
    tracked = {str(tree.ROOT / p) for p in tree.files("*.cpp")}
    sources = ([os.path.abspath(p) for p in arguments.paths]
               or sorted({c["file"] for c in commands} & tracked))[part - 1::parts]
    failed = 0
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps(commands))
        for source, code, said in pool.map(lambda s: tidy(s, folder), sources):
            if code:
                failed += 1
                print(f"{os.path.relpath(source, tree.ROOT)}:\n{said}", flush=True)
    print(f"{len(sources)} files checked, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
