//===- StoredForm.cpp - Weights in fewer bytes, without any loss ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/StoredForm.h"

#include "dialects/nn/stored_weights/forms/StoredWriters.h"

#include "llvm/ADT/Twine.h"

using namespace nnc;
using namespace nnc::stored;

/// The largest number of distinct values of a weight whose blocks have their
/// own tables.
static constexpr size_t kMostPartValues = 65536;
/// The number of elements in a block of entries or Huffman codes. Blocks are
/// decoded independently of each other.
static constexpr int64_t kBlock = 4096;

llvm::StringRef nnc::stored::toString(StoredKind kind) {
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

std::string nnc::stored::getFormName(int64_t form, int64_t gaps,
                                     int64_t block) {
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
  case decode_pattern:
    return (llvm::Twine(gaps) + ":" + llvm::Twine(block)).str();
  default:
    return "";
  }
}

/// Sets `form` to the smaller of both forms, or to `other` if both have the
/// same size.
static void keepSmaller(std::optional<StoredForm> &form,
                        std::optional<StoredForm> other) {
  if (other && (!form || other->bytes.size() <= form->bytes.size()))
    form = std::move(other);
}

/// Returns true if the weight is small enough: offsets of blocks have 32 bits,
/// and sizes are ints.
static bool hasStorableSize(llvm::ArrayRef<char> bytes, int size) {
  return int64_t(bytes.size()) >= 2 * size &&
         bytes.size() <= (size_t(1) << 31) - kBlock;
}

/// Returns the smallest pattern of elements. `book` has all their values if
/// these are few, otherwise it is nullopt.
static std::optional<StoredForm>
findPattern(llvm::ArrayRef<char> bytes, int size,
            const std::optional<Codebook> &book, int64_t run) {
  std::optional<StoredForm> form;
  // Literal entries skip zeros.
  keepSmaller(form, storePattern(bytes, size, nullptr, run));
  if (book)
    keepSmaller(form, storePattern(bytes, size, &*book, run));
  return form;
}

std::optional<StoredForm> StoredForm::getPattern(llvm::ArrayRef<char> bytes,
                                                 int size, int64_t run) {
  if (!hasStorableSize(bytes, size))
    return std::nullopt;
  auto form =
      findPattern(bytes, size, Codebook::get(bytes, size, kMostPlaces), run);
  if (form && form->bytes.size() >= bytes.size())
    return std::nullopt;
  return form;
}

std::optional<StoredForm> StoredForm::get(StoredKind kind,
                                          llvm::ArrayRef<char> bytes, int size,
                                          llvm::ArrayRef<int64_t> runs,
                                          int64_t block) {
  if (!hasStorableSize(bytes, size))
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
    // Elements of one byte are always stored with a table, because all routines
    // that read entries of bytes support one.
    if (size > 1)
      form = storeLiterals(bytes, size,
                           book ? book->values[book->findMostFrequent()] : 0,
                           length);
    if (book)
      keepSmaller(form, storeEntries(*book, length));
    if (!block)
      keepSmaller(form,
                  findPattern(bytes, size, book, int64_t(bytes.size()) / size));
    break;
  case StoredKind::huffman:
    form = storeHuffman(*book, length);
    keepSmaller(form, storeHuffmanEntries(*book, length));
    break;
  }
  if (form && form->bytes.size() >= bytes.size())
    return std::nullopt;
  return form;
}

bool nnc::stored::isWorthStoring(StoredKind kind, llvm::ArrayRef<char> bytes,
                                 int size) {
  if (int64_t(bytes.size()) < 64 * size)
    return false;
  bool hasParts = kind == StoredKind::codebook;
  auto book =
      Codebook::get(bytes, size, hasParts ? kMostPartValues : kMostPlaces);
  if (!book)
    return kind == StoredKind::csr && hasManyZeros(bytes, size);
  // Blocks of 64 elements with at most 16 values are smaller than the elements,
  // unless these are bytes.
  return book->values.size() <= kMostPlaces || getMostValues(*book, 64, 16);
}
