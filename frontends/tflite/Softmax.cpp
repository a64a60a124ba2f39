//===- Softmax.cpp - Softmax and normalisations ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/FixedPoint.h"
#include "frontends/tflite/Quantized.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns e^(-d * scale), as TFLite computes it in fixed point, for each
/// difference d from 0 on until it counts as 0.
static SmallVector<int32_t> makeExponentials(double scale,
                                             qnn::Rescale rescale) {
  // Differences have 5 integer bits.
  bool isSingle = rescale == qnn::Rescale::single_rounding;
  double most = static_cast<double>((int64_t(1) << (isSingle ? 30 : 31)) - 1);
  qnn::FixedPoint factor =
      qnn::toFixedPoint(std::min(std::ldexp(scale, 31 - 5), most));
  int32_t radius = getInputRadius(5, factor.shift);
  SmallVector<int32_t> table;
  for (int32_t d = 0; d <= std::min(radius, 255); ++d)
    table.push_back(expOfNegative(multiply(-d, factor, rescale), 5));
  return table;
}

Value convertSoftmax(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::SoftmaxOptions>(fb::Options::Softmax);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  if (getRank(x) < 1)
    return layer.broken("needs a tensor with axes");
  int64_t axis = getRank(x) - 1;
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  Builder &builder = layer.getBuilder();
  if (!isQuantized(x, in)) {
    if (options->beta() != 1)
      x = layer.createElementwise(
          "mul",
          {x, layer.splat(builder.getF32FloatAttr(options->beta()), {})});
    return layer.create<nn::SoftmaxOp>(x, axis, /*log=*/false);
  }
  Type to = layer.getOutputElement();
  unsigned width = to.getIntOrFloatBitWidth();
  if (!out || getElement(x).getIntOrFloatBitWidth() != 8 || width > 16)
    return layer.unsupported("computes " + getTypeName(to) + " from " +
                             getTypeName(getElement(x)) +
                             "; nnc handles integers of 8 bits, and results of "
                             "8 or 16");
  if (out.getZeroPoint() != getRange(to).min ||
      out.getScale() != std::ldexp(1.0, -int(width)))
    return layer.unsupported("has a result whose scale is not 2^-" +
                             Twine(width) + " from its least number on");
  SmallVector<int32_t> table = makeExponentials(
      double(options->beta()) * in.getScale(), layer.getRescale());
  Value exponentials = layer.constant(DenseElementsAttr::get(
      RankedTensorType::get(int64_t(table.size()), builder.getI32Type()),
      ArrayRef(table)));
  return layer.createAs<nn::IntegerSoftmaxOp>(
      RankedTensorType::get(getShape(x), to), x, exponentials);
}

Value convertLogSoftmax(Layer &layer) {
  Value x = layer.getInput(0);
  if (isQuantized(x, layer.getInputQuantization(0)))
    return layer.unsupported("works on quantized integers, which nnc does not "
                             "handle");
  return layer.create<nn::SoftmaxOp>(x, getRank(x) - 1, /*log=*/true);
}

Value convertL2Normalization(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  if (!getElement(x).isF32())
    return layer.unsupported("works on " + getTypeName(getElement(x)) +
                             "; nnc handles FLOAT32");
  Value sum = layer.create<nn::ReduceOp>(nn::ReduceKind::sum_square, x,
                                         SmallVector<int64_t>{getRank(x) - 1},
                                         /*keepdims=*/true);
  Value norm = layer.createElementwise("sqrt", {sum});
  Value least = layer.splat(layer.getBuilder().getF32FloatAttr(1e-6f), {});
  return layer.createElementwise(
      "div", {x, layer.createElementwise("max", {norm, least})});
}

} // namespace nnc::tflite
