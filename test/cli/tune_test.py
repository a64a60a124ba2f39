"""Tests nnc tune, and --tuning with the file that it writes."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from onnx import helper

import nnc
from nnc import LACKING, USAGE, model, value, weights


class Tune(nnc.TestCase):
    def setUp(self):
        super().setUp()
        node = helper.make_node
        # Few candidates, quick to build.
        self.save("tiny", model([node("Relu", ["x"], ["r"], "relu1"),
                                  node("Softmax", ["r"], ["y"], "softmax1")],
                                 [value("x", [8, 64])], [value("y", [8, 64])]))

    def tune(self, *options, name="tiny", out="a.tune", cache="cache"):
        """What nnc tune says in JSON, with a cache of the test's own."""
        return json.loads(self.nnc("tune", f"{name}.onnx", "-o", out, "--json",
                                   f"--cache={cache}", *options))

    def lines(self, name="a.tune"):
        return (self.folder / name).read_text().splitlines()

    def test_file(self):
        said = self.tune()
        self.assertGreater(said["measured"], 0)
        self.assertEqual((said["known_before"], said["left_estimated"]), (0, 0))
        lines = self.lines()
        self.assertEqual(lines[0], "nnc-tuning 1")
        self.assertIn(f"chip {said['chip']}", lines)
        self.assertIn("threads 1", lines)
        measured = [line for line in lines if line.startswith("measured ")]
        self.assertEqual(len(measured), said["measured"])
        self.assertTrue(any(" : softmax_" in line for line in measured))

    def test_again(self):
        """What one run measured the next ones know, by the cache or by the file."""
        first = self.tune()
        second = self.tune(out="b.tune")
        self.assertEqual((second["measured"], second["known_before"]), (0, first["measured"]))
        third = self.tune("--tuning=a.tune", out="c.tune", cache="none")
        self.assertEqual(third["measured"], 0)
        for other in "b.tune", "c.tune":
            self.assertEqual(self.lines(), self.lines(other))

    def test_network(self):
        """A network with weights and layouts, and all that its file is used by."""
        said = self.tune("--budget=10m", name="network")
        self.check_plans(said["whole_plans"])
        again = self.tune("--budget=10m", name="network", out="b.tune")
        self.assertEqual(again["measured"], 0)
        self.assertEqual(self.lines(), self.lines("b.tune"))
        self.nnc("explain", "network.onnx", "--tuning=a.tune", "--layer=conv1",
                 said=["measured", " of them measured, "])
        said = json.loads(self.nnc("explain", "network.onnx", "--tuning=a.tune", "--json"))
        chosen = {layer["name"]: layer["alternatives"][0] for layer in said["layers"]}
        self.assertTrue(chosen["conv1"]["measured"] or chosen["conv1"]["measured_alike"])
        self.nnc("verify", "network.onnx", "--tuning=a.tune")
        for out in "a", "b":
            self.nnc("compile", "network.onnx", "--tuning=a.tune", "-o", out)
        for name in self.names("a"):
            self.assertEqual((self.folder / "a" / name).read_bytes(),
                             (self.folder / "b" / name).read_bytes(), name)

    def check_plans(self, plans):
        """The fastest of some plans that were run whole is what the file has chosen."""
        self.assertGreater(len(plans), 1)
        self.assertEqual([plan["untuned"] for plan in plans].count(True), 1)
        lines = self.lines()
        choices = [line for line in lines if line.startswith("choice ")]
        explained = json.loads(self.nnc("explain", "network.onnx", "--tuning=a.tune", "--json"))
        self.assertEqual(explained["solver"], "tuned")
        for layer, choice in zip(explained["layers"], choices, strict=True):
            chosen = layer["alternatives"][0]
            self.assertEqual(choice, " ".join(["choice", layer["name"], ":", chosen["routine"],
                                               *map(str, chosen["params"])]))
        self.nnc("explain", "network.onnx", "--tuning=a.tune",
                 said=["tuned: the fastest of whole plans"])
        # With less of them the measurements decide again.
        (self.folder / "less.tune").write_text(
            "\n".join(line for line in lines if line != choices[0]))
        explained = json.loads(self.nnc("explain", "network.onnx", "--tuning=less.tune", "--json"))
        self.assertEqual(explained["solver"], "exact")

    def test_separable(self):
        """Two convolutions are one layer where estimates say so, unless the file's
        choices are for two."""
        node = helper.make_node
        self.save("separable", model(
            [node("Conv", ["x", "w", "b"], ["d"], "depthwise", group=96, pads=[1] * 4,
                  strides=[2, 2]),
             node("Relu", ["d"], ["r"], "relu1"),
             node("Conv", ["r", "v"], ["y"], "project")],
            [value("x", [1, 96, 112, 112])], [value("y", [1, 24, 56, 56])],
            [weights("w", 96, 1, 3, 3), weights("b", 96), weights("v", 24, 96, 1, 1)]))
        self.check_fused("separable", "nn.separable_conv", "depthwise", {
            "depthwise": "conv2d_f32_nchw8c_depthwise_avx2 8",
            "project": "conv2d_f32_nchw8c_direct_avx2 1 6 2"})

    def test_expanded(self):
        """So are a 1 x 1 convolution and the depthwise one behind it; where the file's
        choices are for the latter with what follows it, that decides."""
        node = helper.make_node
        self.save("expanded", model(
            [node("Conv", ["x", "v", "b"], ["e"], "expand"),
             node("Relu", ["e"], ["r"], "relu1"),
             node("Conv", ["r", "w"], ["y"], "depthwise", group=96, pads=[1] * 4,
                  strides=[2, 2])],
            [value("x", [1, 16, 112, 112])], [value("y", [1, 96, 56, 56])],
            [weights("v", 96, 16, 1, 1), weights("b", 96), weights("w", 96, 1, 3, 3)]))
        self.check_fused("expanded", "nn.expanded_conv", "1 x 1", {
            "expand": "conv2d_f32_nchw8c_direct_avx2 1 6 2",
            "depthwise": "conv2d_f32_nchw8c_depthwise_avx2 8"})

    def test_expanded_or_separable(self):
        """Of three layers a tuning file's choices say which two are one."""
        node = helper.make_node
        self.save("block", model(
            [node("Conv", ["x", "v", "b"], ["e"], "expand"),
             node("Relu", ["e"], ["r"], "relu1"),
             node("Conv", ["r", "w"], ["d"], "depthwise", group=96, pads=[1] * 4,
                  strides=[2, 2]),
             node("Relu", ["d"], ["s"], "relu2"),
             node("Conv", ["s", "u"], ["y"], "project")],
            [value("x", [1, 16, 112, 112])], [value("y", [1, 24, 56, 56])],
            [weights("v", 96, 16, 1, 1), weights("b", 96), weights("w", 96, 1, 3, 3),
             weights("u", 24, 96, 1, 1)]))
        explain = "explain", "block.onnx", "--target=x86-64-v3", "--json"

        def anchors(*options):
            said = json.loads(self.nnc(*explain, *options))
            return [layer["ops"].split(",")[0] for layer in said["layers"]]

        self.assertEqual(anchors(), ["nn.expanded_conv", "nn.conv"])
        (self.folder / "block.tune").write_text("\n".join([
            "nnc-tuning 1", "nnc 0.2.0", "chip any", "isas avx2 sse4 portable", "threads 1",
            "max-error 5e-06", "choice expand : conv2d_f32_nchw8c_direct_avx2 1 6 2",
            "choice project : separable_conv2d_f32_nchw8c_avx2 4 6 2", ""]))
        self.assertEqual(anchors("--tuning=block.tune"), ["nn.conv", "nn.separable_conv"])

    def test_other_form(self):
        """Where it is close whether two layers are one, both forms are measured."""
        node = helper.make_node
        for filters, is_one in (16, True), (32, False):
            self.save("close", model(
                [node("Conv", ["x", "w", "b"], ["d"], "depthwise", group=48, pads=[1] * 4),
                 node("Relu", ["d"], ["r"], "relu1"),
                 node("Conv", ["r", "v"], ["y"], "project")],
                [value("x", [1, 48, 56, 56])], [value("y", [1, filters, 56, 56])],
                [weights("w", 48, 1, 3, 3), weights("b", 48),
                 weights("v", filters, 48, 1, 1)]))
            target = "--target=x86-64-v3"
            said = json.loads(self.nnc("explain", "close.onnx", target, "--json"))
            self.assertEqual(said["layers"][-1]["separable"]["fused"], is_one)
            first = self.tune(target, "--budget=5m", name="close")
            measured = [line for line in self.lines() if line.startswith("measured ")]
            for form in " : separable_conv2d_", "_depthwise_":
                self.assertTrue(any(form in line for line in measured), form)
            lines = self.lines()
            again = self.tune(target, "--budget=5m", name="close")
            self.assertEqual((again["measured"], again["other_forms"]),
                             (0, first["other_forms"]))
            self.assertEqual(self.lines(), lines)
            self.nnc("verify", "close.onnx", target, "--tuning=a.tune")

    def test_scaling(self):
        """So is a batch norm with the convolution behind it."""
        node = helper.make_node
        self.save("scaling", model(
            [node("Mul", ["x", "s"], ["m"], "scale"), node("Add", ["m", "b"], ["a"], "shift"),
             node("Relu", ["a"], ["r"], "relu1"),
             node("Conv", ["r", "v"], ["y"], "project")],
            [value("x", [1, 256, 28, 28])], [value("y", [1, 128, 28, 28])],
            [weights("s", 256, 1, 1), weights("b", 256, 1, 1), weights("v", 128, 256, 1, 1)]))
        self.check_fused("scaling", "nn.scaled_conv", "scaling", {
            "relu1": "elementwise_avx2",
            "project": "conv2d_f32_nchw8c_pointwise_avx2 6 2"})

    def check_fused(self, name, op, first, choices):
        """Of the model `name`, whose two layers are one that `op` computes: the costs
        are told by that name, and `choices` for two layers decide before them."""
        target = "--target=x86-64-v3"
        explain = "explain", f"{name}.onnx", target
        said = json.loads(self.nnc(*explain, "--json"))
        self.assertEqual([layer["ops"] for layer in said["layers"]], [op])
        self.assertTrue(said["layers"][0][name]["fused"])
        self.nnc(*explain, said=[f"^  computes the {first} layer before it: .* as one, .* apart$"])
        self.nnc("verify", f"{name}.onnx", target)
        self.nnc("verify", f"{name}.onnx")
        lines = ["nnc-tuning 1", "nnc 0.2.0", "chip any", "isas avx2 sse4 portable", "threads 1",
                 "max-error 3e-06",
                 *(f"choice {layer} : {routine}" for layer, routine in choices.items())]
        (self.folder / "apart.tune").write_text("\n".join(lines) + "\n")
        said = json.loads(self.nnc(*explain, "--tuning=apart.tune", "--json"))
        self.assertEqual([layer["name"] for layer in said["layers"]], list(choices))
        self.assertEqual(said["solver"], "tuned")
        self.assertFalse(said["layers"][1][name]["fused"])

    def test_all(self):
        """What cannot be better is measured too, and shown with all its params."""
        usual = self.tune(name="network", cache="none")
        said = self.tune("--all", "--budget=0", name="network", out="b.tune", cache="none")
        self.assertGreater(said["left_estimated"], usual["measured"])
        chosen = json.loads(self.nnc("explain", "network.onnx", "--json"))["layers"]
        every = json.loads(self.nnc("explain", "network.onnx", "--json", "--all"))["layers"]
        for one, other in zip(chosen, every):
            self.assertEqual(one["alternatives"][0], other["alternatives"][0])
        self.assertGreater(sum(len(layer["alternatives"]) for layer in every),
                           sum(len(layer["alternatives"]) for layer in chosen))

    def test_threads(self):
        self.tune("--threads=2")
        self.assertIn("threads 2", self.lines())
        for options in ["compile", "-o", "on", "--threads=on"], ["bench", "--runs=1", "--threads=2"]:
            self.assertEqual(self.warnings(*options), "")
        problem = ("a.tune: warning: was measured on 2 threads, this code is for {0}: what is fast "
                   "there may be slow here; measure with nnc tune --threads={0}\n")
        self.assertEqual(self.warnings("compile", "-o", "off"), problem.format(1))
        self.assertEqual(self.warnings("bench", "--runs=1", "--threads=3"), problem.format(3))
        # Times on two threads are none on one.
        self.assertEqual(self.warnings("tune", "--budget=0", "--cache=none"), problem.format(1))
        self.assertFalse(any(line.startswith("measured") for line in self.lines("tiny.tune")))
        self.assertIn("measured on 1 thread, this code is for several:",
                      self.warnings("compile", "-o", "one", "--threads=on", tuning="tiny.tune"))

    def warnings(self, command, *options, tuning="a.tune"):
        """What a command that succeeds with a tuning file prints to stderr."""
        done = subprocess.run([nnc.NNC, command, "tiny.onnx", f"--tuning={tuning}", *options],
                              cwd=self.folder, timeout=120, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_budget(self):
        said = self.tune("--budget=0")
        self.assertEqual(said["measured"], 0)
        self.assertGreater(said["left_estimated"], 0)
        self.nnc("compile", "tiny.onnx", "--tuning=a.tune", "-o", "out")
        self.nnc("tune", "tiny.onnx", "--budget=0s", "--cache=none",
                 said=["^tiny.tune: 0 measured", "more that could matter stay estimated"])
        for text in "soon", "-1", "1e9", "nan", "":
            self.nnc("tune", "tiny.onnx", f"--budget={text}", code=USAGE, said=["--budget"])
        before = (self.folder / "tiny.onnx").read_bytes()
        self.nnc("tune", "tiny.onnx", "--budget=0s", "-o", "tiny.onnx", code=USAGE,
                 said=["-o: tiny.onnx is a file that this command reads"])
        self.assertEqual((self.folder / "tiny.onnx").read_bytes(), before)

    def test_cache(self):
        """A cache that cannot be used is a warning."""
        (self.folder / "cache").mkdir()
        (self.folder / "cache" / "measurements.sqlite").write_bytes(b"no database" * 100)
        done = subprocess.run([nnc.NNC, "tune", "tiny.onnx", "--cache=cache", "--budget=0"],
                              cwd=self.folder, timeout=120, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "^nnc: warning: without the cache .*measurements.sqlite: "
                                      "file is not a database\n$")
        self.nnc("tune", "tiny.onnx", "--budget=0",
                 env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "home")})
        self.assertEqual(self.names("home/nnc"), ["measurements.sqlite"])

    def test_output(self):
        self.nnc("tune", "tiny.onnx", "--budget=0", "--cache=none", "-o", "no/where.tune",
                 code=USAGE, said=["no/where.tune"])

    def test_elsewhere(self):
        """Times of an emulator are no times, unless somebody wants them."""
        self.nnc("tune", "tiny.onnx", "--target=aarch64", code=LACKING, said=["emulator"])
        self.nnc("tune", "tiny.onnx", "--on=qemu-aarch64", code=USAGE, said=["--target"])
        self.script("board", 'exec qemu-aarch64 "$@"')
        said = self.tune("--target=aarch64", "--on=./board")
        self.assertGreater(said["measured"], 0)
        self.assertIn("chip ./board", self.lines())
        self.assertIn("isas neon64 neon portable", self.lines())
        self.nnc("compile", "tiny.onnx", "--target=aarch64", "--tuning=a.tune", "-o", "out")
        self.check_halves()
        self.script("board", "echo no such board >&2; exit 3")
        self.nnc("tune", "tiny.onnx", "--target=aarch64", "--on=./board", "--cache=none",
                 code=USAGE, said=["./board failed: no such board"])

    def check_halves(self):
        """Layers that compute with halves are others than those of floats."""
        options = "--target=aarch64-fp16", "--on=./board", "--precision=f16", "--budget=10m"
        said = self.tune(*options, name="network", out="halves.tune", cache="none")
        self.assertGreater(said["measured"], 0)
        lines = self.lines("halves.tune")
        self.assertIn("precision f16", lines)
        self.assertTrue(any("conv2d_f16_" in line for line in lines))
        use = "--target=aarch64-fp16", "--tuning=halves.tune"
        self.nnc("verify", "network.onnx", *use, "--precision=f16")
        # Where the measured times leave a single plan, no whole plans are compared.
        compares = any(line.startswith("choice ") for line in lines)
        self.assertEqual(compares, bool(said["whole_plans"]))
        self.nnc("explain", "network.onnx", *use, "--precision=f16",
                 said=["tuned: the fastest of whole plans" if compares else "exact: no plan costs"])
        done = subprocess.run([nnc.NNC, "compile", "network.onnx", *use, "-o", "floats"],
                              cwd=self.folder, timeout=120, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("halves.tune: warning: was measured with --precision=f16, this is f32: ",
                      done.stderr)

    def test_sshd(self):
        """A server of ours for each connection, without a port."""
        sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        if not sshd:
            self.skipTest("there is no sshd; scripts/setup installs openssh-server")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        key = self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        (self.folder / "sshd_config").write_text(
            f"HostKey {key}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nPidFile none\n"
            "UsePAM no\n")
        (self.folder / "ssh_config").write_text(
            f"Host board\n  ProxyCommand {sshd} -i -f {self.folder}/sshd_config\n"
            f"  IdentityFile {key}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n"
            "  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
            "Host nowhere\n  ProxyCommand false\n")
        (self.folder / "bin").mkdir()
        self.script("bin/ssh", f'exec {shutil.which("ssh")} -F {self.folder}/ssh_config "$@"')
        env = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        said = json.loads(self.nnc("tune", "tiny.onnx", "--target=portable", "--on=ssh:board",
                                   "--cache=none", "--json", env=env))
        self.assertGreater(said["measured"], 0)
        self.assertIn("chip ssh:board", self.lines("tiny.tune"))
        self.nnc("tune", "tiny.onnx", "--target=portable", "--on=ssh:nowhere",
                 "--cache=none", env=env, code=USAGE, said=["ssh failed: "])

    def test_ssh(self):
        """The program and its arguments reach a shell on the other side."""
        (self.folder / "bin").mkdir()
        self.script("bin/ssh", 'echo "$3" >host; shift 3; exec sh -c "$*"')
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        self.nnc("tune", "tiny.onnx", "--target=portable", "--on=ssh:me@there", "--cache=none",
                 env={**os.environ, "PATH": path}, said=["on ssh:me@there$"])
        self.assertEqual((self.folder / "host").read_text(), "me@there\n")
        self.assertIn(" measured ", "".join(" " + line for line in self.lines("tiny.tune")))

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


class File(nnc.TestCase):
    """Tuning files that cannot be used, or not whole."""

    def write(self, *lines, chip="z80", isas="avx2 sse4 portable"):
        (self.folder / "a.tune").write_text(
            "\n".join(["nnc-tuning 1", f"chip {chip}", f"isas {isas}", *lines, ""]))

    def check(self, problem, target="x86-64-v3", code=USAGE):
        self.nnc("compile", "network.onnx", "-o", "out", f"--target={target}",
                 "--tuning=a.tune", code=code, said=[problem])
        self.assertNotIn("out", self.names())

    def test_broken(self):
        self.check("^a.tune: error: cannot be read: No such file")
        (self.folder / "a.tune").write_bytes(b"\x00\xff" * 50)
        self.check("^a.tune:1:1: error: is not a tuning file")
        self.write("measured conv2d : conv2d_f32_portable : soon")
        self.check("^a.tune:4:1: error: expected 'measured LAYER")

    def test_foreign(self):
        self.write(isas="neon portable")
        self.check("^a.tune: error: was measured for neon portable; the target 'x86-64-v3' has avx2")
        isas = json.loads(self.nnc("targets", "--json"))
        (native,) = [row for row in isas if row["name"] == "native"]
        self.write(isas=" ".join(native["isas"]))
        self.check("^a.tune: error: was measured on a z80, this is a ", target="native")

    def test_unknown_lines(self):
        self.write("colour blue")
        done = subprocess.run([nnc.NNC, "check", "network.onnx", "--target=x86-64-v3",
                               "--no-build", "--tuning=a.tune"], cwd=self.folder, timeout=120,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "^a.tune:4:1: warning: begins with 'colour'.*left out\n$")

    def test_compiled_folder(self):
        self.write()
        self.nnc("compile", "network.onnx", "-o", "code")
        self.nnc("run", "code", "--tuning=a.tune", code=USAGE, said=["--tuning: code is compiled"])


if __name__ == "__main__":
    sys.exit(unittest.main())
