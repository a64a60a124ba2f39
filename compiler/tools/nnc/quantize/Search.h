//===- Search.h - Which layers stay floats for accuracy -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_QUANTIZE_SEARCH_H
#define NNC_TOOLS_NNC_QUANTIZE_SEARCH_H

#include "compiler/tools/nnc/quantize/Evaluation.h"

namespace nnc::tools {

/// Keeps layers floats until the drop of the metric is allowed. The most
/// sensitive layers come first: those that add most noise, or with --mixed most
/// noise for each multiply-add. `evaluation` is that of the model with all
/// layers quantized, and becomes that of the result. `tried` is the number of
/// models that were evaluated.
ExitCode limitDrop(Session &session, Evaluation &evaluation, int &tried);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_SEARCH_H
