"""Tests the packages of nnc compile --package. Zephyr, ESP-IDF, PlatformIO and Arduino are not
installed here. frameworks/ replaces the parts of them that a package uses, with similar flags.
The files of packages are checked against the documentation of the build systems."""

import json
import os
import re
import shutil
import sys

import numpy as np

import firmware
from firmware import BOARD, CPU, EXAMPLES, HERE, LABELS, MODEL, NNC

sys.path.insert(0, str(HERE.parent / "tflite"))
import flat  # noqa: E402

FRAMEWORKS = HERE / "frameworks"


def read_yaml(path):
    """The keys and values of a YAML file of nested mappings, the only form that nnc writes.
    Nested keys are paths."""
    found, above = {}, []
    for line in path.read_text().splitlines():
        if line.lstrip().startswith("#") or not line.strip():
            continue
        indent, key, value = re.fullmatch(r"( *)([\w-]+): *(.*)", line).groups()
        above = [*above[:len(indent) // 2], key]
        if value:
            found["/".join(above)] = value.strip('"')
    return found


class Packages(firmware.TestCase):
    def test_sources_are_the_same(self):
        plain = self.nnc("plain")
        for package in "zephyr", "esp-idf", "platformio", "arduino":
            folder = self.nnc("package", f"--package={package}")
            self.check_files(folder)
            sources = folder / "src" if package == "arduino" else folder
            for file in plain.glob("gesture*"):
                self.assertEqual(file.read_bytes(), (sources / file.name).read_bytes(), package)

    def test_other_package_in_the_same_folder(self):
        """Files of the package before go, those of the user stay."""
        folder = self.nnc("changed", "--package=zephyr")
        (folder / "zephyr" / "mine.txt").write_text("mine")
        for package in "arduino", "esp-idf", "arduino":
            self.nnc("changed", f"--package={package}")
            self.assertEqual((folder / "zephyr" / "mine.txt").read_text(), "mine")
            shutil.copytree(folder, self.folder / "copy", dirs_exist_ok=True)
            shutil.rmtree(self.folder / "copy" / "zephyr")
            self.check_files(self.folder / "copy")
            shutil.rmtree(self.folder / "copy")

    def test_metadata(self):
        """What a model says about itself is a header beside the others, in any package."""
        net = flat.Net()
        x = net.input(np.zeros((1, 4), np.float32))
        net.outputs.append(net.op("RELU", [x], [net.tensor(np.float32, (1, 4))]))
        (model,) = flat.save({"told": {**net.model(), "description": "A model."}}, self.folder)
        for options, place in (["--package=arduino"], "src/"), ([], ""):
            folder = self.nnc("told", *options, model=model)
            self.check_files(folder)
            self.assertIn('"A model."', (folder / f"{place}told_metadata.h").read_text())

    def test_usage(self):
        for given, said in (("ardino", "did you mean 'arduino'"), ("make", "not in {none,zephyr")):
            self.call(NNC, "compile", MODEL / "gesture.tflite", f"--package={given}", "-o", "x",
                      fails=f"nnc: error: --package: {given} .*{re.escape(said)}")

    def test_weights(self):
        """Packages take the weights as a C array, whatever the target, unless asked."""
        for options, want in ((), "gesture_weights.c"), (["--weights=embed"], "gesture_weights.S"):
            folder = self.nnc("weights", "--package=esp-idf", *options, target="portable")
            self.assertIn(f"  {want})", (folder / "CMakeLists.txt").read_text())


class Zephyr(firmware.TestCase):
    def build_app(self, *options):
        app = self.folder / "zephyr" / "app"
        shutil.rmtree(app.parent, ignore_errors=True)
        shutil.copytree(EXAMPLES / "zephyr", app)
        for name in "app", "model":
            shutil.copytree(EXAMPLES / name, app.parent / name, dirs_exist_ok=True)
        self.nnc(app / "gesture", "--package=zephyr")
        self.call("cmake", "-S", app, "-B", app / "build", "-G", "Ninja", firmware.TOOLCHAIN,
                  "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DBOARD_FOLDER={BOARD}", *options,
                  env={**os.environ, "ZEPHYR_BASE": str(FRAMEWORKS / "zephyr")})
        return app

    def test_module(self):
        app = self.build_app()
        self.call("cmake", "--build", app / "build")
        self.check(self.emulate(app / "build" / "zephyr.elf"), app / "gesture")
        words = self.commands(app / "build")["gesture.cpp"]
        self.assertEqual([w for w in words if w.startswith("-std")][-1], "-std=c++17")
        self.assertEqual([w for w in words if w.startswith("-O")][-1], "-O2")

    def test_options(self):
        app = self.build_app("-DMORE_OPTIONS=CONFIG_NNC_GESTURE_HOOKS=y;"
                             "CONFIG_NNC_GESTURE_WEIGHTS_SECTION=.flash_weights")
        commands = self.commands(app / "build")
        self.assertIn("-DNNC_HOOKS=1", commands["gesture.cpp"])
        self.assertIn("-DNNC_HOOKS=1", commands["main.c"])
        self.assertIn("-DNNC_WEIGHTS_SECTION=.flash_weights", commands["gesture_weights.c"])
        app = self.build_app("-DMORE_OPTIONS=CONFIG_NNC_GESTURE=n")
        self.assertNotIn("gesture.cpp", self.commands(app / "build"))

    def test_files(self):
        folder = self.nnc("module", "--package=zephyr")
        module = read_yaml(folder / "zephyr" / "module.yml")
        self.assertEqual(module, {"name": "nnc_gesture", "build/cmake": "zephyr",
                                  "build/kconfig": "zephyr/Kconfig"})
        text = (folder / "zephyr" / "Kconfig").read_text()
        names = re.findall(r"^config (\w+)$", text, re.MULTILINE)
        used = set(re.findall(r"CONFIG_(\w+)", (folder / "zephyr" / "CMakeLists.txt").read_text()))
        self.assertEqual(used, set(names))
        self.assertNotRegex(text, r"(?m)^ ", "Kconfig is indented by tabs")


class EspIdf(firmware.TestCase):
    def test_component(self):
        app = self.folder / "esp" / "app"
        shutil.copytree(EXAMPLES / "esp-idf", app)
        shutil.copytree(MODEL, app.parent / "model")
        code = self.nnc(app / "components" / "gesture", "--package=esp-idf", target="rv32imc")
        self.check_files(code)
        self.call("cmake", "-S", app, "-B", app / "build", "-G", "Ninja",
                  "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                  "-DMORE_OPTIONS=CONFIG_NNC_GESTURE_WEIGHTS_SECTION=.flash_weights",
                  env={**os.environ, "IDF_PATH": str(FRAMEWORKS / "esp-idf")})
        self.call("cmake", "--build", app / "build")
        said = self.call(app / "build" / "gestures").splitlines()
        self.assertEqual([line.split("scores")[1] for line in said],
                         [line.split("scores")[1] for line in self.expected()])
        commands = self.commands(app / "build")
        words = commands["gesture.cpp"]
        self.assertEqual([w for w in words if w.startswith("-std")][-1], "-std=gnu++17")
        self.assertEqual([w for w in words if w.startswith("-O")][-1], "-O2")
        self.assertIn("-DNNC_WEIGHTS_SECTION=.flash_weights", commands["gesture_weights.c"])

    def test_files(self):
        folder = self.nnc("component", "--package=esp-idf")
        manifest = read_yaml(folder / "idf_component.yml")
        self.assertRegex(manifest["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(set(manifest), {"version", "description", "dependencies/idf"})
        names = set(re.findall(r"config (\w+)", (folder / "Kconfig").read_text()))
        used = set(re.findall(r"CONFIG_(\w+)", (folder / "CMakeLists.txt").read_text()))
        self.assertEqual(used, names)


class PlatformIO(firmware.TestCase):
    # What PlatformIO's documentation of library.json lists.
    KEYS = {"$schema", "name", "version", "description", "keywords", "homepage", "repository",
            "authors", "license", "frameworks", "platforms", "headers", "examples",
            "dependencies", "export", "scripts", "build"}
    BUILD_KEYS = {"flags", "unflags", "includeDir", "srcDir", "srcFilter", "extraScript",
                  "libArchive", "libLDFMode", "libCompatMode", "builder"}

    def test_library(self):
        code = self.nnc("lib/gesture", "--package=platformio")
        self.check_files(code)
        library = json.loads((code / "library.json").read_text())
        self.assertLessEqual(set(library), self.KEYS)
        self.assertLessEqual({"name", "version", "description", "keywords"}, set(library))
        self.assertRegex(library["name"], r"^[^:;/,@<>]+$")
        self.assertRegex(library["version"], r"^\d+\.\d+\.\d+$")
        for word in library["keywords"].split(","):
            self.assertRegex(word.strip(), r"^[a-z\d\-_+. ]+$")
        self.assertTrue((code / library["headers"]).exists())
        build = library["build"]
        self.assertLessEqual(set(build), self.BUILD_KEYS)
        sources = [code / build["srcDir"] / re.fullmatch(r"\+<([^<>*]+)>", rule)[1]
                   for rule in build["srcFilter"]]
        # SCons gives -std=gnu++17 to C++ alone, and unflags take other standards away.
        self.assertIn("-std=gnu++11", build["unflags"])
        program = build_sketch(self, sources, code / build["includeDir"], build["flags"])
        self.assertEqual(self.emulate(program).splitlines(), LABELS)

    def test_project(self):
        text = (EXAMPLES / "platformio" / "platformio.ini").read_text()
        folder = re.search(r"^src_dir = (.*)$", text, re.MULTILINE)[1]
        self.assertTrue((EXAMPLES / "platformio" / folder / "gesture_demo.ino").exists())
        self.assertIn("--package=platformio -o lib/gesture", text)


class Arduino(firmware.TestCase):
    REQUIRED = ["name", "version", "author", "maintainer", "sentence", "paragraph", "category",
                "url", "architectures"]
    CATEGORIES = ["Display", "Communication", "Signal Input/Output", "Sensors", "Device Control",
                  "Timing", "Data Storage", "Data Processing", "Other"]

    def test_library(self):
        code = self.nnc("gesture", "--package=arduino")
        self.check_files(code)
        lines = (code / "library.properties").read_text().splitlines()
        fields = dict(line.split("=", 1) for line in lines)
        self.assertEqual([name for name in self.REQUIRED if name not in fields], [])
        self.assertRegex(fields["name"], r"^[a-zA-Z0-9][a-zA-Z0-9 _.\-]*$")
        self.assertRegex(fields["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn(fields["category"], self.CATEGORIES)
        self.assertTrue((code / "src" / fields["includes"]).exists())
        sources = [p for p in (code / "src").rglob("*") if p.suffix in (".c", ".cpp", ".S")]
        program = build_sketch(self, sources, code / "src", ["-std=gnu++17"])
        self.assertEqual(self.emulate(program).splitlines(), LABELS)
        self.call("arm-none-eabi-g++", *CPU, "-Os", "-std=gnu++11", "-c",
                  code / "src" / "gesture.cpp", fails="need C\\+\\+17.*-std=c\\+\\+17")

    def test_nnc_runs_it(self):
        """nnc run takes the library as it takes other folders, and agrees with the programs."""
        code = self.nnc("library", "--package=arduino")
        text = re.sub(r"/\*.*?\*/", "", (MODEL / "clips.h").read_text(), flags=re.DOTALL)
        clips = np.array(re.findall(r"-?\d+", text.split("= {")[-1]), np.int8)
        np.save(self.folder / "clip.npy", clips.reshape(4, 1, 64, 1, 3)[2])
        self.call(NNC, "run", code, "--input=clip=clip.npy", "--output-dir=out")
        scores = np.load(self.folder / "out" / "scores.npy").ravel()
        self.assertEqual(self.expected()[2].split("scores ")[1], " ".join(map(str, scores)))


def build_sketch(test, sources, include, flags):
    """Compiles the sketch and a library as the Arduino IDE does."""
    sketch = EXAMPLES / "arduino" / "gesture_demo" / "gesture_demo.ino"
    common = ["-Os", "-ffunction-sections", "-fdata-sections", f"-I{include}", f"-I{MODEL}",
              f"-I{FRAMEWORKS / 'arduino'}", f'-DSKETCH="{sketch}"']
    cpp = [*flags, "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
    return test.build("sketch", [FRAMEWORKS / "arduino" / "main.cpp", BOARD / "start.c", *sources],
                      common, cpp, [f for f in flags if not f.startswith("-std")])


if __name__ == "__main__":
    firmware.main()
