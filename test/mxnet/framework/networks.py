"""Saves networks of MXNet that it runs itself: networks.py FOLDER [NETWORK...]. framework_test.py
starts it where MXNet is installed."""

import pathlib
import sys

import mxnet as mx

import modules
import numpy_style
import saving
import sequences
import vision


def main():
    folder, chosen = pathlib.Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)

    def save_each(savers):
        for name, save in savers.items():
            if not chosen or name in chosen:
                print(name, flush=True)
                save(folder, name)

    def save_blocks(blocks, infers=False):
        save_each({name: lambda folder, name, make=make, argument=argument: saving.save_block(
            folder, name, *make(argument, saving.seed(name)), infers)
                   for name, (make, argument) in blocks.items()})
    save_blocks(sequences.BLOCKS)
    save_blocks(vision.BLOCKS, infers=True)
    save_each(modules.SAVERS)
    mx.npx.set_np()
    save_blocks(numpy_style.BLOCKS)


if __name__ == "__main__":
    main()
