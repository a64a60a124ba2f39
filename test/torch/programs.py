#!/usr/bin/env python3
"""Programs of PyTorch with random weights, as users save them: exported by torch.export, with
PyTorch from $NNC_CACHE/exports-venv.

    programs.py FOLDER [--only REGEX] [--sample I/N] [--form exported|decomposed] [--split]
                [--bare]

writes NAME.exported.pt2 and NAME.decomposed.pt2, the same program after run_decompositions(), and
NAME.npz: the names of the inputs as the program has them, the inputs in0, in1, ..., and
the outputs of PyTorch without export, out0, out1, ....

The programs are those of vision.py and sequences.py, of scripts/exports (`plain_` and
`hf_`, architectures of transformers), and `op_`, which compute all forms of an operator. Where
REGEX has "lib_", those of libraries.py are, too, of the libraries that are installed. With
--split, only these are written, each result as a program of its own, NAME-I. With --bare, programs
lack their sample inputs and the places in the source that they come from. What PyTorch refuses is
printed.
"""

import argparse
import contextlib
import copy
import io
import logging
import pathlib
import re
import signal
import sys
import warnings
import zlib

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts" / "exports"))

import transformers  # noqa: E402

from architectures import ARCHITECTURES  # noqa: E402
from layer_operators import LAYER_OPERATORS  # noqa: E402
from libraries import list_networks  # noqa: E402
from modules import MODULES  # noqa: E402
from sequences import SEQUENCES  # noqa: E402
from value_operators import VALUE_OPERATORS  # noqa: E402
from vision import VISION  # noqa: E402

SECONDS = 300  # for one export
PROGRAMS = {**VISION, **SEQUENCES,
            **{f"op_{n}": p for n, p in {**LAYER_OPERATORS, **VALUE_OPERATORS}.items()},
            **{f"plain_{n}": p for n, p in MODULES.items()},
            **{f"hf_{n}": p for n, p in ARCHITECTURES.items()}}
FORMS = ("exported", "decomposed")


class Result(torch.nn.Module):
    """One of the results of a module."""

    def __init__(self, module, index):
        super().__init__()
        self.module, self.index = module, index

    def forward(self, *values):
        return self.module(*values)[self.index]


def flatten(results):
    """The tensors of nested results."""
    return [r for r in torch.utils._pytree.tree_leaves(results) if isinstance(r, torch.Tensor)]


def build(name):
    """A module and its inputs: by name for architectures, by position for others."""
    entry, seed = PROGRAMS[name], zlib.crc32(name.encode())
    torch.manual_seed(seed)
    feeds = {key: torch.from_numpy(array)
             for key, array in entry.inputs.make(np.random.default_rng(seed)).items()}
    if name.startswith("hf_"):
        return entry.build().model.eval(), (), feeds
    return entry.make().eval(), tuple(feeds.values()), {}


def write_program(path, module, args, kwargs, forms, is_bare):
    """Writes the program at `path`, to which the ends of file names are added."""
    wanted = flatten(copy.deepcopy(module)(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
    program = torch.export.export(module, args, kwargs)
    names = program.graph_signature.user_inputs
    given = flatten((args, kwargs))
    np.savez(path.with_name(f"{path.name}.npz"), names=list(names),
             outputs=[f"out{i}" for i in range(len(wanted))],
             **{f"in{i}": value.numpy() for i, value in enumerate(given)},
             **{f"out{i}": value.numpy() for i, value in enumerate(wanted)})
    for form in forms:
        formed = program.run_decompositions() if form == "decomposed" else program
        if is_bare:
            formed.example_inputs = None
            for node in formed.graph.nodes:
                for kind in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn",
                             "from_node"):
                    node.meta.pop(kind, None)
        torch.export.save(formed, str(path.with_name(f"{path.name}.{form}.pt2")))


def make(name, options):
    stem, _, index = name.partition("-")
    module, args, kwargs = build(stem)
    write_program(options.folder / name, Result(module, int(index)) if index else module, args,
                  kwargs, [options.form] if options.form else FORMS, options.bare)


def give_up(*_):
    raise TimeoutError(f"took more than {SECONDS} s")


def attempt(name, options):
    """Writes a program, or prints why that failed. Returns True if it did not."""
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            make(name, options)
        return True
    except Exception as error:  # of torch.export, which is not tested here
        print(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)
        return False
    finally:
        signal.alarm(0)


def list_results(name):
    """The names of the programs of the results of an operator's program."""
    module, args, _ = build(name)
    return [f"{name}-{i}" for i in range(len(module(*args)))]


def add_libraries():
    networks, missing = list_networks()
    PROGRAMS.update({f"lib_{name}": network for name, network in networks.items()})
    for name in missing:
        print(f"{name} is not installed; its networks are left out")


def choose(options):
    if "lib_" in options.only:
        add_libraries()
    names = sorted(PROGRAMS)
    if options.split:
        names = [r for n in names if n.startswith("op_") for r in list_results(n)]
    names = [n for n in names if re.search(options.only, n)]
    index, count = map(int, options.sample.split("/"))
    return names[index - 1::count]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--sample", default="1/1", metavar="I/N")
    parser.add_argument("--form", choices=FORMS)
    parser.add_argument("--split", action="store_true")
    parser.add_argument("--bare", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # its operators are not those of ATen's core
    torch.set_grad_enabled(False)
    signal.signal(signal.SIGALRM, give_up)
    failed = sum(not attempt(name, options) for name in choose(options))
    print(f"{failed} exports failed")


if __name__ == "__main__":
    sys.exit(main())
