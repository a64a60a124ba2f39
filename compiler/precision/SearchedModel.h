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

/// A quantized layer of a model.
struct SearchedLayer {
  int number; ///< a number that does not change while the model is open
  std::string name;
  /// Names of the quantized tensors that it reads.
  std::vector<std::string> inputs;
  std::string output;
  bool isMove; ///< whether it only moves elements, which keep their scale
};

/// Why a layer stays float.
struct FloatReason {
  enum Kind {
    accuracy,    ///< the layer adds more noise than others
    speed,       ///< floats are estimated to be faster than integers
    fasterModel, ///< the whole model is estimated to be faster with floats
    estimate     ///< temporary, while the float model is estimated
  } kind = accuracy;
  /// For accuracy: the layer's rank among the most sensitive layers, from 1 on;
  /// the noise that it adds, as a fraction of the signal of its output; the
  /// signal-to-noise ratio of that output in decibels, nullopt if there is no
  /// noise; and, if the search weighs time, the seconds that integers save.
  size_t place = 0;
  double noise = 0;
  std::optional<double> decibels, savedSeconds;
  /// For speed: the estimated seconds of the layer.
  double floatSeconds = 0, integerSeconds = 0;
};

/// The layers, without routines, of a model that was compiled for a target, and
/// the options that decide their costs.
struct FormedModel {
  virtual ~FormedModel() = default;

  mlir::ModuleOp module;
  Precision precision = Precision::f32;
  WeightRules rules;
  double maxError = 0;
  bool boundRounding = false;
  Optimize optimize = Optimize::balance;
  LayoutScope layouts = LayoutScope::global;
};

/// A float model of any format during the choice of the layers to quantize.
/// Functions that fail have reported an error.
class SearchedModel {
public:
  virtual ~SearchedModel() = default;
  /// Returns the layers that are quantized at present.
  virtual std::vector<SearchedLayer> listLayers() const = 0;
  /// Sets the layers that stay float, by number, with the reasons. All other
  /// layers that can be quantized are quantized.
  virtual llvm::LogicalResult
  keepFloats(const std::map<int, FloatReason> &layers) = 0;
  /// Runs the quantized model on samples and compares it with the float one.
  virtual llvm::LogicalResult evaluate(Compared compared,
                                       Evaluation &evaluation) = 0;
  /// Compiles the model with its present choice of layers for the target.
  /// `name` occurs in messages. Returns null on failure.
  virtual std::unique_ptr<FormedModel> form(const std::string &name) = 0;
  /// Starts to show the progress of the choice of layers.
  virtual std::unique_ptr<nnc::accuracy::SearchProgress> showSearch() = 0;
};

} // namespace nnc::precision

#endif // NNC_COMPILER_PRECISION_SEARCHEDMODEL_H
