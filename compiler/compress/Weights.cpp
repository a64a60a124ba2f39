//===- Weights.cpp - Constants that layers multiply by --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compress/Weights.h"

#include "dialects/nn/ModelName.h"
#include "dialects/nn/TensorData.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using compression::MatrixForm;

/// Returns the form of operand number `operand` of a product if it would be
/// weights, or nullopt.
static std::optional<MatrixForm> getForm(OpOperand &operand) {
  Operation *op = operand.getOwner();
  auto type = cast<RankedTensorType>(operand.get().getType());
  ArrayRef<int64_t> dims = type.getShape();
  unsigned number = operand.getOperandNumber();
  if (auto conv = dyn_cast<nn::ConvOp>(op))
    return number == 1 ? std::optional(MatrixForm::getFilters(dims))
                       : std::nullopt;
  if (auto conv = dyn_cast<nn::ConvTransposeOp>(op))
    return number == 1 ? MatrixForm::getTransposedFilters(
                             dims, int64_t(conv.getGroups()))
                       : std::nullopt;
  auto matmul = dyn_cast<nn::MatMulOp>(op);
  if (!matmul || dims.size() < 2)
    return std::nullopt;
  // The last axis of the left operand is summed over, and the one before it of
  // the right operand; flags exchange them.
  bool isTurned = number == 0 ? matmul.getTransposeA() : matmul.getTransposeB();
  return (number == 0) != isTurned ? MatrixForm::getRowMajor(dims)
                                   : MatrixForm::getColumnMajor(dims);
}

std::vector<float> compress::Weights::getMatrix() {
  TensorData data = *TensorData::get(constant.getValue());
  return form.toMatrix(data.getAs<float>());
}

void compress::Weights::store(ArrayRef<float> matrix) {
  auto data = TensorData::allocate(
      cast<RankedTensorType>(constant.getValue().getType()));
  llvm::copy(form.fromMatrix(matrix), data.getMutable<float>());
  constant.setValueAttr(
      data.toAttribute(nn::getModelName(constant.getLoc(), "compressed")));
}

compression::MatrixShape compress::Weights::getShape(int64_t block) const {
  return {form.getRows(), form.getColumns(), block, form.getRunColumns()};
}

/// Finds the form that all readers of a constant agree on. Returns why there is
/// none, or "".
static std::string findForm(nn::ConstantOp constant,
                            std::optional<MatrixForm> &form) {
  for (OpOperand &use : constant.getY().getUses()) {
    std::optional<MatrixForm> own = getForm(use);
    if (!own || (form && !(*own == *form)))
      return "other ops read it, or sum over other axes of it";
    form = own;
  }
  auto data = TensorData::get(constant.getValue());
  if (!data || !data->getElementType().isF32() || data->getNumElements() == 0)
    return "is not of 32-bit floats";
  for (float value : data->getAs<float>())
    if (!std::isfinite(value))
      return "holds values that are not finite";
  return "";
}

std::vector<compress::Weights>
compress::findWeights(func::FuncOp function, const llvm::StringSet<> &exclude,
                      std::vector<LeftWeights> &left) {
  std::vector<Weights> found;
  for (auto constant : function.getOps<nn::ConstantOp>()) {
    Operation *product = nullptr;
    bool isExcluded = false;
    for (OpOperand &use : constant.getY().getUses()) {
      if (!product && getForm(use))
        product = use.getOwner();
      isExcluded = isExcluded ||
                   exclude.contains(nn::getModelName(use.getOwner()->getLoc()));
    }
    if (!product)
      continue;
    std::optional<MatrixForm> form;
    std::string why =
        isExcluded ? "excluded by the command line" : findForm(constant, form);
    if (!why.empty()) {
      left.push_back({constant, product, std::move(why)});
      continue;
    }
    std::vector<Operation *> readers(constant.getY().user_begin(),
                                     constant.getY().user_end());
    found.push_back({constant, std::move(readers), *form});
  }
  return found;
}
