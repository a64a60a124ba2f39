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

/// The kinds of compressed forms of weights, with their names in
/// --weights-encoding.
enum class StoredKind {
  codebook, ///< decode_codes
  csr,      ///< smallest of decode_entries, decode_literals and decode_pattern
  huffman   ///< smaller of decode_huffman and decode_huffman_entries
};
inline constexpr StoredKind kStoredKinds[] = {
    StoredKind::codebook, StoredKind::csr, StoredKind::huffman};
llvm::StringRef toString(StoredKind kind);
/// Returns the name of a decode_form for reports, or "" for an unknown one. The
/// name of a pattern contains `gaps` and `block` of its shape, as in 2:4.
std::string getFormName(int64_t form, int64_t gaps, int64_t block);

/// A compressed weight: the bytes that the routines of
/// runtime/routines/stored_weights/decode/ read, and their shape.
struct StoredForm {
  decode_shape shape = {};
  std::vector<uint8_t> bytes;

  /// Returns the smallest form of a kind for elements of `size` bytes (1, 2 or
  /// 4), or nullopt if there are too many distinct values for it or if it is
  /// not smaller than the elements. If `block` is not 0, each block has `block`
  /// elements. Otherwise the blocks of the kind `codebook`, each with its own
  /// table, have a length in `runs`, a small multiple of one, or a power of
  /// two, whichever is smallest in bytes.
  static std::optional<StoredForm> get(StoredKind kind,
                                       llvm::ArrayRef<char> elements, int size,
                                       llvm::ArrayRef<int64_t> runs,
                                       int64_t block = 0);
  /// Returns the smallest decode_pattern whose blocks divide runs of `run`
  /// elements, or nullopt if there is none or if it is not smaller than the
  /// elements.
  static std::optional<StoredForm> getPattern(llvm::ArrayRef<char> elements,
                                              int size, int64_t run);
};

/// Returns true if a weight with these elements, in any order, is smaller in a
/// form of the kind: it has few distinct values or many zeros.
bool isWorthStoring(StoredKind kind, llvm::ArrayRef<char> elements, int size);

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDFORM_H
