//===- Optimize.h - Trade-off between code size and time ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_OPTIMIZE_H
#define NNC_COMPILER_ROUTINES_OPTIMIZE_H

#include "compiler/routines/CallCosts.h"

#include "llvm/ADT/StringRef.h"

namespace nnc {

/// The aim of choices: few bytes of code, little time, or both in proportion.
enum class Optimize { size, balance, speed };

inline llvm::StringRef getName(Optimize optimize) {
  switch (optimize) {
  case Optimize::size:
    return "size";
  case Optimize::balance:
    return "balance";
  case Optimize::speed:
    return "speed";
  }
  return "";
}

/// Returns the least fraction of a model's time that a byte of code must save
/// to be worth having.
inline double getShareOfByte(Optimize optimize) {
  switch (optimize) {
  case Optimize::size:
    return costs::kByteShareForSize;
  case Optimize::balance:
    return costs::kByteShareForBalance;
  case Optimize::speed:
    return 0;
  }
  return 0;
}

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_OPTIMIZE_H
