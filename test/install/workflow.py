"""Reads the part of YAML that templates of CI are written in, and refuses the rest: blocks of
keys and of lists, literal texts, lists in brackets, and plain words over several lines."""

import re


def read(path):
    lines = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if "\t" in line:
            raise ValueError(f"{path}:{number}: a tab")
        lines.append((len(line) - len(line.lstrip()), line.strip(), line))
    value, rest = _block(_skip(lines), 0)
    if _skip(rest):
        raise ValueError(f"{path}: cannot read {_skip(rest)[0][2]!r}")
    return value


def _skip(lines):
    """Leaves out empty lines and comments in front."""
    while lines and (not lines[0][1] or lines[0][1].startswith("#")):
        lines = lines[1:]
    return lines


def _block(lines, indent):
    return (_list if lines[0][1].startswith("- ") else _mapping)(lines, indent)


def _mapping(lines, indent):
    found = {}
    while (lines := _skip(lines)) and lines[0][0] == indent and not lines[0][1].startswith("- "):
        key, text = re.fullmatch(r"([\w-]+):(?: (.*))?", lines[0][1]).groups()
        if key in found:
            raise ValueError(f"{key} is there twice")
        found[key], lines = _value(text or "", lines[1:], indent)
    return found, lines


def _list(lines, indent):
    found = []
    while (lines := _skip(lines)) and lines[0][0] == indent and lines[0][1].startswith("- "):
        text = lines[0][1][2:]
        if re.match(r"[\w-]+:( |$)", text):
            # A mapping whose first key is on the line of the dash.
            inner = [(indent + 2, text, " " * (indent + 2) + text), *lines[1:]]
            item, lines = _mapping(inner, indent + 2)
        else:
            item, lines = _value(text, lines[1:], indent)
        found.append(item)
    return found, lines


def _value(text, lines, indent):
    if text == "|":
        return _literal(lines, indent)
    if not text:
        lines = _skip(lines)
        return _block(lines, lines[0][0])
    # A plain text goes on in lines that are indented further.
    while lines and lines[0][1] and lines[0][0] > indent:
        text += " " + lines[0][1]
        lines = lines[1:]
    if text.startswith("[") and text.endswith("]"):
        return [word.strip() for word in text[1:-1].split(",")], lines
    if re.search(r"^[&*!>%@`\"'{}\[\]]|: | #", text):
        raise ValueError(f"{text!r} is more of YAML than templates need")
    return text, lines


def _literal(lines, indent):
    inner = lines[0][0]
    if inner <= indent:
        raise ValueError("an empty text")
    taken = []
    while lines and (not lines[0][1] or lines[0][0] >= inner):
        taken.append(lines[0][2][inner:])
        lines = lines[1:]
    return "\n".join(taken).rstrip("\n") + "\n", lines
