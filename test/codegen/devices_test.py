"""Networks divided between two devices by hand, from nn IR to numbers.

The target test-two-devices has a device beside the host, the shadow, which is the host
under another name with memory of its own. A chain and a diamond of layers are placed on
the two in every way; each becomes an exec program with transfers and waits. Some of them
are built and run on the host, and compared with numpy."""

import itertools
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np

BIN = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin"
HERE = pathlib.Path(__file__).parent
SHAPE = (1, 6, 5, 7)
DEVICES = ["", "shadow"]

# Layers in their order: name, what it computes, what it reads.
CHAIN = [("a", "conv", ["x"]), ("b", "tanh", ["a"]), ("c", "conv", ["b"]), ("d", "relu", ["c"])]
DIAMOND = [("a", "conv", ["x"]), ("b", "tanh", ["a"]), ("c", "conv", ["a"]),
           ("d", "add", ["b", "c"])]


def tensor(shape, device):
    layout = f", #nn.layout<NCHW on {device}>" if device else ""
    return "tensor<" + "x".join(map(str, shape)) + f"xf32{layout}>"


def weights_of(name):
    random = np.random.default_rng(ord(name))
    return random.normal(0, 0.3, (SHAPE[1], SHAPE[1], 3, 3)).astype("f4")


def reference(graph, x):
    values = {"x": x}
    for name, op, reads in graph:
        read = [values[r] for r in reads]
        if op == "conv":
            padded = np.pad(read[0], ((0, 0), (0, 0), (1, 1), (1, 1)))
            windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
            values[name] = np.maximum(np.einsum("nchwij,kcij->nkhw", windows, weights_of(name)), 0)
        else:
            values[name] = {"tanh": np.tanh, "relu": lambda v: np.maximum(v, 0),
                            "add": np.add}[op](*read)
    return values[graph[-1][0]]


def network(graph, devices):
    """The planned layers, each on its device, with an adapt for each device on which another
    one's value is read."""
    lines, places, adapted = [], {"x": ""}, {}

    def on(value, device):
        if places[value] == device:
            return f"%{value}"
        key = (value, device)
        if key not in adapted:
            adapted[key] = f"%{value}_on_{device or 'host'}"
            lines.append(f"    {adapted[key]} = nn.adapt %{value} : "
                         f"{tensor(SHAPE, places[value])} -> {tensor(SHAPE, device)}")
        return adapted[key]

    for (name, op, reads), device in zip(graph, devices):
        operands, result = [on(read, device) for read in reads], tensor(SHAPE, device)
        places[name] = device
        if op == "conv":
            w = weights_of(name)
            bits = "0x" + w.astype("<f4").tobytes().hex().upper()
            host, own = tensor(w.shape, ""), tensor(w.shape, device)
            lines.append(f"""\
    %w_{name} = nn.constant dense<"{bits}"> : {host}{f' -> {own}' if device else ''}
    %{name} = nn.layer "{name}" inputs({operands[0]}, %w_{name} : {result}, {own}) -> {result}
        attributes {{routine = "conv2d_f32_portable"}} anchor {{
    ^bb0(%p: {tensor(SHAPE, '')}, %q: {host}):
      %r = nn.conv %p, %q {{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64}} : ({tensor(SHAPE, '')}, {host}) -> {tensor(SHAPE, '')}
      nn.yield %r : {tensor(SHAPE, '')}
    }} epilogue {{
    ^bb0(%v: f32):
      %r = nn.relu %v : f32
      nn.yield %r : f32
    }}""")
            continue
        arguments = ["%p", "%q"][:len(operands)]
        types = ", ".join([result] * len(operands))
        lines.append(f"""\
    %{name} = nn.layer "{name}" extras({', '.join(operands)} : {types}) -> {result}
        attributes {{routine = "elementwise_portable"}} epilogue {{
    ^bb0({', '.join(f'{a}: f32' for a in arguments)}):
      %r = nn.{op} {', '.join(arguments)} : {', '.join(['f32'] * len(arguments))}
      nn.yield %r : f32
    }}""")
    last = on(graph[-1][0], "")
    body = "\n".join(lines)
    return f"""
module attributes {{nn.model = "divided", nn.sha256 = "00"}} {{
  func.func @main(%x: {tensor(SHAPE, '')} {{nn.name = "x"}}) -> ({tensor(SHAPE, '')} {{nn.name = "y"}}) {{
{body}
    return {last} : {tensor(SHAPE, '')}
  }}
}}
"""


LOOP = f"""
module attributes {{nn.model = "divided", nn.sha256 = "00"}} {{
  func.func @main(%x: {tensor(SHAPE, '')} {{nn.name = "x"}}) -> ({tensor(SHAPE, '')} {{nn.name = "y"}}) {{
    %y = nn.loop @body max 3 carry(%x) : ({tensor(SHAPE, '')}) -> {tensor(SHAPE, '')}
    return %y : {tensor(SHAPE, '')}
  }}
  func.func private @body(%i: tensor<i64>, %x: {tensor(SHAPE, '')}) -> {tensor(SHAPE, '')} {{
    %0 = nn.adapt %x : {tensor(SHAPE, '')} -> {tensor(SHAPE, 'shadow')}
    %1 = nn.layer "t" extras(%0 : {tensor(SHAPE, 'shadow')}) -> {tensor(SHAPE, 'shadow')}
        attributes {{routine = "elementwise_portable"}} epilogue {{
    ^bb0(%e: f32):
      %r = nn.tanh %e : f32
      nn.yield %r : f32
    }}
    %2 = nn.adapt %1 : {tensor(SHAPE, 'shadow')} -> {tensor(SHAPE, '')}
    return %2 : {tensor(SHAPE, '')}
  }}
}}
"""


BRANCH = f"""
module attributes {{nn.model = "divided", nn.sha256 = "00"}} {{
  func.func @main(%c: tensor<i1>, %x: {tensor(SHAPE, '')}) -> {tensor(SHAPE, '')} {{
    %0 = nn.adapt %x : {tensor(SHAPE, '')} -> {tensor(SHAPE, 'shadow')}
    %1 = nn.adapt %0 : {tensor(SHAPE, 'shadow')} -> {tensor(SHAPE, '')}
    %y = nn.if %c then @then else @else(%1)
        : (tensor<i1>, {tensor(SHAPE, '')}) -> {tensor(SHAPE, '')}
    return %y : {tensor(SHAPE, '')}
  }}
  func.func private @then(%x: {tensor(SHAPE, '')}) -> {tensor(SHAPE, '')} {{
    %0 = nn.adapt %x : {tensor(SHAPE, '')} -> {tensor(SHAPE, 'shadow')}
    %1 = nn.adapt %0 : {tensor(SHAPE, 'shadow')} -> {tensor(SHAPE, '')}
    return %1 : {tensor(SHAPE, '')}
  }}
  func.func private @else(%x: {tensor(SHAPE, '')}) -> {tensor(SHAPE, '')} {{
    return %x : {tensor(SHAPE, '')}
  }}
}}
"""


def lower(text, *more, memories="", plan=""):
    given = f" memories={memories}" if memories else ""
    return subprocess.run(
        [BIN / "nnc-opt", f"--nnc-set-constraints=target=test-two-devices{given}",
         "--nnc-check-routines", *more, f"--nnc-plan-memory={plan}", "--nnc-verify-memory",
         "--nnc-lower-to-exec", "--nnc-share-code", "--nnc-encode-weights"],
        input=text, text=True, check=True, capture_output=True).stdout


class Devices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_module(self, exec_ir, x):
        subprocess.run([BIN / "nnc-codegen", "-", "-o", self.folder / "code"], input=exec_ir,
                       text=True, check=True)
        code, program = self.folder / "code", self.folder / "program"
        several = "_arenas" in (code / "divided.h").read_text()
        subprocess.run(
            ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-DNNC_PORTABLE_SIMD",
             f"-DSEVERAL={int(several)}", f"-I{code}", code / "divided.cpp",
             *code.glob("divided_weights.S"), HERE / "devices_main.cpp", "-o", program],
            check=True)
        done = subprocess.run([program], input=x.tobytes(), check=True, capture_output=True)
        return np.frombuffer(done.stdout, "<f4").reshape(SHAPE)

    def check(self, graph, built):
        """Lowers the graph for all ways to place its layers, and runs those in `built`."""
        for devices in itertools.product(DEVICES, repeat=len(graph)):
            with self.subTest(devices=devices):
                exec_ir = lower(network(graph, devices))
                for name, device in zip("abcd", devices):
                    [line] = [l for l in exec_ir.splitlines() if f'exec.call "{name}"' in l]
                    self.assertEqual('on "shadow"' in line, device == "shadow", line)
                uses = "shadow" in devices
                self.assertEqual("exec.transfer" in exec_ir, uses)
                self.assertEqual('exec.wait "shadow"' in exec_ir, uses)
                self.assertEqual('device = "shadow"' in exec_ir, uses)
                self.check_alignment(exec_ir)
                if devices in built:
                    x = np.random.default_rng(3).normal(0, 1, SHAPE).astype("f4")
                    want = reference(graph, x)
                    np.testing.assert_allclose(self.run_module(exec_ir, x), want,
                                               atol=1e-5 * np.abs(want).max())

    def check_alignment(self, exec_ir):
        """Each space has its own alignment: 128 bytes of the shadow's, 64 of the host's."""
        for line in exec_ir.splitlines():
            place = re.search(r'exec.(?:buffer|weight) .* at (\d+) ', line)
            if place:
                align = 128 if "on shadow>" in line else 64
                self.assertEqual(int(place[1]) % align, 0, line)

    def test_other_plans(self):
        """Pools of the user's are for the host alone, whatever else is asked of the plan."""
        text = network(DIAMOND, ("shadow", "", "shadow", ""))
        for plan in ["", "threads=4", "ports-in-arena=true", "reorder=true"]:
            with self.subTest(plan=plan):
                exec_ir = lower(text, memories="fast:2048,slow:65536:slow", plan=plan)
                self.check_alignment(exec_ir)
                buffers = [l for l in exec_ir.splitlines() if "exec.buffer" in l]
                self.assertTrue(buffers)
                for line in buffers:
                    self.assertEqual('in "shadow_ram"' in line, "on shadow>" in line, line)

    def test_loop(self):
        """The host waits for a device in each run, before the next one reads its result."""
        exec_ir = lower(LOOP)
        body = exec_ir[exec_ir.index("exec.loop"):]
        self.assertRegex(body, r'(?s)transfer.*on "shadow".*transfer.*exec.wait "shadow"\s*}')
        x = np.random.default_rng(4).normal(0, 1, SHAPE).astype("f4")
        np.testing.assert_allclose(self.run_module(exec_ir, x), np.tanh(np.tanh(np.tanh(x))),
                                   atol=1e-5)

    def test_branch(self):
        """The host waits in front of a branch, and at the end of one that uses a device."""
        exec_ir = lower(BRANCH)
        steps = re.findall(r'exec\.(transfer|wait|branch)|(else)', exec_ir)
        self.assertEqual(["".join(step) for step in steps],
                         ["transfer", "transfer", "wait", "branch", "transfer", "transfer",
                          "wait", "else"])

    def test_path_of_adapts(self):
        """From a layout on the host to another one on the shadow lies a path of adapts."""
        host, far = tensor(SHAPE, ""), tensor(SHAPE, "shadow")
        blocked, far_blocked = (t.replace("xf32", "xf32, #nn.layout<NCHW16c>") if t is host else
                                t.replace("NCHW on", "NCHW16c on") for t in (host, far))
        exec_ir = lower(f"""
module attributes {{nn.model = "divided", nn.sha256 = "00"}} {{
  func.func @main(%x: {host} {{nn.name = "x"}}) -> ({host} {{nn.name = "y"}}) {{
    %0 = nn.adapt %x : {host} -> {far}
    %1 = nn.adapt %0 {{routine = "adapt_portable"}} : {far} -> {far_blocked}
    %2 = nn.layer "r" extras(%1 : {far_blocked}) -> {far_blocked}
        attributes {{routine = "elementwise_portable"}} epilogue {{
    ^bb0(%e: f32):
      %r = nn.relu %e : f32
      nn.yield %r : f32
    }}
    %3 = nn.adapt %2 : {far_blocked} -> {blocked}
    %4 = nn.adapt %3 {{routine = "adapt_portable"}} : {blocked} -> {host}
    return %4 : {host}
  }}
}}
""")
        self.assertEqual(exec_ir.count("exec.transfer"), 2)
        self.assertEqual(exec_ir.count('on "shadow"'), 2)
        self.assertRegex(exec_ir, r'exec.wait "shadow"\s+exec.call')
        x = np.random.default_rng(5).normal(0, 1, SHAPE).astype("f4")
        np.testing.assert_array_equal(self.run_module(exec_ir, x), np.maximum(x, 0))

    def test_chain(self):
        self.check(CHAIN, [("", "shadow", "shadow", ""), ("shadow", "", "shadow", "shadow")])

    def test_diamond(self):
        self.check(DIAMOND, [("", "shadow", "", ""), ("", "shadow", "", "shadow"),
                             ("shadow", "", "shadow", "")])

    def test_propagated_layouts_keep_the_devices(self):
        devices = ("", "shadow", "", "shadow")
        text = network(DIAMOND, devices)
        self.assertEqual(lower(text, "--nnc-propagate-layout"), lower(text))


if __name__ == "__main__":
    unittest.main()
