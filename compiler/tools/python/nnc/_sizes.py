"""Dimensions of inputs and outputs that depend on the sizes of a run."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
              ast.Div: operator.floordiv, ast.FloorDiv: operator.floordiv,
              ast.Mod: operator.mod}


def parse(text: str) -> Callable[[Mapping[str, int]], int]:
    """Returns a function of the sizes for an expression of manifest.json, such as
    "4 * height / 8"; its divisions round down."""
    return _compile(ast.parse(text, mode="eval").body, text)


def _compile(node: ast.expr, text: str) -> Callable[[Mapping[str, int]], int]:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        value = node.value
        return lambda sizes: value
    if isinstance(node, ast.Name):
        name = node.id
        return lambda sizes: sizes[name]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _compile(node.operand, text)
        return lambda sizes: -inner(sizes)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        apply = _OPERATORS[type(node.op)]
        left, right = _compile(node.left, text), _compile(node.right, text)
        return lambda sizes: apply(left(sizes), right(sizes))
    raise ValueError(f"manifest.json has a dimension '{text}', which is no expression of sizes")
