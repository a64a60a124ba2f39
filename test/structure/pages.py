"""Checks that every link in a page leads to an existing file and heading, and that every path
from the top of the tree exists. The README must be short."""

import posixpath
import re
import sys

import tree

LINES = 300
FOLDERS = "codegen|compiler|dialects|examples|frontends|runtime|scripts|test"
# Parts of paths that stand for any name.
EXAMPLES = re.compile(r"\b(?:X|x|BOARD|do-thing)\b")
LINK = re.compile(r"\]\(([^)\s:]*)\)")
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./-]+)`")


def anchors(text):
    """The anchors of headings, as GitHub and GitLab form them."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def find_problems(root=tree.ROOT):
    pages = {str(path): (root / path).read_text() for path in tree.files("*.md")}
    for name, text in pages.items():
        for link in LINK.findall(text):
            path, _, anchor = link.partition("#")
            to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if not (root / to).exists():
                yield f"{name}: links to {link}, which is not there"
            elif anchor and anchor not in anchors(pages.get(to, "")):
                yield f"{name}: links to {link}, but {to} has no such heading"
        if name == "CHANGELOG.md":  # tells of files that were
            continue
        for path in PATH.findall(text):
            if not (root / path).exists() and not EXAMPLES.search(path):
                yield f"{name}: names {path}, which is not there"
    lines = pages["README.md"].count("\n")
    if lines > LINES:
        yield f"README.md: has {lines} lines; move reference to the pages that it leads to ({LINES})"


def main():
    assert anchors("# A `b`, c-d\n```\n# no\n```\n## RISC-V: x\n") == {"a-b-c-d", "risc-v-x"}
    found = list(find_problems())
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
