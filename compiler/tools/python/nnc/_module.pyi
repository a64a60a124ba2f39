"""Calls the shared libraries that nnc builds."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

class Function:
    """A function of a built model."""

    def __init__(self, path: str, name: str, arena_bytes: Sequence[int], has_memories: bool,
                 alignment: int, state_bytes: int, is_placed: bool, threads: int) -> None: ...
    def call(self, inputs: Sequence[npt.NDArray[np.generic]], sizes: Sequence[int],
             outputs: Sequence[npt.NDArray[np.generic]]) -> int:
        """Runs the model; returns its status."""
    def reset(self) -> None:
        """Forgets what the model keeps between runs."""
