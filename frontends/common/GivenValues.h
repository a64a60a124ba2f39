//===- GivenValues.h - Inputs that the user makes constants ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_GIVENVALUES_H
#define NNC_FRONTENDS_COMMON_GIVENVALUES_H

#include "frontends/common/Import.h"
#include "frontends/common/Problems.h"
#include "frontends/common/TensorInfo.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace nnc::frontends {

/// Returns `shapes` extended by the shapes of inputs that leave dimensions open
/// and have a given value. The shape is that of the value's file, or the number
/// of elements for an input that is a vector.
GivenShapes addShapesOfValues(GivenShapes shapes,
                              llvm::ArrayRef<TensorInfo> inputs,
                              const GivenValues &values);

/// Returns the value that the user gives the input, which has the type `type`.
/// Returns null after an error if the value does not fit the type.
mlir::ElementsAttr makeGivenValue(const TensorInfo &input,
                                  mlir::RankedTensorType type,
                                  const GivenValue &given, Problems &problems);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_GIVENVALUES_H
