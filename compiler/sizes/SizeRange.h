//===- SizeRange.h - Sizes that are chosen at run time --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_SIZERANGE_H
#define NNC_COMPILER_SIZES_SIZERANGE_H

#include "dialects/nn/lengths/LengthExpression.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"

#include <optional>
#include <string>
#include <vector>

namespace nnc {

/// A size that a module has at run time: one of low, low + step, ..., high.
struct SizeRange {
  std::string name;
  int64_t low, high, step;
  /// Whether larger sizes contradict others, as more things than there are.
  bool isMost = false;
  /// The number of a range before it whose size is never smaller, as that of
  /// all things of which these are the first.
  std::optional<unsigned> within = std::nullopt;
  bool isFound = false; ///< whether data decide the size, not the caller
  /// The expression that computes the size from the found sizes before it, of
  /// which the first is length 0; null for a size that does not depend on
  /// others.
  nn::LengthExpression computed = {};
};

/// One value for each of several sizes.
using SizePoint = llvm::SmallVector<int64_t, 2>;

/// Makes each point one that can occur: sizes that are computed get the
/// computed values, and sizes larger than those that they are within become as
/// large as these. Removes points that equal an earlier one then.
void makeConsistent(std::vector<SizePoint> &points,
                    llvm::ArrayRef<SizeRange> ranges);

/// Returns the points for which a network is compiled: the one with the largest
/// sizes, then others close to it and the smallest, in which each size differs
/// alone and together with others. No size is 1, and no two are equal where
/// that can be avoided, since compilers treat such shapes specially. A range
/// with few sizes is extended upwards, if it has to be where `isMost`.
std::vector<SizePoint> chooseSamples(llvm::ArrayRef<SizeRange> ranges);

/// Returns points within the ranges at which results are checked: all of them
/// if they are at most `most`, else a grid of about as many, which has the
/// smallest and the largest sizes. Sizes of 0, at which layers without results
/// do not run, are among them only `withZeros`.
std::vector<SizePoint> chooseChecks(llvm::ArrayRef<SizeRange> ranges,
                                    int64_t most, bool withZeros = false);

/// Returns the value of an expression whose symbols are sizes.
int64_t evaluate(mlir::AffineExpr expression, llvm::ArrayRef<int64_t> point);

/// Finds numbers as expressions of sizes: sums of a constant and of sizes, or
/// of up to two products of them, each with a constant factor, and products of
/// such sums.
class ExpressionFinder {
public:
  ExpressionFinder(std::vector<SizeRange> ranges,
                   std::vector<SizePoint> samples, mlir::MLIRContext *context);
  /// Returns the simplest expression that has values[i] at samples[i] for all
  /// i, and that is a whole number at all sizes in the ranges; null if there is
  /// none of the forms that are tried.
  mlir::AffineExpr find(llvm::ArrayRef<int64_t> values);

  llvm::ArrayRef<SizeRange> getRanges() const { return ranges; }
  llvm::ArrayRef<SizePoint> getSamples() const { return samples; }

  /// Returns the sums that were found, whose products it tries. A finder that
  /// knows them, in this order, finds the same expressions from there on.
  llvm::SmallVector<mlir::AffineExpr> getSums() const;
  void addSum(mlir::AffineExpr sum);

private:
  /// A product of sizes: its exponents, and its values at the samples.
  struct Term {
    llvm::SmallVector<int, 2> exponents;
    std::vector<int64_t> values;
  };
  mlir::AffineExpr findSum(llvm::ArrayRef<int64_t> values) const;
  mlir::AffineExpr findProduct(llvm::ArrayRef<int64_t> values, int depth) const;
  mlir::AffineExpr fit(llvm::ArrayRef<const Term *> chosen,
                       llvm::ArrayRef<int64_t> values) const;
  mlir::AffineExpr makeProduct(const Term &term) const;
  bool isWhole(mlir::AffineExpr numerator, int64_t divisor) const;
  /// Returns true if there are more samples of each size than a polynomial of
  /// the expression's degree could go through by chance.
  bool isChecked(mlir::AffineExpr expression) const;

  std::vector<SizeRange> ranges;
  std::vector<SizePoint> samples;
  std::vector<Term> terms;
  /// Sums that were found, such as dimensions, and their values at the samples.
  llvm::MapVector<mlir::AffineExpr, std::vector<int64_t>> factors;
  mlir::MLIRContext *context;
};

} // namespace nnc

#endif // NNC_COMPILER_SIZES_SIZERANGE_H
