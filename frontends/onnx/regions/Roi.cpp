//===- Roi.cpp - RoiAlign and MaxRoiPool ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

Value convertRoiAlign(Node &node) {
  Value x = node.getOperand(0);
  StringRef modeName = node.getString("mode");
  auto mode = nn::symbolizeRoiMode(modeName);
  // Before opset 16 the coordinates were not shifted by half a pixel.
  StringRef where = node.getVersion() < 16
                        ? "output_half_pixel"
                        : node.getString("coordinate_transformation_mode");
  if (!mode || (where != "output_half_pixel" && where != "half_pixel"))
    return node.broken("has the mode '" + modeName +
                       "' and the coordinate_transformation_mode '" + where +
                       "'");
  Value images =
      node.castTo(node.getOperand(2), node.getBuilder().getI64Type());
  Value rois = node.castTo(node.getOperand(1), getElement(x));
  return node.create<nn::RoiAlignOp>(
      *mode, x, rois, images,
      ArrayRef<int64_t>{node.getInt("output_height", 1),
                        node.getInt("output_width", 1)},
      node.getInt("sampling_ratio"), APFloat(node.getFloat("spatial_scale", 1)),
      where == "half_pixel");
}

Value convertMaxRoiPool(Node &node) {
  Value x = node.getOperand(0);
  auto sizes = node.getInts("pooled_shape").value_or(SmallVector<int64_t>());
  return node.create<nn::MaxRoiPoolOp>(
      x, node.castTo(node.getOperand(1), getElement(x)), sizes,
      APFloat(node.getFloat("spatial_scale", 1)));
}

} // namespace nnc::onnx
