"""Checks the top of the tree, which has only these folders and files that tools expect there."""

import sys

import tree

FOLDERS = """codegen compiler dialects examples frontends runtime scripts
test""".split()
FILES = """CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md LICENSE
README.md""".split()


def main():
    names = {path.parts[0] for path in tree.files()}
    others = sorted(n for n in names - {*FOLDERS, *FILES} if not n.startswith("."))
    missing = sorted({*FOLDERS, *FILES} - names)
    for name in others:
        print(f"{name}: goes below one of {', '.join(FOLDERS)}")
    for name in missing:
        print(f"{name}: is missing")
    return 1 if others or missing else 0


if __name__ == "__main__":
    sys.exit(main())
