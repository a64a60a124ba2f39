//===- Bits.cpp - The bits of numbers -------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Converts Bitcast. The bits of floats stand for themselves until a node asks
/// for their sign.
Value convertBitcast(Layer &layer) {
  Value x = layer.getInput(0);
  Type to = layer.getType("type");
  if (!x || !to)
    return {};
  if (getElement(x) == to && !layer.getHalf("T") && !layer.getHalf("type"))
    return x;
  if (getElement(x).isF32() && !layer.getHalf("T") && to.isInteger(32)) {
    Passed bits = makeTensor(x);
    bits.kind = Passed::bits;
    layer.setPassed(0, bits);
    return {};
  }
  return layer.unsupported("makes numbers of another type of bits; nnc handles "
                           "the sign of floats of 32 bits");
}

/// Returns the number of which all bits but the sign are 0: the least integer
/// where floats are negative or -0, else 0.
static Value getSignBit(Layer &layer, Value x, Type type) {
  Value zero = layer.splat(0, getElement(x)),
        one = layer.splat(1, getElement(x));
  auto isBelow = [&](Value y) { return layer.elementwise("less", {y, zero}); };
  // 1 / -0 is -inf.
  Value isNegativeZero = layer.elementwise(
      "logical_and", {layer.elementwise("equal", {x, zero}),
                      isBelow(layer.elementwise("div", {one, x}))});
  Value isNegative =
      layer.elementwise("logical_or", {isBelow(x), isNegativeZero});
  return layer.elementwise("select", {isNegative, layer.splat(INT32_MIN, type),
                                      layer.splat(0, type)});
}

Value convertBitwiseAnd(Layer &layer) {
  for (size_t i : {0, 1}) {
    const Passed &bits = layer.getPassed(i);
    if (bits.kind != Passed::bits)
      continue;
    Value mask = layer.getInput(1 - i);
    if (!mask)
      return {};
    auto numbers = layer.readInts(mask, "the mask of bits");
    if (!numbers)
      return {};
    if (llvm::any_of(*numbers, [](int64_t n) { return n != INT32_MIN; }))
      return layer.unsupported(
          "reads bits of floats other than their sign, of which nnc knows "
          "nothing when compiling");
    return getSignBit(layer, bits.value, getElement(mask));
  }
  return layer.elementwise("bit_and", {layer.getInput(0), layer.getInput(1)});
}

} // namespace nnc::tensorflow
