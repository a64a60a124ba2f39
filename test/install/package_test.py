"""The Debian package, what `nnc --version` tells, and nnc as a part of another project."""

import re
import shutil
import subprocess
import sys
import unittest

import install
from install import BUILD, MODEL, ROOT

WHOLE = "--all" in sys.argv  # builds all of nnc once more
FETCH = """include(FetchContent)
FetchContent_Declare(nnc GIT_REPOSITORY https://nnc.invalid/nnc.git GIT_TAG main)
FetchContent_MakeAvailable(nnc)
nnc_add_model(NAME gesture MODEL gesture.tflite)
add_executable(gestures main.c)
target_link_libraries(gestures PRIVATE gesture::gesture m)
"""


class Debian(install.TestCase):
    def test_package(self):
        self.call("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", self.folder / "deb",
                  cwd=BUILD)
        (file,) = (self.folder / "deb").glob("*.deb")
        self.assertRegex(file.name, r"^nnc_[\d.]+_\w+\.deb$")
        fields = dict(re.findall(r"^ ?([\w-]+): (.*)$", self.call("dpkg-deb", "-I", file),
                                 re.MULTILINE))
        needed = {d.split()[0] for d in fields["Depends"].split(", ")}
        self.assertLessEqual({"libc6", "libmlir-19", "libllvm19", "libstdc++6"}, needed)
        # Users need no headers and no tools of LLVM's.
        self.assertEqual([n for n in needed if n.endswith("-dev") or "clang" in n], [])
        for name in needed:
            self.call("dpkg", "-s", name)
        listed = [line.split()[-1] for line in self.call("dpkg-deb", "-c", file).splitlines()]
        # Debian compresses manual pages and has a folder for zsh's completions of packages.
        self.assertEqual(sorted(n for n in listed if not n.endswith("/")), sorted(
            re.sub(r"\.1$", ".1.gz", f"./usr/{p.relative_to(self.prefix)}").replace(
                "/site-functions/", "/vendor-completions/")
            for p in self.prefix.rglob("*") if p.is_file()))
        self.call("dpkg", "-x", file, "unpacked")
        usr = self.folder / "unpacked" / "usr"
        page = self.call("man", "--warnings", "-l", usr / "share/man/man1/nnc-compile.1.gz")
        self.assertIn("--target=T", page)
        self.call(usr / "bin" / "nnc", "compile", MODEL / "gesture.tflite", "-o", "code")
        self.assertTrue((self.folder / "code" / "gesture.h").exists())
        example = self.copy_example("with package")
        self.configure(example, "build", env={"CMAKE_PREFIX_PATH": str(usr)})
        self.build(example / "build")
        self.assertIn("nod is nod", self.call(example / "build" / "gestures"))


class Version(install.TestCase):
    def test_program(self):
        said = self.call(self.prefix / "bin" / "nnc", "--version")
        found = re.fullmatch(r"nnc \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}|unknown), "
                             r"LLVM 19\.\d+\.\d+\)\n", said)
        self.assertTrue(found, said)

    def write(self, source, **variables):
        """The source that the build writes for nnc's sources in a folder."""
        output = self.folder / "Version.cpp"
        self.call("cmake", f"-DOUTPUT={output}", f"-DSOURCE_DIR={source}", "-DVERSION=1.2.3",
                  "-DLLVM=19.1.7", f"-DGIT={shutil.which('git')}",
                  *(f"-D{name}={text}" for name, text in variables.items()), "-P",
                  source / "scripts" / "cmake" / "WriteVersion.cmake")
        return re.search(r'"1\.2\.3 \(commit (\w+), LLVM 19\.1\.7\)"', output.read_text())[1]

    def test_commit(self):
        source = self.folder / "source"
        shutil.copytree(ROOT / "scripts" / "cmake", source / "scripts" / "cmake")
        shutil.copy(ROOT / ".gitattributes", source)
        self.assertEqual(self.write(source), "unknown")
        self.assertEqual(self.write(source, COMMIT="abc"), "abc")
        # A repository around the sources of an archive is not nnc's.
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C"]
        self.call(*git, self.folder, "init", "-q")
        self.call(*git, self.folder, "commit", "-q", "--allow-empty", "-m", "other")
        self.assertEqual(self.write(source), "unknown")
        self.call(*git, source, "init", "-q")
        self.call(*git, source, "add", ".")
        self.call(*git, source, "commit", "-q", "-m", "first")
        first = self.call(*git, source, "rev-parse", "HEAD").strip()
        self.assertEqual(self.write(source), first[:12])
        written = (self.folder / "Version.cpp").stat().st_mtime_ns
        self.write(source)
        self.assertEqual((self.folder / "Version.cpp").stat().st_mtime_ns, written)
        self.call(*git, source, "commit", "-q", "--allow-empty", "-m", "second")
        self.assertNotEqual(self.write(source), first[:12])
        archive = self.folder / "archive"
        archive.mkdir()
        tar = subprocess.run(["git", "-C", source, "archive", first], capture_output=True,
                             check=True).stdout
        subprocess.run(["tar", "-x", "-C", archive], input=tar, check=True)
        self.assertEqual(self.write(archive), first[:12])

    def test_build(self):
        """Another commit makes that one source anew; without one there is nothing to do."""
        made = [line for line in self.call("ninja", "-C", BUILD, "-t", "query",
                                           "compiler/tools/nnc/Version.cpp").splitlines()]
        self.assertTrue(any("WriteVersion.cmake" in line for line in made), made)
        if (ROOT / ".git").exists():
            self.assertTrue(any(line.endswith("logs/HEAD") for line in made), made)


class Fetch(install.TestCase):
    def make(self, name):
        project = self.project(name, FETCH)
        for file in (MODEL / "gesture.tflite", MODEL / "clips.h",
                     ROOT / "examples" / "cmake" / "main.c"):
            shutil.copy(file, project)
        return project, f"-DFETCHCONTENT_SOURCE_DIR_NNC={ROOT}"

    def test_with_program(self):
        """With an nnc that is there, FetchContent brings nnc_add_model() alone."""
        project, source = self.make("given")
        folder = self.configure(project, "build", source,
                                f"-DNNC_EXECUTABLE={self.prefix / 'bin' / 'nnc'}")
        self.build(folder)
        self.assertIn("nod is nod", self.call(folder / "gestures"))
        self.assertIn("no work to do", self.build(folder))

    def test_configuration(self):
        """The project's own settings stay, and of nnc its build has only the program."""
        project, source = self.make("whole")
        folder = self.configure(project, "build", source, "-DCMAKE_CXX_COMPILER=clang++-19",
                                "-DCMAKE_C_COMPILER=clang-19")
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (folder / "CMakeCache.txt").read_text(),
                                re.MULTILINE))
        self.assertEqual(cache["CMAKE_BUILD_TYPE"], "")
        self.assertEqual(cache["CMAKE_CXX_FLAGS_RELEASE"], "-O3 -DNDEBUG")
        steps = self.call("ninja", "-C", folder, "-t", "inputs", "all")
        self.assertIn("/bin/nnc", steps)
        for other in "nnc-opt", "test_", "nnc_catch_main":
            self.assertNotIn(other, steps)
        self.assertNotIn("install(", (folder / "cmake_install.cmake").read_text())
        if WHOLE:
            self.build(folder, "--target", "gestures")
            self.assertIn("nod is nod", self.call(folder / "gestures"))
            self.assertIn("no work to do", self.build(folder, "--target", "gestures"))


if __name__ == "__main__":
    unittest.main(argv=[a for a in sys.argv if a != "--all"])
