//===- SearchedModel.h - A model that may keep layers float -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PRECISION_SEARCHEDMODEL_H
#define NNC_COMPILER_PRECISION_SEARCHEDMODEL_H

#include "compiler/accuracy/LeastCount.h"
#include "compiler/precision/Evaluation.h"
#include "compiler/routines/LayoutScope.h"
#include "compiler/routines/Optimize.h"
#include "compiler/routines/Precision.h"
#include "compiler/routines/WeightRules.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnc::precision {

/// A layer that a model has quantized.
struct SearchedLayer {
  int number; ///< stays the same as long as the model is open
  std::string name;
  std::vector<std::string> inputs; ///< quantized tensors
  std::string output;
  bool isMove; ///< moves elements, which keep their scale
};

/// Why a layer stays float.
struct FloatReason {
  enum Kind {
    accuracy,    ///< the noise that it adds is among the largest
    speed,       ///< floats are estimated to be faster than integers
    fasterModel, ///< the whole model is estimated to be faster with floats
    estimate     ///< only while the float model is estimated
  } kind = accuracy;
  /// For accuracy: the layer's place among the most sensitive ones, from 1 on,
  /// the noise that it adds as a share of its output's signal, the signal-to-
  /// noise ratio that its output had, unless it had no noise, and where the
  /// search weighs time the seconds that integers save.
  size_t place = 0;
  double noise = 0;
  std::optional<double> decibels, savedSeconds;
  /// For speed: estimated seconds of the layer.
  double floatSeconds = 0, integerSeconds = 0;
};

/// The layers of a model that was compiled for a target, before they have
/// routines, and what decides their costs.
struct FormedModel {
  virtual ~FormedModel() = default;

  mlir::ModuleOp module;
  Precision precision = Precision::f32;
  WeightRules rules;
  double maxError = 0;
  Optimize optimize = Optimize::balance;
  LayoutScope layouts = LayoutScope::global;
};

/// A float model, of any format, while the layers are chosen that become
/// integers. Functions that fail have reported why.
class SearchedModel {
public:
  virtual ~SearchedModel() = default;
  /// The layers that are quantized now.
  virtual std::vector<SearchedLayer> listLayers() const = 0;
  /// Sets which layers stay floats, by their numbers, and why. All others are
  /// quantized that can be.
  virtual llvm::LogicalResult
  keepFloats(const std::map<int, FloatReason> &layers) = 0;
  /// Runs the quantized model on samples and compares it with the float one.
  virtual llvm::LogicalResult evaluate(Compared compared,
                                       Evaluation &evaluation) = 0;
  /// Compiles the model as it is now for the target, under a name for messages.
  /// Returns null where that fails.
  virtual std::unique_ptr<FormedModel> form(const std::string &name) = 0;
  /// Shows that layers are being chosen.
  virtual std::unique_ptr<nnc::accuracy::SearchProgress> showSearch() = 0;
};

} // namespace nnc::precision

#endif // NNC_COMPILER_PRECISION_SEARCHEDMODEL_H
