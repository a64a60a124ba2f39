//===- Times.h - How long models and their layers should take -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_QUANTIZE_TIMES_H
#define NNC_TOOLS_NNC_QUANTIZE_TIMES_H

#include "compiler/tools/nnc/quantize/Session.h"

namespace nnc::tools {

/// The estimated seconds of a layer on the target.
struct LayerTimes {
  double floats = 0, integers = 0;
  /// Whether the layer is a product, for which the times include the
  /// conversions of its operands and result. Times of other layers are those
  /// that the plans of the two whole models have for them, 0 where a layer
  /// before or behind computes them.
  bool isProduct = false;
};

/// Estimates of the compiler's cost model for the target of the settings.
class Times {
public:
  explicit Times(Session &session) : session(session) {}

  /// Estimates the float model, the model in which all layers are quantized,
  /// and each layer. No layer of the quantizer is kept float at first, or
  /// afterwards.
  ExitCode open();
  /// Estimates the model as the quantizer would write it now.
  ExitCode estimate(double &seconds);

  double getFloatSeconds() const { return floatSeconds; }
  double getIntegerSeconds() const { return integerSeconds; }
  const LayerTimes &getLayer(int node) const { return layers.at(node); }

private:
  struct Plan;
  ExitCode makePlan(const std::string &name, Plan &plan);

  Session &session;
  double floatSeconds = 0, integerSeconds = 0;
  std::map<int, LayerTimes> layers; ///< by their node
};

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_TIMES_H
