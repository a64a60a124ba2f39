//===- EqualConstants.h - Constants with the same bytes ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H
#define NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H

#include "dialects/nn/tensors/TensorData.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>

namespace nnc {

/// Values of constants of which no two have the same type and bytes.
class ConstantValues {
public:
  /// Returns the value with the type and bytes of `value` that was added first:
  /// `value` itself if there was none.
  mlir::ElementsAttr add(mlir::ElementsAttr value);

private:
  struct Known {
    mlir::ElementsAttr value;
    TensorData data;
  };
  std::multimap<uint64_t, Known> known; ///< by hashes of their bytes
};

/// Makes all constants of a module with the same type and bytes share one
/// attribute, so that these bytes are stored once. Layers that share weights
/// have equal constants if each layer was rewritten by itself. Constants that
/// vary with the sizes of the network are left out. The memory of
/// attributes that are no longer used is not freed, since copies of the module
/// may use it.
void shareEqualConstants(mlir::ModuleOp module);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H
