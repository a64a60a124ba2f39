//===- Lengths.h - Sizes that a run finds -----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_LENGTHS_H
#define NNC_FRONTENDS_COMMON_LENGTHS_H

#include "frontends/common/Import.h"
#include "frontends/common/LayerBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nnc::frontends {

/// The sizes of tensors that the network's data decide. An import is for one
/// value of each: the largest, unless others are asked for.
class Lengths {
public:
  /// `chosen` are the values for the first sizes, and `expected` what is known
  /// of all of them from an import for the largest; or nothing is.
  Lengths(llvm::ArrayRef<int64_t> chosen, llvm::ArrayRef<FoundSize> expected)
      : chosen(chosen), expected(expected) {}

  /// Adds a size that a run finds in `count`, an integer, and returns its
  /// number; nullopt after a report.
  std::optional<unsigned> add(LayerBuilder &builder, FoundSize size,
                              mlir::Value count);
  /// Adds `size`, which a run computes from other sizes.
  std::optional<unsigned> addComputed(LayerBuilder &builder,
                                      const FoundSize &size);
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
  /// Returns how many elements an axis of `x` has in every import, as the ops
  /// that compute `x` show; null where they do not.
  LengthExpression describe(mlir::Value x, int64_t axis) const;
  /// Notes how many elements an axis of `x` has in every import.
  void noteDim(mlir::Value x, int64_t axis, LengthExpression size);
  /// Notes that `x`, a constant, is another one in other imports.
  void noteVarying(mlir::Value x) { varying.insert(x); }
  /// Notes that all elements of `x`, a constant, are this number.
  void noteFilling(mlir::Value x, double number) {
    if (!sizes.empty())
      fillings[x] = number;
  }
  /// Returns the number that was noted for `x`, which may have no elements in
  /// this import; else nullopt.
  std::optional<double> getFilling(mlir::Value x) const;
  /// Returns the size that an axis of `x` is, if it is described as one.
  std::optional<unsigned> findOf(mlir::Value x, int64_t axis) const {
    return describe(x, axis).getLength();
  }
  /// Whether `inner` is `outer`, or never larger than it.
  bool isWithin(unsigned inner, unsigned outer) const;
  /// Returns the tightest bounds that can be told of a number at all sizes that
  /// data may decide.
  std::pair<int64_t, int64_t> getBounds(const LengthExpression &number) const;
  /// Returns the expression `kind` of a and b, simplified where their bounds
  /// decide it, such as the smaller of two that never cross. Returns null if a
  /// or b is null, if the result may exceed LengthExpression::kMost, or if a
  /// division is not one of a number that is never negative by a positive
  /// constant.
  LengthExpression combine(LengthExpression::Kind kind,
                           const LengthExpression &a,
                           const LengthExpression &b) const;
  LengthExpression select(const LengthExpression &condition,
                          const LengthExpression &a,
                          const LengthExpression &b) const;
  /// Whether both numbers are equal at all sizes that data may decide.
  bool areEqual(const LengthExpression &a, const LengthExpression &b) const;
  /// Whether a number is largest where all sizes are.
  bool isLargestAtMost(const LengthExpression &number) const;
  /// Returns the size that always is this number, if there is one.
  std::optional<unsigned> findEqual(const LengthExpression &number) const;
  /// Returns the closest size that is never smaller than this number, if any.
  std::optional<unsigned> findOuter(const LengthExpression &number) const;
  /// The value of a size in this import.
  int64_t getValue(unsigned size) const;

  llvm::ArrayRef<FoundSize> getSizes() const { return sizes; }
  /// The numbers that are found, each a tensor of one i32.
  llvm::ArrayRef<mlir::Value> getCounts() const { return counts; }

private:
  bool dependsOnSizes(mlir::Value x) const;

  llvm::ArrayRef<int64_t> chosen;
  llvm::ArrayRef<FoundSize> expected;
  std::vector<FoundSize> sizes;
  llvm::SmallVector<mlir::Value> counts;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, LengthExpression> dims;
  llvm::DenseSet<mlir::Value> varying;
  llvm::DenseMap<mlir::Value, double> fillings;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LENGTHS_H
