//===- WeightError.cpp - Errors from rounding weights ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/WeightError.h"

#include "dialects/nn/encodings/WeightEncoding.h"

using namespace mlir;
using namespace nnc;

std::optional<double> nnc::getWeightError(Value weight, RankedTensorType type) {
  if (!nn::isEncoded(type))
    return 0;
  std::optional<TensorData> data = TensorData::get(weight);
  if (!data)
    return std::nullopt;
  return nn::getLayout(type).getEncoding()->getError(type, *data);
}
