#!/usr/bin/env python3
"""Checks and times on a GPU what cuda_build.py has built, and writes what it finds.

    cuda_run.py DIR [--seconds 290] [-o RESULTS.json]

It needs nothing but Python, and PyTorch for the peers. It keeps to its time: peers load and compile
while results are checked; then networks are timed in the order of their value, in turns with the
peers; then layers are timed, and compute-sanitizer checks small networks, where it exists. The file
of results is written anew after each step. A table in Markdown is printed at the end and stands
beside it.
"""

import argparse
import array
import datetime
import json
import lzma
import math
import os
import pathlib
import queue
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 3
TURN = 0.4          # seconds of each turn, unless 200 replays take longer
PEERS = ["eager", "compile"]
FORMATS = {"float32": "f", "int64": "q"}
SANITIZERS = ["memcheck", "racecheck", "synccheck"]
SMALL = 5e8          # multiply-adds of a network that they check, at most


def say(text):
    print(text, flush=True)


class Clock:
    """The time that is left."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    @property
    def left(self):
        return self.end - time.monotonic()

    def run(self, command, folder, most=1e9):
        """Runs a command for `most` seconds at most, or while there is time. Returns its status,
        None if it was stopped, and what it printed."""
        seconds = min(most, self.left)
        if seconds < 0.5:
            return None, "no time left"
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace",
                                   start_new_session=True)
        try:
            said, _ = process.communicate(timeout=seconds)
            return process.returncode, said
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            return None, said


class Network:
    """A folder of cuda_build.py, unpacked into another one."""

    def __init__(self, folder, scratch):
        self.about = json.loads((folder / "network.json").read_text())
        self.folder = scratch / folder.name
        self.folder.mkdir()
        shutil.copy2(folder / "program", self.folder / "program")
        for file in folder.glob("*.xz"):
            with lzma.open(file) as packed, open(self.folder / file.stem, "wb") as unpacked:
                shutil.copyfileobj(packed, unpacked)
        inputs = [*self.about["inputs"],
                  *(["weights.bin"] if (self.folder / "weights.bin").exists() else [])]
        self.inputs = [f"--input={file}" for file in inputs]
        self.key = self.about["key"]

    def command(self, *more, keep=False):
        outputs = [f"--output={f'output{i}.bin' if keep else ''}:{one['bytes']}"
                   for i, one in enumerate(self.about["outputs"])]
        return ["./program", *self.inputs, *outputs, *more]

    def numbers(self, file, kind):
        values = array.array(FORMATS[kind])
        values.frombytes((self.folder / file).read_bytes())
        return values

    def compare(self):
        """Compares the outputs of the last run with those expected."""
        worst, same = 0.0, True
        for i, output in enumerate(self.about["outputs"]):
            got = self.numbers(f"output{i}.bin", output["dtype"])
            want = self.numbers(output["file"].removesuffix(".xz"), output["dtype"])
            same &= got == want
            if len(got) != len(want):
                return {"relative_error": None, "right": False, "same": False}
            off = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(got, want)))
            size = math.sqrt(math.fsum(float(b) ** 2 for b in want))
            error = off / size if size else off
            worst = error if not error <= worst else worst  # a NaN stays
        finite = math.isfinite(worst)
        return {"relative_error": worst if finite else None, "same": same,
                "right": finite and worst <= self.about["tolerance"]}


def figures(said):
    """Parses the text that the runner printed: times in seconds of runs and layers, and figures."""
    found = {"runs": [], "layers": []}
    for line in said.splitlines():
        word, _, rest = line.partition(" ")
        if word == "run":
            found["runs"].append(float(rest))
        elif word == "layer":
            found["layers"].append(float(rest.split()[-1]))
        elif word == "gpu_name":
            found[word] = rest
        elif re.fullmatch(r"[\d.e+-]+", rest) and re.fullmatch(r"\w+", word):
            found[word] = float(rest)
    return found


class Peer:
    """A process of cuda_peers.py for a network and a batch."""

    def __init__(self, about):
        self.process = subprocess.Popen(
            [sys.executable, HERE / "cuda_peers.py", about["network"], str(about["batch"])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True,
            # All peers compile at once.
            env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "4"})
        self.ready, self.problems = set(), {}
        self.lines = queue.SimpleQueue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def listen(self, seconds):
        """A line that the process prints within this time, or None."""
        try:
            line = self.lines.get(timeout=max(seconds, 0.001))
        except queue.Empty:
            return None
        if not line:
            self.problems.setdefault("all", "the process ended")
            return None
        word, _, rest = line.strip().partition(" ")
        if word == "ready":
            self.ready.add(rest)
        elif word == "cannot":
            which, _, why = rest.partition(" ")
            self.problems[which] = why
        return word, rest

    def is_settled(self):
        return "all" in self.problems or len(self.ready | self.problems.keys()) >= len(PEERS)

    def turn(self, which, seconds, most):
        """Milliseconds of replays, or None."""
        if which not in self.ready or self.process.poll() is not None:
            return None
        print(which, seconds, file=self.process.stdin, flush=True)
        end = time.monotonic() + most
        while time.monotonic() < end:
            heard = self.listen(end - time.monotonic())
            if heard is None:
                break
            if heard[0] == "times":
                return json.loads(heard[1])
        self.ready.discard(which)
        self.problems[which] = "gave no times"
        return None

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()


class Results:
    def __init__(self, path, head):
        self.path, self.all = path, {**head, "networks": [], "sanitizers": []}
        self.write()

    def write(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.all, indent=1))
        new.replace(self.path)


def check(networks, clock, results):
    """Runs each network twice, and compares what it stores."""
    for network in networks:
        row = {**{name: network.about[name] for name in (
            "key", "network", "precision", "batch", "multiply_adds", "weight_bytes",
            "estimated_seconds")}}
        results.all["networks"].append(row)
        begin = time.monotonic()
        first = []
        for _ in range(2):
            status, said = clock.run(network.command(keep=True), network.folder, 60)
            if status != 0:
                row |= {"right": False, "status": status, "said": said[-500:]}
                break
            stored = [(network.folder / f"output{i}.bin").read_bytes()
                      for i in range(len(network.about["outputs"]))]
            row["repeats"] = not first or first == stored
            first = stored
        else:
            row |= network.compare() | {"status": 0}
            row["right"] &= row["repeats"]
            row |= {name: value for name, value in figures(said).items()
                    if name.startswith("gpu_")}
        results.write()
        how = ("right" if row["right"] else "WRONG" if row["status"] == 0 else
               f"FAILED: {row['said'].strip()[-200:]}")
        error = row.get("relative_error")
        say(f"{network.key:26} {how}, relative error "
            f"{'unknown' if error is None else f'{error:.1e}'}, "
            f"{time.monotonic() - begin:.1f} s")


def time_network(network, row, peer, clock):
    """Takes turns of the network and of its peers."""
    times = {"nnc": []}
    for _ in range(ROUNDS):
        status, said = clock.run(network.command("--runs=100000", f"--seconds={TURN}",
                                                 "--whole-only"), network.folder, 30)
        found = figures(said)
        if status != 0 or not found["runs"]:
            row["problem"] = said[-300:]
            break
        times["nnc"].append([1e3 * seconds for seconds in found["runs"]])
        for name in ("launches", "copies", "gpu_bytes", "gpu_hz", "gpu_multiprocessors"):
            if name in found:
                row[name] = found[name]
        for which in PEERS if peer else []:
            taken = peer.turn(which, TURN, min(clock.left, 20))
            if taken:
                times.setdefault(which, []).append(taken)
    for name, turns in times.items():
        if turns:
            every = [ms for turn in turns for ms in turn]
            row[f"{name}_ms"] = statistics.median(every)
            row[f"{name}_turns_ms"] = [round(statistics.median(turn), 5) for turn in turns]
            row[f"{name}_replays"] = len(every)
    if peer and peer.problems:
        row["peer_problems"] = peer.problems
    peak = network.about.get("peak_per_multiprocessor")
    if peak and "nnc_ms" in row and "gpu_hz" in row:
        rate = row["multiply_adds"] / (1e-3 * row["nnc_ms"])
        row["share_of_peak"] = rate / (peak * row["gpu_hz"] * row["gpu_multiprocessors"])
    if "nnc_ms" in row:
        row["weight_gb_s"] = 1e-6 * row["weight_bytes"] / row["nnc_ms"]


def time_networks(networks, peers, clock, results):
    for network, row in zip(networks, results.all["networks"]):
        if row["status"] != 0:
            continue
        if clock.left < 5:
            say(f"{network.key:26} not timed: no time left")
            continue
        time_network(network, row, peers.get(network.key), clock)
        results.write()
        say(f"{network.key:26} " + ", ".join(
            f"{name} {row[f'{name}_ms']:.3f} ms" for name in ("nnc", *PEERS)
            if f"{name}_ms" in row) + (f", {row['launches']:.0f} launches"
                                       if "launches" in row else ""))


def time_layers(networks, clock, results):
    for network, row in zip(networks, results.all["networks"]):
        if row["status"] == 0 and clock.left > 10:
            status, said = clock.run(network.command("--runs=20", "--layers-only"),
                                     network.folder, 20)
            if status == 0:
                row["layer_seconds"] = figures(said)["layers"]
                results.write()


def sanitize(networks, clock, results):
    tool = shutil.which("compute-sanitizer")
    if not tool:
        say("compute-sanitizer: there is none")
        return
    for check_of in SANITIZERS:
        for network in networks:
            if network.about["multiply_adds"] > SMALL or clock.left < 10:
                continue
            status, said = clock.run([tool, f"--tool={check_of}", "--error-exitcode=9",
                                      *network.command()], network.folder, 60)
            results.all["sanitizers"].append({"key": network.key, "tool": check_of,
                                              "status": status, "said": said[-1000:]})
            results.write()
            how = {0: "nothing found", None: "stopped: takes too long"}.get(status, said[-400:])
            say(f"{network.key} {check_of}: {how}")


def table(results):
    """The results in Markdown."""
    yield (f"{results['card']}, driver {results['driver']}, {results['date']}; medians of "
           f"replays of a captured graph, {ROUNDS} turns of {TURN} s in turns with the peers"
           + (f", PyTorch {results['torch']}" if results.get("torch") else "; no PyTorch here"))
    yield ""
    yield ("| network | batch | relative error | nnc, ms | torch.compile, ms | eager in a graph, "
           "ms | torch.compile / nnc | launches | share of peak | weights, GB/s |")
    yield "|---" * 10 + "|"

    def cell(row, name, form):
        return format(row[name], form) if row.get(name) is not None else "–"
    for row in results["networks"]:
        ratio = (f"{row['compile_ms'] / row['nnc_ms']:.2f} ×"
                 if "compile_ms" in row and "nnc_ms" in row else "–")
        wrong = "" if row.get("right") else " **wrong**"
        share = f"{100 * row['share_of_peak']:.1f} %" if "share_of_peak" in row else "–"
        yield (f"| {row['network']}, {row['precision']} | {row['batch']} | "
               f"{cell(row, 'relative_error', '.1e')}{wrong} | {cell(row, 'nnc_ms', '.3f')} | "
               f"{cell(row, 'compile_ms', '.3f')} | {cell(row, 'eager_ms', '.3f')} | {ratio} | "
               f"{cell(row, 'launches', '.0f')} | {share} | {cell(row, 'weight_gb_s', '.0f')} |")
    if results["sanitizers"]:
        yield ""
    for row in results["sanitizers"]:
        how = {0: "nothing", None: "stopped"}.get(row["status"], "**errors**")
        yield f"compute-sanitizer {row['tool']} of {row['key']}: {how}."


def describe_card():
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                               "--format=csv,noheader"], capture_output=True, text=True,
                              check=True, timeout=30).stdout
        card, driver = said.splitlines()[0].split(", ")
        return {"card": card, "driver": driver}
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return {"card": "unknown", "driver": "unknown"}


def torch_version():
    """PyTorch's version where it can use a GPU, or None. NNC_TORCH_STUB, for tests, stands for
    one."""
    if os.environ.get("NNC_TORCH_STUB"):
        return "stub"
    done = subprocess.run([sys.executable, "-c",
                           "import torch; assert torch.cuda.is_available(); "
                           "print(torch.__version__)"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def start_peers(networks):
    """The peers by the networks' keys: of networks in halves."""
    return {network.key: Peer(network.about) for network in networks
            if network.about["precision"] == "f16"}


def wait_for_peers(peers, clock, most):
    end = time.monotonic() + min(most, clock.left)
    while time.monotonic() < end and not all(map(Peer.is_settled, peers.values())):
        for peer in peers.values():
            if not peer.is_settled():
                peer.listen(0.05)
    for key, peer in peers.items():
        if not peer.is_settled():
            say(f"{key}: PyTorch is not ready: it would disturb the measurements")
            peer.stop()
            peer.problems["all"] = "was not ready in time"


def measure(folder, seconds, output):
    """Returns false if a network failed or is wrong."""
    clock = Clock(seconds)
    known = json.loads((folder / "cases.json").read_text())
    torch = torch_version()
    results = Results(output, {**describe_card(), "date": datetime.date.today().isoformat(),
                               "target": known["target"], "torch": torch,
                               "left_out": known["left_out"]})
    peers = {}
    with tempfile.TemporaryDirectory() as name:
        networks = [Network(folder / key, pathlib.Path(name)) for key in known["cases"]]
        try:
            if torch:
                peers = start_peers(networks)
            check(networks, clock, results)
            wait_for_peers(peers, clock, 0.4 * seconds)
            time_networks(networks, peers, clock, results)
        finally:
            for peer in peers.values():
                peer.stop()
        sanitize(networks, clock, results)
        time_layers(networks, clock, results)
    lines = list(table(results.all))
    output.with_suffix(".md").write_text("\n".join(lines) + "\n")
    say("\n" + "\n".join(lines))
    return all(row.get("right") for row in results.all["networks"])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=290)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    output = options.output or options.folder / "results.json"
    return 0 if measure(options.folder, options.seconds, output) else 1


if __name__ == "__main__":
    sys.exit(main())
