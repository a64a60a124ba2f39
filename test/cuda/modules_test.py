"""Modules of CUDA: what nnc emits for GPUs, how a CPU emulates it, what nvcc makes of it, and
what a program is told where there is no GPU."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import nnc  # noqa: E402
import toolkit  # noqa: E402
from nnc import LACKING, NO_GPU, OWN_FAULT, USAGE, model, value, weights  # noqa: E402

node = helper.make_node
HAS_GPU = pathlib.Path("/dev/nvidia0").exists()


def loop():
    """Adds x to itself as often as `count` says, and negates the sum where it is large: a loop
    and a branch that data decide."""
    body = helper.make_graph(
        [node("Add", ["before", "x"], ["after"], "add"),
         node("Identity", ["go"], ["goes"], "same")], "body",
        [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL),
         value("before", [4])],
        [value("goes", [], TensorProto.BOOL), value("after", [4])])
    branches = [helper.make_graph([node(kind, ["sum"], [kind], kind)], kind, [],
                                  [value(kind, [4])]) for kind in ("Neg", "Exp")]
    return model([node("Loop", ["count", "", "x"], ["sum"], "loop", body=body),
                  node("ReduceMax", ["sum"], ["most"], "most", keepdims=0),
                  node("Greater", ["most", "limit"], ["large"], "greater"),
                  node("If", ["large"], ["y"], "if", then_branch=branches[0],
                       else_branch=branches[1])],
                 [value("x", [4]), value("count", [], TensorProto.INT64)], [value("y", [4])],
                 [weights("limit", 1)])


def lookup():
    """A quantized sigmoid, which a table computes."""
    scales = [helper.make_tensor("s", TensorProto.FLOAT, [], [0.05]),
              helper.make_tensor("z", TensorProto.INT8, [], [3])]
    return model([node("QuantizeLinear", ["x", "s", "z"], ["q"], "quantize"),
                  node("DequantizeLinear", ["q", "s", "z"], ["d"], "real"),
                  node("Sigmoid", ["d"], ["g"], "gate"),
                  node("QuantizeLinear", ["g", "s", "z"], ["h"], "again"),
                  node("DequantizeLinear", ["h", "s", "z"], ["y"], "result")],
                 [value("x", [3, 50])], [value("y", [3, 50])], scales)


def moves():
    """Layers whose shapes have lists: a transposition, a padding, a slice."""
    return model([node("Transpose", ["x"], ["t"], "turn", perm=[2, 0, 3, 1]),
                  node("Pad", ["t", "pads"], ["p"], "pad", mode="reflect"),
                  node("Slice", ["p", "from", "to", "axes"], ["s"], "cut"),
                  node("Softmax", ["s"], ["m"], "softmax", axis=1),
                  node("TopK", ["m", "k"], ["y", "at"], "most")],
                 [value("x", [2, 3, 5, 7])],
                 [value("y", [5, 4, 6, 3]), value("at", [5, 4, 6, 3], TensorProto.INT64)],
                 [helper.make_tensor(name, TensorProto.INT64, [len(data)], data)
                  for name, data in (("pads", [0, 1, 1, 0, 0, 1, 0, 1]), ("from", [1]),
                                     ("to", [7]), ("axes", [2]), ("k", [3]))])


class Cuda(nnc.TestCase):
    def compile(self, folder, name="network", target="cuda-sm80", options=()):
        self.nnc("compile", f"{name}.onnx", f"--target={target}", "-o", folder, "--name=network",
                 *options)
        return self.folder / folder

    def manifest(self, folder):
        return json.loads((self.folder / folder / "manifest.json").read_text())

    def test_files(self):
        folder = self.compile("code")
        self.assertEqual(self.names("code"),
                         ["CMakeLists.txt", "manifest.json", "network.cu", "network.h",
                          "network_runtime.h", "network_weights.S", "network_weights.bin",
                          "nnc_emulation.h"])
        self.assertEqual(self.manifest("code")["architectures"], ["sm_80"])
        # The header is C and needs no header of the toolkit.
        subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x",
                        "c", folder / "network.h"], check=True)
        text = (folder / "network.cu").read_text()
        self.assertNotIn("nnc::pool", text)
        self.compile("again")
        for name in self.names("code"):
            self.assertEqual((folder / name).read_bytes(),
                             (self.folder / "again" / name).read_bytes())

    def test_emulated(self):
        for name, made in (("loop", loop()), ("lookup", lookup()), ("moves", moves())):
            self.save(name, made)
        for name in "network", "loop", "lookup", "moves":
            for options in [], ["--io=arena"]:
                with self.subTest(name=name, options=options):
                    self.nnc("verify", f"{name}.onnx", "--target=cuda-sm80", "--emulate", *options)

    def test_sizes(self):
        """Sizes that the caller chooses, and a length that the run finds."""
        made = nnc.network()
        made.graph.input[0].CopyFrom(value("x", ["n", 3, 8, 8]))
        made.graph.output[0].CopyFrom(value("y", ["n", 10]))
        self.save("sized", made)
        self.save("found", model([node("NonZero", ["x"], ["y"], "found")], [value("x", [3, 5])],
                                 [value("y", [2, "many"], TensorProto.INT64)]))
        for name, options in ("sized", ["--shape=x=1..3x3x8x8"]), ("found", []):
            self.nnc("verify", f"{name}.onnx", "--target=cuda-sm80", "--emulate", *options)

    def test_no_inputs(self):
        """The struct of inputs then has the weights alone."""
        self.save("constant", model([node("Tanh", ["k"], ["y"], "constant")], [],
                                    [value("y", [2, 3])], [weights("k", 2, 3)]))
        for form in "embed", "file":
            self.nnc("verify", "constant.onnx", "--target=cuda-sm80", "--emulate",
                     f"--weights={form}")

    def test_compiled_folder(self):
        self.compile("code")
        np.save(self.folder / "x.npy", nnc.network_input())
        for options, folder in (["--target=cuda-sm80", "--emulate"], "gpu"), ([], "cpu"):
            source = "code" if options else "network.onnx"
            self.nnc("run", source, *options[1:], "--input=x.npy", f"--output-dir={folder}")
        gpu, cpu = (np.load(self.folder / folder / "y.npy") for folder in ("gpu", "cpu"))
        np.testing.assert_allclose(gpu, cpu, rtol=1e-5, atol=1e-6)

    def test_weights(self):
        """Weights in an array, in a file, and a file that is not the module's."""
        np.save(self.folder / "x.npy", nnc.network_input())
        said = {self.nnc("run", self.compile(form, options=[f"--weights={form}"]), "--emulate",
                         "--input=x.npy") for form in ("embed", "array", "file")}
        self.assertEqual(len(said), 1)
        weights = self.folder / "file" / "network_weights.bin"
        weights.write_bytes(weights.read_bytes()[:-4] + b"\1\2\3\4")
        self.nnc("run", "file", "--emulate", "--input=x.npy")
        weights.write_bytes(bytes(len(weights.read_bytes())))
        self.nnc("run", "file", "--emulate", "--input=x.npy", code=OWN_FAULT,
                 said=["the weights could not be loaded"])

    def test_no_gpu(self):
        for command in "run", "verify", "bench":
            given = []
            if command == "run":
                np.save(self.folder / "x.npy", nnc.network_input())
                given = ["--input=x.npy"]
            self.nnc(command, "network.onnx", "--target=cuda-sm80", *given, code=NO_GPU,
                     said=["code for cuda-sm80 needs a GPU.*--emulate"])
        self.nnc("tune", "network.onnx", "--target=cuda-sm80", "--budget=0", code=NO_GPU)
        self.nnc("verify", "network.onnx", "--emulate", code=USAGE,
                 said=["--emulate is for targets that are GPUs, and native is none"])

    def test_captured(self):
        """The header says whether a run may be captured into a graph."""
        self.save("loop", loop())
        for name, says in ("network", "it can be captured"), ("loop", "it cannot be captured"):
            text = (self.compile(name, name) / "network.h").read_text()
            self.assertIn(says, re.sub(r"\s*\*?\s+", " ", text))
        target = "--target=cuda-sm80"
        said = json.loads(self.nnc("explain", "loop.onnx", target, "--json"))
        self.assertEqual(said["decisions"], ["loop", "layer_if"])
        self.assertEqual(self.manifest("loop")["decisions"], said["decisions"])
        self.nnc("explain", "loop.onnx", target, said=["^The CPU decides, and waits .*: loop, layer_if$"])
        said = json.loads(self.nnc("explain", "network.onnx", target, "--json"))
        self.assertEqual(said["decisions"], [])

    def test_refused(self):
        said = self.call("compile", "network.onnx", "--target=cuda-sm80", "-o", "out",
                         "--threads=on", "--pool=fast:64K", "--package=zephyr", code=USAGE)
        for option in "--threads", "--pool", "--package":
            self.assertIn(f"leave out {option}", said)
        self.assertFalse((self.folder / "out").exists())

    def call(self, *arguments, code):
        done = subprocess.run([nnc.NNC, *arguments], cwd=self.folder, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_check_precision(self):
        """Sizes of a model whose layers compute with halves."""
        self.save("dense", model([node("Gemm", ["x", "k"], ["y"], "dense")],
                                 [value("x", [1024, 512])], [value("y", [1024, 512])],
                                 [weights("k", 512, 512)]))
        bytes_of = {}
        for precision in "f32", "f16":
            said = json.loads(self.nnc("check", "dense.onnx", "--target=cuda-sm80", "--no-build",
                                       f"--precision={precision}", "--json"))
            bytes_of[precision] = said["weight_bytes"]
        self.assertLess(bytes_of["f16"], 0.6 * bytes_of["f32"])

    def test_launches(self):
        """Comments tell the launches of portable routines, at the largest sizes."""
        said = re.sub(r"\s*//\s+", " ", (self.compile("code") / "network.cu").read_text())
        self.assertRegex(said, r"Layer 0, conv1: 3 x 3 convolution[^{]* "
                               r"Launches 2 blocks of 128 threads\.")
        self.assertRegex(said, r"dense layer of 4 inputs .* Launches 1 block of 10 threads\.")
        self.save("pool", model([node("MaxPool", ["x"], ["y"], "pool", kernel_shape=[2, 2])],
                                [value("x", ["n", 3, 5, 5])], [value("y", ["n", 3, 4, 4])]))
        text = (self.compile("sized", "pool", options=["--shape=x=1..9x3x5x5"])
                / "network.cu").read_text()
        self.assertIn("Launches at most 4 blocks of 128 threads.",
                      re.sub(r"\s*//\s+", " ", text))

    def test_check_compiler(self):
        """A compiler that does not take nvcc's options is told, and the sizes but for the code's."""
        done = subprocess.run([nnc.NNC, "check", "network.onnx", "--target=cuda-sm80",
                               "--compiler=clang++-19"], cwd=self.folder, check=True,
                              capture_output=True, text=True)
        self.assertIn("clang++-19 does not take the options of nvcc; leave out --compiler",
                      done.stderr)
        self.assertRegex(done.stdout, "arena")

    def test_custom(self):
        self.save("own", model([node("Own", ["x"], ["y"], "own", domain="test")],
                               [value("x", [4])], [value("y", [4])], domains=["test"]))
        (self.folder / "mine.h").write_text(
            "#include \"nnc_custom.h\"\nint mine(const struct nnc_custom_call *call);\n")
        said = self.call("compile", "own.onnx", "--custom=test::Own:mine.h",
                         "--target=cuda-sm80", "-o", "out", code=LACKING)
        self.assertIn("calls the C function 'mine', which a GPU cannot run", said)

    def test_choices(self):
        """A tuning file that chooses the one call that computes a concatenation on a GPU."""
        self.save("joined", model(
            [node("Relu", ["x"], ["a"], "a"), node("Transpose", ["z"], ["b"], "b", perm=[0, 2, 1]),
             node("Concat", ["a", "b"], ["y"], "both", axis=2)],
            [value("x", [2, 5, 7]), value("z", [2, 3, 5])], [value("y", [2, 5, 10])]))
        (self.folder / "own.tune").write_text(
            "nnc-tuning 1\nnnc 0.2.0\nchip GPU\nisas sm80 sm75 portable\nthreads 1\n"
            "max-error 0\nchoice a : elementwise_portable\nchoice b : copy_portable\n"
            "choice both : join_portable\n")
        for command in ["explain", "joined.onnx"], ["compile", "joined.onnx", "-o", "joined"]:
            done = subprocess.run([nnc.NNC, *command, "--target=cuda-sm80", "--tuning=own.tune"],
                                  cwd=self.folder, check=True, capture_output=True, text=True)
            self.assertNotIn("warning", done.stderr)
        self.assertIn("join_portable", (self.folder / "joined" / "joined.cu").read_text())

    def test_names(self):
        """Values with names that the code of CUDA uses itself."""
        names = ["stream", "gpu_stream", "threadIdx", "queue", "dim3"]
        self.save("named", model(
            [node("Relu", [name], [f"{name}_{i}"], name) for i, name in enumerate(names)],
            [value(name, [4]) for name in names],
            [value(f"{name}_{i}", [4]) for i, name in enumerate(names)]))
        self.nnc("verify", "named.onnx", "--target=cuda-sm80", "--emulate")

    def test_large(self):
        """A tensor of more elements than the kernels count."""
        self.save("large", model([node("Transpose", ["x"], ["y"], "turn")],
                                 [value("x", [3000, 1000000], TensorProto.UINT8)],
                                 [value("y", [1000000, 3000], TensorProto.UINT8)]))
        said = self.call("compile", "large.onnx", "--target=cuda-sm80", "-o", "out",
                         code=LACKING)
        self.assertIn("3000000000 elements, and kernels count at most 2147483647", said)

    def test_several(self):
        folder = self.compile("fat", target="cuda-sm90,cuda-sm75")
        self.assertEqual(self.manifest("fat")["architectures"], ["sm_75", "sm_90"])
        self.assertEqual(self.manifest("fat")["target"], "cuda-sm75,cuda-sm90")
        self.assertIn('"75-real;90-real"', (folder / "CMakeLists.txt").read_text())
        for wrong, why in (("cuda-sm80,native", "has 'native' in a list"),
                           ("cuda-sm80,", "there is no target ''"),
                           ("cuda-sm80,cuda-sm10", "there is no target 'cuda-sm10'")):
            said = self.call("compile", "network.onnx", f"--target={wrong}", "-o", "out",
                             code=USAGE)
            self.assertIn(why, said)

    def test_native(self):
        """cuda-native asks a driver, here one that the test has made."""
        said = self.call("check", "network.onnx", "--target=cuda-native", "--no-build", code=USAGE)
        self.assertIn("there is no driver or no GPU", said)
        (self.folder / "driver.c").write_text("""
            int cuInit(unsigned flags) { return flags; }
            int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
            int cuDeviceGetAttribute(int *value, int which, int device) {
              *value = which == 75 ? MAJOR : which == 76 ? MINOR : -1;
              return device;
            }""")
        for major, minor, expected in ((8, 7, "cuda-sm86"), (9, 0, "cuda-sm90"), (6, 1, None)):
            subprocess.run(["gcc", "-shared", "-fPIC", f"-DMAJOR={major}", f"-DMINOR={minor}",
                            "driver.c", "-o", "libcuda.so.1"], cwd=self.folder, check=True)
            done = subprocess.run(
                [nnc.NNC, "compile", "network.onnx", "--target=cuda-native", "-o", "own"],
                cwd=self.folder, capture_output=True, text=True, timeout=60,
                env={**os.environ, "LD_LIBRARY_PATH": str(self.folder)})
            if expected:
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.manifest("own")["target"], expected)
            else:
                self.assertIn("sm_61, for which nnc has no target", done.stderr)


@unittest.skipUnless(toolkit.find("nvcc"), toolkit.WHY_SKIPPED)
class Nvcc(nnc.TestCase):
    def compile(self, name, target):
        self.nnc("compile", f"{name}.onnx", f"--target={target}", "-o", name, "--name=network")
        folder = self.folder / name
        return folder, json.loads((folder / "manifest.json").read_text())

    def link(self, folder, name, main, *flags):
        """Links a C program with a module that is compiled into the folder."""
        subprocess.run(["gcc", *flags, "-I.", "-c", main, "-o", "main.o"], cwd=folder, check=True)
        subprocess.run(["gcc", "-c", "-I.", f"{name}_weights.S", "-o", "weights.o"], cwd=folder,
                       check=True)
        subprocess.run(["g++", "main.o", "module.o", "weights.o", f"-L{toolkit.library_folder()}",
                        "-lcudart_static", "-ldl", "-lrt", "-lpthread", "-o", "program"],
                       cwd=folder, check=True)

    def test_example(self):
        """The program of examples/cuda builds, and says why it cannot run here."""
        folder = self.folder / "gesture"
        model = nnc.ROOT / "examples/firmware/model"
        self.nnc("compile", model / "gesture.tflite", "--target=cuda-sm80", "-o", folder)
        toolkit.compile_module(folder, json.loads((folder / "manifest.json").read_text()))
        self.link(folder, "gesture", nnc.ROOT / "examples/cuda/main.c", "-std=c11", "-Wall",
                  "-Wextra", "-Werror", f"-I{model}", f"-I{toolkit.include_folder()}")
        done = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, timeout=60)
        if HAS_GPU:
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "^weights: .*(driver|device)")

    def test_kept(self):
        """The program that times a model on another machine, for three architectures: it links
        the driver's library at run time alone, and says why it cannot run here."""
        if HAS_GPU:
            self.skipTest("the program would run")
        self.save("loop", loop())
        for name in "network", "loop":
            nvcc = [] if shutil.which("nvcc") else ["--compiler", toolkit.find("nvcc")]
            said = json.loads(self.nnc("bench", f"{name}.onnx", "--target=cuda-sm75,cuda-sm80,"
                                         "cuda-sm90", f"--keep={name}", "--json", *nvcc))
            self.assertEqual(said["kept"], name)
            self.assertEqual(said["target"], "cuda-sm75,cuda-sm80,cuda-sm90")
            program = self.folder / name / "program"
            needed = subprocess.run(["readelf", "-d", program], check=True, capture_output=True,
                                    text=True).stdout
            self.assertNotRegex(needed, "NEEDED.*(cuda|stdc)")
            done = subprocess.run([self.folder / name / "run", "--runs=3"], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.returncode, NO_GPU)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, "^this machine has no GPU that can be used: CUDA says '")

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "there is no CMake")
    def test_cmake(self):
        """The emitted folder, and nnc_add_model(), in a project with the language CUDA."""
        self.compile("network", "cuda-sm80,cuda-sm90")
        (self.folder / "main.c").write_text("""
            #include "network.h"
            #include "other.h"
            int main(void) {
              return network_load_weights(0, 0, 0) == NETWORK_NULL_WEIGHTS &&
                     other_load_weights(0, 0, 0) == OTHER_NULL_WEIGHTS ? 0 : 1;
            }""")
        (self.folder / "CMakeLists.txt").write_text(f"""
            cmake_minimum_required(VERSION 3.21)
            project(p LANGUAGES C CXX CUDA)
            include({nnc.ROOT}/scripts/cmake/package/NNCAddModel.cmake)
            add_subdirectory(network)
            nnc_add_model(NAME other MODEL network.onnx TARGET cuda-sm75 OPTIONS --io=host)
            add_executable(main main.c)
            target_link_libraries(main PRIVATE network::network other::other)""")
        for command in (["cmake", "-G", "Ninja", "-B", "build", f"-DNNC_EXECUTABLE={nnc.NNC}",
                         f"-DCMAKE_CUDA_COMPILER={toolkit.find('nvcc')}"],
                        ["cmake", "--build", "build"], ["build/main"]):
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-3000:])

    def test_kinds(self):
        """Kernels with tables, lists and branches, for two architectures, without a warning."""
        for name, made in (("loop", loop()), ("lookup", lookup()), ("moves", moves())):
            self.save(name, made)
            folder, manifest = self.compile(name, "cuda-sm75,cuda-sm90")
            built, said = toolkit.compile_module(folder, manifest)
            self.assertEqual(said, "", name)
            listed = subprocess.run([toolkit.find("cuobjdump"), "--list-elf", "--list-ptx", built],
                                    check=True, capture_output=True, text=True).stdout
            self.assertIn("sm_75.cubin", listed)
            self.assertIn("sm_90.cubin", listed)
            self.assertNotIn(".ptx", listed, "a driver would have to compile it")

    def test_program(self):
        """A C program, linked with the CUDA runtime alone, that is told that there is no GPU."""
        folder, manifest = self.compile("network", "cuda-sm80")
        toolkit.compile_module(folder, manifest)
        (folder / "main.c").write_text("""
            #include "network.h"
            #include <stdio.h>
            static _Alignas(16) float x[192], y[10];
            static char arena[NETWORK_ARENA_BYTES + NETWORK_ALIGN];
            static char weights[NETWORK_WEIGHT_BYTES + NETWORK_ALIGN];
            static void *align(char *bytes) {
              size_t over = (uintptr_t)bytes % NETWORK_ALIGN;
              return bytes + (over ? NETWORK_ALIGN - over : 0);
            }
            int main(void) {
              struct network_inputs in = {x, align(weights)};
              struct network_outputs out = {y};
              int null = network_load_weights(0, 0, 0);
              int loaded = network_load_weights(align(weights), 0, 0);
              y[0] = 7;
              int run = network_run(&in, &out, align(arena), 0);
              in.weights = 0;
              int without = network_run(&in, &out, align(arena), 0);
              printf("%d %d %d %d %g", null, loaded, run, without, y[0]);
              return 0;
            }""")
        self.link(folder, "network", "main.c", "-std=c11")
        needed = subprocess.run(["readelf", "-d", "program"], cwd=folder, check=True,
                                capture_output=True, text=True).stdout
        self.assertNotIn("cuda", needed)
        if HAS_GPU:
            return
        said = subprocess.run(["./program"], cwd=folder, check=True, capture_output=True, text=True)
        self.assertEqual(said.stdout, "5 12 12 5 7")


if __name__ == "__main__":
    unittest.main()
