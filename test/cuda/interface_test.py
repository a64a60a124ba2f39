"""The C interface of modules of CUDA, which a CPU emulates: inputs and outputs in the CPU's
memory, and what is wrong with arguments."""

import json
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import modules_test  # noqa: E402
import nnc  # noqa: E402
import toolkit  # noqa: E402
from nnc import USAGE, model, value, weights  # noqa: E402

node = helper.make_node
HERE = pathlib.Path(__file__).resolve().parent
GPU = "--target=cuda-sm80"


def scaled():
    """Rows of x, of which there may be several, times 2 and times a row of scales."""
    return model([node("Add", ["x", "x"], ["twice"], "double"),
                  node("Mul", ["twice", "scale"], ["y"], "scale")],
                 [value("x", ["rows", 4]), value("scale", [4])], [value("y", ["rows", 4])])


def recurrent():
    """A convolution over time, which keeps the end of the past between runs."""
    return model([node("Conv", ["x", "w"], ["y"], "conv")], [value("x", [1, 4, 9])],
                 [value("y", [1, 4, 7])], [weights("w", 4, 4, 3)])


class Emulated(nnc.TestCase):
    def compile(self, folder, name="network", *options):
        self.nnc("compile", f"{name}.onnx", GPU, "-o", folder, "--name=network", *options)
        return self.folder / folder

    def build(self, folder, main, *flags):
        """Links a program with a module that the CPU emulates."""
        weights = [path.name for path in folder.glob("network_weights.[Sc]")]
        commands = [["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-x", "c++",
                     "-DNNC_EMULATE_CUDA=1", "-ffp-contract=off", *flags, "-c", "network.cu",
                     "-o", "module.o"],
                    ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I.", *flags, "-c", main,
                     *weights]]
        for command in commands:
            subprocess.run(command, cwd=folder, check=True)
        objects = [path.name for path in folder.glob("*.o")]
        subprocess.run(["g++", *flags, *objects, "-o", "program"], cwd=folder, check=True)
        return folder / "program"

    def run_program(self, folder, *arguments, flags=()):
        program = self.build(folder, HERE / "interface.c", "-fsanitize=undefined", *flags)
        said = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
        self.assertEqual(said.stderr, "")
        statuses, results = said.stdout.splitlines()
        return statuses, np.array(results.split(), np.float32)

    def test_host_ports(self):
        """The same results from the CPU's memory as from the GPU's, and inputs stay as they are."""
        device, host = (self.compile(io, "network", f"--io={io}") for io in ("device", "host"))
        default = self.compile("default")
        self.assertEqual((default / "network.cu").read_text(), (device / "network.cu").read_text())
        self.assertEqual(json.loads((host / "manifest.json").read_text())["io"], "host")
        self.assertNotIn("io", json.loads((device / "manifest.json").read_text()))
        self.assertIn("The pointers in the structs of inputs and outputs are to memory of the CPU",
                      (host / "network.h").read_text())
        source = (host / "network.cu").read_text()
        self.assertEqual(source.count("  gpu_stream.upload("), 1)
        self.assertEqual(source.count("  gpu_stream.download("), 1)
        results = []
        for folder, offset in ((device, 4), (host, 1)):
            statuses, result = self.run_program(folder, flags=[f"-DOFFSET={offset}"])
            self.assertEqual(statuses, "0 1 1 3 7 0 0")
            results.append(result)
        np.testing.assert_array_equal(*results)
        self.assertGreater(np.std(results[0]), 0)

    def test_verify_host_ports(self):
        """Sizes that vary, a length that the run finds, loops, branches and integers."""
        found = model([node("NonZero", ["x"], ["y"], "found")], [value("x", [3, 5])],
                      [value("y", [2, "many"], TensorProto.INT64)])
        for name, made, *options in (
                ("loop", modules_test.loop()), ("lookup", modules_test.lookup()),
                ("moves", modules_test.moves()), ("found", found), ("state", recurrent(), "--stream=2"),
                ("sized", scaled(), "--shape=x=1..3x4")):
            with self.subTest(name):
                self.save(name, made)
                self.nnc("verify", f"{name}.onnx", GPU, "--emulate", "--io=host", *options)
        self.assertIn("network_y_dims(", (self.compile("code", "found", "--io=host")
                                          / "network.h").read_text())

    def test_sizes_of_copies(self):
        """Copies have the bytes of the run's sizes, and those of a length that the run found."""
        self.save("sized", scaled())
        source = (self.compile("sized", "sized", "--io=host", "--shape=x=1..3x4")
                  / "network.cu").read_text()
        self.assertRegex(source, r"gpu_stream\.upload\([^;]*inputs\.x,\s+"
                                 r"static_cast<size_t>\(rows \* 4\) \* 4\)")
        self.assertRegex(source, r"gpu_stream\.download\(outputs\.y, [^;]*,\s+"
                                 r"static_cast<size_t>\(rows \* 4\) \* 4\)")

    def test_refused(self):
        for io in "host", "device":
            self.nnc("compile", "network.onnx", "--target=portable", f"--io={io}", "-o", "out",
                     code=USAGE, said=["portable is no GPU and has one kind of memory"])

    def test_weights_file(self):
        """A file that is too short is not read."""
        folder = self.compile("file", "network", "--weights=file")
        path = folder / "network_weights.bin"
        statuses, _ = self.run_program(folder, path, flags=["-DWEIGHTS_FILE=1", "-DOFFSET=4"])
        self.assertEqual(statuses, "20 5 0 1 1 3 7 0 0")
        path.write_bytes(path.read_bytes() + b"\0")
        statuses, _ = self.run_program(folder, path, flags=["-DWEIGHTS_FILE=1", "-DOFFSET=4"])
        self.assertTrue(statuses.startswith("0 5 20"), statuses)

    def test_empty(self):
        """Inputs and outputs without elements may be null, and others may not."""
        self.save("empty", model([node("Concat", ["x", "z"], ["y"], "join", axis=0),
                                  node("Relu", ["x"], ["none"], "relu")],
                                 [value("x", [0, 4]), value("z", [2, 4])],
                                 [value("y", [2, 4]), value("none", [0, 4])]))
        for io in "device", "host":
            folder = self.compile(io, "empty", f"--io={io}")
            (folder / "main.c").write_text("""
                #include "network.h"
                #include <stdio.h>
                static char arena[NETWORK_ARENA_BYTES + NETWORK_ALIGN];
                int main(void) {
                  float z[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0};
                  char *at = arena + NETWORK_ALIGN - (uintptr_t)arena % NETWORK_ALIGN;
                  struct network_inputs in = {0, 0};
                  struct network_outputs out = {0, 0};
                  int input = network_run(&in, &out, at, 0), output, done;
                  in.z = z;
                  output = network_run(&in, &out, at, 0);
                  out.y = y;
                  done = network_run(&in, &out, at, 0);
                  printf("%d %d %d %g", input, output, done, y[7]);
                  return 0;
                }""")
            program = self.build(folder, "main.c", "-fsanitize=undefined",
                                 "-DNNC_CHECK_POINTERS=1")
            said = subprocess.run([program], check=True, capture_output=True, text=True)
            self.assertEqual((said.stdout, said.stderr), ("1 2 0 8", ""), io)

    def test_no_hook_after_an_error(self):
        """A hook is called for each layer until CUDA reports an error."""
        folder = self.compile("code")
        text = (folder / "network_runtime.h").read_text()
        layers = len(json.loads((folder / "manifest.json").read_text())["layers"])
        self.assertGreater(layers, 2)
        (folder / "main.c").write_text((HERE / "interface.c").read_text() + """
            void nnc_layer_done(const char *model, int layer, const void *output, size_t bytes) {
              (void)model, (void)output, (void)bytes;
              fprintf(stderr, "%d", layer);
            }""")
        head = "  bool wait() const { return error == gpu_fault::none; }\n"
        self.assertIn(head, text)
        # An error in the wait after the second layer.
        failing = ("  int waits = 0;\n  bool wait() {\n    if (++waits == 2)\n"
                   "      error = gpu_fault::other;\n"
                   "    return error == gpu_fault::none;\n  }\n")
        for own, calls in (head, "".join(map(str, range(layers)))), (failing, "0"):
            (folder / "network_runtime.h").write_text(text.replace(head, own))
            program = self.build(folder, "main.c", "-DNNC_HOOKS=1", "-DOFFSET=4")
            said = subprocess.run([program], check=True, capture_output=True, text=True)
            self.assertEqual(said.stderr, calls)
            self.assertEqual(said.stdout.split()[5], "0" if own == head else "16")


@unittest.skipUnless(toolkit.find("nvcc"), toolkit.WHY_SKIPPED)
class Nvcc(nnc.TestCase):
    def test_host_ports(self):
        """Copies and checks compile without a warning, with and without hooks and checks."""
        self.nnc("compile", "network.onnx", "--target=cuda-sm80,cuda-sm90", "-o", "code",
                 "--name=network", "--io=host")
        folder = self.folder / "code"
        manifest = json.loads((folder / "manifest.json").read_text())
        for flags in [], ["-DNNC_HOOKS=1", "-DNNC_CHECK_POINTERS=1", "-DNNC_CUDA_PDL=0"]:
            _, said = toolkit.compile_module(folder, manifest, *flags)
            self.assertEqual(said, "")


if __name__ == "__main__":
    unittest.main()
