//===- StoredForm.cpp - Weights in fewer bytes, without any loss ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/compression/StoredForm.h"

#include "dialects/nn/compression/StoredWriters.h"

using namespace nnc;
using namespace nnc::compression;

/// The most values of a weight of which a part has a table.
static constexpr size_t kMostPartValues = 65536;
/// Elements that entries and Huffman codes make independently of others.
static constexpr int64_t kBlock = 4096;

llvm::StringRef nnc::compression::toString(StoredKind kind) {
  switch (kind) {
  case StoredKind::codebook:
    return "codebook";
  case StoredKind::csr:
    return "csr";
  case StoredKind::huffman:
    return "huffman";
  }
  llvm_unreachable("a kind without a name");
}

llvm::StringRef nnc::compression::getFormName(int64_t form) {
  switch (form) {
  case decode_codes:
    return "codebook";
  case decode_huffman:
    return "huffman";
  case decode_entries:
    return "csr";
  case decode_huffman_entries:
    return "huffman of csr";
  case decode_literals:
    return "literal csr";
  default:
    return "";
  }
}

std::optional<StoredForm> StoredForm::get(StoredKind kind,
                                          llvm::ArrayRef<char> bytes, int size,
                                          llvm::ArrayRef<int64_t> runs,
                                          int64_t block) {
  // The places of blocks have 32 bits, sizes are ints.
  if (int64_t(bytes.size()) < 2 * size ||
      bytes.size() > (size_t(1) << 31) - kBlock)
    return std::nullopt;
  bool hasParts = kind == StoredKind::codebook;
  auto book =
      Codebook::get(bytes, size, hasParts ? kMostPartValues : kMostPlaces);
  if (!book && kind != StoredKind::csr)
    return std::nullopt;
  const int64_t length = block ? block : kBlock;
  std::optional<StoredForm> form;
  switch (kind) {
  case StoredKind::codebook:
    form = storeCodes(*book, runs, block);
    break;
  case StoredKind::csr:
    form = storeLiterals(
        bytes, size, book ? book->values[book->findMostFrequent()] : 0, length);
    if (book)
      if (StoredForm other = storeEntries(*book, length);
          !form || other.bytes.size() <= form->bytes.size())
        form = std::move(other);
    break;
  case StoredKind::huffman:
    form = storeHuffman(*book, length);
    if (StoredForm other = storeHuffmanEntries(*book, length);
        other.bytes.size() < form->bytes.size())
      form = std::move(other);
    break;
  }
  if (form && form->bytes.size() >= bytes.size())
    return std::nullopt;
  return form;
}

bool nnc::compression::isWorthStoring(StoredKind kind,
                                      llvm::ArrayRef<char> bytes, int size) {
  if (int64_t(bytes.size()) < 64 * size)
    return false;
  bool hasParts = kind == StoredKind::codebook;
  auto book =
      Codebook::get(bytes, size, hasParts ? kMostPartValues : kMostPlaces);
  if (!book)
    return kind == StoredKind::csr && hasManyZeros(bytes, size);
  // Parts of 64 elements and 16 values take less than the elements of any size
  // but a byte.
  return book->values.size() <= kMostPlaces || getMostValues(*book, 64, 16);
}
