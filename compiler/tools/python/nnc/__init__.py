"""nnc: an ahead-of-time compiler of neural networks.

    import nnc

    model = nnc.compile("resnet50.onnx")
    probabilities = model(image)

`compile` makes C++ of a model, builds it with the machine's C++ compiler, and returns
a `Model`, which takes and gives numpy arrays. `Model.save` and `load` keep the code
and its library in a folder. `command` runs any other command of nnc, such as "check"
or "tune", and returns what it says. Errors of all of them are `Error`s, which hold
each problem as an object. `python -m nnc` is the command line.
"""

from nnc._compile import command, compile, version
from nnc._model import Model, Outputs, Port, load
from nnc._problems import (BrokenModelError, CompileWarning, DifferenceError, Error,
                           InternalError, LimitError, NoGpuError, Problem, SystemFailure,
                           UnsupportedError, UsageError)

__version__ = version()

__all__ = [
    "BrokenModelError", "CompileWarning", "DifferenceError", "Error", "InternalError",
    "LimitError", "Model", "NoGpuError", "Outputs", "Port", "Problem", "SystemFailure",
    "UnsupportedError", "UsageError", "command", "compile", "load",
]
