"""Decoders that compute one token, with a cache of keys and values that the caller owns."""

import numpy as np
import torch
import transformers

from architectures import ARCHITECTURES

NAMES = ("gpt2", "llama", "gemma")  # of ARCHITECTURES
STEPS = 16


class Step(torch.nn.Module):
    """Computes the scores of the token that follows a token, and the keys and values of each
    layer. `past` are the keys and values of the tokens before it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, token, *past):
        cache = transformers.DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        scores = self.model(token, past_key_values=cache, use_cache=True).logits
        return (scores, *[t for layer in cache.layers for t in (layer.keys, layer.values)])


def make_step(name):
    """The Step of a decoder, and its inputs after one token."""
    model = ARCHITECTURES[name].build().eval().model
    first = model(torch.tensor([[7]]), use_cache=True)
    past = [t for layer in first.past_key_values.layers for t in (layer.keys, layer.values)]
    return Step(model).eval(), [torch.tensor([[11]]), *past]


def export_step(step, inputs, path, exporter, opset):
    """Exports the step. The length of the past is open."""
    count = len(inputs) - 1
    names = ["token", *[f"past{i}" for i in range(count)]]
    results = ["scores", *[f"present{i}" for i in range(count)]]
    how = dict(input_names=names, output_names=results, opset_version=opset)
    # An exporter takes a length of 1 for a constant.
    inputs = (inputs[0], *[t.repeat(1, 1, 3, 1) for t in inputs[1:]])
    if exporter == "dynamo":
        torch.onnx.export(step, inputs, path, dynamo=True, verbose=False,
                          dynamic_shapes=({}, tuple({2: "past"} for _ in range(count))), **how)
    else:
        torch.onnx.export(step, inputs, path, dynamo=False,
                          dynamic_axes={name: {2: "past"} for name in names[1:]}, **how)


def run_steps(session, inputs, tokens, path):
    """Runs a step for each token. Writes the inputs of the first step, the tokens, and the
    scores of all steps."""
    names = [port.name for port in session.get_inputs()]
    feeds = dict(zip(names, [t.numpy() for t in inputs]))
    first, scores = dict(feeds), []
    for token in tokens:
        result, *present = session.run(None, {**feeds, names[0]: np.int64([[token]])})
        scores.append(result)
        feeds = dict(zip(names[1:], present))
    bounds = [f"{name}={v.shape[0]}x{v.shape[1]}x1..{STEPS}x{v.shape[3]}"
              for name, v in first.items() if v.ndim == 4]
    np.savez(path, names=names, tokens=tokens, scores=scores, shapes=bounds,
             **{f"in{i}": value for i, value in enumerate(first.values())})
