//===- RandomNumbers.h - Random numbers drawn when compiling ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_RANDOMNUMBERS_H
#define NNC_FRONTENDS_COMMON_RANDOMNUMBERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <cstdint>

namespace nnc::frontends {

/// The random numbers of one node: number i is SplitMix64's output for
/// seed + i * 0x9e3779b97f4a7c15, where the seed is a hash of `key`.
class RandomNumbers {
public:
  explicit RandomNumbers(llvm::StringRef key) : state(llvm::xxh3_64bits(key)) {}

  /// Returns a 24-bit number in [0, 1).
  double drawUniform() {
    state += 0x9e3779b97f4a7c15;
    uint64_t bits = state;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return static_cast<double>(bits >> 40) / (1 << 24);
  }
  /// Returns a normally distributed number: one of the two that the Box-Muller
  /// transform computes from two uniform ones.
  double drawNormal() {
    double radius = std::sqrt(-2 * std::log(1 - drawUniform()));
    return radius * std::cos(2 * M_PI * drawUniform());
  }

private:
  uint64_t state;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_RANDOMNUMBERS_H
