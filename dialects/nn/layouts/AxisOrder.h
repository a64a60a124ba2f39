//===- AxisOrder.h - Layouts that only order axes ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LAYOUTS_AXISORDER_H
#define NNC_DIALECTS_NN_LAYOUTS_AXISORDER_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// Returns true if the layout of `type` only orders the axes, as row-major
/// order and NHWC do: it has no blocks and no encoding.
inline bool onlyOrdersAxes(mlir::RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  return !layout || (!layout.getEncoding() && layout.getBlocks().empty());
}

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_LAYOUTS_AXISORDER_H
