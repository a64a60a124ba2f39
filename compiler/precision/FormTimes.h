//===- FormTimes.h - How long layers take with integers and with floats
//----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PRECISION_FORMTIMES_H
#define NNC_COMPILER_PRECISION_FORMTIMES_H

#include "compiler/precision/SearchedModel.h"

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace nnc::precision {

/// The estimated seconds of a layer on the target. Where the plan of the
/// quantized model has the layer with integers and with floats, the times
/// include the conversions around it; others are those that the plans of the
/// two whole models have for it, 0 where a layer before or behind computes it.
struct LayerTimes {
  double floats = 0, integers = 0;
  /// Whether the plan has both, and the layer multiplies its operands.
  bool isProduct = false;
};

/// The cheapest plan where the noise that integers add has a price.
struct PricedPlan {
  double seconds = 0;
  double noise = 0;     ///< that its integers add
  std::set<int> floats; ///< numbers of the layers that it computes with floats
};

/// Estimates of the compiler's cost model for a target.
class FormTimes {
public:
  explicit FormTimes(SearchedModel &model);
  ~FormTimes();

  /// Estimates the float model, the model in which all layers are quantized,
  /// and each layer. No layer of the model is kept float at first, or
  /// afterwards. `noise` is what the integers of each layer add.
  llvm::LogicalResult open(const std::map<int, double> &noise);
  /// Estimates the model as it is now.
  llvm::LogicalResult estimate(double &seconds);
  /// Returns the cheapest plan of the quantized model if each unit of noise
  /// costs `price` seconds.
  PricedPlan plan(double price) const;
  /// Returns plans from the fastest one to the one with the least noise: those
  /// that are cheapest for some price, each with less noise than the one before
  /// it. They are at most kMostPlans.
  std::vector<PricedPlan> listPlans() const;
  static constexpr size_t kMostPlans = 256;

  double getFloatSeconds() const { return floatSeconds; }
  double getIntegerSeconds() const { return integerSeconds; }
  /// Returns the times of a layer; none if it is no layer of its own in the
  /// quantized model.
  LayerTimes getLayer(int number) const {
    auto found = layers.find(number);
    return found == layers.end() ? LayerTimes() : found->second;
  }

private:
  struct Plan;
  struct Part;
  llvm::LogicalResult makePlan(const std::string &name, Plan &plan);
  llvm::LogicalResult findParts(const FormedModel &formed,
                                const std::vector<SearchedLayer> &all,
                                const std::map<int, double> &noise);
  void compareForms();
  void refine(const PricedPlan &fast, const PricedPlan &exact,
              std::vector<PricedPlan> &found) const;

  SearchedModel &model;
  double floatSeconds = 0, integerSeconds = 0;
  std::map<int, LayerTimes> layers; ///< by their numbers
  /// The compiled model with all layers quantized, and its functions.
  std::unique_ptr<FormedModel> integers;
  std::vector<std::unique_ptr<Part>> parts;
};

} // namespace nnc::precision

#endif // NNC_COMPILER_PRECISION_FORMTIMES_H
