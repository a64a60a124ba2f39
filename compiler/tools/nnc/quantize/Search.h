//===- Search.h - Which layers stay floats for accuracy -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_QUANTIZE_SEARCH_H
#define NNC_TOOLS_NNC_QUANTIZE_SEARCH_H

#include "compiler/tools/nnc/quantize/Evaluation.h"
#include "compiler/tools/nnc/quantize/Times.h"

namespace nnc::tools {

/// Estimated seconds of whole models on the target.
struct TimeEstimate {
  std::string target;
  double floats = 0, integers = 0; ///< with none and with all layers quantized
  double result = 0;
  int slower = 0; ///< layers that stay floats because integers are slower
};

struct SearchResult {
  int evaluated = 1; ///< models
  /// Known with --mixed.
  std::optional<TimeEstimate> times;
  std::map<int, LayerTimes> layerTimes; ///< by their node
};

/// Keeps layers floats until the drop of the metric is allowed. The most
/// sensitive layers come first: those that add most noise, or with --mixed most
/// noise for each second that integers save. With --mixed, layers that integers
/// make slower are floats from the start, and where the float model, or the one
/// with all layers quantized if its drop is allowed, is estimated to be faster
/// than the result, it becomes the result. `evaluation` is that of the model
/// with all layers quantized, and becomes that of the result.
ExitCode limitDrop(Session &session, Evaluation &evaluation,
                   SearchResult &result);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_SEARCH_H
