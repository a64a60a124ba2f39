"""The lit suite: passes, dialects and the command line, checked with FileCheck."""

import os
import platform

import lit.formats

config.name = "nnc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".onnxtxt", ".test"]
if platform.machine() in ("x86_64", "AMD64"):
    config.available_features.add("x86-64")
config.excludes = ["Inputs", "networks", "runtime"]
config.test_source_root = os.path.dirname(__file__)

# The programs under test first, then FileCheck, not, split-file.
config.environment["PATH"] = os.pathsep.join(
    [config.nnc_bin_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
config.environment["NNC_CACHE"] = config.nnc_cache
# What a program shows that reads memory which it has freed: see cli/heap_test.py.
if "MALLOC_PERTURB_" in os.environ:
    config.environment["MALLOC_PERTURB_"] = os.environ["MALLOC_PERTURB_"]

config.substitutions.append(("%python", config.nnc_python + " -B"))
config.substitutions.append(("%root", config.nnc_source_dir))
