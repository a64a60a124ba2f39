//===- Custom.cpp - Operators of the user ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/custom/Custom.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

void convertCustom(Layer &layer, const CustomFunction &function,
                   bool isRebound) {
  Customs::Call call;
  call.name = layer.getOp().str();
  for (Value operand : layer.getTensors(0, layer.getNumInputs())) {
    call.operands.push_back(operand);
    call.reads.push_back(
        describePlain(cast<RankedTensorType>(operand.getType())));
  }
  if (call.operands.size() != layer.getNumInputs())
    return;
  auto stated = layer.getNode().attr().find("_output_shapes");
  if (isRebound || stated == layer.getNode().attr().end() ||
      stated->second.list().shape().empty()) {
    layer.unsupported("is computed by a function of yours, and the model does "
                      "not state the shapes of its results, in an attribute "
                      "_output_shapes, for these inputs");
    return;
  }
  StringRef name = "T";
  for (StringRef other : {"dtype", "out_type"})
    if (layer.hasAttribute(other))
      name = other;
  Type element = layer.getType(name, pb::DT_FLOAT);
  if (!element)
    return;
  for (const pb::TensorShapeProto &proto : stated->second.list().shape()) {
    auto shape = readShape(proto);
    if (!shape || llvm::any_of(*shape, [](int64_t size) { return size < 0; })) {
      layer.unsupported("is computed by a function of yours, and the model "
                        "leaves sizes of its results open");
      return;
    }
    auto type = RankedTensorType::get(*shape, element);
    if (!layer.checkSize(type))
      return;
    call.writes.push_back(describePlain(type));
  }
  for (auto [i, result] : llvm::enumerate(
           layer.getImporter().getCustoms().create(function, call, layer)))
    layer.setResult(i, result);
}

} // namespace nnc::tensorflow
