"""Times a network of cuda_networks.py in PyTorch, in turns that cuda_run.py asks for.

    cuda_peers.py resnet50 64

It prints `ready WAY` or `cannot WAY why` for each of two ways: `eager`, which captures the run into
a CUDA graph, and `compile`, torch.compile(mode="reduce-overhead"). Then it reads lines with a way
and seconds, and prints `times` with the milliseconds of each replay, at least 200.
"""

import json
import os
import sys
import time

LEAST = 200


def answer(*words):
    print(*words, flush=True)


class Stub:
    """Stands for PyTorch in tests: a replay takes a millisecond."""

    def __init__(self, network, batch):
        self.known = network != "vit_b16"

    def prepare(self, way):
        if not self.known:
            raise RuntimeError("the stub has no\nsuch network")

    def replay(self, way, count):
        time.sleep(0.001)
        return [1.0] * count


class Torch:
    def __init__(self, network, batch):
        import torch

        import cuda_networks
        self.torch, self.calls = torch, {}
        torch.backends.cudnn.benchmark = True
        self.network, self.inputs = cuda_networks.make(network, batch, "cuda", torch.float16)

    def prepare(self, way):
        torch = self.torch
        with torch.inference_mode():
            if way == "eager":
                stream = torch.cuda.Stream()
                with torch.cuda.stream(stream):
                    for _ in range(3):
                        self.network(*self.inputs)
                stream.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    self.output = self.network(*self.inputs)
                self.calls[way] = graph.replay
            else:
                compiled = torch.compile(self.network, mode="reduce-overhead")
                for _ in range(5):
                    compiled(*self.inputs)
                self.calls[way] = lambda: compiled(*self.inputs)
            torch.cuda.synchronize()

    def replay(self, way, count):
        torch = self.torch
        events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        with torch.inference_mode():
            events[0].record()
            for event in events[1:]:
                self.calls[way]()
                event.record()
        torch.cuda.synchronize()
        return [a.elapsed_time(b) for a, b in zip(events, events[1:])]


def main():
    network, batch = sys.argv[1], int(sys.argv[2])
    kind = Stub if os.environ.get("NNC_TORCH_STUB") else Torch
    try:
        peer = kind(network, batch)
    except Exception as problem:  # whatever PyTorch raises, the table goes on without it
        answer("cannot", "all", " ".join(str(problem).split())[:300])
        return 1
    for way in "eager", "compile":
        try:
            peer.prepare(way)
            answer("ready", way)
        except Exception as problem:
            answer("cannot", way, " ".join(str(problem).split())[:300])
    for line in sys.stdin:
        way, seconds = line.split()
        end, times = time.monotonic() + float(seconds), []
        peer.replay(way, 10)
        while len(times) < LEAST or time.monotonic() < end:
            times += peer.replay(way, 20)
        answer("times", json.dumps(times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
