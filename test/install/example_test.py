"""examples/cmake: from a clean folder on this machine and for AArch64, what its library offers
to other projects, and the commands of its CI templates."""

import json
import os
import re
import subprocess

import install
import workflow
from install import BUILD, ROOT

EXAMPLE = ROOT / "examples" / "cmake"
WORDS = "still is still\nshake is shake\ncircle is circle\nnod is nod\n"


class Example(install.TestCase):
    def run_preset(self, preset, *emulator):
        source = self.copy_example(preset)
        # The README's commands; Templates runs the slower of the project's two tests as well.
        for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset],
                        ["ctest", "--preset", preset, "-R", "clips"]):
            self.call(*command, cwd=source)
        build = source / "build" / preset
        self.assertEqual(self.call(*emulator, build / "gestures"), WORDS)
        self.assertIn("no work to do", self.build(build))
        for touched, runs in ((source.parent / "firmware" / "model" / "gesture.tflite", 1),
                              (self.prefix / "bin" / "nnc", 1), (source / "main.c", 0)):
            self.touch(touched)
            self.assertEqual(self.count_compilations(build), runs, touched)
            self.assertIn("no work to do", self.build(build))
        return build

    def test_native(self):
        build = self.run_preset("native")
        self.call("cmake", "--install", build, "--prefix", self.folder / "installed")
        user = self.project("user", f"""find_package(gestures REQUIRED)
add_executable(user {EXAMPLE}/main.c)
target_include_directories(user PRIVATE {install.MODEL})
target_link_libraries(user PRIVATE gestures::gesture m)
""")
        self.configure(user, "build", f"-Dgestures_DIR={self.folder}/installed/lib/cmake/gestures",
                       "-DCMAKE_INSTALL_LIBDIR=lib")
        self.build(user / "build")
        self.assertEqual(self.call(user / "build" / "user"), WORDS)

    def test_aarch64(self):
        build = self.run_preset("aarch64", "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
        self.assertIn("-march=armv8-a", (build / "nnc" / "gesture.flags").read_text())
        self.assertIn("AArch64", self.call("readelf", "-h", build / "gestures"))

    def test_readme(self):
        """The README names the commands that the tests above run, and the files that are there."""
        text = (EXAMPLE / "README.md").read_text()
        for command in "cmake --preset native", "cmake --build --preset aarch64":
            self.assertIn(command, text)
        for file in re.findall(r"\]\(([\w./-]+)\)", text):
            self.assertTrue((EXAMPLE / file).exists(), file)


class Templates(install.TestCase):
    """The commands of the templates, in containers' stead with stand-ins for the two that change
    the machine: apt-get unpacks nnc's package where PATH has its programs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-B",
                        cls.folder / "deb", "-D", "CPACK_STRIP_FILES=OFF"], cwd=BUILD, check=True,
                       capture_output=True)
        (cls.package,) = (cls.folder / "deb").glob("*.deb")
        stand_ins = cls.folder / "stand-ins"
        stand_ins.mkdir()
        (stand_ins / "apt-get").write_text(
            '#!/bin/sh\ncase "$*" in\nupdate) ;;\n"install -y /tmp/nnc.deb")\n'
            f'  dpkg -x "{cls.folder}/nnc.deb" "{cls.folder}/root" ;;\n'
            # Every package has to be one that scripts/setup installs, too.
            '"install -y --no-install-recommends "*) shift 3; dpkg -s "$@" > /dev/null ;;\n'
            '*) echo "apt-get $*" >&2; exit 1 ;;\nesac\n')
        (stand_ins / "curl").write_text(
            '#!/bin/sh\n[ "$1" = -fsSL ] && [ "$3 $4" = "-o /tmp/nnc.deb" ] || exit 1\n'
            f'exec cp "$2" "{cls.folder}/nnc.deb"\n')
        for file in stand_ins.iterdir():
            file.chmod(0o755)
        cls.environment = {"PATH": f"{stand_ins}:{cls.folder}/root/usr/bin:{os.environ['PATH']}",
                           "CMAKE_PREFIX_PATH": str(cls.folder / "root" / "usr"),
                           "NNC_PACKAGE": str(cls.package)}

    def read(self, name):
        path = EXAMPLE / "ci" / name
        found = workflow.read(path)
        # Where a whole reader of YAML is there, it finds the same.
        done = subprocess.run(["/usr/bin/python3", "-c", "import json, sys, yaml\n"
                               "print(json.dumps(yaml.load(open(sys.argv[1]), yaml.BaseLoader)))",
                               path], capture_output=True, text=True)
        if done.returncode == 0:
            self.assertEqual(json.loads(done.stdout), found)
        return found

    def run_commands(self, source, commands, variables):
        self.call("bash", "-e", "-c", "\n".join(commands), cwd=source,
                  env={**self.environment, **variables})

    def test_github(self):
        found = self.read("github.yml")
        job = found["jobs"]["network"]
        source = self.copy_example("github")
        ran = 0
        for step in job["steps"]:
            self.assertEqual(len({"run", "uses"} & step.keys()), 1)
            if "run" in step:
                self.run_commands(source, [step["run"]], found["env"])
                ran += 1
            else:
                self.assertRegex(step["uses"], r"^actions/[\w-]+@v\d+$")
        self.assertEqual(ran, 4)
        self.check_sizes(source)

    def test_gitlab(self):
        found = self.read("gitlab.yml")
        source = self.copy_example("gitlab")
        variables = found["variables"]
        self.run_commands(source, found["before_script"], variables)
        self.run_commands(source, found["sizes"]["script"], variables)
        self.check_sizes(source)
        (matrix,) = found["build"]["parallel"]["matrix"]
        self.assertEqual(matrix["PRESET"], ["native", "aarch64"])
        # These are what the other template's steps run, which take a quarter of a minute.
        steps = self.read("github.yml")["jobs"]["network"]["steps"]
        others = [step["run"].splitlines() for step in steps if "run" in step]
        for preset in matrix["PRESET"]:
            self.assertIn([line.replace('"$PRESET"', preset) for line in found["build"]["script"]],
                          others)

    def check_sizes(self, source):
        """The sizes are within the limits, and close enough that these say something."""
        sizes = json.loads((source / "sizes.json").read_text())
        text = (EXAMPLE / "ci" / "github.yml").read_text()
        limits = {kind: int(number) * 1024
                  for kind, number in re.findall(r"--max-(ram|flash)=(\d+)K", text)}
        ram = sum(sizes[f"{kind}_bytes"] for kind in ("arena", "input", "output", "state"))
        flash = sizes["code_bytes"] + sizes["weight_bytes"]
        for kind, bytes_ in (("ram", ram), ("flash", flash)):
            self.assertLess(limits[kind] / 4, bytes_)
            self.assertLess(bytes_, limits[kind])

    def test_limit_passed(self):
        """The step fails where the network grows over a limit, and names the layer."""
        text = (EXAMPLE / "ci" / "github.yml").read_text()
        command = re.search(r"nnc (check .*--max-ram=)2K", text)[1]
        model = install.MODEL / "gesture.tflite"
        self.call(self.prefix / "bin" / "nnc", *command.replace('"$MODEL"', str(model))[:-1]
                  .rsplit(" ", 1)[0].split(), "--max-ram=512",
                  fails=r"needs \d+ bytes \(576 of arena, 192 of inputs, 4 of outputs, \d+ of stack\), "
                        r"\d+ more than the 512 of --max-ram; the arena is fullest at layer 't3_2'")


if __name__ == "__main__":
    install.main("aarch64-linux-gnu-g++", "arm-none-eabi-g++", "qemu-aarch64", "cpack")
