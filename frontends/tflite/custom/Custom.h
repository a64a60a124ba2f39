//===- Custom.h - TFLite operators that the user's functions compute ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_CUSTOM_CUSTOM_H
#define NNC_FRONTENDS_TFLITE_CUSTOM_CUSTOM_H

#include "frontends/common/Customs.h"
#include "frontends/tflite/graph/Layer.h"

namespace nnc::tflite {

/// Returns the description of a tensor of this type and quantization for a C
/// function of the user.
nn::DescribedAttr describe(mlir::RankedTensorType type,
                           const Quantization &quantization);

/// Imports an operator as a call of the user's function, and sets all its
/// results. `isRebound` tells that the user changed the shapes of inputs, so
/// that the shapes in the model do not hold.
void convertCustom(Layer &layer, Customs &customs,
                   const CustomFunction &function, const std::string &name,
                   bool isRebound);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_CUSTOM_CUSTOM_H
