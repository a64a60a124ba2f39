//===- WeightRules.h - Which weights routines may read ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTRULES_H
#define NNC_COMPILER_ROUTINES_WEIGHTRULES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace nnc {

/// The user's restrictions on the formats of weights that routines may read.
/// They do not apply to a layer that names its routine already.
struct WeightRules {
  /// The least bits that choices may leave of a weight: 24, or the model's 32.
  /// Integers of 24 bits share a scale: a weight loses up to 2^-24 of the
  /// largest of its group, however small it is itself. No bound of the results'
  /// relative error follows that holds for every input, so a user has to ask
  /// for them.
  int64_t leastBits = 32;
  /// The kind of weights that layers have where they can, as
  /// WeightEncoding::getKind() or stored::toString(StoredKind) calls it,
  /// or "dense" for none. With "auto" the fastest are chosen.
  std::string encoding = "auto";
  /// Whether the bytes of weights count in the choice, as they do where these
  /// are limited: candidates that read weights in different encodings are then
  /// different ones (Candidate::weighsBytes).
  bool weighsBytes = false;

  bool isEncodingOpen() const { return encoding == "auto"; }
  /// The wanted encoding, empty for dense weights.
  llvm::StringRef getKind() const {
    return encoding == "dense" ? llvm::StringRef() : llvm::StringRef(encoding);
  }
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTRULES_H
