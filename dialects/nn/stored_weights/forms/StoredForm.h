//===- StoredForm.h - Weights in fewer bytes, without any loss --*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDFORM_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDFORM_H

#include "runtime/routines/stored_weights/decode/shape.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nnc::stored {

/// How --weights-encoding calls the forms in which weights are stored.
enum class StoredKind {
  codebook, ///< decode_codes
  csr, ///< decode_entries, decode_literals or decode_pattern, what is smallest
  huffman ///< decode_huffman or decode_huffman_entries, what is smaller
};
inline constexpr StoredKind kStoredKinds[] = {
    StoredKind::codebook, StoredKind::csr, StoredKind::huffman};
llvm::StringRef toString(StoredKind kind);
/// The name of a decode_form, for reports, or ""; that of a pattern tells how
/// many of how many elements have entries: `gaps` and `block` of its shape.
std::string getFormName(int64_t form, int64_t gaps, int64_t block);

/// A weight in fewer bytes: those that runtime/routines/stored_weights/decode/
/// reads, and the shape by which it does.
struct StoredForm {
  decode_shape shape = {};
  std::vector<uint8_t> bytes;

  /// Returns the smallest form of a kind for elements of `size` bytes, 1, 2 or
  /// 4; nullopt if it holds no such elements, of which there are too many
  /// different ones, or takes as many bytes as they do. Where codes have
  /// tables for parts of the weight, a part is of one of the lengths `runs`, or
  /// of a few of them, or of a power of two. If `block` is given, blocks have
  /// so many elements.
  static std::optional<StoredForm> get(StoredKind kind,
                                       llvm::ArrayRef<char> elements, int size,
                                       llvm::ArrayRef<int64_t> runs,
                                       int64_t block = 0);
  /// Returns the smallest decode_pattern whose blocks are parts of runs of
  /// `run` elements; nullopt if there is none, or it takes as many bytes as the
  /// elements do.
  static std::optional<StoredForm> getPattern(llvm::ArrayRef<char> elements,
                                              int size, int64_t run);
};

/// Whether there is a form of the kind for values of a weight that are stored
/// as they are, in any order: few different ones, or many zeros.
bool isWorthStoring(StoredKind kind, llvm::ArrayRef<char> elements, int size);

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDFORM_H
