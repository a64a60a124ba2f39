"""Compiles every portable routine and every elementwise function as kernels of CUDA, and wants
neither errors nor warnings. Skipped without nvcc; see test/cuda/toolkit.py."""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
SOURCES = ["elementwise.cu", "routines.cu"]
# The oldest architecture that nvcc 13 has, and one with instructions for whole warp groups.
ARCHITECTURES = [75, 90]
FLAGS = ["-std=c++17", "-fmad=false", f"-I{ROOT}", "-Xcompiler=-Wall,-Wextra",
         "-Werror=all-warnings"]
# What the constants of a shape are, where it is not 1.
FORMS = {"codes": "decode_codes", "entries": "decode_entries",
         "huffman_entries": "decode_huffman_entries", "huffman": "decode_huffman",
         "literals": "decode_literals", "pattern": "decode_pattern"}

sys.path[:0] = [str(ROOT / "scripts/benchmark"), str(ROOT / "test/cuda")]
import routine_tables  # noqa: E402
import toolkit  # noqa: E402

STRUCT = re.compile(r"^struct (\w+)_shape(?: : ([\w, ]+))? \{\n(.*?)^\};", re.M | re.S)
FIELD = re.compile(r"^  (int|float|inner_activation|decode_form) ([^;()]*);", re.M)


def read_shapes():
    """The fields of each family's shape: pairs of a type and a name with the sizes of lists."""
    fields, bases = {}, {}
    for path in sorted((ROOT / "runtime/routines").rglob("shape.h")):
        text = path.read_text()
        for name, parents, body in STRUCT.findall(text):
            bases[name] = re.findall(r"(\w+)_shape", parents)
            fields[name] = [(kind, field.partition("=")[0].strip())
                            for kind, names in FIELD.findall(body)
                            for field in re.split(r",(?![^\[]*\])", names)]
        for name, other in re.findall(r"^using (\w+)_shape = (\w+)_shape;", text, re.M):
            bases[name], fields[name] = [other], []

    def of(name):
        return sum(map(of, bases[name]), []) + fields[name]
    return {name: of(name) for name in fields}


def constant_shape(routine, fields):
    """A struct as a module has it: whole numbers are constants, lists are members."""
    lines = [f"struct {routine}_shape {{"]
    for kind, field in fields:
        if "[" in field:
            lines.append(f"  {kind} {field} = {'{' * field.count('[')}1{'}' * field.count('[')};")
            continue
        value = "1.0f" if kind == "float" else "1"
        if field == "form":
            form = re.search(r"(huffman_entries|codes|entries|huffman|literals|pattern)", routine)
            value = FORMS[form[0] if form else "codes"]
        lines.append(f"  static constexpr {kind} {field} = {value};")
    return "\n".join([*lines, "};", ""])


def write_headers(folder):
    """Writes what the sources include without a folder."""
    _, table = routine_tables.read()
    portable = [row for row in table if row["isa"] == "portable"]
    headers = sorted({row["header"] for row in portable})
    (folder / "portable_headers.h").write_text(
        "".join(f'#include "{header}"\n' for header in headers))
    shapes = read_shapes()
    structs = [constant_shape(row["name"], shapes[row["family"]]) for row in portable]
    (folder / "constant_shapes.h").write_text(
        "namespace constant_shapes {\nusing namespace nnc;\n"
        + "".join(structs) + "}\n")


def main():
    nvcc = toolkit.find("nvcc")
    if not nvcc:
        print(toolkit.WHY_SKIPPED)
        return SKIPPED
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_headers(folder)
        for source in SOURCES:
            codes = [f"-gencode=arch=compute_{sm},code=sm_{sm}" for sm in ARCHITECTURES]
            done = subprocess.run([nvcc, *FLAGS, *codes, f"-I{folder}", "-c", HERE / source,
                                   "-o", folder / "kernels.o"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            clean = done.returncode == 0 and not done.stdout
            print(source, "compiles" if clean else f"has errors or warnings:\n{done.stdout}")
            failed += not clean
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
