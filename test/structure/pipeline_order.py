"""Checks that lists of passes follow the order in compiler/pipelines/Pipeline.cpp. The list in
compiler/README.md must have all passes. The diagram in README.md has only the most important
ones."""

import re
import sys

import tree

# Passes that every model goes through again have one line in the diagrams.
OPTIONAL = {"qnn-fuse", "qnn-legalize", "qnn-canonicalize", "tabulate",
            "assign-threads"}


def flag(name):
    """The flag of a pass without nnc-: FormLayers -> form-layers."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def first_of_each(names):
    return list(dict.fromkeys(names))


def lists(root):
    """The lists: the name of each file, and the flags in the order of the file."""
    read = lambda name: (root / name).read_text()
    passes = [flag(n) for n in
              re.findall(r"addPass\(\s*create(\w+)\(", read("compiler/pipelines/Pipeline.cpp"))]
    diagram = re.findall(r"^ └ ([a-z-]+) ", read("README.md"), re.M)
    listed = re.findall(r"^nnc-([a-z-]+) ", read("compiler/README.md"), re.M)
    told = [p for p in first_of_each(passes) if p in diagram]
    yield "README.md", told, diagram
    yield "compiler/README.md", first_of_each(passes), listed


def problems(root=tree.ROOT):
    for name, passes, found in lists(root):
        known = [p for p in found if p in passes]
        wanted = [p for p in passes if p not in OPTIONAL or p in found]
        if known != wanted:
            yield (f"{name}: lists {', '.join(known)}, but compiler/pipelines/Pipeline.cpp runs "
                   f"{', '.join(wanted)}")


def main():
    found = list(problems())
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
