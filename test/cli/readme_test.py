"""Tests the README and the pages that it links to: the programs and builds in them work, and
they list the actual commands, options and exit codes of nnc."""

import re
import shutil
import subprocess
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import COMMANDS, ROOT, model, value, weights

README = (ROOT / "README.md").read_text()
CALLING = (ROOT / "codegen/calling.md").read_text()
BUILDING = (ROOT / "codegen/building.md").read_text()
COMMAND_LINE = (ROOT / "compiler/tools/nnc/README.md").read_text()
FRONTENDS = (ROOT / "frontends/README.md").read_text()


def blocks(page, language):
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [text for of, text in found if of == language]


class Readme(nnc.TestCase):
    def compile_resnet50(self):
        """A small model under that name, and the README's program for it."""
        node = helper.make_node
        self.save("resnet50", model(
            [node("GlobalAveragePool", ["data"], ["p"]), node("Flatten", ["p"], ["f"]),
             node("Gemm", ["f", "w"], ["l"], transB=1), node("Softmax", ["l"], ["prob"])],
            [value("data", [1, 3, 224, 224])], [value("prob", [1, 1000])],
            [weights("w", 1000, 3)]))
        command = re.search(r"`nnc (compile resnet50[^`]*)`", README)[1].split()
        self.nnc(*command)
        (program,) = blocks(README, "c")
        (self.folder / "program.c").write_text(program + "\nint main(void) { return classify(); }\n")

    def test_calling_a_model(self):
        self.compile_resnet50()
        added = re.findall(r"`((?:add_subdirectory|target_link_libraries)\([^`]*\))`", README)
        self.assertEqual(len(added), 2)
        (self.folder / "CMakeLists.txt").write_text("\n".join([
            "cmake_minimum_required(VERSION 3.16)", "project(program LANGUAGES C CXX)",
            "add_executable(program program.c)", *added]))
        for step in (["cmake", "-S", ".", "-B", "build", "-G", "Ninja"],
                     ["cmake", "--build", "build"], ["build/program"]):
            subprocess.run(step, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def test_first_commands(self):
        """Those that a reader tries first take a model."""
        self.compile_resnet50()
        text = "".join(blocks(README, "")[:2]).replace("YOUR_MODEL", "resnet50")
        commands = re.findall(r"^(?:build/bin/)?nnc ([^#\n]*)", text, re.MULTILINE)
        self.assertEqual([c.split()[0] for c in commands], ["compile", "check", "verify", "targets"])
        for command in commands:
            self.nnc(*command.split())
        self.assertTrue((self.folder / "model" / "resnet50.h").exists())

    def test_microcontroller(self):
        """The commands for a Cortex-M7, in the README and in the page on firmware."""
        if not shutil.which("arm-none-eabi-g++"):
            self.skipTest("arm-none-eabi-g++ is missing; scripts/setup installs it")
        shutil.copy(ROOT / "examples/firmware/model/gesture.tflite", self.folder / "kws.tflite")
        firmware = (ROOT / "examples/firmware/README.md").read_text()
        for page in README, firmware:
            (block,) = [block for block in blocks(page, "") if "arm-none-eabi-gcc" in block]
            compile_command, _, build = block.rpartition("-o kws\n")
            if compile_command:
                self.nnc(*compile_command.split()[1:], "-o", "kws")
            subprocess.run(["bash", "-e", "-c", build], cwd=self.folder, check=True)

    def test_threads(self):
        """The program of the chapter on threads, with the pool of the folder."""
        self.compile_resnet50()
        self.nnc("compile", "resnet50.onnx", "--threads=on", "-o", "resnet50")
        (program,) = blocks(CALLING, "cpp")
        (self.folder / "program.cpp").write_text(program + "\nint main() { return classify(); }\n")
        sources = [str(path) for path in sorted((self.folder / "resnet50").glob("*.[cS]*"))
                   if path.suffix in (".cpp", ".c", ".S")]
        for command in (["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pthread",
                         "-Iresnet50", "program.cpp", *sources, "-o", "program"], ["./program"]):
            subprocess.run(command, cwd=self.folder, check=True)

    def test_shared_library(self):
        """What a shared library of the user's asks for, as it stands there."""
        self.compile_resnet50()
        (line,) = re.findall(r"`(set_target_properties\([^`]*\))`", BUILDING)
        (self.folder / "CMakeLists.txt").write_text("\n".join([
            "cmake_minimum_required(VERSION 3.16)", "project(program LANGUAGES C CXX)",
            "add_library(own SHARED program.c)", "add_subdirectory(resnet50)",
            line.replace("detector", "resnet50"),
            "target_link_libraries(own PRIVATE resnet50::resnet50)"]))
        for step in ["cmake", "-S", ".", "-B", "build", "-G", "Ninja"], ["cmake", "--build", "build"]:
            subprocess.run(step, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def test_quantized(self):
        """The functions and constants of a model of 8 bits have the names that are told."""
        text = re.search(r"^Inputs and outputs that are quantized.*?\n\n", CALLING,
                         re.MULTILINE | re.DOTALL)[0]
        made = model([helper.make_node("DequantizeLinear", ["data", "s", "z"], ["a"]),
                      helper.make_node("QuantizeLinear", ["a", "s", "z"], ["prob"])],
                     [value("data", [4], TensorProto.INT8)],
                     [value("prob", [4], TensorProto.INT8)],
                     [numpy_helper.from_array(np.float32(0.5), "s"),
                      numpy_helper.from_array(np.int8(1), "z")])
        self.save("resnet50", made)
        self.nnc("compile", "resnet50.onnx", "-o", "resnet50")
        statements = re.findall(r"`([^`]*\([^`]*\))`", text)
        self.assertEqual(len(statements), 2)
        names = re.findall(r"`(RESNET50_\w+)`", text)
        (self.folder / "program.c").write_text("\n".join([
            '#include "resnet50.h"', "int8_t image[4], prob[4];",
            "float use(int i) {", *(statement + ";" for statement in statements),
            f"return p + {' + '.join(names)};", "}"]))
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-Iresnet50", "-c", "program.c"],
                       cwd=self.folder, check=True)

    def test_custom_operator(self):
        """The function as it stands there computes an operator."""
        (header,) = blocks(FRONTENDS, "c")
        (self.folder / "zero_out.h").write_text(header)
        self.save("zeros", model([helper.make_node("ZeroOut", ["x"], ["y"], domain="own")],
                                 [value("x", [2, 3])], [value("y", [2, 3])], domains=["own"]))
        x = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
        np.save(self.folder / "x.npy", x)
        self.nnc("run", "zeros.onnx", "--custom=own::ZeroOut:zero_out.h", "--input=x.npy",
                 "--output-dir=.")
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), [[1, 0, 0], [0, 0, 0]])

    def test_makefile(self):
        """As it stands there; with other weights, the program is built again."""
        self.compile_resnet50()
        (makefile,) = blocks(BUILDING, "make")
        (self.folder / "Makefile").write_text(makefile)
        for step in ["make"], ["./program"]:
            subprocess.run(step, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        weights_file = self.folder / "resnet50" / "resnet50_weights.bin"
        weights_file.write_bytes(bytes(weights_file.stat().st_size))
        subprocess.run(["make"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        header = (self.folder / "resnet50" / "resnet50.h").read_text()
        wrong = re.search(r"RESNET50_WRONG_WEIGHTS = (\d)", header)[1]
        self.assertEqual(subprocess.run(["./program"], cwd=self.folder).returncode, int(wrong))

    def test_command_line(self):
        """The README has every command; the reference has, too, and their options are nnc's."""
        self.assertEqual(sorted(re.findall(r"^\| `nnc ([\w-]+)", README, re.MULTILINE)),
                         sorted(COMMANDS))
        (told,) = [block for block in blocks(COMMAND_LINE, "")
                   if block.startswith("nnc compile MODEL")]
        options, command = {}, ""
        for line in told.splitlines():
            if start := re.match(r"nnc ([\w-]+)(?: \| nnc (\w+) \| nnc (\w+))?", line):
                command = start[1]
                options.update({name: set() for name in start.groups() if name})
            elif not line.startswith(" "):
                continue
            options[command] |= set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line))
        self.assertEqual(set(options), set(COMMANDS))
        for command, names in options.items():
            text = self.nnc(command, "--help")
            for name in names:
                self.assertRegex(text, rf"(?<![\w-]){name}(?![\w-])", f"nnc {command}")

    def test_exit_codes(self):
        header = (ROOT / "compiler/tools/driver/console/ExitCode.h").read_text()
        codes = re.findall(r"^  \w+ = (\d),", header, re.MULTILINE)
        self.assertEqual(re.findall(r"^\| (\d) \|", README, re.MULTILINE), codes)


if __name__ == "__main__":
    sys.exit(unittest.main())
