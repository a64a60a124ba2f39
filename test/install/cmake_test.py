"""find_package(nnc) and nnc_add_model(): what is installed, when the build runs nnc again, the
forms of a library, and what a project may do with it."""

import re

import numpy as np
import onnx
from onnx import helper

import install
from install import MODEL, ROOT
from nnc import COMMANDS, model, value, weights

FIRMWARE = ROOT / "examples" / "firmware"
SUM = """find_package(nnc REQUIRED CONFIG NO_CMAKE_FIND_ROOT_PATH)
nnc_add_model(NAME {name} MODEL "{file}" {more})
add_executable(user main.c)
target_link_libraries(user PRIVATE {name} m)
"""
# Prints y[0] for an x of ones.
MAIN = """#include "{name}.h"
#include <stdio.h>
static float x[{n}], y[1];
static _Alignas({NAME}_ALIGN) char arena[{NAME}_ARENA_BYTES + 1];
int main(void) {{
  struct {name}_inputs inputs = {{.x = x}};
  struct {name}_outputs outputs = {{.y = y}};
  for (int i = 0; i < {n}; ++i)
    x[i] = 1;
  int status = {name}_run(&inputs, &outputs, arena);
  printf("%d %g\\n", status, y[0]);
  return 0;
}}
"""

CUSTOM = """#include "nnc_custom.h"
static void first(const struct nnc_operator *op, const void *const *inputs,
                  void *const *outputs, void *scratch) {{
  (void)op, (void)scratch;
  *(float *)outputs[0] = {} * *(const float *)inputs[0];
}}
"""


def documentation():
    """The README and the pages for users: those that it links to before it says how nnc works."""
    text = (ROOT / "README.md").read_text().split("## How it works")[0]
    linked = re.findall(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)", text)
    return [f"share/doc/nnc/{page}" for page in {"README.md", *linked} - {"CONTRIBUTING.md"}]


def product(factors):
    """y = x . factors"""
    count = len(factors)
    weight = onnx.numpy_helper.from_array(np.array(factors, np.float32).reshape(count, 1), "w")
    return model([helper.make_node("MatMul", ["x", "w"], ["y"])],
                 [value("x", [1, count])], [value("y", [1, 1])], [weight])


def save_with_data(factors, path, data):
    onnx.save(product(factors), path, save_as_external_data=True, location=data,
              size_threshold=0)


class Package(install.TestCase):
    def test_files(self):
        there = sorted(str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*")
                       if p.is_file())
        build_type = [n for n in there if n.startswith("lib/cmake/nnc/nncTargets-")]
        self.assertEqual(len(build_type), 1)
        # Tests of the command line say what manual pages and completions hold.
        pages = [f"share/man/man1/nnc{'-' * bool(command)}{command}.1"
                 for command in ("", *COMMANDS)]
        self.assertEqual([n for n in there if n not in build_type], sorted([
            *pages, *documentation(), "share/bash-completion/completions/nnc",
            "share/zsh/site-functions/_nnc", "share/fish/vendor_completions.d/nnc.fish", "bin/nnc",
            "lib/cmake/nnc/NNCAddModel.cmake", "lib/cmake/nnc/NNCFinishModel.cmake",
            "lib/cmake/nnc/nncConfig.cmake", "lib/cmake/nnc/nncConfigVersion.cmake",
            "lib/cmake/nnc/nncTargets.cmake", "share/doc/nnc/copyright",
            "share/doc/nnc/output.schema.json"]))

    def test_after_program_alone(self):
        """A build of the program alone has no manual pages yet: the installation makes them."""
        printed = install.BUILD / "package" / "share"
        install.shutil.rmtree(printed)
        other = self.folder / "other"
        self.install(other)
        for folder in "man", "bash-completion", "zsh", "fish":
            self.assertEqual(*({str(path.relative_to(prefix)): path.read_bytes()
                                for path in (prefix / "share" / folder).rglob("*")
                                if path.is_file()} for prefix in (self.prefix, other)))
            self.assertTrue(any((other / "share" / folder).rglob("*")))

    def test_program_alone(self):
        """The component that a wheel takes is the program, which needs no other file."""
        alone = self.folder / "alone"
        self.install(alone, "--component", "nnc_program")
        self.assertEqual([str(p.relative_to(alone)) for p in alone.rglob("*") if p.is_file()],
                         ["bin/nnc"])
        self.call(alone / "bin" / "nnc", "compile", MODEL / "gesture.tflite", "-o", "alone-code")


class Rebuild(install.TestCase):
    """nnc runs when the model, its data, a file of an option or nnc changes, and only then."""

    def check(self, generator):
        # CMake 3.25 loses the backslash before '#' in what it writes for Ninja.
        project = self.project(f"with {generator}", SUM.format(
            name="sum", file="the models/a model.onnx", more="OPTIONS \"--probe=my probe\""))
        models = project / "the models"
        models.mkdir()
        source = models / "a model.onnx"
        (project / "main.c").write_text(MAIN.format(name="sum", NAME="SUM", n=3))
        data = models / "its data.bin"
        save_with_data([1, 2, 3], source, data.name)
        probe = project / "my probe"
        self.call(self.prefix / "bin" / "nnc", "target-probe", "-o", probe)
        folder = self.configure(project, generator=generator)
        self.assertEqual(self.count_compilations(folder), 1)
        program = folder / "user"
        self.assertEqual(self.call(program), "0 6\n")
        linked = program.stat().st_mtime_ns
        said = self.build(folder)
        self.assertNotIn("Building", said)
        if generator == "Ninja":
            self.assertIn("no work to do", said)
        self.assertEqual(program.stat().st_mtime_ns, linked)
        for file in (source, data, probe, self.prefix / "bin" / "nnc"):
            self.touch(file)
            self.assertEqual(self.count_compilations(folder), 1, file)
            self.assertEqual(self.count_compilations(folder), 0, file)
        save_with_data([1, 2, 7], source, data.name)
        self.touch(data)
        self.build(folder)
        self.assertEqual(self.call(program), "0 10\n")
        self.touch(project / "main.c")
        self.assertEqual(self.count_compilations(folder), 0)
        if generator != "Ninja":
            return  # CMake's Makefiles keep the dependency on a file until all is cleaned.
        # A model that has its weights itself needs the file no more.
        onnx.save(product([1, 1, 1]), source)
        data.unlink()
        self.touch(source)
        self.assertEqual(self.count_compilations(folder), 1)
        self.assertEqual(self.call(program), "0 3\n")
        self.assertEqual(self.count_compilations(folder), 0)

    def test_ninja(self):
        self.check("Ninja")

    def test_make(self):
        self.check("Unix Makefiles")

    def test_depfile(self):
        """The rule serves a Makefile as well, with names that make gives a meaning to."""
        folder = self.folder / "plain make"
        folder.mkdir()
        data = "its #1 $x.data"
        save_with_data([1, 2], folder / "plain.onnx", data)
        (folder / "Makefile").write_text(
            "all: plain.onnx\n\tnnc compile plain.onnx -o plain --depfile plain.d\n")
        path = {"PATH": f"{self.prefix}/bin:/usr/bin:/bin"}
        self.call("make", env=path, cwd=folder)
        rule, *empty = (folder / "plain.d").read_text().replace("\\\n", "").splitlines()
        target, *files = re.split(r":? +(?<!\\ )", rule)
        here = str(folder).replace(" ", "\\ ")
        self.assertEqual(target, f"{here}/plain/plain.cpp")
        escaped = f"{here}/its\\ \\#1\\ $$x.data"
        self.assertEqual(files, [f"{here}/plain.onnx", escaped])
        self.assertEqual(empty, [f"{file}:" for file in files])
        # make finds the file by that name: what depends on it is up to date, or not.
        (folder / "Makefile").write_text(
            f"it: {escaped}\n\techo runs > it\n")
        self.assertIn("runs", self.call("make", cwd=folder))
        self.assertIn("up to date", self.call("make", cwd=folder))
        self.touch(folder / data)
        self.assertIn("runs", self.call("make", cwd=folder))


class Forms(install.TestCase):
    """Options that decide which files nnc writes, and the ways to build for other machines."""

    def test_weights(self):
        for name, more in (("array", "--weights=array"),
                           ("pools", "--weights=array --pool=close:64:weights "
                                     "--pool=distant:1M:weights:slow")):
            project = self.project(name, SUM.format(name=name, file="m.onnx",
                                                    more=f"OPTIONS {more}"))
            onnx.save(product([1, 2, 3, 4]), project / "m.onnx")
            (project / "main.c").write_text(MAIN.format(name=name, NAME=name.upper(), n=4))
            folder = self.configure(project)
            self.build(folder)
            self.assertEqual(self.call(folder / "user"), "0 10\n")

    def test_no_weights(self):
        project = self.project("bare", SUM.format(name="bare", file="m.onnx",
                                                  more="SHAPE x=1x4"))
        made = model([helper.make_node("ReduceSum", ["x"], ["s"], keepdims=1),
                      helper.make_node("Reshape", ["s", "one"], ["y"])],
                     [value("x", [1, "n"])], [value("y", [1, 1])],
                     [onnx.numpy_helper.from_array(np.array([1, 1], np.int64), "one")])
        onnx.save(made, project / "m.onnx")
        (project / "main.c").write_text(MAIN.format(name="bare", NAME="BARE", n=4))
        folder = self.configure(project)
        self.build(folder)
        self.assertEqual(self.call(folder / "user"), "0 4\n")

    def test_custom(self):
        """The user's function travels along, and changes of it reach the program."""
        project = self.project("custom", SUM.format(
            name="own", file="m.onnx", more="OPTIONS --custom=own::First:first.h"))
        made = model([helper.make_node("First", ["x"], ["y"], domain="own")],
                     [value("x", [1, 1])], [value("y", [1, 1])], domains=["own"])
        onnx.save(made, project / "m.onnx")
        (project / "first.h").write_text(CUSTOM.format(2))
        (project / "main.c").write_text(MAIN.format(name="own", NAME="OWN", n=1))
        folder = self.configure(project)
        self.build(folder)
        self.assertEqual(self.call(folder / "user"), "0 2\n")
        (project / "first.h").write_text(CUSTOM.format(5))
        self.touch(project / "first.h")
        self.build(folder)
        self.assertEqual(self.call(folder / "user"), "0 5\n")

    def test_several(self):
        """Two models of one program, and one of them for two shapes."""
        project = self.project("several", """find_package(nnc REQUIRED)
nnc_add_model(NAME one MODEL one.onnx)
add_subdirectory(part)
add_executable(user main.c)
target_link_libraries(user PRIVATE one::one two::two m)
""")
        (project / "part").mkdir()
        (project / "part" / "CMakeLists.txt").write_text(
            "nnc_add_model(NAME two MODEL ../two.onnx TARGET portable OPTIONS --weights=array)\n")
        onnx.save(product([1, 2]), project / "one.onnx")
        onnx.save(product([3, 4]), project / "two.onnx")
        one, two = (MAIN.format(name=n, NAME=n.upper(), n=2).replace("int main", f"int {n}_main")
                    .replace("arena", f"{n}_arena").replace("x[2], y[1]", f"{n}x[2], {n}y[1]")
                    .replace("= x", f"= {n}x").replace("= y", f"= {n}y")
                    .replace("  x[i]", f"  {n}x[i]").replace(", y[0]", f", {n}y[0]")
                    for n in ("one", "two"))
        (project / "main.c").write_text(
            one + two + "int main(void) { return one_main() + two_main(); }\n")
        folder = self.configure(project)
        self.build(folder)
        self.assertEqual(self.call(folder / "user"), "0 3\n0 7\n")

    def test_multi_config(self):
        project = self.project("configs", SUM.format(name="sum", file="m.onnx", more=""))
        onnx.save(product([1, 2]), project / "m.onnx")
        (project / "main.c").write_text(MAIN.format(name="sum", NAME="SUM", n=2))
        folder = self.configure(project, generator="Ninja Multi-Config")
        for config in "Debug", "Release":
            self.build(folder, "--config", config)
            self.assertEqual(self.call(folder / config / "user"), "0 3\n")

    def test_firmware(self):
        """A Cortex-M4, run in qemu; the program's flags name the processor."""
        project = self.project("firmware", f"""find_package(nnc REQUIRED NO_CMAKE_FIND_ROOT_PATH)
nnc_add_model(NAME gesture MODEL {MODEL}/gesture.tflite TARGET cortex-m4
              OPTIONS --optimize=size)
add_executable(user {FIRMWARE}/app/main.c {FIRMWARE}/board/start.c)
target_include_directories(user PRIVATE {MODEL})
target_link_libraries(user gesture m)
target_link_options(user PRIVATE --specs=nano.specs --specs=rdimon.specs -nostartfiles
                    -T{FIRMWARE}/board/mps2-an386.ld)
""")
        folder = self.configure(project, "build", "--toolchain",
                                FIRMWARE / "cmake" / "arm-none-eabi.cmake")
        self.build(folder)
        said = self.call("qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor",
                         "none", "-serial", "none", "-semihosting-config",
                         "enable=on,target=native", "-kernel", folder / "user")
        self.assertEqual([line.split()[0::2][:2] for line in said.splitlines()[1:]],
                         [[n, n] for n in ("still", "shake", "circle", "nod")])
        flags = (folder / "nnc" / "gesture.flags").read_text().split()
        self.assertEqual([f for f in flags if f.startswith("-m")], [])

    def test_mistakes(self):
        rest = 'MODEL m.onnx'
        for arguments, why in (
                ("MODEL m.onnx", "NAME is missing"), ("NAME m", "MODEL is missing"),
                (f"NAME m {rest} --threads=on", "unknown arguments: --threads=on.*OPTIONS"),
                (f"NAME m {rest} OPTIONS --target=native", "OPTIONS cannot have --target")):
            project = self.project(f"bad {abs(hash(why))}",
                                   f"find_package(nnc REQUIRED)\nnnc_add_model({arguments})\n")
            # Nothing else is wrong.
            self.call("cmake", "-S", project, "-B", project / "build",
                      fails=f"^(?!.*CMake Error.*CMake Error).*{why}")
        project = self.project("cross", "find_package(nnc REQUIRED)\n"
                                        f"nnc_add_model(NAME m {rest})\n")
        toolchain = ROOT / "examples" / "cmake" / "aarch64.cmake"
        self.call("cmake", "-S", project, "-B", project / "build", "--toolchain", toolchain,
                  f"-Dnnc_DIR={self.prefix}/lib/cmake/nnc",
                  fails=r"^(?!.*CMake Error.*CMake Error).*another machine \(Linux aarch64\); give TARGET")

    def test_problem_of_model(self):
        """What nnc says reaches the user, and the build fails."""
        project = self.project("broken", SUM.format(name="sum", file="m.onnx", more=""))
        (project / "m.onnx").write_text("no model")
        (project / "main.c").write_text("")
        folder = self.configure(project)
        self.call("cmake", "--build", folder, fails="m.onnx")


if __name__ == "__main__":
    install.main("arm-none-eabi-g++", "qemu-system-arm")
