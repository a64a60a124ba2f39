"""Wraps a model in the form that exporters require."""

import torch


def find_tensors(value):
    """All tensors of nested results, except the caches of a decoder."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for key, v in value.items() if key != "past_key_values"
                for t in find_tensors(v)]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in find_tensors(v)]
    return []


class Flat(torch.nn.Module):
    """A model that takes its inputs by position and returns a tuple of tensors. It passes the
    inputs on by name if `names` is given."""

    def __init__(self, model, names=None, outputs=None):
        super().__init__()
        self.model, self.names, self.outputs = model, names, outputs

    def forward(self, *values):
        result = (self.model(**dict(zip(self.names, values))) if self.names else
                  self.model(*values))
        return tuple(find_tensors(result)[:self.outputs])
