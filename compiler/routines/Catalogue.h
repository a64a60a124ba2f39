//===- Catalogue.h - The tables of runtime/ as data -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_CATALOGUE_H
#define NNC_COMPILER_ROUTINES_CATALOGUE_H

#include "dialects/shapes/RoutineShape.h"
#include "runtime/cuda/block.h"
#include "runtime/routines/catalogue/core.h"

namespace nnc {

/// A routine of the runtime: an NNC_ROUTINE of a table in runtime/routines/.
struct Routine {
  llvm::StringRef name, header, isa;
  const Family *family;
  /// `elements` is the element type of the first input, and `otherElements` is
  /// that of the other inputs: a type, or "number", "any", "integer" or
  /// "narrow" as catalogue/routines.inc explains. `sums` is the type of the
  /// sums, or empty if it equals the element type.
  llvm::StringRef elements, otherElements, sums;
  /// The names of the layouts of the inputs, followed by that of the output:
  /// "plain", "any", or a name as in #nn.layout. If all are "any", the shape of
  /// a call holds physical dimensions.
  llvm::SmallVector<llvm::StringRef> layouts;
  llvm::SmallVector<llvm::StringRef> params;
  /// The combinations of parameter values that are worth trying; a single empty
  /// list if the routine has no parameters.
  llvm::SmallVector<llvm::SmallVector<int64_t>> candidates;

  /// Returns true if the routine is for GPUs alone.
  bool isForGpus() const { return isa.starts_with("sm"); }
  /// Returns true if the routine consists of kernels for blocks of a GPU's
  /// threads (runtime/cuda/README.md).
  bool isOnBlocks() const { return header.ends_with(".cuh"); }

  bool applies(const RoutineShape &shape, llvm::ArrayRef<int64_t> params) const;
  /// Returns the bytes of working memory that a call needs when up to `threads`
  /// threads share its work.
  int64_t getScratchBytes(const RoutineShape &shape,
                          llvm::ArrayRef<int64_t> params, int threads) const;
  /// Returns the fraction of the core's peak rate of multiply-adds that the
  /// inner loop reaches, from 0 to 1.
  double getEfficiency(const RoutineShape &shape,
                       llvm::ArrayRef<int64_t> params,
                       const core_limits &core) const;

  /// Returns the relative rounding error of the routine beyond that of ordinary
  /// sums of products: the root mean square of the error over that of the
  /// result.
  double getError(const RoutineShape &shape,
                  llvm::ArrayRef<int64_t> params) const;

  /// Returns the size of the first launch of a routine on blocks, or nothing
  /// for other routines.
  std::optional<launch_size> getLaunch(const RoutineShape &shape,
                                       llvm::ArrayRef<int64_t> params) const;

  /// Returns the bytes of code of one layer on a microcontroller, or nothing if
  /// they are not known. The layer's sizes are either compiled in as constants
  /// or passed as arguments to its function.
  std::optional<int64_t> getCodeBytes(llvm::ArrayRef<int64_t> params,
                                      bool hasConstantSizes = true) const;

  /// Returns the bytes of functions that all layers with this routine share on
  /// a microcontroller, and no other routine calls; 0 if they are not known.
  int64_t getSharedCodeBytes(llvm::ArrayRef<int64_t> params) const;

  /// Returns the layout of input `i`, or of the output if `i` is -1. Families
  /// with any number of inputs list one layout for all of them.
  llvm::StringRef getLayout(int64_t i) const;
  /// Returns true if the routine accepts elements of `type` in input `i`.
  bool takesElement(mlir::Type type, int64_t i = 0) const;
  /// Returns true if the routine's sums have the type `type`; null stands for
  /// the type of the elements.
  bool takesSums(mlir::Type type) const;

  // The expressions of the routine's entry in its table, compiled to functions.
  bool (*appliesTo)(const void *shape, const int *params);
  int64_t (*scratchBytes)(const void *shape, const int *params, int threads);
  double (*efficiency)(const void *shape, const int *params,
                       const core_limits &core);
  double (*error)(const void *shape, const int *params);
  std::optional<launch_size> (*launch)(const void *shape, const int *params);
};

/// The routines of the runtime.
class Catalogue {
public:
  static const Catalogue &get();

  /// Returns all routines, sorted by the names of family and routine.
  llvm::ArrayRef<Routine> getRoutines() const { return routines; }
  const Routine *findRoutine(llvm::StringRef name) const;
  /// Returns the header that defines an elementwise function of floats.
  llvm::StringRef getHeaderOf(llvm::StringRef function) const;
  llvm::SmallVector<const Routine *>
  getRoutinesOf(llvm::StringRef family) const;

private:
  Catalogue();
  llvm::SmallVector<Routine, 0> routines;
};

/// Replaces cost constants of the whole process from now on, for
/// scripts/benchmark/fit_costs.py. `text` consists of lines
/// `NNC_COST(instruction set, name, value)`, as in a table of
/// runtime/routines/costs/, and need not set all constants. Returns a
/// description of what is wrong with the text, or an empty string.
std::string tryCosts(llvm::StringRef text);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_CATALOGUE_H
