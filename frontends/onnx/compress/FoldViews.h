//===- FoldViews.h - Weights that other nodes turn first --------*- C++ -*-===//
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

/// Whether a node is an Identity, Transpose, Reshape, Flatten, Squeeze or
/// Unsqueeze.
bool isView(const ::onnx::NodeProto &node);

/// Gives layers the weights that they multiply by as constants of their own
/// where views make these of a constant of 32-bit floats or integers of 8 bits:
/// the constant becomes what the view makes of it, and the view goes. Those of
/// a constant that others read, too, stay, and so do nodes of which `exclude`
/// has the names.
void foldViews(::onnx::ModelProto &model, const std::set<std::string> &exclude);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_FOLDVIEWS_H
