"""Runs on_device.py where there is no GPU, with programs whose kernels run on the CPU."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import on_device

SCRIPT = pathlib.Path(__file__).resolve().parent / "on_device.py"


def run(*arguments):
    return subprocess.run([sys.executable, "-B", SCRIPT, *arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class OnDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        built = run("--build", cls.folder, "--stub", "--tests=softmax_rows",
                    "--families=softmax,max_pool2d")
        assert built.returncode == 0, built.stdout

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def results(self, *arguments):
        done = run("--run", self.folder, *arguments)
        return done, json.loads((self.folder / "results.json").read_text())

    def test_checks_and_times(self):
        done, results = self.results("--seconds=100")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(results["stub"])
        self.assertEqual(results["card"], "none, emulated")
        check, = results["checks"]
        self.assertEqual((check["program"], check["passed"]), ("softmax_rows", True))
        routines = {row["routine"] for row in results["times"]}
        self.assertEqual(routines, {f"{name}_sm75" for name in (
            "max_pool2d_f16_nhwc", "max_pool2d_f32_nhwc", "softmax_f16_rows",
            "softmax_f32_rows")})
        for row in results["times"]:
            self.assertLessEqual(row["lower_quartile_ns"], row["median_ns"])
            self.assertGreater(row["median_ns"], 0)
            self.assertGreater(row["activation_bytes"], 0)

    def test_without_time_left(self):
        done, results = self.results("--seconds=0.01")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("stopped: no time left", done.stdout)
        self.assertEqual([check["status"] for check in results["checks"]], [None])
        self.assertEqual(results["times"], [])

    def test_program_that_fails(self):
        program = self.folder / "softmax_rows"
        whole = program.read_bytes()
        program.write_text("#!/bin/sh\necho 'row 3 is 1, expected 2'\nexit 1\n")
        self.addCleanup(program.write_bytes, whole)
        done, results = self.results("--seconds=100")
        self.assertEqual(done.returncode, 1)
        self.assertIn("row 3 is 1, expected 2", done.stdout)
        self.assertFalse(results["checks"][0]["passed"])
        self.assertTrue(results["times"])

    @unittest.skipIf(on_device.has_gpu(), "there is a GPU")
    def test_programs_for_a_gpu_without_one(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            known = json.loads((self.folder / "programs.json").read_text())
            (folder / "programs.json").write_text(json.dumps({**known, "stub": False}))
            done = run("--run", folder)
            self.assertEqual((done.returncode, done.stdout), (77, "skipped: there is no GPU\n"))
            self.assertFalse((folder / "results.json").exists())

    def test_all_tests_of_kernels_are_listed(self):
        sources = {path.stem for path in SCRIPT.parent.glob("*.cpp")}
        programs = {"host_block", "timings", "timings_main"}
        self.assertEqual(sources - programs, set(on_device.TESTS))


if __name__ == "__main__":
    unittest.main()
