"""Checks that each discardable attribute is named once, in the .td file of its dialect, and
that it has a rule. test/dialects/DIALECT/attributes-invalid.mlir has an attribute that violates
the rule."""

import re
import sys

import tree

# The dialect target, which knows no other one, spells the attribute that holds its machine.
OTHER_SPELLINGS = {"dialects/target/Target.h": "target"}
FOLDERS = ("codegen", "compiler", "dialects", "frontends")


def declared(dialect):
    """The attributes that the .td file of the dialect declares."""
    text = (tree.ROOT / f"dialects/{dialect}/{dialect.capitalize()}Dialect.td").read_text()
    declaration, = re.findall(r"discardableAttrs = \(ins(.*?)\n  \);", text, re.DOTALL)
    return re.findall(r'^ *"[\w:]+":\$(\w+)', declaration, re.MULTILINE)


def constant(name):
    return "k" + "".join(word.capitalize() for word in name.split("_")) + "Attr"


def check(dialect):
    rules_file, = (tree.ROOT / f"dialects/{dialect}").rglob(
        f"{dialect.capitalize()}AttributeRules.cpp")
    rules = rules_file.read_text()
    table = re.findall(r"\{(k\w+Attr), ", rules)
    names = declared(dialect)
    yield from (f"{dialect}.{name} has no rule" for name in names if constant(name) not in table)
    if table != sorted(table):
        yield f"the rules of {dialect} are not sorted"
    invalid = (tree.ROOT / f"test/dialects/{dialect}/attributes-invalid.mlir").read_text()
    for name in names:
        errors = re.findall(rf"expected-error.*'{dialect}\.{name}'", invalid)
        if len([error for error in errors if "which is not an attribute" not in error]) < 2:
            yield (f"attributes-invalid.mlir of {dialect} lacks a wrong value or a wrong place of "
                   f"'{dialect}.{name}'")
    literal = re.compile(rf'"{dialect}\.({"|".join(names)})"')
    for folder in FOLDERS:
        for path in sorted((tree.ROOT / folder).rglob("*")):
            if path.suffix in {".cpp", ".h", ".inc"}:
                name = str(path.relative_to(tree.ROOT))
                for found in literal.finditer(path.read_text()):
                    if OTHER_SPELLINGS.get(name) == found[1]:
                        continue
                    yield (f"{name} spells '{dialect}.{found[1]}'; write "
                           f"{constant(found[1])}")


def main():
    problems = [problem for dialect in ("exec", "nn", "qnn") for problem in check(dialect)]
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
