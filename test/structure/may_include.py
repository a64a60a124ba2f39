"""Checks the #include lines of the tree, and the libraries that each library links, against the
table "may include" in CONTRIBUTING.md."""

import fnmatch
import pathlib
import re
import sys

import tree

MLIR = ["mlir/*", "mlir-c/*", "llvm/*"]
ONNX = ["onnx/*", "google/protobuf/*"]
TOOLBOX = ["fmt/*", "sqlite3.h"]

# What runtime/ shows to the compiler as data: the families with their shapes, the
# tables of routines, and the one door to the portable routines.
SHAPES = ["runtime/routines/catalogue/routines.inc", "runtime/routines/*/shape.h",
          "runtime/routines/catalogue/shapes.h"]
ROUTINE_TABLES = ["runtime/routines/*.inc", "runtime/routines/*/shape.h",
                  "runtime/routines/catalogue/*.h",
                  "runtime/cuda/block.h", "runtime/reference.h"]

# And to the encodings of weights: the matrices that transform them, and what those
# in codebooks and of 4 bits look like.
MATRICES = ["runtime/routines/*_matrices.h",
            "runtime/routines/*/codebook_plan.h", "runtime/routines/*/implicit_gemm_plan.h",
            "runtime/routines/*/grouped_plan.h", "runtime/routines/*/phases_plan.h",
            "runtime/routines/*/pixels_plan.h", "runtime/routines/tiles/*_weights.h",
            "runtime/routines/stored_weights/block_matmul/plan.h"]
# And to the compression of weights: how they are stored.
STORED_FORMS = ["runtime/routines/stored_weights/decode/shape.h",
                "runtime/routines/stored_weights/decode/plan.h",
                "runtime/routines/stored_weights/stored_conv2d/shape.h",
                "runtime/routines/stored_weights/stored_matmul/shape.h"]

# Headers of C, in either spelling, and those of C++ that need no library.
C_HEADERS = """assert errno fenv float inttypes limits math setjmp signal stdarg
stdbool stddef stdint stdio stdlib string time""".split()
FREESTANDING = """atomic initializer_list limits new type_traits utility""".split()
RUNTIME_SYSTEM = (
    [f"{h}.h" for h in C_HEADERS] + [f"c{h}" for h in C_HEADERS] + FREESTANDING
    + ["pthread.h", "sched.h", "unistd.h", "linux/futex.h", "sys/syscall.h",
       "*intrin.h", "arm_*.h", "riscv_*.h", "simde/*", "cuda*.h", "mma.h"]
)
# No folder, no extension: a header of the C++ library; or one of C.
STANDARD = re.compile(r"^[a-z_0-9]+$")


def rooms(*names):
    """What a folder of compiler/ may include: the folders `names` of compiler/, and the
    dialects."""
    return [f"compiler/{name}/*" for name in names] + ["dialects/*"]


# What ships, from the bottom up: arithmetic of sizes, vectors, the work on each value
# before it is stored, and how threads share it.
RUNTIME_BASE = [f"runtime/{name}.h" for name in
                ("counts", "epilogue", "functions", "meta", "nnc_runtime", "parallel", "scratch",
                 "store_sums")]
# The rooms of runtime/routines/ that families share.
ROOMS = {
    "blocks": [],
    "shapes": [],
    "units": [],
    "tiles": ["shapes", "units"],
    "transforms": ["shapes", "tiles", "units"],
    "microcontrollers": ["shapes"],
}
# Its kinds of families, and of which others the headers are used, too.
KINDS = {
    "attention": [],
    "convolution": ["pooling"],
    "elementwise": [],
    "learned": [],
    "lengths": [],
    "matrix": ["convolution"],
    "moves": [],
    "normalization": [],
    "ordering": [],
    "pooling": [],
    "recurrent": [],
    "reduction": [],
    "regions": [],
    "resampling": [],
    "signal": [],
    "stored_weights": ["convolution", "matrix"],
}


def routines(name, others):
    """What the folder `name` of runtime/routines/ may include: itself, the folders `others` and
    the base."""
    return ([f"runtime/routines/{room}/*" for room in (name, *others)]
            + RUNTIME_BASE + ["runtime/cuda/block.h", "runtime/simd/*"], RUNTIME_SYSTEM, False)


def driver(*names):
    """The folders `names` of compiler/tools/driver, which programs may include."""
    return [f"compiler/tools/driver/{name}/*" for name in names]


def cli(*names):
    """The folders `names` of compiler/tools/nnc."""
    return [f"compiler/tools/nnc/{name}/*" for name in names]


# What every folder of the programs may include.
ANY = ["*"]

# folder: (folders of the tree, other headers, may it use the C++ library)
TABLE = {
    # The dialects: an order without circles.
    "dialects": (["dialects/*"], MLIR, True),
    "dialects/target": (["dialects/target/*"], MLIR + ["sys/syscall.h", "unistd.h"], True),
    "dialects/nn": (["dialects/nn/*", "dialects/target/*"], MLIR, True),
    "dialects/nn/encodings": (["dialects/nn/*"] + MATRICES, MLIR, True),
    "dialects/nn/stored_weights": (["dialects/nn/*"] + STORED_FORMS, MLIR, True),
    "dialects/nn/stored_weights/forms": (["dialects/nn/stored_weights/forms/*"] + STORED_FORMS,
                                         MLIR, True),
    "dialects/qnn": (["dialects/qnn/*", "dialects/nn/*"], MLIR, True),
    "dialects/exec": (["dialects/exec/*", "dialects/nn/*"], MLIR, True),
    # The shape of a routine's call, and the value of an op.
    "dialects/shapes": (["dialects/shapes/*", "dialects/nn/*"] + SHAPES, MLIR, True),
    "dialects/evaluate": (["dialects/evaluate/*", "dialects/shapes/*", "dialects/nn/*",
                           "runtime/reference.h"], MLIR, True),
    # The registry; then each frontend, which knows its own framework's schema alone.
    "frontends": (["frontends/*"], MLIR, True),
    "frontends/common": (["frontends/common/*", "dialects/*"],
                        MLIR + ["minizip/unzip.h", "zlib.h"], True),
    "frontends/onnx": (["frontends/onnx/*", "frontends/common/*", "dialects/*"],
                       MLIR + ONNX, True),
    "frontends/tflite": (["frontends/tflite/*", "frontends/common/*", "dialects/*"],
                         MLIR + ["flatbuffers/*"], True),
    "frontends/torch": (["frontends/torch/*", "frontends/common/*", "dialects/*"], MLIR, True),
    "frontends/caffe": (["frontends/caffe/*", "frontends/common/*", "dialects/*"],
                        MLIR + ["google/protobuf/*"], True),
    "frontends/mxnet": (["frontends/mxnet/*", "frontends/common/*", "dialects/*"], MLIR, True),
    "frontends/tensorflow": (["frontends/tensorflow/*", "frontends/common/*", "dialects/*"],
                             MLIR + ["google/protobuf/*"], True),
    "frontends/mlir": (["frontends/mlir/*", "frontends/common/*", "dialects/*"], MLIR, True),
    # Edits models; builds no IR.
    "frontends/onnx/quantize": (["frontends/onnx/*", "frontends/common/*",
                                 "compiler/quantize/*"],
                                MLIR + ONNX, True),
    "frontends/onnx/compress": (["frontends/onnx/*", "frontends/common/*",
                                 "compiler/compression/*", "compiler/quantize/*",
                                 "dialects/nn/stored_weights/forms/*"],
                                MLIR + ONNX, True),
    # The rooms of compiler/: an order without circles, from the solver up.
    "compiler": (["compiler/*", "dialects/*"], MLIR + TOOLBOX, True),
    "compiler/search": (["compiler/search/*"],
                        ["llvm/ADT/*", "llvm/Support/*", "llvm/CodeGen/PBQP/*"], True),
    "compiler/memory": (rooms("memory"), MLIR, True),
    "compiler/patterns": (["compiler/patterns/*", "dialects/*"], MLIR, True),
    "compiler/accuracy": (["compiler/accuracy/*"], ["llvm/ADT/*", "llvm/Support/*"], True),
    "compiler/compression": (rooms("compression", "accuracy", "quantize"), MLIR, True),
    "compiler/quantize": (rooms("quantize", "patterns"), MLIR, True),
    "compiler/routines": (rooms("routines", "search") + ROUTINE_TABLES,
                          MLIR, True),
    "compiler/precision": (rooms("precision", "accuracy", "routines"), MLIR, True),
    "compiler/sizes": (rooms("sizes", "patterns", "routines", "memory"), MLIR, True),
    "compiler/tuning": (rooms("tuning", "routines", "memory", "search"),
                        MLIR + TOOLBOX, True),
    "compiler/passes": (rooms("passes", "patterns", "compression", "quantize", "routines",
                              "memory", "search", "sizes", "tuning"), MLIR, True),
    "compiler/pipelines": (rooms("pipelines", "passes", "routines"), MLIR, True),
    "compiler/planners": (rooms("planners", "pipelines", "passes", "routines", "memory",
                                "search"), MLIR, True),
    "codegen": (["codegen/*", "dialects/*", "runtime/weights.h"], MLIR + TOOLBOX, True),
    "runtime": (RUNTIME_BASE + ["runtime/simd/*", "runtime/nnc_*"], RUNTIME_SYSTEM, False),
    "runtime/simd": (["runtime/simd/*", "runtime/functions.h", "runtime/meta.h"],
                     RUNTIME_SYSTEM, False),
    **{f"runtime/routines/{room}": routines(room, others) for room, others in ROOMS.items()},
    **{f"runtime/routines/{kind}": routines(kind, [*ROOMS, *others])
       for kind, others in KINDS.items()},
    # Does not ship: what the tables say of all families, and what routines cost.
    "runtime/routines/catalogue": routines("catalogue", [*ROOMS, *KINDS, "costs"]),
    "runtime/routines/costs": (["runtime/routines/costs/*"], [], False),
    "runtime/reference": (["runtime/*"], RUNTIME_SYSTEM, True),
    "runtime/cuda": (["runtime/cuda/*", "runtime/functions.h", "runtime/scratch.h",
                      "runtime/simd/bfloat.h", "runtime/simd/half.h", "runtime/simd/unroll.h"],
                     RUNTIME_SYSTEM, False),
    "runtime/cuda/host": (["runtime/cuda/*", "runtime/meta.h", "runtime/simd/*"],
                          [*RUNTIME_SYSTEM, "ucontext.h"], True),
    # The programs. Rooms of the driver: an order without circles, from what talks
    # to the terminal up to what quantizes a model by running it.
    "compiler/tools/runner": (["compiler/tools/runner/*", "runtime/*", "sample.h"], ANY, True),
    "compiler/tools/driver/console": (driver("console") + ["frontends/common/*", "dialects/*"],
                                      ANY, True),
    "compiler/tools/driver/system": (driver("system", "console") + ["frontends/common/*"],
                                     ANY, True),
    "compiler/tools/driver/tensors": (driver("tensors", "system", "console"), ANY, True),
    "compiler/tools/driver/manifest": (
        driver("manifest", "tensors", "system", "console")
        + rooms("passes", "routines", "sizes") + ["codegen/*", "frontends/common/*"],
        ANY, True),
    "compiler/tools/driver/samples": (
        driver("samples", "manifest", "tensors", "system", "console")
        + rooms("quantize") + ["frontends/*.h"], ANY, True),
    "compiler/tools/driver/toolchain": (
        driver("toolchain", "manifest", "system", "console")
        + ["compiler/tools/runner/*", "dialects/*"], ANY, True),
    "compiler/tools/driver/options": (
        driver("options", "samples", "manifest", "system", "console")
        + rooms("passes", "pipelines", "planners")
        + ["codegen/*", "frontends/common/*", "runtime/nnc_*.h"], ANY, True),
    "compiler/tools/driver/import": (
        driver("import", "options", "system", "console")
        + rooms("passes", "pipelines", "planners", "sizes")
        + ["frontends/*.h", "frontends/common/*"], ANY, True),
    "compiler/tools/driver/compile": (
        driver("compile", "import", "options", "samples", "manifest", "system", "console")
        + rooms("passes", "pipelines", "planners", "routines", "tuning")
        + ["codegen/*", "frontends/*.h", "frontends/common/*"], ANY, True),
    "compiler/tools/driver/execute": (
        driver("execute", "compile", "toolchain", "options", "samples", "manifest", "tensors",
               "system", "console")
        + rooms("passes"), ANY, True),
    "compiler/tools/driver/measure": (
        driver("measure", "compile", "toolchain", "manifest", "system", "console")
        + rooms("tuning") + ["codegen/*"], ANY, True),
    "compiler/tools/driver/accuracy": (
        driver("accuracy", "manifest", "tensors", "system", "console") + rooms("accuracy"),
        ANY, True),
    "compiler/tools/driver/quantization": (
        driver("quantization", "accuracy", "execute", "compile", "import", "options", "samples",
               "system", "console")
        + rooms("pipelines", "precision", "quantize") + ["frontends/onnx/quantize/*"],
        ANY, True),
    # Those of nnc, from the words of a command line up to its commands.
    "compiler/tools/nnc/commandline": (
        cli("commandline") + driver("console") + ["frontends/common/*"], ANY, True),
    "compiler/tools/nnc/options": (
        cli("options", "commandline")
        + driver("quantization", "options", "tensors", "system", "console")
        + ["dialects/*", "frontends/*.h", "frontends/common/*"], ANY, True),
    "compiler/tools/nnc/prepare": (
        cli("prepare")
        + driver("execute", "compile", "toolchain", "manifest", "tensors", "system", "console")
        + rooms("patterns") + ["frontends/*.h"], ANY, True),
    "compiler/tools/nnc/figures": (
        cli("figures", "prepare", "options")
        + driver("compile", "toolchain", "manifest", "system", "console")
        + rooms("routines") + ["codegen/*"], ANY, True),
    "compiler/tools/nnc/quantize": (
        cli("quantize", "options")
        + driver("quantization", "accuracy", "execute", "samples", "system", "console")
        + rooms("quantize") + ["frontends/onnx/quantize/*"], ANY, True),
    "compiler/tools/nnc/compress": (
        cli("compress", "options")
        + driver("accuracy", "execute", "compile", "samples", "system", "console")
        + rooms("compression", "quantize", "pipelines") + ["frontends/onnx/compress/*"],
        ANY, True),
    "compiler/tools/nnc/report": (
        cli("report", "figures", "prepare")
        + driver("execute", "toolchain", "manifest", "system", "console")
        + ["codegen/*", "dialects/*", "frontends/common/*"], ANY, True),
    "compiler/tools/nnc/commands": (
        cli("*") + driver("*") + rooms("routines", "sizes", "tuning")
        + ["frontends/*.h", "frontends/common/*"], ANY, True),
    "compiler/tools/nnc": (cli("commandline", "commands", "options") + ["compiler/tools/nnc/*.h"]
                           + driver("console"), ANY, True),
    "compiler/tools/nnc-codegen": (rooms("pipelines") + ["codegen/*"], ANY, True),
    "compiler/tools/nnc-opt": (rooms("passes", "pipelines")
                               + ["compiler/tools/nnc-opt/*"], ANY, True),
    "compiler/tools/nnc-translate": (rooms("pipelines") + ["frontends/*.h"], ANY, True),
    "compiler/tools/python": (["runtime/*"], ANY, True),
    # An example is what a user writes: the emitted module, and nothing of ours.
    "examples": (["examples/*"], ["*"], True),
}
FOLDERS = {p.split("/")[0] for p in TABLE} | {"test", "scripts"}

INCLUDE = re.compile(r'^\s*#?\s*include\s*[<"]([^">]+)[">]', re.M)
LIBRARY = re.compile(r"\bnnc_add_library\(\s*nnc_(\w+)([^)]*)\)")
ALL_OF_A_FOLDER = re.compile(r"\badd_library\(\s*nnc_(\w+)\s+INTERFACE\)")
TARGET_LINKS = re.compile(r"\btarget_link_libraries\(\s*nnc_(\w+)([^)]*)\)")
LINKED = re.compile(r"\bnnc(?:::|_)(\w+)")
SOURCES = ["*.h", "*.hpp", "*.c", "*.cpp", "*.cu", "*.cuh", "*.inc", "*.td"]


def rule_of(path):
    """The longest entry of the table that matches the path, or None."""
    text = str(path)
    matching = [k for k in TABLE
                if text.startswith((k + "/", k + ".", k + "_"))]
    return max(matching, key=len, default=None)


def allowed(rule, path, header, root):
    own, others, standard_library = TABLE[rule]
    beside = path.parent / header
    if (root / beside).is_file():
        header = str(beside)
    matches = lambda patterns: any(fnmatch.fnmatch(header, p) for p in patterns)
    if header.split("/")[0] in FOLDERS:
        return matches(own) and not (
            rule == "compiler" and header.startswith("compiler/tools/"))
    if matches(others):
        return True
    is_c = header.endswith(".h") and header[:-2] in C_HEADERS
    return standard_library and bool(STANDARD.match(header) or is_c)


def strip_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def include_problems(root):
    for path in tree.files(*SOURCES, root=root):
        rule = rule_of(path)
        if rule is None:
            continue
        text = strip_comments((root / path).read_text())
        for header in INCLUDE.findall(text):
            if not allowed(rule, path, header, root):
                yield f"{path}: {rule}/ may not include {header}"


def libraries(root):
    """The folder of each library, by its name without nnc_, and the libraries that it links.
    The folder is that of the library's sources if they are all in one subfolder, otherwise that
    of its CMakeLists.txt."""
    folders, links = {}, {}
    for path in tree.files("*CMakeLists.txt", root=root):
        text = re.sub(r"#[^\n]*", "", (root / path).read_text())
        for name, listed in LIBRARY.findall(text):
            sources = [pathlib.PurePosixPath(s) for s in listed.split()
                       if s.endswith(".cpp") and not s.startswith("..")]
            inner = {s.parent for s in sources}
            below = inner.pop() if len(inner) == 1 else pathlib.PurePosixPath()
            folders[name] = str(path.parent / below)
        for name, linked in TARGET_LINKS.findall(text):
            links.setdefault(name, []).extend(
                (path, other) for other in LINKED.findall(linked))
    return folders, links


def link_problems(root):
    """The links that are not allowed. A library may link another only if a header of its folder
    may be included, and all libraries of a folder only if all of its headers may be included."""
    folders, links = libraries(root)
    alls = {name: str(path.parent) for path in tree.files("*CMakeLists.txt", root=root)
            for name in ALL_OF_A_FOLDER.findall((root / path).read_text())}
    for name, linked in links.items():
        rule = rule_of(folders.get(name, "") + "/x")
        if rule is None:
            continue
        for path, other in linked:
            folder = folders.get(other)
            if other in alls and f"{alls[other]}/*" not in TABLE[rule][0]:
                yield f"{path}: {rule}/ may not link all of nnc::{other}"
            if not folder or folder == folders[name] or "*" in TABLE[rule][0]:
                continue
            if not any(fnmatch.fnmatch(f"{folder}/x.h", own) or own.startswith(folder + "/")
                       for own in TABLE[rule][0]):
                yield f"{path}: {rule}/ may not link nnc::{other}"


def problems(root=tree.ROOT):
    yield from include_problems(root)
    yield from link_problems(root)


def main():
    found = list(problems())
    print(*found, sep="\n")
    checked = [p for p in tree.files(*SOURCES) if rule_of(p)]
    print(f"{len(checked)} files checked, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
