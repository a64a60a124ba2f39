"""The C interface of modules of CUDA, which a CPU emulates: inputs and outputs in the CPU's
memory, and what is wrong with arguments."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import modules_test  # noqa: E402
import nnc  # noqa: E402
import toolkit  # noqa: E402
from nnc import USAGE, model, value, weights  # noqa: E402

node = helper.make_node
HERE = pathlib.Path(__file__).resolve().parent
GPU = "--target=cuda-sm80"


HOOK = """
void nnc_layer_done(const char *model, int layer, const void *output, size_t bytes) {
  (void)model, (void)output, (void)bytes;
  fprintf(stderr, "hook %d\\n", layer);
}
"""


# Runs loop.onnx of modules_test.py as often as the counts say.
LOOP = """
#include "network.h"
#include <stdio.h>
#ifndef COUNTS
#define COUNTS {100, 0}
#endif
static char arena[NETWORK_ARENA_BYTES + NETWORK_ALIGN];
int main(void) {
  static const int64_t counts[] = COUNTS;
  __attribute__((aligned(16))) float x[4] = {0.25f, 0.5f, 0.75f, 1}, y[4] = {0};
  __attribute__((aligned(16))) int64_t count;
  char *at = arena + NETWORK_ALIGN - (uintptr_t)arena % NETWORK_ALIGN;
  size_t i;
  for (i = 0; i < sizeof counts / sizeof *counts; ++i) {
    struct network_inputs in = {x, &count};
    struct network_outputs out = {y};
    count = counts[i];
    int status = network_run(&in, &out, at, 0);
    printf("%d %g ", status, y[0]);
  }
  return 0;
}
"""


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
        """Ports in the CPU's memory give the results of those on the GPU; inputs are only read."""
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

    def test_computed_weights(self):
        """A launch whose weights the run decodes does not begin before they are there."""
        few = np.random.default_rng(3).choice(np.float32([-1, 0.5, 1, 2]), (128, 64, 3, 3))
        self.save("few", model([node("Conv", ["x", "w"], ["y"], "conv", pads=[1] * 4)],
                               [value("x", [1, 64, 28, 28])], [value("y", [1, 128, 28, 28])],
                               [numpy_helper.from_array(few, "w")]))
        for encoding, count in ("codebook", 1), ("dense", 0):
            source = (self.compile(encoding, "few", f"--weights-encoding={encoding}")
                      / "network.cu").read_text()
            self.assertRegex(source, r"nnc::conv2d_f32_nhwc_\w+<", "not a kernel on blocks")
            self.assertEqual(source.count("  gpu_stream.join();\n  conv("), count)

    def test_loop(self):
        """The number of trips is read from the GPU once."""
        self.save("loop", modules_test.loop())
        folder = self.compile("code", "loop")
        self.assertRegex((folder / "network.cu").read_text(),
                         r"for \(int64_t loop_n = 0, loop_n_end = gpu_stream\.read\(count\);"
                         r"\s+gpu_stream\.is_sound\(\) && loop_n < loop_n_end; \+\+loop_n\)")
        (folder / "main.c").write_text(LOOP)
        said = subprocess.run([self.build(folder, "main.c", "-fsanitize=undefined")], check=True,
                              capture_output=True, text=True)
        limit = numpy_helper.to_array(weights("limit", 1))[0]
        want = [-25.25, -0.25 if limit < 1 else np.exp(0.25)]
        statuses = said.stdout.split()
        self.assertEqual(statuses[::2], ["0", "0"])
        np.testing.assert_allclose(np.array(statuses[1::2], float), want, rtol=1e-5)

    def test_no_hook_after_an_error(self):
        """A hook is called for each layer until CUDA reports an error."""
        folder = self.compile("code")
        text = (folder / "network_runtime.h").read_text()
        layers = len(json.loads((folder / "manifest.json").read_text())["layers"])
        self.assertGreater(layers, 2)
        (folder / "main.c").write_text((HERE / "interface.c").read_text() + HOOK)
        head = "  bool wait() {\n#if defined(NNC_EMULATED_WAIT)\n"
        self.assertIn(head, text)
        # An error in the wait after the second layer.
        failing = ("  int waits = 0;\n  bool wait() {\n    if (++waits == 2)\n"
                   "      error = gpu_fault::other;\n#if defined(NNC_EMULATED_WAIT)\n")
        for own, calls in (head, layers), (failing, 1):
            (folder / "network_runtime.h").write_text(text.replace(head, own))
            program = self.build(folder, "main.c", "-DNNC_HOOKS=1", "-DOFFSET=4")
            said = subprocess.run([program], check=True, capture_output=True, text=True)
            self.assertEqual(said.stderr, "".join(f"hook {i}\n" for i in range(calls)))
            self.assertEqual(said.stdout.split()[5], "0" if own == head else "16")


@unittest.skipUnless(toolkit.find("nvcc"), toolkit.WHY_SKIPPED)
class Nvcc(nnc.TestCase):
    """Modules that nvcc compiles. They are linked with fake_runtime.c in place of the CUDA
    runtime, which tells what they call."""

    def compile(self, target, *flags, name="network", options=()):
        self.nnc("compile", f"{name}.onnx", f"--target={target}", "-o", "code",
                 "--name=network", *options)
        folder = self.folder / "code"
        built, said = toolkit.compile_module(
            folder, json.loads((folder / "manifest.json").read_text()), *flags)
        self.assertEqual(said, "")
        return built

    def link(self, folder, main, *flags):
        """Links a program with the module, a C source of its own, and fake_runtime.c."""
        subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I.", "-isystem",
                        toolkit.include_folder(), *flags, "-c", main, HERE / "fake_runtime.c",
                        *(path.name for path in folder.glob("*_weights.S"))], cwd=folder,
                       check=True)
        objects = [path.name for path in folder.glob("*.o")]
        subprocess.run(["g++", *objects, "-o", "program"], cwd=folder, check=True)

    def run_program(self, folder, **environment):
        """The statuses that functions returned, and the calls of CUDA."""
        done = subprocess.run(["./program"], cwd=folder, check=True, capture_output=True,
                              text=True, env={**os.environ, **environment})
        return done.stdout.splitlines()[0].split(), done.stderr.splitlines()

    def test_calls(self):
        """Copies and launches of a run: from sm_90 on launches begin early, but for the first."""
        folder = self.compile("cuda-sm80,cuda-sm90", options=["--io=host"]).parent
        self.link(folder, HERE / "interface.c", "-DOFFSET=1", "-DOWN_STREAM=1")
        bytes_of_weights = json.loads((folder / "manifest.json").read_text())["weight_bytes"]
        for major in 8, 9:
            statuses, calls = self.run_program(folder, FAKE_MAJOR=str(major))
            self.assertEqual(statuses[0], "0")
            self.assertEqual(statuses[5], "0")
            self.assertEqual(calls[:3], [f"copy 1 of {bytes_of_weights}", "copy 1 of 768",
                                         "launch"])
            self.assertGreater(len(calls), 5)
            later = "early launch" if major == 9 else "launch"
            self.assertEqual(set(calls[3:-1]), {later})
            self.assertEqual(calls[-1], "copy 2 of 40")

    def test_other_gpu(self):
        """With a stream of a GPU that is not the current one, nothing is added to it."""
        folder = self.compile("cuda-sm80").parent
        for flags, status in (["-DOWN_STREAM=1"], "19"), ([], "0"):
            self.link(folder, HERE / "interface.c", "-DOFFSET=4", *flags)
            statuses, calls = self.run_program(folder, FAKE_OWNER="1")
            self.assertEqual((statuses[0], statuses[5]), (status, status))
            self.assertEqual(bool(calls), status == "0")

    def test_hooks(self):
        """After an error of CUDA neither a launch nor a hook follows."""
        folder = self.compile("cuda-sm80", "-DNNC_HOOKS=1", "-DNNC_CHECK_POINTERS=1").parent
        (folder / "main.c").write_text((HERE / "interface.c").read_text() + HOOK)
        self.link(folder, "main.c", "-DOFFSET=4", "-DNNC_HOOKS=1")
        statuses, calls = self.run_program(folder, FAKE_FAILS="2")
        self.assertEqual(statuses[5], "16")
        self.assertEqual(calls[1:], ["launch", "hook 0", "launch"])

    def test_loop(self):
        """A loop that would run forever ends with the first error of CUDA."""
        self.save("loop", modules_test.loop())
        folder = self.compile("cuda-sm80", name="loop").parent
        (folder / "main.c").write_text(LOOP)
        self.link(folder, "main.c", "-DCOUNTS={INT64_MAX}")
        statuses, calls = self.run_program(folder, FAKE_LAUNCHES="3")
        self.assertEqual(statuses[0], "16")
        self.assertEqual(calls.count("launch"), 3)
        self.assertEqual(calls.count("copy 2 of 8"), 1)

    def test_early_launches(self):
        """Kernels for sm_90 wait and let the next one begin; others have no such instruction,
        and a program without them does not ask for the GPU's architecture."""
        asks = "U cudaDriverGetVersion"
        for target, flags, isEarly in (("cuda-sm80,cuda-sm90", [], True),
                                       ("cuda-sm80,cuda-sm90", ["-DNNC_CUDA_PDL=0"], False),
                                       ("cuda-sm80", [], False)):
            built = self.compile(target, *flags)
            symbols = subprocess.run(["nm", built], check=True, capture_output=True,
                                     text=True).stdout
            self.assertEqual(asks in symbols, isEarly, (target, flags))
            if not isEarly:
                continue
            for architecture, has in ("sm_80", False), ("sm_90", True):
                text = subprocess.run(
                    [toolkit.find("cuobjdump"), "-sass", "-arch", architecture, built],
                    check=True, capture_output=True, text=True).stdout
                kernels = text.split("Function : ")[1:]
                self.assertGreater(len(kernels), 2)
                for kernel in kernels:
                    for instruction in "ACQBULK", "PREEXIT":
                        self.assertEqual(instruction in kernel, has, kernel[:200])


if __name__ == "__main__":
    unittest.main()
