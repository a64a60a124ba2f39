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

/// Estimated seconds of a run of whole models on the target.
struct TimeEstimate {
  std::string target;
  /// The seconds of the model with all layers in floats, and of the model with
  /// all layers quantized.
  double floats = 0, integers = 0;
  double result = 0;
  /// Number of layers that stay float because integers are slower.
  int slower = 0;
};

struct SearchResult {
  int evaluated = 1; ///< number of evaluated models
  /// The estimated times of the models; nullopt without --mixed.
  std::optional<TimeEstimate> times;
  std::map<int, LayerTimes> layerTimes; ///< by layer number
};

/// The limits and the method of a search.
struct SearchLimits {
  bool mixed = false;            ///< --mixed: weighs time against noise
  std::optional<double> maxDrop; ///< as a fraction: 0.005 is 0.5 %
  std::string target;            ///< its name, for TimeEstimate
};

/// Keeps layers in floats until the drop of the metric is at most the allowed
/// one, the most sensitive layers first: those that add the most noise.
///
/// With --mixed, the compiler's search decides. It plans the quantized model
/// with integer and float candidates of each layer. The noise that the integers
/// of a layer add costs time, at one price in seconds per unit of noise for all
/// layers; at the price 0 the plan is the fastest one. The lowest price is
/// taken at which the drop is allowed. Then the layers for which integers save
/// the most time become integers again, one by one, as long as the drop stays
/// allowed (kMostExchanges). Finally, the float model, or the model with all
/// layers quantized if its drop is allowed, becomes the result if it is
/// estimated to be faster.
///
/// `evaluation` must hold that of the model with all layers quantized, and is
/// set to that of the result.
llvm::LogicalResult limitDrop(SearchedModel &model, const SearchLimits &limits,
                              Evaluation &evaluation, SearchResult &result);

/// The largest number of layers for which integers are tried again. Each takes
/// an evaluation.
inline constexpr int kMostExchanges = 8;

} // namespace nnc::precision

#endif // NNC_COMPILER_PRECISION_FLOATSEARCH_H
