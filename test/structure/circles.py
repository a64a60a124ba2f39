"""Checks that no header includes itself through others. Guards would hide such a circle, and
the declarations would depend on which header is included first."""

import re
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def find_circles(texts):
    """The circles as lists of paths. `texts` are the headers by their paths from the top."""
    included = {path: INCLUDE.findall(text) for path, text in texts.items()}
    done, found = set(), []

    def visit(path, way):
        if path in way:
            found.append(way[way.index(path):] + [path])
        elif path in included and path not in done:
            for header in included[path]:
                visit(header, way + [path])
            done.add(path)

    for path in sorted(included):
        visit(path, [])
    return found


def main():
    assert find_circles({"a.h": '#include "b.h"\n', "b.h": '#include "c.h"\n#include "a.h"\n',
                         "c.h": ""}) == [["a.h", "b.h", "a.h"]]
    texts = {str(path): (tree.ROOT / path).read_text() for path in tree.files("*.h")}
    found = find_circles(texts)
    print(*(" includes ".join(circle) for circle in found), sep="\n")
    print(f"{len(texts)} headers checked, {len(found)} circles")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
