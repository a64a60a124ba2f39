//===- Outline.h - The numbers of an imported network ------------*- C++
//-*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// A model may depend on its sizes in ways that samples close to the largest
// sizes do not show, such as the minimum of a size and 5. Imports at the edges
// of the ranges reveal this.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_OUTLINE_H
#define NNC_COMPILER_SIZES_OUTLINE_H

#include "compiler/sizes/SizeRange.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace nnc {

/// The live ops of an imported module, and the whole numbers of each:
/// dimensions of results and operands, elements of short constants, and
/// attributes.
struct Outline {
  struct Entry {
    std::string kind;  ///< kind of the op and of its operands
    std::string label; ///< for messages
    /// The dimensions of the results, then those of the operands, then the
    /// integers of attributes.
    llvm::SmallVector<int64_t> numbers;
    /// `operandRank` is 0 unless there is one operand.
    size_t resultRank = 0, operandRank = 0;
    /// The elements of short constant operands, whose number may vary with the
    /// sizes.
    llvm::SmallVector<llvm::SmallVector<int64_t>> constants;
  };
  std::vector<Entry> ops;
  /// The dimensions of the network's results.
  Entry results;

  explicit Outline(mlir::ModuleOp module);
};

/// Returns points at the edges of the ranges: the smallest sizes, together and
/// each alone, the largest sizes, sizes in the middle, and points at which all
/// sizes are 0 that may be 0.
std::vector<SizePoint> chooseEdges(llvm::ArrayRef<SizeRange> ranges);

/// A check of the numbers of a network at points in the ranges against those
/// that its samples predict.
class OutlineCheck {
public:
  /// `samples` are the outlines of the imports at the samples of `finder`.
  OutlineCheck(std::vector<Outline> samples, const ExpressionFinder &finder,
               mlir::MLIRContext *context);

  /// Returns a clause that says what differs in the outline at `point`, or an
  /// empty string. If a size is 1, other ops may compute the same, so that only
  /// the results are compared if the ops differ.
  std::string findDifference(const Outline &outline,
                             llvm::ArrayRef<int64_t> point);

private:
  using EntryOf = llvm::function_ref<const Outline::Entry &(const Outline &)>;
  using NumbersOf =
      llvm::function_ref<llvm::ArrayRef<int64_t>(const Outline &)>;
  /// Returns the expected value of number `number` of an entry at `point`;
  /// nullopt if the samples do not determine it.
  std::optional<int64_t> expect(size_t number, NumbersOf getNumbers,
                                llvm::ArrayRef<int64_t> point);
  /// Returns a clause that says which number is not as expected, or an empty
  /// string.
  std::string compareNumbers(llvm::ArrayRef<int64_t> numbers,
                             NumbersOf getNumbers,
                             llvm::ArrayRef<int64_t> point);
  std::string compare(const Outline::Entry &entry, EntryOf getEntry,
                      llvm::ArrayRef<int64_t> point);
  /// Returns a clause that names an op of the samples that the network lacks at
  /// `point`, or an empty string if its result would equal its operand there.
  std::string explainMissing(EntryOf getEntry, llvm::ArrayRef<int64_t> point);

  std::vector<Outline> samples;
  bool areAlike; ///< whether the samples have the same ops
  ExpressionFinder finder;
  /// The expressions found so far, by their values at the samples; null if
  /// there is none for the values.
  std::map<std::vector<int64_t>, mlir::AffineExpr> known;
};

} // namespace nnc

#endif // NNC_COMPILER_SIZES_OUTLINE_H
