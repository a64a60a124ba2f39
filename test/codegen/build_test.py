"""Tests modules in builds of users: what CMake rebuilds and how it optimizes, the size of code
that `nnc check` reports, and empty arenas."""

import json
import re
import shutil
import sys
import unittest

from onnx import helper

import modules
import nnc
from modules import HERE, STATUS, STRICT


class CMake(modules.TestCase):
    def configure(self, *options, head=()):
        """Configures a program around the module; the flags of network.cpp."""
        (self.folder / "CMakeLists.txt").write_text("\n".join([
            "cmake_minimum_required(VERSION 3.16)", "project(program LANGUAGES C CXX)", *head,
            "add_subdirectory(module)", f"add_executable(program {HERE / 'firmware_main.c'})",
            "target_link_libraries(program network)"]))
        self.call("cmake", "-S", ".", "-B", "build", "--fresh",
                  "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)
        (command,) = [entry["command"] for entry in
                      json.loads((self.folder / "build/compile_commands.json").read_text())
                      if entry["file"].endswith("network.cpp")]
        return command.split()

    def test_optimisation(self):
        """The user's flags and build type win; -O3 where there are none."""
        self.compile()
        for head, options, want in (
                ((), (), "-O3"),
                ((), ("-DCMAKE_BUILD_TYPE=MinSizeRel",), "-Os"),
                ((), ("-DCMAKE_BUILD_TYPE=Release",), "-O3"),
                ((), ("-DCMAKE_BUILD_TYPE=Debug",), None),
                ((), ("-DCMAKE_CXX_FLAGS=-Os",), "-Os"),
                ((), ("-DCMAKE_CXX_FLAGS=-g -O1",), "-O1"),
                ((), ("-DCMAKE_CXX_FLAGS=-DX-O -g",), "-O3"),
                (("add_compile_options(-Os)",), (), "-Os"),
                (("add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-O2>)",), (), "-O2")):
            with self.subTest(head=head, options=options):
                flags = self.configure("-G", "Ninja", *options, head=head)
                levels = [flag for flag in flags if re.fullmatch(r"-O.?", flag)]
                self.assertEqual(levels[-1:], [want] if want else [])
                self.assertIn("-ffp-contract=off", flags)

    def test_options(self):
        """NNC_OPTIMIZE wins over the program's own level for the module alone; the section of
        the weights and the hooks have options, too."""
        self.compile("module", "--weights=array")
        more = ("-DNNC_OPTIMIZE=s", "-DNNC_WEIGHTS_SECTION=.flash_weights", "-DNNC_HOOKS=ON")
        for options in ("-DCMAKE_CXX_FLAGS=-O1",), ("-DCMAKE_BUILD_TYPE=Release",), ():
            flags = self.configure("-G", "Ninja", *options, *more)
            levels = [flag for flag in flags if re.fullmatch(r"-O.?", flag)]
            self.assertEqual(levels[-1], "-Os")
            commands = json.loads((self.folder / "build/compile_commands.json").read_text())
            words = {entry["file"].rsplit("/")[-1]: entry["command"].split()
                     for entry in commands}
            self.assertIn("-DNNC_WEIGHTS_SECTION=.flash_weights", words["network_weights.c"])
            for source in "network.cpp", "firmware_main.c":
                self.assertIn("-DNNC_HOOKS=1", words[source])
                self.assertEqual("-Os" in words[source], source == "network.cpp")

    def test_other_values_for_one_model(self):
        """A program's variables reach the folders that it adds behind them; a level may be
        written as the compiler's option."""
        self.compile()
        flags = self.configure("-G", "Ninja", "-DNNC_OPTIMIZE=3", head=["set(NNC_OPTIMIZE -O1)"])
        self.assertEqual([flag for flag in flags if re.fullmatch(r"-O.?", flag)], ["-O1"])

    def test_install(self):
        """What is installed by itself serves find_package(), after the folder is gone; as a
        part of a program it is installed only where asked for."""
        folder = self.compile()
        self.call("cmake", "-S", folder, "-B", "library", "-G", "Ninja",
                  "-DCMAKE_INSTALL_PREFIX=installed")
        self.call("cmake", "--build", "library", "--target", "install")
        for options, want in ((), False), (("-DNNC_INSTALL=ON",), True):
            self.configure("-G", "Ninja", f"-DCMAKE_INSTALL_PREFIX={self.folder}/all", *options)
            self.call("cmake", "--build", "build")
            self.call("cmake", "--install", "build")
            self.assertEqual((self.folder / "all/include/network.h").exists(), want)
        shutil.rmtree(folder)
        user = self.folder / "user"
        user.mkdir()
        (user / "CMakeLists.txt").write_text("\n".join([
            "cmake_minimum_required(VERSION 3.16)", "project(user LANGUAGES C CXX)",
            "find_package(network REQUIRED)", f"add_executable(user {HERE / 'firmware_main.c'})",
            "target_link_libraries(user network::network)"]))
        self.call("cmake", "-S", user, "-B", "user/build", "-G", "Ninja",
                  f"-DCMAKE_PREFIX_PATH={self.folder}/installed")
        self.call("cmake", "--build", "user/build")
        self.check("user/build/user")

    def test_other_weights(self):
        """The weights are assembled again when their file changes."""
        folder = self.compile()
        for generator in "Ninja", "Unix Makefiles":
            self.compile()
            self.configure("-G", generator)
            self.call("cmake", "--build", "build")
            self.check("build/program")
            weights = bytearray((folder / "network_weights.bin").read_bytes())
            weights[-200] ^= 1
            (folder / "network_weights.bin").write_bytes(weights)
            self.call("cmake", "--build", "build")
            damaged = STATUS.index("DAMAGED_WEIGHTS")
            self.assertEqual(self.call("build/program").splitlines()[0],
                             f"status 0, weights {damaged}")


class Check(modules.TestCase):
    def code(self, *options):
        said = json.loads(self.nnc("check", "network.onnx", "--target=portable", "--json",
                                   *options))
        return said["compiler"], said["code_bytes"]

    def test_flags_of_the_compiler(self):
        """The size is that of code built as the user says."""
        fast, small = self.code("--compiler=g++"), self.code("--compiler=g++ -Os")
        self.assertEqual(fast[0], "g++ -O3 -DNNC_PORTABLE_SIMD")
        self.assertEqual(small[0], "g++ -Os -DNNC_PORTABLE_SIMD")
        self.assertLess(small[1], 0.8 * fast[1])
        self.nnc("check", "network.onnx", "--target=portable", "--compiler=g++ -Os",
                 said=[r"^  code +.* bytes\), of g\+\+ -Os -DNNC_PORTABLE_SIMD$"])

    def test_microcontroller(self):
        self.needs("arm-none-eabi-g++")
        thumb = self.code("--compiler=arm-none-eabi-g++ -mcpu=cortex-m7 -mfloat-abi=hard "
                          "-mfpu=fpv5-d16 -Os")
        self.assertLess(thumb[1], self.code("--compiler=g++ -Os")[1])


class Arena(modules.TestCase):
    def test_none(self):
        """A model that needs no arena still has one that C can declare."""
        self.save("relu", nnc.model([helper.make_node("Relu", ["x"], ["y"])],
                                    [nnc.value("x", [4])], [nnc.value("y", [4])]))
        folder = self.compile(model="relu.onnx")
        self.assertEqual(json.loads((folder / "manifest.json").read_text())["arena_bytes"], 0)
        main = self.folder / "main.c"
        main.write_text("""#include "network.h"
static float x[4] = {-1, 2, -3, 4}, y[4];
static _Alignas(NETWORK_ALIGN) char arena[NETWORK_ARENA_BYTES];
int main(void) {
  struct network_inputs inputs = {.x = x};
  struct network_outputs outputs = {.y = y};
  if (network_run(&inputs, &outputs, arena) || y[0] != 0 || y[3] != 4)
    return 1;
  return network_run(&inputs, &outputs, 0);
}
""")
        for compiler in ("gcc", "g++"), ("clang-19", "clang++-19"):
            self.call(self.build(folder, compiler, ["-pedantic-errors"], main=main))


if __name__ == "__main__":
    sys.exit(unittest.main())
