//===- GridSample.cpp - GridSample ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Node.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

Value convertGridSample(Node &node) {
  Value x = node.getOperand(0), grid = node.getOperand(1);
  // The first version of the operator had other names.
  auto mode =
      llvm::StringSwitch<std::optional<nn::SampleMode>>(node.getString("mode"))
          .Case("nearest", nn::SampleMode::nearest)
          .Cases("linear", "bilinear", nn::SampleMode::linear)
          .Cases("cubic", "bicubic", nn::SampleMode::cubic)
          .Default(std::nullopt);
  auto padding = nn::symbolizeSamplePadding(node.getString("padding_mode"));
  if (!mode || !padding)
    return node.broken("has the mode '" + node.getString("mode") +
                       "' and the padding '" + node.getString("padding_mode") +
                       "'");
  Type type = getElement(x);
  if (!isa<FloatType>(type))
    return node.unsupported("samples images of integers");
  Value y =
      node.create<nn::GridSampleOp>(*mode, *padding, x, node.castTo(grid, type),
                                    node.getBool("align_corners"));
  return y;
}

} // namespace nnc::onnx
