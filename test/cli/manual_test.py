"""Tests nnc manual: man reads the pages without a warning, and they say the same as --help."""

import fcntl
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
import unittest

import nnc
from nnc import COMMANDS, ROOT, USAGE, options_of_help
from exit_codes import CODES  # noqa: E402, found by nnc


def section(page, name):
    return re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH|\Z)", page, re.MULTILINE | re.DOTALL)[1]


def plain(text):
    """A line of roff without markup."""
    text = re.sub(r"\\f[BIR]", "", text)
    for mark, character in ((r"\-", "-"), (r"\(aq", "'"), (r"\(ti", "~"), (r"\(ha", "^"),
                            (r"\e", "\\")):
        text = text.replace(mark, character)
    return text


def items(page, name):
    """The term and the text of each paragraph of a section."""
    return [(plain(head), plain(text)) for head, text in re.findall(
        r"^\.TP\n(.*)\n(.*)$", section(page, name), re.MULTILINE)]


class Manual(nnc.TestCase):
    def pages(self):
        for command in ("", *COMMANDS):
            yield command, self.nnc("manual", *filter(None, [command]))

    def test_options(self):
        """Every option of --help and its help, and nothing else."""
        for command, page in self.pages():
            text = self.nnc(*filter(None, [command]), "--help")
            options, arguments = options_of_help(text)
            rows = items(page, "OPTIONS")
            names = [name for head, _ in rows for name in re.findall(r"(?<![\w-])--?[\w-]+", head)]
            self.assertEqual(sorted(names), sorted(options), command)
            self.assertEqual([head for head, _ in rows if head[0] != "-"], arguments, command)
            for _, told in rows:
                self.assertIn(told[:-1], " ".join(text.split()), command)
            for argument in arguments:
                self.assertIn(argument, plain(section(page, "SYNOPSIS")))

    def test_commands(self):
        page = self.nnc("manual")
        names = [head for head, _ in items(page, "COMMANDS")]
        self.assertEqual(names, [f"nnc-{command}(1)" for command in COMMANDS])
        text = self.nnc("--help")
        for _, summary in items(page, "COMMANDS"):
            self.assertIn(summary[:-1], text)

    def test_heads(self):
        """The date is that of the newest release, and names stand in front of summaries once."""
        date = re.search(r"^## [\d.]+, ([\d-]+)$", (ROOT / "CHANGELOG.md").read_text(),
                         re.MULTILINE)[1]
        for _, page in self.pages():
            self.assertIn(f' 1 "{date}" "nnc ', page)
            self.assertNotIn("\\- nnc", section(page, "NAME"))
        variables = [head for head, _ in items(self.nnc("manual"), "ENVIRONMENT")]
        self.assertEqual(variables, ["CXX", "NO_COLOR", "TERM", "TMPDIR", "XDG_CACHE_HOME"])

    def test_exit_codes(self):
        """The table of the README, whose first words are in help."""
        table = re.findall(r"^\| (\d) \| (.*) \|$", (ROOT / "README.md").read_text(),
                           re.MULTILINE)
        table = [row for row in table if row[0] in map(str, CODES)]
        for command, page in self.pages():
            self.assertEqual(items(page, "EXIT STATUS"), [(n, t + ".") for n, t in table], command)
        footer = " ".join(self.nnc("--help").split("Exit codes: ")[1].split())
        self.assertEqual(footer, ", ".join(f"{n} {t.split(':')[0]}" for n, t in table) + ".")

    def test_formatters(self):
        """Programs that read such pages find nothing wrong with them."""
        for command, page in self.pages():
            for tool in (["groff", "-man", "-ww", "-z", "-Tutf8"],
                         ["mandoc", "-Tlint", "-Wwarning"]):
                if not shutil.which(tool[0]):
                    print(f"skipped: {tool[0]} is missing; scripts/setup installs it")
                    continue
                done = subprocess.run(tool, input=page, capture_output=True, text=True)
                self.assertEqual(done.stdout + done.stderr, "", f"{tool[0]} {command}")

    def test_examples(self):
        """They are command lines that nnc takes, of files that are not there."""
        count = 0
        for command, page in self.pages():
            if "\n.SH EXAMPLES\n" not in page:
                continue
            for line, _ in items(page, "EXAMPLES"):
                words = shlex.split(re.sub(r"^source <\((.*)\)$| [|>] .*$", r"\1", line))
                self.assertEqual(words[:2], ["nnc", command])
                count += 1
                done = subprocess.run([nnc.NNC, *words[1:]], cwd=self.folder, capture_output=True,
                                      text=True)
                if done.returncode:
                    self.assertEqual(done.returncode, USAGE, line)
                    for problem in done.stderr.splitlines():
                        self.assertRegex(problem, "there is no such file|no such file|cannot be "
                                         "read|ssh|no folder|there is no", line)
                        self.assertNotRegex(problem, "--help", line)
        self.assertGreater(count, 15)

    def test_folder(self):
        self.nnc("manual", "--output-dir", "pages")
        self.assertEqual(self.names("pages"),
                         sorted(["nnc.1", *(f"nnc-{command}.1" for command in COMMANDS)]))
        for command, page in self.pages():
            name = "-".join(filter(None, ["nnc", command]))
            self.assertEqual((self.folder / "pages" / f"{name}.1").read_text(), page)
        self.nnc("manual", "compile", "--output-dir", "pages", code=USAGE,
                 said=["--output-dir is for the pages of all commands; leave out compile"])
        self.nnc("manual", "--output-dir", "network.onnx/pages", code=USAGE,
                 said=["network.onnx/pages: Not a directory"])

    def on_terminal(self, columns, *arguments):
        """What nnc prints to a terminal of so many columns."""
        terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        process = subprocess.Popen([nnc.NNC, *arguments], stdout=end,
                                   env={**os.environ, "TERM": "xterm"})
        os.close(end)
        parts = []
        try:
            while part := os.read(terminal, 4096):
                parts.append(part)
        except OSError:  # all have closed it
            pass
        self.assertEqual(process.wait(), 0)
        os.close(terminal)
        return b"".join(parts).decode().replace("\r\n", "\n")

    def test_terminal(self):
        """There a page is text, in lines that fit, with the words of the page."""
        for command in "", "check":
            page = self.nnc("manual", *filter(None, [command]))
            for columns in 60, 200:
                text = self.on_terminal(columns, "manual", *filter(None, [command]))
                self.assertIn("\x1b[1m", text)
                text = re.sub(r"\x1b\[\d*m", "", text)
                self.assertNotRegex(text, r"(?m)^\.|\\f|\\-|\\\(")
                words = " ".join(text.split())
                for head, told in items(page, "OPTIONS"):
                    self.assertIn(f"{head} {told}", words)
                long = [line for line in text.splitlines()
                        if len(line) > min(columns, 100) and len(line.split()) > 1]
                self.assertEqual(long, [])
            self.assertIn("SEE ALSO\n       nnc", text)

    def test_unknown_command(self):
        self.nnc("manual", "complie", code=USAGE, said=["did you mean 'compile'"])


if __name__ == "__main__":
    sys.exit(unittest.main())
