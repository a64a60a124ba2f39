//===- Outline.h - The numbers of an imported network ------------*- C++
//-*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// A model may compute with its sizes in ways that samples close to the largest
// sizes do not show, as with the minimum of a size and 5. Imports at the edges
// of the bounds show it.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_OUTLINE_H
#define NNC_COMPILER_SIZES_OUTLINE_H

#include "compiler/sizes/SizeRange.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace nnc {

/// The ops of an imported module whose results are used, and the whole numbers
/// in each: dimensions of results and operands, elements of short constants,
/// and attributes.
struct Outline {
  struct Entry {
    std::string kind;  ///< of the op and its operands
    std::string label; ///< for messages
    /// The dimensions of the results are first, those of operands follow.
    llvm::SmallVector<int64_t> numbers;
    size_t resultRank = 0, operandRank = 0; ///< 0 unless there is one operand
    /// Elements of short constants, of which there may be fewer at other sizes.
    llvm::SmallVector<llvm::SmallVector<int64_t>> constants;
  };
  std::vector<Entry> ops;
  /// The dimensions of the network's results.
  Entry results;

  explicit Outline(mlir::ModuleOp module);
};

/// Returns points at the edges of the ranges: the smallest sizes, each alone
/// and all together, the largest, some in the middle, and those at which all
/// sizes are 0 that may be.
std::vector<SizePoint> chooseEdges(llvm::ArrayRef<SizeRange> ranges);

/// Compares the numbers of a network at sizes in the ranges with what those at
/// the samples let expect.
class OutlineCheck {
public:
  /// `samples` are of the imports at the points of the finder's samples.
  OutlineCheck(std::vector<Outline> samples, const ExpressionFinder &finder,
               mlir::MLIRContext *context);

  /// Returns what differs in the outline at `point`, as a clause, or an empty
  /// string. Where a size is 1, other ops may compute the same, and only the
  /// results are compared then.
  std::string findDifference(const Outline &outline,
                             llvm::ArrayRef<int64_t> point);

private:
  using EntryOf = llvm::function_ref<const Outline::Entry &(const Outline &)>;
  using NumbersOf =
      llvm::function_ref<llvm::ArrayRef<int64_t>(const Outline &)>;
  /// Returns what a number should be at `point`; nullopt where the samples do
  /// not tell.
  std::optional<int64_t> expect(size_t number, NumbersOf getNumbers,
                                llvm::ArrayRef<int64_t> point);
  /// Returns what is not as expected, as a clause, or an empty string.
  std::string compareNumbers(llvm::ArrayRef<int64_t> numbers,
                             NumbersOf getNumbers,
                             llvm::ArrayRef<int64_t> point);
  std::string compare(const Outline::Entry &entry, EntryOf getEntry,
                      llvm::ArrayRef<int64_t> point);
  /// Returns what an op of the samples is that the network lacks at `point`, or
  /// an empty string if its result would be its operand there.
  std::string explainMissing(EntryOf getEntry, llvm::ArrayRef<int64_t> point);

  std::vector<Outline> samples;
  bool areAlike; ///< whether the samples have the same ops
  ExpressionFinder finder;
  /// Expressions by their values at the samples; null for those without.
  std::map<std::vector<int64_t>, mlir::AffineExpr> known;
};

} // namespace nnc

#endif // NNC_COMPILER_SIZES_OUTLINE_H
