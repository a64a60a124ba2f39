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

/// The range of a size that is known at run time only: it is one of low, low +
/// step, ..., high.
struct SizeRange {
  std::string name;
  int64_t low, high, step;
  /// Whether sizes above `high` are avoided as samples, because they would
  /// contradict other sizes: for example, if more elements were found than
  /// there are.
  bool isMost = false;
  /// The index of an earlier range whose size is never smaller than this one,
  /// such as the number of all elements of which this is the number of the
  /// first ones.
  std::optional<unsigned> within = std::nullopt;
  bool isFound = false; ///< whether data determine the size, not the caller
  /// The expression that computes the size from the found sizes before it, the
  /// first of which is length 0; null for a size that does not depend on
  /// others.
  nn::LengthExpression computed = {};
};

/// One value for each of several sizes.
using SizePoint = llvm::SmallVector<int64_t, 2>;

/// Makes each point one that can occur at run time. Computed sizes get their
/// computed values, and sizes that are within others are reduced to at most
/// these. Then removes points that equal an earlier one.
void makeConsistent(std::vector<SizePoint> &points,
                    llvm::ArrayRef<SizeRange> ranges);

/// Returns the points for which a network is compiled. The first has the
/// largest sizes; the others are close to it, except for one with the smallest
/// sizes. Each size differs alone and together with others. Where possible, no
/// size is 1 and no two sizes of a point are equal, since compilers treat such
/// shapes specially. A range with too few sizes is extended upwards, even with
/// `isMost` if there is no other way.
std::vector<SizePoint> chooseSamples(llvm::ArrayRef<SizeRange> ranges);

/// Returns points within the ranges at which results are checked. These are all
/// points if there are at most `most`, else a grid of about `most` points that
/// includes the smallest and the largest sizes. Sizes of 0, at which layers
/// without results do not run, are included only if `withZeros`.
std::vector<SizePoint> chooseChecks(llvm::ArrayRef<SizeRange> ranges,
                                    int64_t most, bool withZeros = false);

/// Returns the value at `point` of an expression whose symbols are sizes.
int64_t evaluate(mlir::AffineExpr expression, llvm::ArrayRef<int64_t> point);

/// Returns the quotient that an expression consists of, up to a constant that
/// is added to it; null if it is another expression.
mlir::AffineBinaryOpExpr getQuotient(mlir::AffineExpr expression);

/// A search for expressions of sizes that have given values at the samples. It
/// tries sums of a constant and sizes or up to two products of sizes, each with
/// a constant factor, quotients of such sums that are rounded down, and
/// products of all these.
class ExpressionFinder {
public:
  ExpressionFinder(std::vector<SizeRange> ranges,
                   std::vector<SizePoint> samples, mlir::MLIRContext *context);
  /// Returns the simplest expression that has the value values[i] at samples[i]
  /// for all i and is a whole number at all sizes in the ranges; null if there
  /// is none of the forms that are tried.
  mlir::AffineExpr find(llvm::ArrayRef<int64_t> values);

  llvm::ArrayRef<SizeRange> getRanges() const { return ranges; }
  llvm::ArrayRef<SizePoint> getSamples() const { return samples; }

  /// Returns the sums found so far, whose products find() tries. Another finder
  /// to which they are added in this order finds the same expressions from then
  /// on.
  llvm::SmallVector<mlir::AffineExpr> getSums() const;
  void addSum(mlir::AffineExpr sum);

  /// Adds a quotient of sizes that is rounded down, which find() then tries as
  /// it tries sizes. Returns false, and adds nothing, if it does not have the
  /// value values[i] at samples[i] for all i, or if its numerator is negative
  /// at some sizes.
  bool addQuotient(mlir::AffineExpr quotient, llvm::ArrayRef<int64_t> values);

private:
  /// A product of sizes, as the exponent of each size, or a quotient; and its
  /// value at each sample.
  struct Term {
    llvm::SmallVector<int, 2> exponents;
    std::vector<int64_t> values;
    mlir::AffineExpr quotient = {};
  };
  mlir::AffineExpr findSum(llvm::ArrayRef<int64_t> values) const;
  mlir::AffineExpr findProduct(llvm::ArrayRef<int64_t> values, int depth) const;
  mlir::AffineExpr fit(llvm::ArrayRef<const Term *> chosen,
                       llvm::ArrayRef<int64_t> values) const;
  mlir::AffineExpr makeProduct(const Term &term) const;
  mlir::AffineExpr findQuotient(llvm::ArrayRef<int64_t> values) const;
  bool isSound(mlir::AffineExpr quotient, llvm::ArrayRef<int64_t> values) const;
  bool isWhole(mlir::AffineExpr numerator, int64_t divisor) const;
  /// Returns true if the samples have enough values of each size to determine a
  /// polynomial of the expression's degree and to check it with at least one
  /// more.
  bool isChecked(mlir::AffineExpr expression) const;

  std::vector<SizeRange> ranges;
  std::vector<SizePoint> samples;
  std::vector<Term> terms; ///< products of sizes in ascending degree
  std::vector<Term> quotients;
  /// The sums found so far, such as dimensions, with their values at the
  /// samples.
  llvm::MapVector<mlir::AffineExpr, std::vector<int64_t>> factors;
  mlir::MLIRContext *context;
};

} // namespace nnc

#endif // NNC_COMPILER_SIZES_SIZERANGE_H
