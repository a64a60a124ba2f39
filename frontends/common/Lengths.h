//===- Lengths.h - Data-dependent sizes -----------------------------------===//
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

/// The data-dependent sizes of a model: sizes of tensors that are known only
/// when the network runs, such as the number of results of NonZero. They are
/// numbered in the order in which the import meets them. One import is made for
/// one value of each: its largest, unless the caller chooses others.
class Lengths {
public:
  /// `chosen` are the values that the first sizes have in this import; the
  /// others have their largest. `expected` are all sizes as an import at their
  /// largest values found them; empty in that import itself.
  Lengths(llvm::ArrayRef<int64_t> chosen, llvm::ArrayRef<FoundSize> expected)
      : chosen(chosen), expected(expected) {}

  /// Adds a size whose value `count`, a tensor of one integer, is computed when
  /// the network runs, and returns its number; nullopt after an error.
  std::optional<unsigned> add(LayerBuilder &builder, FoundSize size,
                              mlir::Value count);
  /// Adds a size whose value is an expression of other sizes.
  std::optional<unsigned> addComputed(LayerBuilder &builder,
                                      const FoundSize &size);
  /// Returns whether the next size may be the one called `name`. In an import
  /// in which a size is 0, a tensor that is always empty looks like one with
  /// that size; the import at the largest values tells them apart.
  bool mayBeNext(llvm::StringRef name) const {
    return expected.empty() || (sizes.size() < expected.size() &&
                                expected[sizes.size()].name == name);
  }
  /// Returns the next size as the import at the largest values found it; null
  /// in that import.
  const FoundSize *getExpected() const {
    return sizes.size() < expected.size() ? &expected[sizes.size()] : nullptr;
  }
  /// Returns the first elements of `x` along axis 0, as many as the size.
  mlir::Value cut(LayerBuilder &builder, mlir::Value x, unsigned size) const;

  /// Returns a copy of `x` that depends on the size: ops that read it and use
  /// the value of the size run after the size is computed.
  mlir::Value link(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                   unsigned size) const;

  /// Returns the set of sizes, one bit for each number, that the tensors have
  /// from which `x` is computed. Sizes from which a size in the set was
  /// computed are not in it.
  uint64_t findSources(mlir::Value x) const;
  /// Returns the one size in the set `sources` whose value in this import is
  /// `value`; nullopt if none or several have it.
  std::optional<unsigned> findAmong(uint64_t sources, int64_t value) const;
  /// Returns the size of axis `axis` of `x` as an expression of data-dependent
  /// sizes, as far as the ops that compute `x` show it; else null.
  LengthExpression describe(mlir::Value x, int64_t axis) const;
  /// Records the size of axis `axis` of `x` as an expression of data-dependent
  /// sizes.
  void noteDim(mlir::Value x, int64_t axis, LengthExpression size);
  /// Records that the constant `x` depends on data-dependent sizes.
  void noteVarying(mlir::Value x) { varying.insert(x); }
  /// Records that all elements of the constant `x` are `number`.
  void noteFilling(mlir::Value x, double number) {
    if (!sizes.empty())
      fillings[x] = number;
  }
  /// Returns the number of noteFilling() for `x`, which may have no elements in
  /// this import; else nullopt.
  std::optional<double> getFilling(mlir::Value x) const;
  /// Returns the number of the data-dependent size that axis `axis` of `x` has,
  /// or nullopt if its size is another one.
  std::optional<unsigned> findOf(mlir::Value x, int64_t axis) const {
    return describe(x, axis).getLength();
  }
  /// Returns whether size `inner` is never larger than size `outer`.
  bool isWithin(unsigned inner, unsigned outer) const;
  /// Returns the tightest known bounds of an expression over all values of the
  /// data-dependent sizes.
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
  /// Returns true if both expressions are equal for all values of the
  /// data-dependent sizes.
  bool areEqual(const LengthExpression &a, const LengthExpression &b) const;
  /// Returns true if the expression has its largest value when all sizes have
  /// their largest values.
  bool isLargestAtMost(const LengthExpression &number) const;
  /// Returns the size that is always equal to this expression, if there is one.
  std::optional<unsigned> findEqual(const LengthExpression &number) const;
  /// Returns the smallest size that is never smaller than this expression, if
  /// there is one.
  std::optional<unsigned> findOuter(const LengthExpression &number) const;
  /// Returns the value of a size in this import.
  int64_t getValue(unsigned size) const;

  llvm::ArrayRef<FoundSize> getSizes() const { return sizes; }
  /// Returns for each size its run-time value, a tensor of one i32.
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
