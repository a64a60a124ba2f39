"""Weights that are stored as sparse tensors."""

import numpy as np

from integers import conv_sums
from plain import CLOSE, F32, Plain

LISTS = {np.uint8: "Uint8Vector", np.uint16: "Uint16Vector", np.int32: "Int32Vector"}


def compress(dense, order, blocks, formats, list_type=np.int32):
    """(stored elements, sparsity) of an array. `order` lists the axes and then the axes of
    blocks, from the outermost level on. `blocks` has pairs of an axis and a size. `formats` has
    a letter for each level: d for dense, s for sparse."""
    rank = dense.ndim
    sizes = dict(blocks)
    shape = [dense.shape[axis] // sizes.get(axis, 1) for axis in range(rank)]
    shape += [size for _, size in blocks]
    dimensions = []

    def element(path):
        place = [0] * rank
        for level, index in enumerate(path):
            axis = order[level]
            if axis < rank:
                place[axis] += index * sizes.get(axis, 1)
            else:
                place[blocks[axis - rank][0]] += index
        return place

    def is_zero(path):
        """Whether all elements below a node are 0."""
        if len(path) == len(order):
            return dense[tuple(element(path))] == 0
        return all(is_zero((*path, i)) for i in range(shape[order[len(path)]]))
    nodes = [()]
    for level, form in enumerate(formats):
        size, below = shape[order[level]], []
        if form == "d":
            below = [(*node, i) for node in nodes for i in range(size)]
            dimensions.append({"format": "DENSE", "dense_size": size})
        else:
            segments, indices = [0], []
            for node in nodes:
                kept = [i for i in range(size) if not is_zero((*node, i))]
                indices += kept
                below += [(*node, i) for i in kept]
                segments.append(len(indices))
            kind = LISTS[list_type]
            dimensions.append({"format": "SPARSE_CSR", "segments_type": kind,
                               "segments": {"values": segments}, "indices_type": kind,
                               "indices": {"values": indices}})
        nodes = below
    stored = np.array([dense[tuple(element(node))] for node in nodes], dense.dtype)
    return stored, {"traversal_order": list(order), "block_map": [axis for axis, _ in blocks],
                    "dimensions": dimensions}


def add(net, dense, order, blocks, formats, list_type=np.int32, scale=None):
    """A constant that is stored as a sparse tensor."""
    stored, sparsity = compress(dense, order, blocks, formats, list_type)
    number = net.const(stored, scale, sparsity=sparsity)
    net.tensors[number]["shape"] = list(dense.shape)
    return number


def weights():
    net = Plain(9)
    # (order, blocks, formats, type of lists): of rows, of columns, of blocks of both axes.
    for order, blocks, formats, list_type in (
            ((0, 1), (), "ds", np.int32), ((1, 0), (), "ds", np.uint8),
            ((0, 1), (), "ss", np.uint16), ((0, 1), (), "dd", np.int32),
            ((0, 1, 2), ((1, 4),), "dsd", np.uint8),
            ((0, 1, 2, 3), ((0, 2), (1, 4)), "dsdd", np.uint16),
            ((1, 0, 3, 2), ((0, 2), (1, 4)), "ssdd", np.int32)):
        w = thin(net, net.floats(6, 8), 4)
        x = net.floats(3, 8)
        out = net.tensor(F32, (3, 6))
        net.op("FULLY_CONNECTED", [net.input(x), add(net, w, order, blocks, formats, list_type),
                                   -1], [out])
        net.expect(out, (x.astype(np.float64) @ w.T).astype(F32), CLOSE)
    w = thin(net, net.integers(np.int8, 6, 32), 16)
    x = net.floats(3, 32)
    out = net.tensor(F32, (3, 6))
    net.op("FULLY_CONNECTED",
           [net.input(x), add(net, w, (0, 1, 2), ((1, 16),), "dsd", np.uint8, 0.02), -1], [out])
    net.expect(out, (x.astype(np.float64) @ (w * F32(0.02)).T).astype(F32), CLOSE)
    # DENSIFY makes dense tensors, of floats and of halves.
    for dtype in (F32, np.float16):
        w = thin(net, net.floats(4, 3, 3, 8), 4).astype(dtype)
        dense, filters = net.tensor(dtype, w.shape), net.tensor(F32, w.shape)
        net.op("DENSIFY", [add(net, w, (0, 1, 2, 3, 4), ((3, 4),), "dddsd")], [dense])
        if dtype == F32:
            filters = dense
        else:
            net.op("DEQUANTIZE", [dense], [filters])
        x = net.floats(1, 5, 6, 8)
        out = net.tensor(F32, (1, 5, 6, 4))
        net.op("CONV_2D", [net.input(x), filters], [out], padding="SAME", stride_h=1, stride_w=1,
               activation="NONE")
        net.expect(out, conv_sums(x, w.astype(F32), (1, 1), (1, 1), "SAME", np.float64)
                   .astype(F32), CLOSE)
    return net


def thin(net, values, run):
    """The values with most of the runs of `run` elements along the last axis set to 0."""
    kept = net.random.random((*values.shape[:-1], values.shape[-1] // run)) < 0.4
    kept.flat[0] = True
    return (values * np.repeat(kept, run, -1)).astype(values.dtype)
