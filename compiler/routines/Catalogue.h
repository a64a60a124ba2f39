//===- Catalogue.h - The tables of runtime/ as data -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_CATALOGUE_H
#define NNC_COMPILER_ROUTINES_CATALOGUE_H

#include "dialects/nn/Nn.h"
#include "runtime/routines/catalogue/core.h"

#include <memory>

namespace nnc {

/// A line of runtime/routines/families.inc.
struct Family {
  llvm::StringRef name;
  int inputs; ///< tensors read, or -1 for any number
  int outputs;
  /// Axis of `channel` operands of an epilogue (negative: from the last), or
  /// nothing where the routines take no epilogue.
  std::optional<int> channelAxis;
};

/// The run-time shape of a family, struct <family>_shape.
class RoutineShape {
public:
  RoutineShape(const Family &family, std::shared_ptr<void> fields)
      : family(&family), fields(std::move(fields)) {}
  const Family &getFamily() const { return *family; }
  const void *get() const { return fields.get(); }

private:
  const Family *family;
  std::shared_ptr<void> fields;
};

/// A line of runtime/routines/routines.inc.
struct Routine {
  llvm::StringRef name, header, isa;
  const Family *family;
  /// Names of the layouts of inputs, then output: "plain", "any", or as in
  /// #nn.layout. Where all are "any", the shape holds physical dimensions.
  llvm::SmallVector<llvm::StringRef> layouts;
  llvm::SmallVector<llvm::StringRef> params;
  /// Values of the params worth trying; one empty list where there are none.
  llvm::SmallVector<llvm::SmallVector<int64_t>> candidates;

  bool applies(const RoutineShape &shape, llvm::ArrayRef<int64_t> params) const;
  /// Bytes of working memory that suffice for up to `threads` threads.
  int64_t getScratchBytes(const RoutineShape &shape,
                          llvm::ArrayRef<int64_t> params, int threads) const;
  /// Share of the peak rate of multiply-adds that the routine reaches on
  /// `core`, with vectors of its instruction set.
  double getEfficiency(const RoutineShape &shape,
                       llvm::ArrayRef<int64_t> params,
                       const core_limits &core) const;

  /// Root mean square of what rounding adds to the result, over that of the
  /// result, beyond what rounding adds to sums of products.
  double getError(const RoutineShape &shape,
                  llvm::ArrayRef<int64_t> params) const;

  /// Layout of input `i`, or of the output at -1. Families with any number of
  /// inputs list one layout for all of them.
  llvm::StringRef getLayout(int64_t i) const;
  /// Whether the routine computes on elements of `type`: its name says which,
  /// as conv2d_f32_..., or none where it takes all; halves only if it need not
  /// compute with them.
  bool takesElement(mlir::Type type) const;

  // The expressions of the line.
  bool (*appliesTo)(const void *shape, const int *params);
  int64_t (*scratchBytes)(const void *shape, const int *params, int threads);
  double (*efficiency)(const void *shape, const int *params,
                       const core_limits &core);
  double (*error)(const void *shape, const int *params);
};

/// All families and routines.
class Catalogue {
public:
  static const Catalogue &get();

  llvm::ArrayRef<Family> getFamilies() const { return families; }
  llvm::ArrayRef<Routine> getRoutines() const { return routines; }
  const Family *findFamily(llvm::StringRef name) const;
  /// Names of the fields of a family's shape, in the struct's order.
  llvm::ArrayRef<llvm::StringRef> getFieldNames(llvm::StringRef family) const;
  const Routine *findRoutine(llvm::StringRef name) const;
  /// The header of an elementwise function of floats.
  llvm::StringRef getHeaderOf(llvm::StringRef function) const;
  llvm::SmallVector<const Routine *>
  getRoutinesOf(llvm::StringRef family) const;

  /// The call's shape, or nothing and in `problem` why its fields do not fit
  /// the family's struct.
  std::optional<RoutineShape> makeShape(const nn::RoutineCall &call,
                                        std::string &problem) const;

private:
  Catalogue();
  llvm::SmallVector<Family, 0> families;
  llvm::SmallVector<llvm::SmallVector<llvm::StringRef>, 0> fieldNames;
  llvm::SmallVector<Routine, 0> routines;
};

/// Uses other cost constants from now on. `text` is a table of
/// runtime/routines/costs/ or a part of one: lines
/// `NNC_COST(instruction set, name, value)`. Returns what is wrong with the
/// text, or nothing. For scripts/benchmark/fit_costs.py; the constants of the
/// whole process change.
std::string tryCosts(llvm::StringRef text);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_CATALOGUE_H
