"""Checks that headers of runtime/ include the standard headers whose names they use.

The C++ library of one compiler includes many of its headers in others, and that of another
compiler does not. Code that builds on a desktop may therefore not build for a microcontroller.
A header may rely on the headers of runtime/ that it includes, but not on one header of the
library including another.

Some toolchains for microcontrollers have only the headers of C. Code that is emitted includes
no others, and takes traits from runtime/meta.h. The pool of threads, and code that is not
emitted, may use the C++ library.
"""

import re
import sys

import tree

# What a name needs: one of these headers, and what the name looks like.
NEEDS = [
    (("type_traits",), r"std::(?:is_\w+|enable_if\w*|conditional\w*|integral_constant|"
                       r"remove_\w+|decay\w*|bool_constant|void_t|make_(?:un)?signed\w*)\b"),
    (("limits",), r"std::numeric_limits\b"),
    (("utility",), r"std::(?:index_sequence\w*|make_index_sequence|move|forward|pair|swap|"
                   r"exchange)\b"),
    (("atomic",), r"std::(?:atomic|memory_order)\w*"),
    (("cstddef",), r"std::(?:size_t|ptrdiff_t|nullptr_t)\b"),
    (("cstdint",), r"std::u?int\w*_t\b"),
    (("cmath",), r"std::(?:sqrt|floor|ceil|trunc|fabs|abs|isnan|isinf|exp|log|pow)\b"),
    (("stdint.h", "cstdint"), r"(?<!std::)\bu?int(?:8|16|32|64)_t\b"),
    (("stddef.h", "cstddef"), r"(?<!std::)\b(?:size_t|ptrdiff_t)\b"),
    (("string.h", "cstring"), r"(?<![\w.>])mem(?:cpy|set|move|cmp)\("),
    (("math.h", "cmath"), r"::(?:sqrt|floor|ceil|trunc|rint|fabs|exp|log|pow|fmod)f?\("),
    (("cfloat", "float.h"), r"\b(?:FLT|DBL)_[A-Z]\w*"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def strip_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


# Headers of C++ are called so; those of C end in .h.
OF_CPP = re.compile(r"^\s*#\s*include\s*<(\w+)>|(\bstd::\w+)", re.M)
HAS_LIBRARY = {"runtime/pool.h", "runtime/reference.h"} | {
    f"runtime/cuda/host_{part}.h" for part in ("block", "memory", "mma", "scheduler")}


def included(path, texts, seen):
    """The headers of the library that `path` includes, directly or through headers of runtime/."""
    if path in seen or path not in texts:
        return set()
    seen.add(path)
    found = set()
    for header in INCLUDE.findall(texts[path]):
        found |= included(header, texts, seen) if header.startswith("runtime/") else {header}
    return found


def problems(texts):
    for path, text in texts.items():
        have = included(path, texts, set())
        for headers, name in NEEDS:
            used = re.search(name, text)
            if used and not have & set(headers):
                yield f"{path} uses {used[0]}, and includes no <{headers[0]}>"
        if path not in HAS_LIBRARY:
            for header, name in OF_CPP.findall(text):
                yield (f"{path} includes <{header}>, which some toolchains lack" if header else
                       f"{path} uses {name}: runtime/meta.h or C has what ships may use")


def main():
    assert list(problems({"a.h": "#include <cmath>\nstd::enable_if_t<true> f();"})) == [
        "a.h uses std::enable_if_t, and includes no <type_traits>",
        "a.h includes <cmath>, which some toolchains lack",
        "a.h uses std::enable_if_t: runtime/meta.h or C has what ships may use"]
    assert not list(problems({"runtime/pool.h": "#include <atomic>\nstd::atomic<int> x;"}))
    texts = {str(path): strip_comments((tree.ROOT / path).read_text())
             for path in tree.files("runtime/*.h")}
    found = list(problems(texts))
    print(*found, sep="\n")
    print(f"{len(texts)} headers checked, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
