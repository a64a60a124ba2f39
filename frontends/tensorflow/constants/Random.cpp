//===- Random.cpp - Random numbers ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A compiled model gives the same outputs for the same inputs, so that random
// numbers are constants that are drawn when compiling. Graphs for inference
// have them left over from dropout, whose rate is 0 in inference.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/constants/Random.h"
#include "frontends/common/Fourier.h"
#include "frontends/common/RandomNumbers.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

RankedTensorType readDrawnType(Layer &layer) {
  auto shape = layer.readInts(layer.getInput(0), "a shape");
  Type element = layer.getType("dtype", pb::DT_FLOAT);
  if (!shape || !element)
    return {};
  if (!isa<FloatType>(element)) {
    layer.unsupported("draws elements that are no floats");
    return {};
  }
  for (int64_t size : *shape)
    if (size < 0 || size > kMaxDim) {
      layer.broken("asks for shape " + toString(*shape));
      return {};
    }
  auto type = RankedTensorType::get(*shape, element);
  return layer.checkSize(type, /*isMade=*/true) ? type : RankedTensorType();
}

/// Returns random numbers of the shape in input 0, each drawn by `draw`.
static Value drawNumbers(Layer &layer,
                         llvm::function_ref<double(RandomNumbers &)> draw) {
  RankedTensorType type = readDrawnType(layer);
  if (!type)
    return {};
  RandomNumbers numbers(layer.getNode().name() + "," +
                        std::to_string(layer.getInt("seed")) + "," +
                        std::to_string(layer.getInt("seed2")));
  SmallVector<double> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(draw(numbers));
  return makeReals(layer, type.getShape(), type.getElementType(), values);
}

Value convertRandomUniform(Layer &layer) {
  return drawNumbers(
      layer, [](RandomNumbers &numbers) { return numbers.drawUniform(); });
}

Value convertRandomNormal(Layer &layer) {
  return drawNumbers(
      layer, [](RandomNumbers &numbers) { return numbers.drawNormal(); });
}

/// Converts TruncatedNormal: numbers beyond 2 are drawn again.
Value convertTruncatedNormal(Layer &layer) {
  return drawNumbers(layer, [](RandomNumbers &numbers) {
    double number = numbers.drawNormal();
    while (std::abs(number) > 2)
      number = numbers.drawNormal();
    return number;
  });
}

} // namespace nnc::tensorflow
