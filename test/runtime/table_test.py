"""Checks each entry of the tables of routines: they are sorted, the header exists, and it has a
routine of that name that can be instantiated with the parameters of each candidate and the
shape of the family."""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ISAS = re.findall(r"^NNC_TILE\((\w+),",
                  (ROOT / "runtime/routines/catalogue/isas.inc").read_text(), re.M)
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import routine_tables  # noqa: E402
from routine_tables import split  # noqa: E402

ENTRY = re.compile(r"^(\w+)\((.*(?:\n .*)*)\)$", re.M)


def candidates(row):
    """The lists of parameters as text: "14, 2"."""
    return [c.strip("{}").strip() for c in split(row["CANDIDATES"])]


def unsorted(text):
    """The macros whose entries are not in ascending order or not next to each other."""
    entries = [(m[1], " ".join(split(m[2]))) for m in ENTRY.finditer(text)]
    macros = [macro for macro, _ in itertools.groupby(entries, key=lambda entry: entry[0])]
    for macro in sorted(set(macros)):
        of_macro = [entry for entry in entries if entry[0] == macro]
        if macros.count(macro) > 1 or of_macro != sorted(of_macro):
            yield macro


def problems(table, families):
    if list(families) != sorted(families):
        yield "catalogue/routines.inc does not include tables by the order of their families"
    for path in routine_tables.list_tables():
        for macro in unsorted(path.read_text()):
            yield f"{path.relative_to(ROOT)}: the entries of {macro} are not sorted"
    keys = [(r["family"], r["name"]) for r in table]
    for key in {k for k in keys if keys.count(k) > 1}:
        yield f"{key[1]}: there twice"
    for r in table:
        name = r["name"]
        if r["family"] not in families:
            yield f"{name}: no table has NNC_FAMILY of {r['family']}"
            continue
        if not re.fullmatch(rf"{r['family']}_(\w+_)?{r['isa']}", name):
            yield f"{name}: wants to be {r['family']}_..._{r['isa']}"
        if r["isa"] not in ISAS:
            yield f"{name}: unknown instruction set {r['isa']}"
        if not (ROOT / r["header"]).is_file():
            yield f"{name}: no file {r['header']}"
        inputs = families[r["family"]]
        if inputs >= 0 and len(split(r["LAYOUTS"])) != inputs + 1:
            yield f"{name}: LAYOUTS wants {inputs} inputs and the output"
        for c in candidates(r):
            if len(split(c)) != len(split(r["PARAMS"])):
                yield f"{name}: candidate {{{c}}} does not match PARAMS"
    portable = {r["family"] for r in table if r["isa"] == "portable"}
    for family in sorted(set(families) - portable):
        yield f"{family}: no portable routine"


def instantiations(table):
    """C++ code that instantiates every routine with every candidate."""
    yield '#include "runtime/routines/catalogue/expressions.h"'
    yield '#include "runtime/routines/catalogue/shapes.h"'
    for header in sorted({r["header"] for r in table}):
        yield f'#include "{header}"'
    yield "struct unary { template <class V> V operator()(V x) const { return x; } };"
    for i, r in enumerate(table):
        shape = f"nnc::{r['family']}_shape"
        last = "unary" if r["family"] == "elementwise" else "nnc::none"
        for j, c in enumerate(candidates(r)):
            arguments = ", ".join([shape, *split(c), last])
            if not r["header"].endswith(".cuh"):  # kernels on blocks have no units
                yield (f"int units_{i}_{j}(const {shape} &s) "
                       f"{{ return nnc::{r['name']}<{arguments}>::units(s); }}")
            params = "".join(f"constexpr int {p} = {v}; (void){p}; "
                             for p, v in zip(split(r["PARAMS"]), split(c)))
            yield (f"double cost_{i}_{j}(const {shape} &s, int threads) {{ {params}"
                   f"constexpr auto tile = nnc::{r['isa']}_tile; (void)tile; "
                   f"(void)s; (void)threads; return ({r['APPLIES']}) ? ({r['EFFICIENCY']}) : "
                   f"double({r['SCRATCH']}); }}")


LAUNCHES = """
#include <cstddef>
#include <cstdio>
#include <cstring>
struct fill { // the integers of a shape, and those of its lists
  int size, groups;
  void operator()(const char *name, int &field) {
    field = !std::strcmp(name, "groups") ? groups : !std::strcmp(name, "rank") ? 3 : size;
  }
  template <class T, std::size_t N> void operator()(const char *name, T (&list)[N]) {
    for (T &each : list)
      (*this)(name, each);
  }
  void operator()(const char *, float &) {}
};
constexpr fill fills[] = {{16, 1}, {15, 1}, {16, 16}};
template <class Kernels> struct first;
template <class K, class... Others> struct first<nnc::kernel_list<K, Others...>> {
  using type = K;
};
template <class R, class S> bool is_launch(const S &s, nnc::launch_size said) {
  const nnc::launch_size own = nnc::launch_of<typename first<typename R::kernels>::type>(s);
  return own.grid.x == said.grid.x && own.grid.y == said.grid.y && own.grid.z == said.grid.z &&
         own.threads == said.threads && own.shared_bytes == said.shared_bytes &&
         own.counters == said.counters;
}
"""


def launches(table):
    """A program that prints the routines on blocks whose column LAUNCH is not what their first
    kernel is launched with."""
    rows = [r for r in table if r["header"].endswith(".cuh")]
    yield '#include "runtime/routines/catalogue/expressions.h"'
    yield '#include "runtime/routines/catalogue/launches.h"'
    yield '#include "runtime/routines/catalogue/shapes.h"'
    yield from sorted({f'#include "{r["header"]}"' for r in rows})
    yield LAUNCHES + "int main() {"
    for r in rows:
        shape = f"nnc::{r['family']}_shape"
        for c in candidates(r):
            arguments = ", ".join([shape, *split(c), "nnc::none"])
            params = "".join(f"constexpr int {p} = {v}; (void){p}; "
                             for p, v in zip(split(r["PARAMS"]), split(c)))
            yield f"for (fill f : fills) {{ {shape} s{{}}; s.visit(f); {params}"
            yield (f"if ({r['APPLIES']}) if (!is_launch<nnc::{r['name']}<{arguments}>>(s, {r['LAUNCH']})) "
                   f'std::puts("{r["name"]} {{{c}}}: LAUNCH is not that of its first kernel"); }}')
    yield "}"


def main():
    assert not list(unsorted("A(a,\n  c)\nA(b)\n#define B(x) \\\n  A(x)\nB(a)\n"))
    assert list(unsorted("A(b)\nA(a)\nB(a)\nC(a)\nB(b)\n")) == ["A", "B"]
    lines, table = routine_tables.read()
    families = {name: int(inputs) for name, inputs, *_ in lines}
    found = list(problems(table, families))
    if not found:
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "routines.cpp"
            source.write_text("\n".join(instantiations(table)) + "\n")
            done = subprocess.run(
                ["c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                 f"-I{ROOT}", source], capture_output=True, text=True)
            if done.returncode:
                found.append(done.stderr)
            source.write_text("\n".join(launches(table)) + "\n")
            program = pathlib.Path(folder) / "launches"
            subprocess.run(["c++", "-std=c++17", "-w", f"-I{ROOT}", source, "-o", program],
                           check=True)
            found += subprocess.run([program], check=True, capture_output=True,
                                    text=True).stdout.splitlines()
    print(*found, sep="\n")
    print(f"{len(table)} routines, {len(families)} families, {len(found)} problems")
    return 1 if found or not table else 0


if __name__ == "__main__":
    sys.exit(main())
