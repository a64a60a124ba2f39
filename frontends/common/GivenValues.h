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

/// Returns `shapes` with those that given values say of inputs that leave
/// dimensions open: the shape of a file, or the number of elements of a vector.
GivenShapes addShapesOfValues(GivenShapes shapes,
                              llvm::ArrayRef<TensorInfo> inputs,
                              const GivenValues &values);

/// Returns the elements that the user gives the input, which is of this type;
/// null, and a report, if they do not fit.
mlir::ElementsAttr makeGivenValue(const TensorInfo &input,
                                  mlir::RankedTensorType type,
                                  const GivenValue &given, Problems &problems);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_GIVENVALUES_H
