//===- FloatSearch.h - Which layers become integers -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PRECISION_FLOATSEARCH_H
#define NNC_COMPILER_PRECISION_FLOATSEARCH_H

#include "compiler/precision/FormTimes.h"
#include "compiler/precision/SearchedModel.h"

#include <map>
#include <optional>
#include <string>

namespace nnc::precision {

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
  std::map<int, LayerTimes> layerTimes; ///< by the layers' numbers
};

/// What a search may decide, and by what.
struct SearchLimits {
  bool mixed = false;            ///< weighs time against noise
  std::optional<double> maxDrop; ///< a share: 0.005 for 0.5 %
  std::string target;            ///< its name, for TimeEstimate
};

/// Keeps layers floats until the drop of the metric is allowed. The most
/// sensitive layers come first: those that add most noise.
///
/// With --mixed the compiler's search decides: it plans the quantized model
/// with integer and float candidates of each layer, where the noise that the
/// integers of a layer add costs time, at one price for all layers. Without a
/// price the plan is the fastest one. The least price is taken for which the
/// drop is allowed. Then layers that integers save most time in become integers
/// again, one by one, where the drop stays allowed (kMostExchanges). Where the
/// float model, or the one with all layers quantized if its drop is allowed, is
/// estimated to be faster than the result, it becomes the result.
///
/// `evaluation` is that of the model with all layers quantized, and becomes
/// that of the result.
llvm::LogicalResult limitDrop(SearchedModel &model, const SearchLimits &limits,
                              Evaluation &evaluation, SearchResult &result);

/// The most layers that are tried to become integers again, each of which takes
/// an evaluation.
inline constexpr int kMostExchanges = 8;

} // namespace nnc::precision

#endif // NNC_COMPILER_PRECISION_FLOATSEARCH_H
