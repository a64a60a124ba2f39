"""Checks that no element of an LLVM map is assigned from another element of the same map. In
`map[a] = map[b]`, `map[b]` is a reference, which `map[a]` invalidates if the map grows.
`lookup` returns a copy."""

import re
import sys

import tree

MAPS = re.compile(r"\b(?:Small)?(?:DenseMap|MapVector|StringMap)<[^;{}()]*>\s*&?\s*"
                  r"(\w+(?:,\s*\w+)*)\s*(?=[;={,)])")
COMMENT = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"")
KEY = r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def find_maps(text):
    return {name.strip() for names in MAPS.findall(text) for name in names.split(",")}


def problems(texts):
    """The problems in files. `texts` are the files by their names."""
    code = {name: COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else "", text)
            for name, text in texts.items()}
    for file, text in sorted(code.items()):
        known = find_maps(text)
        for header in INCLUDE.findall(text):
            known |= find_maps(code.get(header, ""))
        for name in sorted(known):
            assigned = re.compile(rf"(?<![\w.>]){name}{KEY}\s*=(?!=)[^;]*?(?<![\w.>]){name}{KEY}")
            made = re.compile(rf"(?<![\w.>]){name}\.(?:try_emplace|insert_or_assign)\("
                              rf"(?:[^();]|\([^();]*\))*?(?<![\w.>]){name}(?:{KEY}|\.find)")
            found = [m for m in assigned.finditer(text) if m[1] != m[2]]
            for match in [*found, *made.finditer(text)]:
                line = text.count("\n", 0, match.start()) + 1
                yield (f"{file}:{line}: '{name}' may grow while a reference into it is used; "
                       f"take the value with {name}.lookup()")


def main():
    declared = "DenseMap<Value, Value> map, other;\n"
    wrong = ("map[a] = map[b];", "map[f(a[0])] =\n  x ? map[b] : c;", "map.try_emplace(a, map[b]);")
    right = ("map[a] = map.lookup(b);", "map[a] = other[b];", "map[a] = f(map[a]);",
             "if (map[a] == map[b])", "x.map[a] = map[b];", "map[a] = 1; c = map[b];",
             "// map[a] = map[b];")
    for text in wrong:
        assert len(list(problems({"a.cpp": declared + text}))) == 1, text
        assert len(list(problems({"a.h": declared, "a.cpp": f'#include "a.h"\n{text}'}))) == 1, text
    for text in right:
        assert not list(problems({"a.cpp": declared + text})), text
    paths = [path for folder in ("codegen", "compiler", "dialects", "frontends")
             for path in tree.files(f"{folder}/*.cpp", f"{folder}/*.h")]
    found = list(problems({str(path): (tree.ROOT / path).read_text() for path in paths}))
    print(*found, sep="\n")
    print(f"{len(paths)} files checked, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
