"""Seeded inputs: pictures with structure at every scale, and token sequences."""

import numpy as np

# What torchvision subtracts and divides by.
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


def _enlarge(grid, size):
    """Bilinear resize of grid[h, w] to size x size."""
    def blend(count):
        at = np.linspace(0, count - 1, size)
        low = np.minimum(at.astype(int), max(count - 2, 0))
        return low, np.minimum(low + 1, count - 1), at - low
    top, bottom, down = blend(grid.shape[0])
    left, right, across = blend(grid.shape[1])
    rows = grid[top] * (1 - down)[:, None] + grid[bottom] * down[:, None]
    return rows[:, left] * (1 - across) + rows[:, right] * across


def image(seed, size=224):
    """A normalized picture [3, size, size]: noise whose power falls with frequency,
    a colour cast, and a few flat rectangles for edges."""
    random = np.random.default_rng([20, seed])
    picture = np.empty((3, size, size))
    shared = [_enlarge(random.standard_normal((n, n)), size) for n in (3, 7, 15, 40)]
    for channel in range(3):
        own = _enlarge(random.standard_normal((5, 5)), size)
        octaves = sum(layer / (i + 1) for i, layer in enumerate(shared))
        picture[channel] = 0.5 + 0.25 * random.standard_normal() + 0.2 * octaves + 0.15 * own
    for _ in range(random.integers(2, 9)):
        top, left = random.integers(0, size - 16, 2)
        height, width = random.integers(16, size, 2)
        picture[:, top:top + height, left:left + width] = random.uniform(0, 1, (3, 1, 1))
    picture = np.clip(picture + 0.03 * random.standard_normal(picture.shape), 0, 1)
    return ((picture - MEAN[:, None, None]) / DEVIATION[:, None, None]).astype(np.float32)


def images(seed, count, size=224):
    return np.stack([image(1000 * seed + i, size) for i in range(count)])


def tokens(seed, count, length=128, vocabulary=30522):
    """input_ids, attention_mask and token_type_ids of sentences of various lengths,
    padded with zeros as a tokenizer pads them."""
    random = np.random.default_rng([21, seed])
    ids = np.zeros((count, length), np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for row in range(count):
        used = int(random.integers(length // 4, length + 1))
        # Words follow Zipf's law: few of them make most of a text.
        words = np.minimum(999 + random.zipf(1.3, used), vocabulary - 1)
        words[0], words[-1] = 101, 102  # [CLS], [SEP]
        ids[row, :used], mask[row, :used] = words, 1
        types[row, used // 2:used] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
