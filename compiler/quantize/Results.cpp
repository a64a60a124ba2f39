//===- Results.cpp - Values added to a module's outputs -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Results.h"

#include "dialects/nn/attributes/State.h"

using namespace mlir;
using namespace nnc;

void quantize::addResults(func::FuncOp function, ArrayRef<Value> values,
                          ArrayRef<std::string> names) {
  Operation *end = function.getBody().front().getTerminator();
  SmallVector<Value> results(end->getOperands());
  size_t own = results.size();
  results.append(values.begin(), values.end());
  end->setOperands(results);
  Builder builder(function.getContext());
  SmallVector<DictionaryAttr> attributes;
  function.getAllResultAttrs(attributes);
  attributes.resize(results.size(), builder.getDictionaryAttr({}));
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           TypeRange(ValueRange(results))));
  function.setAllResultAttrs(attributes);
  for (auto [number, name] : llvm::enumerate(names))
    function.setResultAttr(unsigned(own + number), nn::kNameAttr,
                           builder.getStringAttr(name));
}

size_t quantize::countOutputs(func::FuncOp function) {
  size_t count = 0;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    count += !nn::getStateOf(function, i);
  return count;
}

bool quantize::isSoftmax(func::FuncOp function, StringRef output) {
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, nn::kNameAttr);
    if (!name || name.getValue() != output)
      continue;
    Operation *op = end->getOperand(i).getDefiningOp();
    while (isa_and_nonnull<nn::ReshapeOp>(op))
      op = op->getOperand(0).getDefiningOp();
    return isa_and_nonnull<nn::SoftmaxOp>(op);
  }
  return false;
}
