"""Tests help, tables, and the messages of nnc for requests that it cannot fulfil."""

import json
import resource
import subprocess
import sys
import unittest
from xml.etree import ElementTree

from onnx import TensorProto, helper

import nnc
from nnc import (BROKEN, COMMANDS, ENVIRONMENT, LACKING, OWN_FAULT, USAGE, model, value,
                 weights)


class Usage(nnc.TestCase):
    def test_help(self):
        text = self.nnc("--help", said=["^Exit codes: 0 done"])
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
            self.nnc(command, "--help", said=[f"^Usage: nnc {command}", "^Exit codes: 0 done"])

    def test_no_command(self):
        self.nnc(code=USAGE, said=["^Usage: nnc", "^  compile "])

    def test_unknown_command(self):
        self.nnc("foo", "model.onnx", code=USAGE,
                 said=[rf"^nnc: error: there is no command 'foo'; choose one of "
                       rf"{', '.join(COMMANDS)}; see nnc --help$"])

    def test_unknown_option(self):
        for command in COMMANDS:
            folder = ["-o", "out"] if command == "compile" else []
            self.nnc(command, "network.onnx", *folder, "--foo", code=USAGE,
                     said=[rf"^nnc: error: .*--foo.*; see nnc {command} --help$"])

    def test_missing_arguments(self):
        for command in ("compile", "check", "run", "verify", "bench", "tune", "explain",
                        "quantize", "compress"):
            self.nnc(command, code=USAGE, said=["MODEL is required"])
        self.nnc("compile", "network.onnx", code=USAGE, said=["--output is required"])

    def test_missing_file(self):
        for command in ("check", "run", "verify", "bench", "tune", "explain"):
            self.nnc(command, "no.onnx", code=USAGE, said=["no.onnx: error: there is no such file"])

    def test_did_you_mean(self):
        for arguments, meant in [
                (["complie", "network.onnx"], "compile"), (["chekc"], "check"),
                (["check", "network.onnx", "--taget=native"], "--target"),
                (["check", "network.onnx", "--weight", "file"], "--weights"),
                (["verify", "network.onnx", "--rnadom=2"], "--random"),
                (["check", "network.onnx", "--target=x86_64-v3"], "x86-64-v3"),
                (["check", "network.onnx", "--target=aarch46"], "aarch64"),
                (["target-probe", "--target=x86-64-v33"], "x86-64-v3"),
                (["check", "network.onnx", "--weights=files"], "file"),
                (["verify", "network.onnx", "--layouts=globel"], "global"),
                (["verify", "network.onnx", "--precision=fp16"], "f16"),
                (["routines", "--family=conv2"], "conv2d"),
                (["ops", "--frontend=onnxx"], "onnx"),
                (["compile", "network.onnx", "--package=zephir"], "zephyr"),
                (["compile", "network.onnx", "--pool=a:1K:sloww"], "slow"),
                (["quantize", "network.onnx", "--ops=Convv"], "Conv"),
                (["quantize", "network.onnx", "--method=minmx"], "minmax"),
                (["check", "network.onnx", "--limit=nods=5"], "nodes"),
                (["--qiet", "targets"], "--quiet"), (["manaul"], "manual"),
                (["explain", "network.onnx", "--layer=cnov1"], "conv1")]:
            self.nnc(*arguments, code=USAGE, said=[f"^nnc: error: .*; did you mean '{meant}'\\?"])
        # Nothing is like these.
        for arguments in (["frobnicate"], ["check", "network.onnx", "--target=quux"],
                          ["check", "network.onnx", "--frobnicate"]):
            self.assertNotIn("did you mean", subprocess.run(
                [nnc.NNC, *arguments], cwd=self.folder, capture_output=True, text=True).stderr)

    def test_names_of_inputs(self):
        node = helper.make_node
        self.save("two", model([node("Add", ["image", "offsets"], ["y"])],
                               [value("image", [2]), value("offsets", [2])], [value("y", [2])]))
        self.nnc("run", "two.onnx", "--input=imgae=a.npy", "--input=offsets=b.npy", code=USAGE,
                 said=["no input 'imgae'; it has image, offsets; did you mean 'image'\\?",
                       "^nnc: error: cannot read b.npy", "no data for input 'image'"])
        for option in "--shape=imagee=2", "--value=imagee=1,2":
            self.nnc("check", "two.onnx", option, code=USAGE,
                     said=["no input 'imagee'.*'image', 'offsets'; did you mean 'image'\\?"])
        self.nnc("check", "two.onnx", "--stream=offset=0", code=USAGE,
                 said=["no input 'offset' .*; did you mean 'offsets'\\?"])

    def test_names_of_operators(self):
        node = helper.make_node
        self.save("typo", model([node("Convv", ["x"], ["a"], "c"), node("Rellu", ["a"], ["b"], "r"),
                                 node("ZipMapp", ["b"], ["y"], "z", domain="ai.onnx.ml"),
                                 node("Frobnicate", ["y"], ["w"], "f")],
                                [value("x", [2])], [value("w", [2])], domains=["ai.onnx.ml"]))
        self.nnc("check", "typo.onnx", code=BROKEN,
                 said=["node 'c': .*'Convv'; did you mean 'Conv'\\?$",
                       "node 'r': .*'Rellu'; did you mean 'Relu'\\?$",
                       "node 'f': .*'Frobnicate'$"])
        self.save("own", model([node("ZeroOut", ["x"], ["y"], domain="own")],
                               [value("x", [2])], [value("y", [2])], domains=["own"]))
        (self.folder / "f.h").write_text("void f(void);\n")
        self.nnc("check", "own.onnx", "--custom=own::ZeroOutt:f.h", code=LACKING,
                 said=["'own::ZeroOutt', which the model does not use; operators that need one "
                       "are 'own::ZeroOut'; did you mean 'own::ZeroOut'\\?"])

    def test_all_errors_in_one_run(self):
        self.nnc("compile", "no.onnx", "--target=sparc", "--weights=paper", "--fooo", "1",
                 "--shape=x=one", "--shape=y=two", "--max-error=-1", "--name=int", code=USAGE,
                 said=[f"^nnc: error: .*{problem}.*see nnc compile --help$" for problem in (
                     "there is no target 'sparc'", "paper not in", "no option '--fooo'",
                     "'x=one' is not of the form", "'y=two' is not of the form", "--max-error",
                     "'int' is a word", "--output is required", "no.onnx: there is no such file")])
        self.nnc("run", "no.onnx", "--threads=0", "--output", code=USAGE,
                 said=["--threads", "no option '--output'; did you mean '--output-dir'",
                       "no.onnx: there is no such file"])
        self.nnc("--fooo", "report", "no.onnx", "--quiet", "--verbose", "--color=red", "--bar",
                 "--package=x", "--io=heap", "--limit=a=1", "--limit=nodes=x", code=USAGE,
                 said=["'--fooo'", "--quiet and --verbose exclude", "red not in", "'--bar'",
                       "'--package'", "heap not in", "'a=1' limits none", "'nodes=x' is not"])
        self.nnc("quantize", "no.onnx", "--ops=Convv,Reluu", "--method=x", "--percentile=1",
                 "--max-drop=x", code=USAGE,
                 said=["operator Convv; did", "x not in", "--percentile", "x is no share",
                       "--output is required", "--calibration is required"])
        # What the files hold is looked at only when the arguments are right.
        self.nnc("check", "no.onnx", "--tuning=no.tune", code=USAGE,
                 said=["^no.onnx: error: there is no such file", "no.tune"])

    def test_empty_values(self):
        """They are no values, and the next argument is none either."""
        before = (self.folder / "network.onnx").read_bytes()
        for line, option in [("report --output= network.onnx network.onnx", "--output=FILE.html"),
                             ("check --arena= network.onnx", "--arena=FILE.svg"),
                             ("compile network.onnx -o out --depfile= network.onnx",
                              "--depfile=FILE"),
                             ("check network.onnx --tuning= --quiet", "--tuning=FILE"),
                             ("bench network.onnx --runs=", "--runs=N")]:
            self.nnc(*line.split(), code=USAGE,
                     said=[f"the value of {option} is empty; see nnc {line.split()[0]} --help"])
        for line in ("compile network.onnx -o --threads=on", "compile network.onnx -o -q",
                     "compile network.onnx --output --", "compile network.onnx -o"):
            self.nnc(*line.split(), code=USAGE, said=["the value of --output=DIR is missing"])
            self.assertFalse([path for path in self.folder.iterdir() if path.name[0] == "-"])
        self.nnc("compile", "", "-o", "", code=USAGE,
                 said=["^nnc: error: MODEL: the name is empty", "of --output=DIR is empty"])
        self.nnc("manual", "", code=USAGE, said=["COMMAND: the name is empty"])
        self.assertEqual((self.folder / "network.onnx").read_bytes(), before)
        self.assertEqual(self.names(), ["network.onnx"])

    def test_no_numbers(self):
        for line in ("verify --tolerance", "bench --seconds", "report --seconds",
                     "quantize --percentile", "check --max-error"):
            command, option = line.split()
            for number in "nan", "-nan", "-1", "x":
                self.nnc(command, "network.onnx", f"{option}={number}", code=USAGE,
                         said=[f"^nnc: error: {option}: {number} is no number from "])

    def test_places_of_words(self):
        for line, *problems in [
                ("compile network.onnx --target=cortex-m44 -o", "of --output=DIR is missing",
                 "no target 'cortex-m44'"),
                ("--color compile network.onnx -o out --wrong",
                 r"--color=auto\|always\|never is missing in front of the command 'compile'",
                 "no option '--wrong'"),
                ("foo check network.onnx --bar", "no command 'foo'; choose", "'--bar'"),
                ("complie --help", "no command 'complie'; did you mean 'compile'\\? see nnc --help$"),
                ("quantize no.onnx --ops=Conf,MatMull", "'Conv'", "'MatMul'"),
                ("compile no.onnx -o a -o b", "--output is given more than once", "no.onnx"),
                ("check no.onnx --no-build=maybe", "--no-build takes no value", "no.onnx"),
                ("manual compile check", "'check' is one too many"),
                ("manual complie check", "'check' is one too many", "complie not in"),
                ("bench no.onnx --runs=0 --seconds=0", "0 not in", "--seconds"),
                ("check -- network.onnx --pin", "'--pin' is one too many")]:
            self.nnc(*line.split(), code=USAGE, said=problems)
        # Words of options: behind the letter, behind others, and arguments behind two dashes.
        self.nnc("compile", "-qo", "out", "--", "network.onnx")
        self.nnc("compile", "network.onnx", "-oother")
        self.assertEqual(self.names(), ["network.onnx", "other", "out"])

    def test_help_of_a_command(self):
        self.assertEqual(self.nnc("help", "compile"), self.nnc("compile", "--help"))
        self.assertEqual(self.nnc("help"), self.nnc("--help"))
        self.nnc("help", "complie", code=USAGE, said=["no command 'complie'; did you mean"])

    def test_values_of_options(self):
        for option, problem in [("--shape=x=1xfour", "not of the form INPUT=1x3x48x320"),
                                ("--shape=1x3x8x8", "not of the form"),
                                ("--weights=paper", "not in {embed,array,file}, and no file"),
                                ("--threads=maybe", "is not on, off or a number")]:
            self.nnc("check", "network.onnx", option, code=USAGE,
                     said=[rf"^nnc: error: {option.split('=')[0]}: .*{problem}.*nnc check --help$"])
        self.nnc("bench", "network.onnx", "--runs=0", code=USAGE, said=["--runs: .* 0 "])

    def test_shape(self):
        self.save("open", model([helper.make_node("Relu", ["x"], ["y"], "relu1")],
                                [value("x", ["N", 3])], [value("y", ["N", 3])]))
        self.save("wide", model([helper.make_node("Relu", ["x"], ["y"], "relu1")],
                                [value("x", ["N", "M"])], [value("y", ["N", "M"])]))
        self.nnc("check", "wide.onnx", code=USAGE, said=["wide.onnx: .*pass --shape x="])
        self.nnc("check", "open.onnx", "--shape", "x=2x4", code=USAGE, said=["'x'.*2x4"])
        self.nnc("check", "open.onnx", "--shape", "z=2x3", code=USAGE, said=["'z'.*'x'"])
        self.nnc("check", "open.onnx", "--shape", "x=2x3", "--no-build", said=["x: 2x3 of f32"])
        # Names of all options at once, and each once.
        for more in ["--value=v=1"], ["--stream=w=0"], ["--value=v=1", "--stream=w=0"]:
            said = subprocess.run([nnc.NNC, "check", "open.onnx", "--shape=z=2x3", *more],
                                  cwd=self.folder, capture_output=True, text=True).stderr
            for option in more + ["z=z="]:
                self.assertEqual(said.count(f"no input '{option.split('=')[1]}'"), 1, said)
            self.assertNotIn("other sizes may fit", said)

    def test_unknown_target(self):
        self.nnc("check", "network.onnx", "--target=sparc", code=USAGE,
                 said=["there is no target 'sparc'; choose one of native, aarch64, .*x86-64-v3"])

    def test_unknown_family(self):
        self.nnc("routines", "--family=foo", code=USAGE, said=["'foo'; choose one of .*conv2d"])

    def test_broken_model(self):
        (self.folder / "broken.onnx").write_bytes(b"not a model")
        for command in ("check", "run", "verify", "bench", "tune", "explain"):
            self.nnc(command, "broken.onnx", code=BROKEN, said=["^broken.onnx: error: "])


class ModuleNames(nnc.TestCase):
    """--name, and the name that a file gives: what both C and CMake can have."""

    def test_refused(self):
        for name, why, instead in [
                ("int", "is a word that C", "model_int"),
                ("class", "is a word that C", "model_class"),
                ("errno", "is the name of the header <errno.h>", "model_errno"),
                ("math", "is the name of the header <math.h>", "model_math"),
                ("String", "is the name of the header <string.h>", "model_String"),
                ("immintrin", "is the name of the header <immintrin.h>", "model_immintrin"),
                ("all", "is a name that CMake", "model_all"),
                ("m", "is a name that CMake", "model_m"),
                ("NULL", "looks like a macro", "null"), ("nnc_runtime", "belongs to nnc", "model_"),
                ("\u00fcn\u00ee", "is no identifier", "uni"), ("a b", "is no identifier", "a_b"),
                ("2x", "is no identifier", "model_2x"), ("_x", "is no identifier", "x"),
                ("x" * 41, "is longer than 40", "x" * 40)]:
            self.nnc("compile", "network.onnx", "-o", "out", f"--name={name}", code=USAGE,
                     said=[f"^nnc: error: --name: '{name}' {why}.*; try --name={instead}"])
            self.assertFalse((self.folder / "out").exists())
        self.nnc("compile", "network.onnx", "-o", "out", "--name=", code=USAGE, said=["--name"])

    def test_made_and_said(self):
        for stem, name in [("math", "model_math"), ("string", "model_string"), ("int", "model_int"),
                           ("\u00fcn\u00ee", "uni"), ("\u65e5\u672c", "model"), ("m", "model_m"),
                           ("RESNET", "resnet"), ("linux", "model_linux")]:
            self.save(stem, nnc.network())
            done = subprocess.run([nnc.NNC, "compile", f"{stem}.onnx", "-o", stem],
                                  cwd=self.folder, capture_output=True, text=True, check=True)
            self.assertRegex(done.stderr, f"nnc: warning: .*{stem}.onnx: .*'{name}'.*--name=")
            self.assertIn(f"{name}_run()", done.stdout)
            self.assertIn(f"{name}.h", self.names(stem))
        # A dash is no surprise; the summary has the name.
        self.save("resnet-50 v1.5", nnc.network())
        done = subprocess.run([nnc.NNC, "compile", "resnet-50 v1.5.onnx", "-o", "plain"],
                              cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        self.assertIn("resnet_50_v1_5_run()", done.stdout)

    def test_built(self):
        """Functions of the C library's names, macros in lower case, words that begin so."""
        for name in ("memset", "write", "index", "gamma", "size_max", "int8", "model_math"):
            self.nnc("compile", "network.onnx", "-o", name, f"--name={name}", "--target=portable",
                     "--threads=on")
            (self.folder / name / "user.c").write_text(
                "#include <string.h>\n#include <math.h>\n#include <unistd.h>\n"
                f'#include "{name}.h"\n')
            for compiler in ("g++", "clang++-19"):
                subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I.",
                                "-fsyntax-only", f"{name}.cpp"], cwd=self.folder / name, check=True)
            subprocess.run(["gcc", "-I.", "-fsyntax-only", "user.c"], cwd=self.folder / name,
                           check=True)


class Environment(nnc.TestCase):
    """A full disk is neither nnc's fault nor the user's."""

    def limited(self, size, *arguments):
        """nnc where no file may be larger than so many bytes."""
        return subprocess.run(
            [nnc.NNC, *arguments], cwd=self.folder, capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))

    def test_full_stdout(self):
        for arguments in (["ops"], ["ops", "--json"], ["targets"], ["routines"], ["--help"],
                          ["check", "--help"], ["--version"],
                          ["compile", "network.onnx", "-o", "out"],
                          ["explain", "network.onnx", "--json"], ["check", "no.onnx", "--json"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([nnc.NNC, *arguments], cwd=self.folder, stdout=full,
                                      stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, ENVIRONMENT, (arguments, done.stderr))
            self.assertIn("nnc: error: cannot write to standard output: No space left on device",
                          done.stderr)

    def test_full_stderr(self):
        with open("/dev/full", "w") as full:
            self.assertEqual(subprocess.run([nnc.NNC, "foo"], stderr=full).returncode, USAGE)

    def test_full_disk(self):
        self.nnc("compile", "network.onnx", "-o", "old")
        before = {p: p.read_bytes() for p in (self.folder / "old").iterdir()}
        # The header fits, the source does not; then not even that.
        for size in (4096, 0):
            for out in ("old", "new"):
                done = self.limited(size, "compile", "network.onnx", "-o", out, "--name=other")
                self.assertEqual(done.returncode, ENVIRONMENT, done.stderr)
                self.assertRegex(done.stderr, "error: cannot write '.*': File too large")
                self.assertNotIn("bug", done.stderr)
        self.assertEqual({p: p.read_bytes() for p in (self.folder / "old").iterdir()}, before)
        self.assertEqual(self.names(), ["network.onnx", "old"])

    def test_full_temporary_folder(self):
        for command in ("check", "verify", "bench"):
            done = self.limited(4096, command, "network.onnx")
            self.assertEqual(done.returncode, ENVIRONMENT, done.stderr)

    def test_full_outputs(self):
        nnc.np.save(self.folder / "x.npy", nnc.network_input())
        self.nnc("compile", "network.onnx", "-o", "code")
        (self.folder / "out").mkdir()
        (self.folder / "out" / "y.npy").symlink_to("/dev/full")
        self.nnc("run", "code", "--input=x.npy", "--output-dir=out", code=ENVIRONMENT,
                 said=["^nnc: error: cannot write out/y.npy: No space left on device"])
        self.nnc("tune", "network.onnx", "-o", "/dev/full", "--budget=0s", "--cache=none",
                 code=ENVIRONMENT, said=["cannot write /dev/full: No space left"])


class Check(nnc.TestCase):
    def test_sizes(self):
        self.nnc("check", "network.onnx", said=[
            "^network.onnx: nothing wrong, for native$", "input +x: 1x3x8x8 of f32",
            "output +y: 1x10 of f32", "arena .*bytes", "weights .*bytes", "code .*bytes"])
        said = json.loads(self.nnc("check", "network.onnx", "--target=x86-64-v3", "--no-build",
                                   "--json"))
        self.assertTrue(said["ok"])
        self.assertEqual(said["target"], "x86-64-v3")
        self.assertGreater(said["source_bytes"], 0)
        self.assertGreaterEqual(said["arena_bytes"], said["lower_bound_bytes"])

    def test_arena(self):
        """What holds the peak, and a picture with a box for each place."""
        self.nnc("compile", "network.onnx", "-o", "code", "--target=portable")
        manifest = json.loads((self.folder / "code" / "manifest.json").read_text())
        places, layers = manifest["arena"], manifest["layers"]
        use = [set() for _ in layers]
        for place in places:
            for layer in range(place["first"], place["last"] + 1):
                use[layer].update(range(place["offset"], place["offset"] + place["bytes"]))
        most = max(map(len, use))
        on = ("network.onnx", "--target=portable", "--no-build")
        said = json.loads(self.nnc("check", *on, "--json"))
        self.assertEqual(said["peak"]["bytes"], most)
        self.assertEqual(said["peak"]["layer"], layers[[*map(len, use)].index(most)]["name"])
        self.assertLessEqual({place["name"] for place in said["peak"]["places"]},
                             {place["name"] for place in places})
        self.nnc("check", *on, "--arena=arena.svg",
                 said=[f"^  peak +{most} bytes at layer [0-9]+, {said['peak']['layer']}: "])
        drawn = ElementTree.parse(self.folder / "arena.svg").getroot()
        titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(len(titles), len(places) + 1)  # and the peak
        for place in places:
            self.assertIn("{name}: {bytes} bytes at {offset}, layers {first} to {last}"
                          .format(**place), titles)
        self.nnc("check", *on, "--arena=none/arena.svg", code=USAGE,
                 said=["cannot write none/arena.svg.*No such file"])

    def test_code_that_does_not_build(self):
        (self.folder / "broken++").write_text("#!/bin/sh\n"
                                              "echo note: in a file >&2\n"
                                              "echo 'x.cpp:1:2: error: no such thing' >&2\n"
                                              "exit 1\n")
        (self.folder / "broken++").chmod(0o755)
        compiler = f"--compiler={self.folder}/broken++"
        self.nnc("check", "network.onnx", compiler, code=OWN_FAULT,
                 said=["error: the emitted code does not build, .*: x.cpp:1:2: error: no such thing"])
        self.assertNotIn("nothing wrong", self.nnc("check", "network.onnx", compiler, "--json",
                                                   code=OWN_FAULT))
        self.nnc("check", "network.onnx", "--compiler=no-such-compiler",
                 said=["nothing wrong", "source .*bytes"])

    def test_every_problem_in_one_run(self):
        node = helper.make_node
        self.save("problems", model(
            [node("Lacking", ["x"], ["a"], "boxes", domain="com.example"),
             node("Magic", ["x"], ["b"], "magic", domain="com.example"),
             node("Conv", ["x", "w"], ["c"], "volume")],
            [value("x", [1, 1, 4, 4, 4, 4])],
            [value("a", ["n", 3], TensorProto.INT64), value("b", [1]),
             value("c", [1, 1, 4, 4, 4, 4])], [weights("w", 1, 1, 1, 1, 1, 1)],
            domains=["com.example"]))
        problems = {"boxes": "com.example.Lacking", "magic": "com.example.Magic",
                    "volume": "4 spatial axes"}
        self.nnc("check", "problems.onnx", code=LACKING, said=[
            rf"^problems.onnx: error: node '{name}': .*{text}" for name, text in problems.items()])
        done = json.loads(self.nnc("check", "problems.onnx", "--json", code=LACKING))
        self.assertEqual(done["exit_code"], LACKING)
        self.assertEqual({p["node"] for p in done["problems"]}, set(problems))


class Explain(nnc.TestCase):
    def test_layers(self):
        self.nnc("explain", "network.onnx", "--target=x86-64-v3", said=["conv1", "conv2d_f32_"])
        said = json.loads(self.nnc("explain", "network.onnx", "--layer=conv1", "--json"))
        self.assertIn("conv1", json.dumps(said))
        self.nnc("explain", "network.onnx", "--dot", said=["^digraph "])

    def test_explain_with_other_constants(self):
        def estimates():
            said = json.loads(self.nnc("explain", "network.onnx", "--target=x86-64-v3", "--all",
                                       "--layer=conv1", "--json", *options))
            return {(one["routine"], *one["params"]): one["estimate_seconds"]
                    for one in said["layers"][0]["alternatives"]}
        options = []
        usual = estimates()
        file = self.folder / "costs.inc"
        options = ["--costs=costs.inc"]
        file.write_text("NNC_COST(avx2, peak_share, 0.01)\n")
        slow = estimates()
        self.assertEqual(usual.keys(), slow.keys())
        changed = {call[0].rsplit("_", 1)[1] for call in usual if usual[call] != slow[call]}
        self.assertEqual(changed, {"avx2"})
        file.write_text("NNC_COST(avx2, peek_share, 1)\n")
        self.nnc("explain", "network.onnx", *options, code=USAGE,
                 said=[r"costs.inc: line 1: expected NNC_COST\(.*found '.*peek_share"])
        self.nnc("explain", "network.onnx", "--costs=none.inc", code=USAGE, said=["none.inc: "])


class Tables(nnc.TestCase):
    def test_ops(self):
        self.nnc("ops", said=["^operator +opsets +limits$", "^Conv +1 to "])
        listed = self.nnc("ops", "--frontend=tflite", said=["^CONV_2D +all"])
        self.assertNotIn("ConvTranspose", listed)
        listed = self.nnc("ops", "--frontend=onnx", said=["^Conv +1 to "])
        self.assertNotIn("CONV_2D", listed)
        listed = self.nnc("ops", "--frontend=caffe", said=["^InnerProduct +all"])
        self.assertNotIn("MatMul", listed)
        self.nnc("ops", "--frontend=darknet", code=USAGE, said=["darknet"])
        names = {op["name"] for op in json.loads(self.nnc("ops", "--json"))}
        self.assertLessEqual({"Conv", "MatMul", "Softmax"}, names)

    def test_targets(self):
        self.nnc("targets", said=["^target +triple ", "^native ", "^aarch64 .*qemu-aarch64$"])
        rows = {row["name"]: row for row in json.loads(self.nnc("targets", "--json"))}
        self.assertIn("avx2", rows["x86-64-v3"]["isas"])

    def test_routines(self):
        self.nnc("routines", said=["^family +routine ", "^conv2d "])
        of_family = json.loads(self.nnc("routines", "--family=softmax", "--json"))
        self.assertEqual({routine["family"] for routine in of_family}, {"softmax"})


if __name__ == "__main__":
    sys.exit(unittest.main())
