//===- Lengths.h - Sizes that a run finds -----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_LENGTHS_H
#define NNC_FRONTENDS_COMMON_LENGTHS_H

#include "frontends/common/Import.h"
#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// The sizes of tensors that the network's data decide. An import is for one
/// value of each: the largest, unless others are asked for.
class Lengths {
public:
  /// `chosen` are the values for the first sizes.
  explicit Lengths(llvm::ArrayRef<int64_t> chosen) : chosen(chosen) {}

  /// Adds a size from 0 to `most` that a run finds in `count`, an integer, and
  /// returns its number; nullopt after a report.
  std::optional<unsigned> add(LayerBuilder &builder, llvm::StringRef name,
                              int64_t most, mlir::Value count);
  /// Returns as many slices of axis 0 of `x` as the size says.
  mlir::Value cut(LayerBuilder &builder, mlir::Value x, unsigned size) const;

  /// Returns the number of a size that has this value and is found in the
  /// function that computes `x`.
  std::optional<unsigned> find(mlir::Value x, int64_t value) const;

  llvm::ArrayRef<FoundSize> getSizes() const { return sizes; }
  /// The numbers that are found, each a tensor of one i32.
  llvm::ArrayRef<mlir::Value> getCounts() const { return counts; }

private:
  int64_t getValue(unsigned size) const {
    return size < chosen.size() ? chosen[size] : sizes[size].most;
  }

  llvm::ArrayRef<int64_t> chosen;
  std::vector<FoundSize> sizes;
  llvm::SmallVector<mlir::Value> counts;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LENGTHS_H
