//===- PanelMatrix.h - Weights in panels of columns -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ENCODINGS_PANELMATRIX_H
#define NNC_DIALECTS_NN_ENCODINGS_PANELMATRIX_H

#include "dialects/nn/attributes/Attributes.h"

namespace nnc::nn {

/// The shape of a weight in a matrix product, as a matrix in panels. Its
/// columns are the columns of the product, and the product sums over its rows.
/// A panel consists of `width` columns, which are one block of the weight's
/// layout.
struct PanelMatrix {
  explicit PanelMatrix(mlir::RankedTensorType type) {
    LayoutAttr::Block block = getLayout(type).getBlocks().front();
    width = block.size;
    columns = type.getDimSize(block.axis);
    rows = type.getDimSize(1 - block.axis);
    columnStep = block.axis == 0 ? rows : 1;
    rowStep = block.axis == 0 ? 1 : columns;
  }

  int64_t columns, rows, width;
  int64_t columnStep, rowStep; ///< distances in elements
};

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ENCODINGS_PANELMATRIX_H
