//===- MatMul.cpp - Matrix products ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Einsum.h"
#include "frontends/tensorflow/qnn/FakeQuant.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

static Value multiply(Layer &layer, StringRef left, StringRef right) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  if (!a || !b)
    return {};
  if (getRank(a) < 2 || getRank(b) < 2)
    return layer.broken("multiplies tensors of shapes " +
                        toString(getShape(a)) + " and " +
                        toString(getShape(b)) + "; needs matrices");
  bool transposes = layer.getBool(right);
  // Weights that are stored as integers are transposed as such.
  if (transposes && getRank(b) == 2 && !b.getDefiningOp<nn::ConstantOp>()) {
    Value moved = transposeWeights(layer, b, {1, 0});
    if (moved && !moved.getDefiningOp<nn::TransposeOp>()) {
      b = moved;
      transposes = false;
    }
  }
  // BatchMatMulV3 may add products of integers in a wider type.
  TypeAttr result;
  if (layer.hasAttribute("Tout")) {
    Type element = layer.getType("Tout");
    if (!element)
      return {};
    bool isWider = element != getElement(a) || element != getElement(b);
    if (isWider && !element.isSignlessInteger(32))
      return layer.unsupported("multiplies " + getTypeName(getElement(a)) +
                               " and " + getTypeName(getElement(b)) + " to " +
                               getTypeName(element) +
                               "; nnc handles results of int32");
    if (isWider)
      result = TypeAttr::get(element);
  }
  return layer.create<nn::MatMulOp>(a, b, layer.getBool(left), transposes,
                                    result);
}

Value convertMatMul(Layer &layer) {
  return multiply(layer, "transpose_a", "transpose_b");
}

Value convertBatchMatMul(Layer &layer) {
  return multiply(layer, "adj_x", "adj_y");
}

Value convertEinsum(Layer &layer) {
  SmallVector<Value> operands = layer.getTensors(0, layer.getNumInputs());
  return operands.empty()
             ? Value()
             : computeEinsum(layer, layer.getText("equation"), operands);
}

/// Converts MatrixDeterminant: the determinants of the matrices in the last two
/// axes.
Value convertDeterminant(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  if (getRank(x) < 2 || getShape(x).back() != getShape(x)[getRank(x) - 2])
    return layer.broken("has a tensor of shape " + toString(getShape(x)) +
                        ", which are no square matrices");
  return layer.create<nn::DetOp>(x);
}

} // namespace nnc::tensorflow
