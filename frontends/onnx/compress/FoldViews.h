//===- FoldViews.h - Folds views of constant weights ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_FOLDVIEWS_H
#define NNC_FRONTENDS_ONNX_COMPRESS_FOLDVIEWS_H

#include "onnx/onnx_pb.h"

#include <set>
#include <string>

namespace nnc::onnx {

/// Returns true for a view: an Identity, Transpose, Reshape, Flatten, Squeeze
/// or Unsqueeze.
bool isView(const ::onnx::NodeProto &node);

/// Folds views between constants and the layers that read them as weights, for
/// constants of 32-bit floats and 8-bit integers: the constant is replaced by
/// the result of the view, and the view is removed. Views of constants with
/// other readers stay, and so do nodes with names in `exclude`.
void foldViews(::onnx::ModelProto &model, const std::set<std::string> &exclude);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_FOLDVIEWS_H
