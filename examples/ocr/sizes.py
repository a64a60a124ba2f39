"""Prints how large each network is in a folder of the demo: sizes.py FOLDER"""

import json
import pathlib
import subprocess
import sys


def code_bytes(folder, name):
    """Code and constants in the object file of the network's source."""
    objects = list(folder.glob(f"ocr/**/{name}.cpp.o"))
    listed = subprocess.run(["llvm-size-19", *objects], check=True,
                            capture_output=True, text=True).stdout
    return sum(int(line.split()[0]) for line in listed.splitlines()[1:])


def main():
    folder = pathlib.Path(sys.argv[1])
    print(f"{'network':<12}{'arena':>12}{'lower bound':>13}{'weights':>12}{'code':>10}")
    for path in sorted(folder.glob("networks/*/manifest.json")):
        manifest = json.loads(path.read_text())
        sizes = (manifest["arena_bytes"], manifest["lower_bound_bytes"],
                 manifest["weight_bytes"], code_bytes(folder, manifest["name"]))
        print("{:<12}{:>12}{:>13}{:>12}{:>10}".format(manifest["name"], *sizes))


if __name__ == "__main__":
    main()
