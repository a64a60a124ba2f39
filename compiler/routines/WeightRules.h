//===- WeightRules.h - Which weights routines may read ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTRULES_H
#define NNC_COMPILER_ROUTINES_WEIGHTRULES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nnc {

/// The user's restrictions on the formats of weights that routines may read.
/// They do not apply to a layer that names its routine already.
struct WeightRules {
  /// The encoding that weights get wherever their layers support it, as named
  /// by WeightEncoding::getKind() or stored::toString(StoredKind); "dense" for
  /// none. With "auto" the fastest encoding is chosen.
  std::string encoding = "auto";
  /// Whether the bytes of weights count in the choice, because they are
  /// limited. Candidates that read weights in different encodings are then
  /// distinct (Candidate::weighsBytes).
  bool weighsBytes = false;

  bool isEncodingOpen() const { return encoding == "auto"; }
  /// Returns the wanted encoding, or an empty string for dense weights.
  llvm::StringRef getKind() const {
    return encoding == "dense" ? llvm::StringRef() : llvm::StringRef(encoding);
  }
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTRULES_H
