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
  /// `chosen` are the values for the first sizes, and `expected` what is known
  /// of all of them from an import for the largest; or nothing is.
  Lengths(llvm::ArrayRef<int64_t> chosen, llvm::ArrayRef<FoundSize> expected)
      : chosen(chosen), expected(expected) {}

  /// Adds a size from 0 to `most` that a run finds in `count`, an integer, and
  /// returns its number; nullopt after a report.
  std::optional<unsigned> add(LayerBuilder &builder, llvm::StringRef name,
                              int64_t most, mlir::Value count);
  /// Adds `size`, which a run computes from other sizes as `count`.
  std::optional<unsigned> addComputed(LayerBuilder &builder,
                                      const FoundSize &size, mlir::Value count);
  /// Whether a size of that name may be the next one. Where data find nothing,
  /// a tensor that is empty at all sizes looks like one whose length they
  /// decide, but is none where they are largest.
  bool mayBeNext(llvm::StringRef name) const {
    return expected.empty() || (sizes.size() < expected.size() &&
                                expected[sizes.size()].name == name);
  }
  /// Returns the next size as an earlier import found it; null if it is new.
  const FoundSize *getExpected() const {
    return sizes.size() < expected.size() ? &expected[sizes.size()] : nullptr;
  }
  /// Returns as many slices of axis 0 of `x` as the size says.
  mlir::Value cut(LayerBuilder &builder, mlir::Value x, unsigned size) const;

  /// Returns `x`, all of it, where the size is known: it makes what reads `x`
  /// and has the size among its numbers run behind what finds the size.
  mlir::Value link(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                   unsigned size) const;

  /// Returns the numbers of the sizes of the tensors from which `x` is
  /// computed, one bit each; of those that one of these was computed from,
  /// none.
  uint64_t findSources(mlir::Value x) const;
  /// Returns the only size among `sources` that has this value; nullopt if none
  /// or several have.
  std::optional<unsigned> findAmong(uint64_t sources, int64_t value) const;
  /// Returns the size that an axis of `x` has in every import, as the ops that
  /// compute `x` show; nullopt where they do not, though it may have one.
  std::optional<unsigned> findOf(mlir::Value x, int64_t axis) const;
  /// Whether an axis of `x` is as long in every import, as these ops show.
  bool isFixed(mlir::Value x, int64_t axis) const;
  /// Whether `inner` is `outer`, or never larger than it.
  bool isWithin(unsigned inner, unsigned outer) const;
  /// The value of a size in this import.
  int64_t getValue(unsigned size) const;

  llvm::ArrayRef<FoundSize> getSizes() const { return sizes; }
  /// The numbers that are found, each a tensor of one i32.
  llvm::ArrayRef<mlir::Value> getCounts() const { return counts; }

private:
  llvm::ArrayRef<int64_t> chosen;
  llvm::ArrayRef<FoundSize> expected;
  std::vector<FoundSize> sizes;
  llvm::SmallVector<mlir::Value> counts;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LENGTHS_H
