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


def readable(count):
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"


def main():
    folder = pathlib.Path(sys.argv[1])
    print(f"{'network':<10}{'input':>15}{'layers':>8}{'arena':>11}{'weights':>11}{'code':>10}")
    for path in sorted(folder.glob("networks/*/manifest.json")):
        manifest = json.loads(path.read_text())
        name = manifest["name"]
        shape = "x".join(map(str, manifest["inputs"][0]["shape"]))
        sizes = map(readable, (manifest["arena_bytes"], manifest["weight_bytes"],
                               code_bytes(folder, name)))
        print("{:<10}{:>15}{:>8}{:>11}{:>11}{:>10}".format(name, shape,
                                                         len(manifest["layers"]), *sizes))


if __name__ == "__main__":
    main()
