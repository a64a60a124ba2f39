"""Inputs of models: arrays of random numbers with variable sizes."""

import numpy as np

# Default sizes, and bounds where they vary: the least, the largest and a step.
SIZES = dict(batch=2, length=8, target=5, frames=24, samples=400)
BOUNDS = dict(batch=(1, 3, 1), length=(2, 12, 1), target=(1, 9, 1), frames=(8, 40, 8),
              samples=(320, 640, 40))


class Inputs:
    """The inputs of a model. Each name has a Spec."""

    def __init__(self, **specs):
        self.specs = specs
        self.names = list(specs)

    def make(self, random, **sizes):
        return {name: spec.make(random, {**SIZES, **sizes})
                for name, spec in self.specs.items()}

    def sizes(self):
        """The names of the variable sizes."""
        return sorted({d for s in self.specs.values() for d in s.dims if isinstance(d, str)})


class Spec:
    """One input. `dims` are its dimensions, either a number or the name of a variable size, and
    `draw` makes its elements."""

    def __init__(self, dims, draw):
        self.dims, self.draw = dims, draw

    def make(self, random, sizes):
        return self.draw(random, [sizes.get(d, d) for d in self.dims])


def ids(*dims, high=99, low=3):
    return Spec(dims or ("batch", "length"),
                lambda random, shape: random.integers(low, high, shape))


def draw_mask(random, shape):
    """A mask of ones, with zeros at the end of all rows but the first."""
    mask = np.ones(shape, np.int64)
    mask[1:, max(1, shape[1] - 2):] = 0
    return mask


def span(*dims):
    return Spec(dims or ("batch", "length"), draw_mask)


def floats(*dims):
    return Spec(dims, lambda random, shape: random.normal(0, 1, shape).astype(np.float32))


def pixels(size):
    return floats("batch", 3, size, size)


TEXT = Inputs(input_ids=ids(), attention_mask=span())
DECODER = Inputs(input_ids=ids(), attention_mask=span())
SEQ2SEQ = Inputs(input_ids=ids(), attention_mask=span(),
                 decoder_input_ids=ids("batch", "target"))
IMAGE = Inputs(pixel_values=pixels(32))
IMAGE64 = Inputs(pixel_values=pixels(64))
TEXT_IMAGE = Inputs(input_ids=ids(), attention_mask=span(), pixel_values=pixels(32))
AUDIO = Inputs(input_values=floats("batch", "samples"))
