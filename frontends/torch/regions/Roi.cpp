//===- Roi.cpp - Regions of interest --------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Converts torchvision's roi_align, whose regions are rows of the number of an
/// image and two corners.
Value convertRoiAlign(Node &node) {
  Value x = node.getTensor("input"),
        rois = node.castTo(node.getTensor("rois"), getElement(x));
  if (!x || !rois)
    return {};
  if (getRank(x) != 4 || getRank(rois) != 2 || getShape(rois)[1] != 5)
    return node.broken("has images of shape " + toString(getShape(x)) +
                       " and regions of shape " + toString(getShape(rois)));
  Value images = node.slice(rois, 1, 0, 1);
  images = node.castTo(node.reshape(images, {getShape(rois)[0]}),
                       node.getBuilder().getI64Type());
  // A number below 1 stands for as many samples as a bin has elements.
  int64_t samples = std::max<int64_t>(node.getInt("sampling_ratio", -1), 0);
  return node.create<nn::RoiAlignOp>(
      nn::RoiMode::avg, x, node.slice(rois, 1, 1, 4), images,
      ArrayRef<int64_t>{node.getInt("pooled_height"),
                        node.getInt("pooled_width")},
      samples, APFloat(node.getFloat("spatial_scale", 1)),
      node.getBool("aligned"));
}

} // namespace nnc::torch
