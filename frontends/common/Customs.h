//===- Customs.h - Operators that the user's functions compute ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_CUSTOMS_H
#define NNC_FRONTENDS_COMMON_CUSTOMS_H

#include "frontends/common/LayerBuilder.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <set>

namespace nnc::frontends {

/// The C functions that the user gives with --custom for operators that nnc
/// does not support. They are tracked during one import.
class Customs {
public:
  explicit Customs(const std::vector<CustomFunction> &functions)
      : functions(functions) {}

  /// Returns the function for an operator with these names, or null if there is
  /// none. The names are ordered from the most to the least specific.
  const CustomFunction *find(llvm::ArrayRef<std::string> names);

  /// Records the name of an unsupported operator for which the user gave no
  /// function, so that a message can name it.
  void noteMissing(llvm::StringRef name) { missing.insert(name.str()); }

  /// Reports functions that no operator of the model needs. `isKnown` tells
  /// whether nnc computes an operator of that name itself.
  void reportUnused(llvm::function_ref<bool(llvm::StringRef)> isKnown,
                    Problems &problems) const;

  /// An operator as the model states it.
  struct Call {
    std::string name;
    /// Operands, null where the model leaves out an optional one, and their
    /// descriptions (nn::DescribedAttr).
    llvm::SmallVector<mlir::Value> operands = {};
    llvm::SmallVector<mlir::Attribute> reads = {};
    llvm::SmallVector<mlir::Attribute> writes = {};
    llvm::ArrayRef<uint8_t> options = {};
    llvm::SmallVector<mlir::NamedAttribute> attributes = {};
  };

  /// Creates the call of the function and returns the operator's results, or an
  /// empty list after an error.
  llvm::SmallVector<mlir::Value> create(const CustomFunction &function,
                                        const Call &call, LayerBuilder &layer);

private:
  const std::vector<CustomFunction> &functions;
  llvm::SmallPtrSet<const CustomFunction *, 4> used;
  std::set<std::string> missing;
  int64_t count = 0; ///< number of calls that were created
};

/// Describes a tensor whose elements are plain numbers.
nn::DescribedAttr describePlain(mlir::RankedTensorType type);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_CUSTOMS_H
