//===- WeightError.cpp - Errors from rounding weights ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/WeightError.h"

#include "dialects/nn/encodings/WeightEncoding.h"

#include <limits>

using namespace mlir;
using namespace nnc;

std::optional<double> nnc::getWeightError(Value weight, RankedTensorType type) {
  if (!nn::isEncoded(type))
    return 0;
  nn::EncodingAttr encoding = nn::getLayout(type).getEncoding();
  std::optional<TensorData> data = TensorData::get(weight);
  if (data)
    return encoding->getError(type, *data);
  if (encoding->needsValues())
    return std::numeric_limits<double>::infinity();
  return std::nullopt;
}
