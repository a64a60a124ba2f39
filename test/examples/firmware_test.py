"""Tests examples/firmware, built by a Makefile and by CMake for a Cortex-M4 and run in qemu;
the emitted folder's CMake file in firmware; and several models in one program."""

import json
import re
import shutil
import sys

import numpy as np

import firmware
from firmware import BOARD, CPU, EXAMPLES, HERE, LINK, MODEL, NNC

sys.path.insert(0, str(HERE.parent / "tflite"))
import flat  # noqa: E402


class Model(firmware.TestCase):
    def test_training(self):
        """train.py makes such files; numbers may differ by what this machine rounds."""
        self.call(sys.executable, "-B", MODEL / "train.py", self.folder / "trained")
        for name in "gesture.tflite", "clips.h":
            made = (self.folder / "trained" / name).read_bytes()
            kept = (MODEL / name).read_bytes()
            self.assertAlmostEqual(len(made), len(kept), delta=len(kept) // 20, msg=name)


class Make(firmware.TestCase):
    def test_makefile(self):
        make = ["make", "-s", "-C", EXAMPLES / "make", f"NNC={NNC}", f"BUILD={self.folder}"]
        said = self.call(*make, "run")
        self.check(said[said.index("arena "):], self.folder / "gesture")
        self.assertIn("up to date", self.call(*[w for w in make if w != "-s"]))
        text = int(self.call(*make, "size").splitlines()[1].split()[0])
        self.assertLess(text, 4096)


class KeilAndIar(firmware.TestCase):
    def test_list(self):
        """The README lists the sources, which clang compiles without headers of C++."""
        code = self.nnc("gesture")
        text = (EXAMPLES / "keil-iar" / "README.md").read_text()
        listed = re.findall(r"^\| `gesture/(\S+)` \|", text, re.MULTILINE)
        files = json.loads((code / "manifest.json").read_text())["files"]
        self.assertEqual(listed, [f for f in files if f.endswith((".cpp", ".c", ".S"))])
        if not shutil.which("clang++-19"):
            self.skipTest("clang++-19 is missing")
        for source, flags in (("gesture.cpp", ["-std=c++17", "-nostdinc++", "-fno-exceptions",
                                               "-fno-rtti"]), ("gesture_weights.c", [])):
            self.call(f"clang{'++' if flags else ''}-19", "--target=arm-none-eabi", *CPU, *flags,
                      "-Oz", "-Wall", "-Wextra", "-Werror", "-isystem", "/usr/include/newlib",
                      "-c", code / source, "-o", "object.o")


class CMake(firmware.TestCase):
    def configure(self, source, build, *options):
        self.call("cmake", "-S", source, "-B", build, "-G", "Ninja", firmware.TOOLCHAIN,
                  "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)
        return self.commands(build)

    def test_example(self):
        code = self.nnc("gesture")
        commands = self.configure(EXAMPLES / "cmake", "build", f"-DGESTURE={code}")
        self.call("cmake", "--build", "build")
        self.check(self.emulate(self.folder / "build" / "firmware.elf"), code)
        for source, level in (("gesture.cpp", "-O2"), ("main.c", "-Os")):
            self.assertEqual([w for w in commands[source] if w.startswith("-O")], [level])

    def test_processor(self):
        """Flags of the firmware that name a processor stand alone; without them, the module
        is for its target."""
        code = self.nnc("module")
        bare = self.folder / "bare.cmake"
        bare.write_text("set(CMAKE_SYSTEM_NAME Generic)\n"
                        "set(CMAKE_C_COMPILER arm-none-eabi-gcc)\n"
                        "set(CMAKE_CXX_COMPILER arm-none-eabi-g++)\n"
                        "set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\n")
        for flags, want in (("", ["-mcpu=cortex-m4"]),
                            ("-mcpu=cortex-m33 -mthumb -mfloat-abi=softfp", ["-mcpu=cortex-m33"])):
            commands = self.configure(code, "machine", "--fresh", f"-DCMAKE_TOOLCHAIN_FILE={bare}",
                                      f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}")
            for source in "gesture.cpp", "gesture_weights.c":
                words = commands[source]
                self.assertEqual([w for w in words if w.startswith("-mcpu=")], want)
                self.assertEqual("-mfloat-abi=hard" in words, not flags)
            self.call("cmake", "--build", "machine")

    def test_install(self):
        """The installed library serves a program that finds it."""
        code = self.nnc("module")
        self.configure(code, "library", "-DCMAKE_BUILD_TYPE=MinSizeRel",
                       "-DNNC_WEIGHTS_SECTION=.rodata.weights",
                       f"-DCMAKE_INSTALL_PREFIX={self.folder / 'installed'}")
        self.call("cmake", "--build", "library", "--target", "install")
        installed = self.folder / "installed"
        self.assertEqual(sorted(p.name for p in installed.rglob("*") if p.is_file()),
                         ["gesture.h", "gestureConfig-minsizerel.cmake", "gestureConfig.cmake",
                          "libgesture.a"])
        listed = self.call("arm-none-eabi-objdump", "-h", installed / "lib" / "libgesture.a")
        self.assertIn(".rodata.weights", listed)
        shutil.rmtree(code)
        user = self.folder / "user"
        user.mkdir()
        (user / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.16)
project(user C CXX)
find_package(gesture REQUIRED CONFIG)
add_executable(user {EXAMPLES}/app/main.c {BOARD}/start.c)
target_include_directories(user PRIVATE {MODEL})
target_link_libraries(user gesture::gesture m)
target_link_options(user PRIVATE {' '.join(LINK)})
""")
        self.configure(user, "user-build", f"-Dgesture_DIR={installed}/lib/cmake/gesture")
        self.call("cmake", "--build", "user-build")
        said = self.emulate(self.folder / "user-build" / "user")
        self.assertEqual(said.splitlines()[1:], self.expected())


class SeveralModels(firmware.TestCase):
    """Tests models in one firmware that use the same arena in turn. One model is there twice."""

    def test_one_arena(self):
        net = flat.Net()
        x = net.input(np.zeros((1, 6), np.int8), 0.25)
        rng = np.random.default_rng(5)
        weights = net.const(rng.integers(-127, 128, (40, 6)).astype(np.int8), 0.01)
        more = net.const(rng.integers(-127, 128, (3, 40)).astype(np.int8), 0.01)
        hidden = net.op("FULLY_CONNECTED", [x, weights, -1],
                        [net.tensor(np.int8, (1, 40), 0.05)], activation="RELU")
        y = net.op("FULLY_CONNECTED", [hidden, more, -1], [net.tensor(np.int8, (1, 3), 0.1)])
        net.outputs.append(y)
        net.tensors[x]["name"], net.tensors[y]["name"] = "x", "y"
        (other,) = flat.save({"other": net.model()}, self.folder)
        main = HERE / "several_models.c"
        said = {}
        for target, cross in (("portable", ""), ("cortex-m4", "arm-none-eabi-")):
            codes = [self.nnc(f"{target}-{name}", f"--name={name}", "--weights=array",
                              target=target, model=model)
                     for name, model in (("gesture", MODEL / "gesture.tflite"),
                                         ("copy", MODEL / "gesture.tflite"), ("other", other))]
            sources = [source for code in codes
                       for pattern in ("*.cpp", "*.c") for source in code.glob(pattern)]
            flags = ["-O1", f"-I{MODEL}", *(f"-I{code}" for code in codes)]
            program = self.build(f"{target}-program",
                                 [main, *([BOARD / "start.c"] if cross else []), *sources], flags,
                                 ["-std=c++17", "-DNNC_PORTABLE_SIMD"], cross=cross)
            said[target] = self.emulate(program) if cross else self.call(program)
        lines = said["cortex-m4"].splitlines()
        self.assertEqual(lines, said["portable"].splitlines())
        self.assertEqual(lines[0::4], lines[1::4], "the copy computes the same")
        self.assertEqual(lines[2::4], lines[3::4], "and so does the other model, before and after")
        self.assertEqual(len(set(lines[0::4])), 4)
        self.assertEqual(len(set(lines[2::4])), 4)


class Sounds(firmware.TestCase):
    """Tests examples with two modules that use one arena in turn and recognize words in clips."""

    def print_sounds_on_this_machine(self, example, models):
        """What the same program prints of the clips; models are those of the modules, by
        name."""
        codes = [self.nnc(f"host-{name}", f"--name={name}", target="portable", model=model)
                 for name, model in models.items()]
        sources = [source for code in codes for pattern in ("*.cpp", "*.c", "*.S")
                   for source in code.glob(pattern)]
        folders = [BOARD, EXAMPLES / "keyword" / "model", example / "model", *codes]
        program = self.build("host-program", [example / "main.c", example / "clips.S", *sources],
                             ["-O1", *(f"-I{folder}" for folder in folders)],
                             ["-std=c++17", "-DNNC_PORTABLE_SIMD"], cross="")
        return self.call(program).splitlines()[1:]

    def check_example(self, example, models, most_flash):
        """Builds and runs an example by its Makefile. Returns its first line, the others, and
        the manifests of its modules."""
        build = self.folder / example.name
        make = ["make", "-s", "-C", example, f"NNC={NNC}", f"BUILD={build}"]
        said = self.call(*make, "run")
        first, *lines = said[said.index("arena "):].splitlines()
        self.assertEqual(lines, self.print_sounds_on_this_machine(example, models))
        self.assertIn("up to date", self.call(*[w for w in make if w != "-s"]))
        sizes = [int(line.split()[0]) for line in self.call(*make, "size").splitlines()[1:-1]]
        self.assertLess(sum(sizes), most_flash)
        return first, lines, [json.loads((build / name / "manifest.json").read_text())
                              for name in models]

    def test_keyword(self):
        example = EXAMPLES / "keyword"
        models = {name: example / "model" / f"{name}.tflite" for name in ("spectrum", "words")}
        first, lines, manifests = self.check_example(example, models, 32768)
        self.assertEqual([line.split()[:2] for line in lines],
                         [["yes.wav", "yes"], ["no.wav", "no"]])
        arena = max(manifest["arena_bytes"] for manifest in manifests)
        self.assertEqual(first, f"arena {arena} bytes, state 160, spectrogram 1960")

    def test_wakeword(self):
        example = EXAMPLES / "wakeword"
        models = {"spectrum": EXAMPLES / "keyword" / "model" / "spectrum.tflite",
                  "hey_jarvis": example / "model" / "hey_jarvis.tflite"}
        first, (heard, other), manifests = self.check_example(example, models, 65536)
        self.assertRegex(heard, r"^hey_jarvis.wav heard after 9\d\d ms, most 255 of 256, ")
        self.assertRegex(other, r"^no.wav +not heard, most \d+ of 256, ")
        arena = max(manifest["arena_bytes"] for manifest in manifests)
        self.assertTrue(first.startswith(f"arena {arena} bytes, state "), first)


if __name__ == "__main__":
    firmware.main()
