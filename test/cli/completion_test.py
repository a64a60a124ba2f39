"""Tests nnc completion: bash, zsh and fish offer what --help lists, and nothing else."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import nnc
from nnc import COMMANDS, USAGE, options_of_help

FILES = ("model.onnx", "net.tflite", "x.npy", "probe.txt", "with blank.onnx", "UPPER.ONNX")
# Prints the arguments that it is called with, in the place of nnc.
PRINT = "nnc() { printf '<%s>' \"$@\"; printf '\\nran\\n'; }\n"


class Terminal:
    """A shell with simulated keyboard input."""

    def __init__(self, command, folder, **environment):
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.chdir(folder)
            os.execvpe(command[0], command, {**os.environ, "TERM": "xterm", **environment})

    def type(self, text, until):
        """The output of the shell after typing the text, up to a match of the expression."""
        os.write(self.terminal, text.encode())
        printed, end = "", time.monotonic() + 20
        while not re.search(until, printed):
            if time.monotonic() > end:
                raise AssertionError(f"{text!r}: no {until!r} in {printed!r}")
            if select.select([self.terminal], [], [], 1)[0]:
                printed += os.read(self.terminal, 4096).decode(errors="replace")
        return printed

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.close(self.terminal)
        os.waitpid(self.process, 0)


class TestCase(nnc.TestCase):
    shell = ""

    def setUp(self):
        super().setUp()
        if not self.shell:
            self.skipTest("what the shells have in common")
        if not shutil.which(self.shell):
            self.skipTest(f"{self.shell} is missing; scripts/setup installs it")
        self.script = self.folder / f"nnc.{self.shell}"
        self.script.write_text(self.nnc("completion", self.shell))
        (self.folder / "network.onnx").unlink()
        self.work = self.folder / "work"
        self.work.mkdir()
        for name in FILES:
            (self.work / name).write_text("")
        (self.work / "folder").mkdir()

    def offers(self, line):
        """The set of what the shell offers at the end of a line, without what it has already."""
        raise NotImplementedError

    def check(self, line, *expected):
        self.assertEqual(self.offers(line), set(expected), line)

    def test_syntax(self):
        subprocess.run([self.shell, "-n", self.script], check=True)

    def test_commands(self):
        self.check("nnc ", *COMMANDS)
        self.check("nnc ch", "check")
        self.check("nnc manual ", *COMMANDS)

    def test_options(self):
        """Every option of --help, and nothing else."""
        for command in ("", *COMMANDS):
            options, _ = options_of_help(self.nnc(*filter(None, [command]), "--help"))
            self.check(f"nnc {command} -".replace("  ", " "), *options)

    def test_words(self):
        targets = [row["name"] for row in json.loads(self.nnc("targets", "--json"))]
        self.check("nnc compile --target ", *targets)
        self.check("nnc compile model.onnx --target=", *targets)
        self.check("nnc check --target=cortex-m5", "cortex-m55")
        self.check("nnc compile --package=", "none", "zephyr", "esp-idf", "platformio", "arduino")
        self.check("nnc bench --layouts ", "plain", "local", "fixed", "global")
        self.check("nnc completion ", "bash", "zsh", "fish")
        self.check("nnc ops --frontend=t", "tensorflow", "tflite")
        self.check("nnc compile --threads ", "on", "off")
        self.check("nnc compile --max-error ")
        self.check("nnc compile --limit=n", "nodes=")
        families = {row["family"] for row in json.loads(self.nnc("routines", "--json"))}
        self.check("nnc routines --family ", *families)

    def test_files(self):
        models = {name for name in FILES if name.lower().endswith(("onnx", "tflite"))}
        self.check("nnc compile ", *models, "folder")
        self.check("nnc compile --target native ", *models, "folder")
        self.check("nnc compile --json -q --target=native n", "net.tflite")
        self.check("nnc bench --probe ", *FILES, "folder")
        self.check("nnc compile -o ", "folder")
        self.check("nnc run model.onnx --output-dir=", "folder")

    def test_dashes(self):
        """Behind two of them there are arguments alone."""
        (self.work / "-dash.onnx").write_text("")
        models = {name for name in FILES if name.lower().endswith(("onnx", "tflite"))}
        models.add("-dash.onnx")
        self.check("nnc compile -- ", *models, "folder")
        self.check("nnc compile -- -", "-dash.onnx")
        self.check("nnc compile --target native -- n", "net.tflite")

    def test_other_shells(self):
        self.nnc("completion", "tcsh", code=USAGE, said=["SHELL: tcsh not in {bash,zsh,fish}"])
        self.nnc("completion", "fishh", code=USAGE, said=["did you mean 'fish'"])
        self.nnc("completion", code=USAGE, said=["SHELL is required"])


class Bash(TestCase):
    shell = "bash"

    def offers(self, line, breaks="=:"):
        """Calls the function with the words into which readline cuts the line."""
        words = []
        for word in line.split(" "):
            words += [part for part in re.split(f"([{breaks}]+)", word) if part] or [""]
        words = [word for i, word in enumerate(words) if word or i == len(words) - 1]
        script = (f"source {self.script}\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n_nnc\n"
                  "printf '%s\\n' \"${COMPREPLY[@]}\"\n")
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words], cwd=self.work,
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "", line)
        # Long options that take a value go on behind a '='.
        return {re.sub("^(--.*)=$", r"\1", word) for word in done.stdout.splitlines() if word}

    def test_parts_of_a_value(self):
        self.check("nnc run model.onnx --input ")
        self.check("nnc run model.onnx --input=x", )
        self.check("nnc run model.onnx --input=x=", "x.npy", "folder")
        self.check("nnc run model.onnx --input x=x", "x.npy")
        self.check("nnc quantize model.onnx --ops Conv,Gem", "Conv,Gemm")
        self.assertIn("ssh:", self.offers("nnc tune --on ss"))
        # Behind the model there are options alone.
        self.assertIn("--target", self.offers("nnc compile model.onnx "))

    def test_words_that_are_not_cut(self):
        """With other COMP_WORDBREAKS the whole argument is replaced."""
        self.assertEqual(self.offers("nnc compile --package=ar", "!"), {"--package=arduino"})
        self.assertEqual(self.offers("nnc run --input=x=x.n", "!"), {"--input=x=x.npy"})
        self.assertEqual(self.offers("nnc quantize --ops=Conv,Gem", "!"), {"--ops=Conv,Gemm"})

    def test_typed(self):
        """In bash itself, which runs the line that it has completed."""
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], self.work)
        self.addCleanup(terminal.close)
        terminal.type(f"{PRINT}source {self.script}; echo rea''dy\n", "ready")
        self.assertIn("<compile><with blank.onnx><--target=cortex-m55><-o><folder/>",
                      terminal.type("nnc comp\b\b\b\bcompil\tw\t--targ\tcortex-m5\t-o f\t\n", "ran"))


class Zsh(TestCase):
    shell = "zsh"

    def setUp(self):
        super().setUp()
        home = self.folder / "home"
        home.mkdir()
        self.found = self.folder / "found"
        # Matches go to a file; where others ask which there would be, they are not offered.
        (home / ".zshrc").write_text(PRINT + f"""
PS1= RPS1=
autoload -Uz compinit
compinit -D -u
source {self.script}
unsetopt automenu
LISTMAX=100000
compadd() {{
  if [[ ${{@[1,(i)(-|--)]}} != *-[OAD]\\ * ]]; then
    local -a matches
    builtin compadd -O matches "$@"
    print -rl -- $matches >> {self.found}
  fi
  builtin compadd "$@"
}}
offer() {{ zle complete-word; zle kill-whole-line; print offered >> {self.found} }}
zle -N offer
bindkey '^I' complete-word
bindkey '^T' offer
echo rea''dy
""")
        self.terminal = Terminal(["zsh", "-i"], self.work, ZDOTDIR=str(home))
        self.addCleanup(self.terminal.close)
        self.terminal.type("", "ready")

    def offers(self, line):
        self.found.write_text("")
        self.terminal.type(line + "\x14echo of''fered\n", "offered\r")
        found = [word for word in self.found.read_text().split("\n") if word != "offered"]
        return {word.rstrip("/").replace("\\ ", " ") for word in found if word}

    def test_parts_of_a_value(self):
        self.check("nnc run model.onnx --input=x=", "x.npy", "folder")
        self.check("nnc run model.onnx --input x=x", "x.npy")
        self.check("nnc quantize model.onnx --ops Conv,Gem", "Gemm")

    def test_typed(self):
        self.assertIn("<compile><with blank.onnx><--target=cortex-m55><-o><folder>",
                      self.terminal.type("nnc compil\tw\t--targ\tcortex-m5\t-o f\t\n", "ran"))

    def test_loaded_by_its_name(self):
        """As _nnc in a folder of zsh's functions."""
        folder = self.folder / "functions"
        folder.mkdir()
        shutil.copy(self.script, folder / "_nnc")
        home = self.folder / "other"
        home.mkdir()
        (home / ".zshrc").write_text(f"{PRINT}PS1=\nfpath=({folder} $fpath)\nautoload -Uz compinit\n"
                                     "compinit -D -u\necho rea''dy\n")
        terminal = Terminal(["zsh", "-i"], self.work, ZDOTDIR=str(home))
        self.addCleanup(terminal.close)
        terminal.type("", "ready")
        self.assertIn("<explain><net.tflite>", terminal.type("nnc expl\tn\t\n", "ran"))


class Fish(TestCase):
    shell = "fish"

    def test_parts_of_a_value(self):
        self.check("nnc quantize model.onnx --ops Conv,Gem", "Conv,Gemm")
        self.check("nnc quantize model.onnx --ops=Conv,Gem", "Conv,Gemm")

    def offers(self, line):
        home = tempfile.mkdtemp(dir=self.folder)
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {self.script}; complete -C '{line}'"],
            cwd=self.work, capture_output=True, text=True, check=True,
            env={**os.environ, "HOME": home})
        self.assertEqual(done.stderr, "", line)
        found = set()
        for row in done.stdout.splitlines():
            word = row.split("\t")[0].rstrip("/")
            # It offers --target=native for --target=.
            if (last := line.split(" ")[-1]).startswith("--") and "=" in last:
                word = word.removeprefix(last.split("=")[0] + "=")
            found.add(word)
        return found


if __name__ == "__main__":
    sys.exit(unittest.main())
