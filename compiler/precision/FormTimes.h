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

/// The estimated seconds of a layer on the target. If the search of the
/// quantized model has candidates of the layer with integers and with floats,
/// the times include the conversions around it. Else they are the times of the
/// layer in the plans of the two whole models, or 0 if a neighbouring layer
/// computes it.
struct LayerTimes {
  double floats = 0, integers = 0;
  /// Whether the layer has both kinds of candidates and is a product.
  bool isProduct = false;
};

/// The cheapest plan at some price of the noise that integers add.
struct PricedPlan {
  double seconds = 0;
  double noise = 0;     ///< noise that its integer layers add
  std::set<int> floats; ///< numbers of the layers in floats
};

/// The estimates of the compiler's cost model for the layers of a model on a
/// target.
class FormTimes {
public:
  explicit FormTimes(SearchedModel &model);
  ~FormTimes();

  /// Estimates the float model, the model with all layers quantized, and each
  /// layer. All layers of the model must be quantized at first, and are so
  /// afterwards. `noise` is the noise that the integers of each layer add, by
  /// layer number.
  llvm::LogicalResult open(const std::map<int, double> &noise);
  /// Sets `seconds` to the estimate for the model with the present choice of
  /// layers.
  llvm::LogicalResult estimate(double &seconds);
  /// Returns the cheapest plan of the quantized model if each unit of noise
  /// costs `price` seconds.
  PricedPlan plan(double price) const;
  /// Returns plans from the fastest one to the one with the least noise. Each
  /// is the cheapest at some price and has less noise than the one before it.
  /// There are at most kMostPlans.
  std::vector<PricedPlan> listPlans() const;
  static constexpr size_t kMostPlans = 256;

  double getFloatSeconds() const { return floatSeconds; }
  double getIntegerSeconds() const { return integerSeconds; }
  /// Returns the times of a layer by its number; zeros if the number is
  /// unknown.
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
  std::map<int, LayerTimes> layers; ///< by layer number
  /// The compiled model with all layers quantized, and the searches of its
  /// functions.
  std::unique_ptr<FormedModel> integers;
  std::vector<std::unique_ptr<Part>> parts;
};

} // namespace nnc::precision

#endif // NNC_COMPILER_PRECISION_FORMTIMES_H
