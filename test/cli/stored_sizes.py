"""Computes the bytes of stored forms of a matrix independently of nnc: codebooks, sparse rows
and bounds for Huffman codes, as dialects/nn/README.md describes them."""

import heapq
import math

import numpy as np


def huffman_bits(symbols):
    """The number of bits of all symbols in Huffman codes, found by joining the two rarest
    symbols."""
    _, counts = np.unique(symbols, return_counts=True)
    heap = [int(count) for count in counts]
    heapq.heapify(heap)
    bits = 0
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        bits += both
        heapq.heappush(heap, both)
    return bits


BLOCK, BEHIND = 4096, 16


def block_lengths(count, runs):
    """The numbers of elements in a block that nnc tries for a small matrix."""
    lengths = {many * run for run in runs for many in (1, 2, 4, 8, 16)}
    lengths |= {64 << i for i in range(20)}
    return sorted({length for length in lengths if 32 <= length < count} | {count})


def codebook_bytes(flat, runs, size):
    """The bytes of tables and codes with the best number of elements in a block."""
    found = []
    for length in block_lengths(len(flat), runs):
        blocks = [flat[i:i + length] for i in range(0, len(flat), length)]
        values = max(len(np.unique(block)) for block in blocks)
        if values <= 256:
            bits = max(1, math.ceil(math.log2(values)))
            group = math.ceil((values * size + math.ceil(length * bits / 8)) / size) * size
            found.append(len(blocks) * group + (0 if bits == 4 else BEHIND))
    return min(found, default=None)


def entries_of(flat, skipped, gap_bits):
    """The values and gaps of the entries of each block, as a writer determines them."""
    blocks = []
    for start in range(0, len(flat), BLOCK):
        gap, written = 0, []
        for value in flat[start:start + BLOCK]:
            if value == skipped and gap < 2 ** gap_bits - 1:
                gap += 1
            else:
                written.append((value, gap))
                gap = 0
        while written and written[-1][0] == skipped:
            written.pop()
        blocks.append(written)
    return blocks


def literal_sizes(flat, skipped, size):
    """The bytes and the bits of gaps if entries store their values unchanged. 8-bit values do
    not have this form."""
    found = []
    for gap_bits in range(1, 9) if size > 1 else ():
        entries = sum(len(block) for block in entries_of(flat, skipped, gap_bits))
        found.append((entries * (gap_bits + 8 * size), gap_bits, entries))
    for _, gap_bits, entries in sorted(found)[:1]:
        counts = 4 + 4 * (math.ceil(len(flat) / BLOCK) + 1)
        yield counts + entries * size + math.ceil(entries * gap_bits / 8) + BEHIND, gap_bits


def pattern_sizes(flat, skipped, size, values, value_bits):
    """The bytes and the bits of positions if N of each M weights are stored, with a table of
    `values` values."""
    found = []
    for bits in range(1, 5):
        if len(flat) % 2 ** bits:
            break
        kept = (flat.reshape(-1, 2 ** bits) != skipped).sum(axis=1).max()
        if 0 < kept < 2 ** bits:
            found.append((kept * (value_bits + bits) / 2 ** bits, bits, int(kept)))
    for _, bits, kept in sorted(found)[:1]:
        entries = len(flat) // 2 ** bits * kept
        words = [math.ceil(values * size / 4), math.ceil(entries * value_bits / 32)]
        yield 4 * sum(words) + math.ceil(entries * bits / 8) + BEHIND, bits


def csr_bytes(flat, size):
    """The bytes, the bits of gaps, and the least number of bits that Huffman codes of the
    entries or of all values need."""
    values, counts = np.unique(flat, return_counts=True)
    if len(values) > 256:
        forms = [*literal_sizes(flat, 0, size), *pattern_sizes(flat, 0, size, 1, 8 * size)]
        return *min(forms, default=(None, None)), None
    bits = max(1, math.ceil(math.log2(len(values))))
    # Of equal counts the first by its bits: as unsigned integers.
    order = np.argsort(values.astype({4: "<f4", 1: "i1"}[size]).view({4: "<u4", 1: "u1"}[size]))
    skipped = values[order][np.argmax(counts[order])]
    csr, coded = [], [huffman_bits(flat)]
    for gap_bits in range(1, 9):
        blocks = entries_of(flat, skipped, gap_bits)
        each = [len(block) * (gap_bits + bits) for block in blocks]
        tables = math.ceil(len(values) * size / 4) * 4 + 4 * len(blocks)
        csr.append((sum(each), gap_bits, tables + BEHIND + sum(
            2 + math.ceil(number / 8) for number in each)))
        entries = [entry for block in blocks for entry in block]
        if gap_bits >= 2:
            coded.append(sum(huffman_bits([e[i] for e in entries]) for i in (0, 1))
                         if entries else 0)
    _, gap_bits, least = min(csr)
    # Of equal sizes the last form that is tried.
    forms = [*literal_sizes(flat, skipped, size), (least, gap_bits),
             *pattern_sizes(flat, 0, size, 1, 8 * size),
             *pattern_sizes(flat, skipped, size, len(values), bits)]
    least, gap_bits = min(reversed(forms), key=lambda form: form[0])
    return least, gap_bits, min(coded)


def expected_sizes(matrix, block, element_bytes=4):
    """The numbers that the report should have, computed from its description. Numbers of
    Huffman codes are pairs of bounds."""
    block = block or len(matrix)
    blocks = [matrix[i:i + block] for i in range(0, len(matrix), block)]
    entropy, values = 0, 0
    for each in blocks:
        _, counts = np.unique(each, return_counts=True)
        shares = counts / counts.sum()
        entropy -= (shares * np.log2(shares)).sum() * each.size / matrix.size
        values = max(values, len(counts))
    dense = element_bytes * matrix.size
    said = {"elements": matrix.size, "sparsity": float((matrix == 0).mean()), "values": values,
            "entropy_bits": float(entropy), "dense_bytes": dense}
    flat, columns = matrix.ravel(), matrix.shape[1]

    def smaller(size):
        return size if size is not None and size < dense else None
    said["codebook_bytes"] = smaller(codebook_bytes(flat, {columns, block * columns},
                                                    element_bytes))
    csr, gap_bits, coded = csr_bytes(flat, element_bytes)
    said["csr_bytes"] = smaller(csr)
    said["csr_gap_bits"] = gap_bits if said["csr_bytes"] else None
    bounds = None
    if coded is not None:
        # Tables of codes, places and numbers of entries of blocks, and what codes of a limited
        # length take more.
        count = len(np.unique(flat))
        least = coded / 8
        most = 1.05 * least + count * element_bytes + 44 + 256 + BEHIND + 8 * (
            1 + matrix.size // BLOCK)
        bounds = least, most
    return said, bounds
