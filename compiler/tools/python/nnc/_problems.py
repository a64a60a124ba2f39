"""What nnc reports of a model, as exceptions and objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Problem:
    """An error or a warning that nnc reports."""

    severity: str  #: "error" or "warning"
    message: str  #: a sentence that says all
    file: str = ""  #: the file that it is about, if it is about one
    node: str = ""  #: the node of the model, if it is about one
    op: str = ""  #: the operator of that node
    expected: str = ""  #: part of the message, if it has such a part
    found: str = ""  #: part of the message, if it has such a part
    hint: str = ""  #: what to do, if the message says so
    notes: tuple[str, ...] = ()  #: further sentences

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Problem:
        """A problem of the JSON document that nnc prints."""
        known = {field.name: said[field.name] for field in dataclasses.fields(cls)
                 if said.get(field.name) is not None}
        known["notes"] = tuple(known.get("notes", ()))
        return cls(**known)

    def __str__(self) -> str:
        place = [self.file] if self.file else []
        if self.node:
            place.append(f"node '{self.node}'" + (f" ({self.op})" if self.op else ""))
        text = ": ".join([*place, self.message])
        return "\n  note: ".join([text, *self.notes])


class Error(Exception):
    """A command of nnc that failed. `problems` has all that is wrong, `exit_code` is the
    program's, and `document` all that the command printed."""

    exit_code = 1

    def __init__(self, problems: Sequence[Problem], exit_code: int | None = None,
                 document: Any = None):
        self.problems = tuple(problems)
        self.document = document
        if exit_code is not None:
            self.exit_code = exit_code
        errors = [p for p in self.problems if p.severity == "error"] or self.problems
        super().__init__("\n".join(map(str, errors)) or
                         f"nnc ended with exit code {self.exit_code}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.exit_code, self.document)


class InternalError(Error):
    """A fault of nnc's own, or of a compiler that it started."""


class UsageError(Error, ValueError):
    """Wrong arguments, a file that does not exist, or dimensions that are left open."""

    exit_code = 2


class BrokenModelError(Error, ValueError):
    """The model is broken."""

    exit_code = 3


class UnsupportedError(Error, NotImplementedError):
    """The model needs something that nnc does not have."""

    exit_code = 4


class DifferenceError(Error):
    """Results differ from the expected ones."""

    exit_code = 5


class LimitError(Error):
    """A limit was passed."""

    exit_code = 6


class SystemFailure(Error, OSError):
    """Reading or writing failed: a full disk, an error of a device."""

    exit_code = 7

    def __str__(self) -> str:
        return str(self.args[0])


class NoGpuError(Error):
    """The target is a GPU that nnc cannot run on, on this machine."""

    exit_code = 8


class CompileWarning(UserWarning):
    """A warning of nnc about a model or an option."""


_BY_CODE = {kind.exit_code: kind for kind in
            (InternalError, UsageError, BrokenModelError, UnsupportedError, DifferenceError,
             LimitError, SystemFailure, NoGpuError)}


def error_of(problems: Sequence[Problem], exit_code: int, document: Any = None) -> Error:
    """The exception for a command that ended so."""
    return _BY_CODE.get(exit_code, InternalError)(problems, exit_code, document)
