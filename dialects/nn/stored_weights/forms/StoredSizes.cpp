//===- StoredSizes.cpp - Bytes of weights in compressed forms -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/StoredSizes.h"

#include "dialects/nn/stored_weights/forms/Huffman.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"

#include <algorithm>

using namespace nnc::stored;

/// Returns the elements in the form in which they are stored: floats, or the
/// lowest byte of integers, which span a range of at most 256 values.
static std::vector<char> getStoredElements(llvm::ArrayRef<float> matrix,
                                           int64_t elementBytes) {
  if (elementBytes == 4) {
    auto *bytes = reinterpret_cast<const char *>(matrix.data());
    return std::vector<char>(bytes, bytes + 4 * matrix.size());
  }
  std::vector<char> bytes;
  bytes.reserve(matrix.size());
  for (float value : matrix)
    bytes.push_back(static_cast<char>(static_cast<int>(value)));
  return bytes;
}

StoredSizes StoredSizes::get(llvm::ArrayRef<float> matrix,
                             const MatrixShape &shape, int64_t elementBytes) {
  StoredSizes sizes;
  sizes.elements = static_cast<int64_t>(matrix.size());
  sizes.zeros = std::count(matrix.begin(), matrix.end(), 0.f);
  sizes.dense = sizes.elements * elementBytes;
  const int64_t blockSize = shape.getBlockRows() * shape.columns;
  for (int64_t start = 0; start < sizes.elements; start += blockSize) {
    std::vector<float> block =
        matrix.drop_front(start)
            .take_front(std::min(blockSize, sizes.elements - start))
            .vec();
    std::sort(block.begin(), block.end());
    std::vector<int64_t> counts;
    for (auto from = block.begin(); from != block.end();) {
      auto to = std::upper_bound(from, block.end(), *from);
      counts.push_back(to - from);
      from = to;
    }
    sizes.values = std::max(sizes.values, static_cast<int64_t>(counts.size()));
    sizes.entropy += getEntropy(counts) * static_cast<double>(block.size()) /
                     static_cast<double>(sizes.elements);
  }

  std::vector<char> elements = getStoredElements(matrix, elementBytes);
  auto store = [&](StoredKind kind) -> std::optional<GapSize> {
    auto form = StoredForm::get(kind, elements, static_cast<int>(elementBytes),
                                {shape.columns, blockSize});
    if (!form)
      return std::nullopt;
    return GapSize{static_cast<int64_t>(form->bytes.size()),
                   form->shape.gap_bits};
  };
  if (auto codebook = store(StoredKind::codebook))
    sizes.codebook = codebook->bytes;
  sizes.csr = store(StoredKind::csr);
  sizes.huffman = store(StoredKind::huffman);
  return sizes;
}

int64_t StoredSizes::getLeast() const {
  int64_t least = std::min(dense, codebook.value_or(dense));
  for (const std::optional<GapSize> &each : {csr, huffman})
    if (each)
      least = std::min(least, each->bytes);
  return least;
}
