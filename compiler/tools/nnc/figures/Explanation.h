//===- Explanation.h - What the search weighed for each layer ---*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_FIGURES_EXPLANATION_H
#define NNC_COMPILER_TOOLS_NNC_FIGURES_EXPLANATION_H

#include "compiler/routines/PlanGraph.h"
#include "compiler/tools/driver/compile/Driver.h"
#include "compiler/tools/nnc/options/Clock.h"
#include "dialects/nn/description/Description.h"

#include "llvm/Support/JSON.h"

namespace nnc::tools {

/// A routine that could compute a layer, with its best parameters for it.
struct Alternative {
  nnc::Candidate candidate;
  double extra; ///< seconds that the plan would take longer with it
  bool chosen;
  bool inexact; ///< cheaper, but less accurate than --max-error allows

  std::string routineText() const;
  /// Returns the layouts of operands and result, for instance "NCHW, KCRS16c16k
  /// -> NCHW16c".
  std::string schemaText() const;
  llvm::json::Object toJson() const;
};

/// Returns the window of a layer's operation with its groups; nullopt where it
/// has none.
std::optional<llvm::json::Object> windowToJson(const nn::Description &said);

/// The costs that nnc-fuse-layers compared for a layer and the one before it.
struct Fusion {
  llvm::StringRef form; ///< "separable", "scaling" or "expanded"
  bool fused;
  double apart, one; ///< cost in seconds of two layers and of the fused one

  llvm::StringRef first() const;
  llvm::json::Object toJson() const;
};

/// A layer with its alternatives: first the chosen one, then the others by the
/// cost of the plan with them.
struct Explained {
  mlir::Operation *layer;
  /// Name in the emitted code and in the model.
  std::string name, modelName, shape;
  nn::Description description;
  std::vector<std::string> ops; ///< for instance nn.conv, nn.add and nn.relu
  /// Why it works on floats, in a quantized model; empty for other layers.
  std::string floats;
  std::optional<Fusion> fusion;
  std::vector<Alternative> alternatives;

  const nnc::Candidate &chosen() const {
    return alternatives.front().candidate;
  }
  /// Returns the shape of the result as it lies in memory, in the order of the
  /// layout that is named behind it: "1x48x48x8 NHWC".
  std::string describeResult() const;
};

/// A change of layout (adapt) of a value in the finished plan.
struct LayoutChange {
  std::string name, from, to, routine;
  UnitCost cost;
};

/// A weight that is stored in fewer bytes. A routine decodes it before a layer
/// reads it, or the layer's own routine reads what is stored.
struct StoredWeight {
  std::string name, form, routine;
  std::string layer; ///< that reads it as it is stored, by the routine
  /// Whether the routine makes the weight, before layers read it.
  bool isDecoded;
  int64_t bytes, denseBytes; ///< that are stored, and those of all elements
  double seconds;            ///< of the routine in each run, estimated
};

/// The seconds that reading the weights of a planned module as they are stored
/// takes more than reading them as they are (kStoredNsAttr).
double getStoredSeconds(mlir::ModuleOp layered);

/// The choice of routines for a model, solved again with all that it weighed.
struct Explanation {
  Plan plan;
  std::vector<Explained> layers;
  std::vector<LayoutChange> changes;
  std::vector<StoredWeight> stored;
  /// Names of weights that take no fewer bytes with --weights-encoding.
  std::vector<std::string> kept;
  /// The seconds that reading weights as they are stored, or decoding them,
  /// takes more than reading them as they are: less than 0 if it takes fewer.
  double storedSeconds = 0;
  Clock clock = {0, 1}; ///< that of all seconds

  /// The seconds of a run of the plan and of such weights, estimated.
  double getSeconds() const { return plan.cost + storedSeconds; }

  /// Explains the model that `driver` has compiled with its stages kept. With
  /// `all`, a routine is an alternative with each of its parameters, not with
  /// the best alone.
  ExitCode find(Driver &driver, bool all = false);

private:
  /// Names the layers as the emitted code does.
  void takeNames(mlir::ModuleOp layered);
  /// Multiplies all seconds by the factor of `clock`.
  void takeClock();
  ExitCode find(mlir::func::FuncOp function, const CostModel &cost,
                Driver &driver, bool all);
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_EXPLANATION_H
