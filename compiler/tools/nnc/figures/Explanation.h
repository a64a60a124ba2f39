//===- Explanation.h - Alternatives that the search compared -- -*- C++ -*-===//
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
  double extra; ///< additional seconds of the plan with it
  bool chosen;
  bool inexact; ///< cheaper, but less accurate than --max-error allows

  std::string routineText() const;
  /// Returns the layouts of operands and result, for instance "NCHW, KCRS16c16k
  /// -> NCHW16c".
  std::string schemaText() const;
  llvm::json::Object toJson() const;
};

/// Returns the window and the groups of a layer's operation, or nullopt if it
/// has no window.
std::optional<llvm::json::Object> windowToJson(const nn::Description &said);

/// The costs that nnc-fuse-layers compared for a layer and the layer before it.
struct Fusion {
  llvm::StringRef form; ///< "separable", "scaling" or "expanded"
  bool fused;
  double apart, one; ///< seconds of the two layers, and of the fused one

  llvm::StringRef first() const;
  llvm::json::Object toJson() const;
};

/// A layer with its alternatives. The chosen one comes first, followed by the
/// others in order of the cost of the plan with them.
struct Explained {
  mlir::Operation *layer;
  /// The layer's names in the emitted code and in the model, and the shape of
  /// its result.
  std::string name, modelName, shape;
  nn::Description description;
  std::vector<std::string> ops; ///< for instance nn.conv, nn.add and nn.relu
  /// The reason why it computes with floats in a quantized model; empty for
  /// layers that compute with integers.
  std::string floats;
  std::optional<Fusion> fusion;
  std::vector<Alternative> alternatives;

  const nnc::Candidate &chosen() const {
    return alternatives.front().candidate;
  }
  /// Returns the shape of the result in memory, in the order of its layout,
  /// followed by the layout's name: "1x48x48x8 NHWC".
  std::string describeResult() const;
};

/// A change of layout (adapt) of a value in the finished plan.
struct LayoutChange {
  std::string name, from, to, routine;
  UnitCost cost;
};

/// A weight that is stored in fewer bytes. Either a routine decodes it before a
/// layer reads it, or the layer's own routine reads the stored bytes.
struct StoredWeight {
  std::string name, form, routine;
  std::string layer; ///< layer whose routine reads the stored bytes
  /// Whether the routine decodes the weight before layers read it.
  bool isDecoded;
  int64_t bytes, denseBytes; ///< stored bytes, and bytes of all elements
  double seconds;            ///< estimated seconds of the routine in each run
};

/// Returns the seconds that a planned module takes with its stored weights
/// minus those with unchanged weights (kStoredNsAttr).
double getStoredSeconds(mlir::ModuleOp layered);

/// The choice of routines for a model, which is solved again to show the
/// alternatives.
struct Explanation {
  Plan plan;
  std::vector<Explained> layers;
  std::vector<LayoutChange> changes;
  std::vector<StoredWeight> stored;
  /// The names of weights that take no fewer bytes with --weights-encoding.
  std::vector<std::string> kept;
  /// The seconds of reading or decoding stored weights minus those of reading
  /// unchanged weights. It is negative if stored weights are faster.
  double storedSeconds = 0;
  /// The seconds of the memset with which a run on a GPU begins, 0 if it has
  /// none.
  double memsetSeconds = 0;
  Clock clock = {0, 1}; ///< clock for which all seconds hold

  /// Returns the estimated seconds of a run of the plan with its stored
  /// weights.
  double getSeconds() const {
    return plan.cost + storedSeconds + memsetSeconds;
  }

  /// Explains the model that `driver` has compiled with its stages kept. If
  /// `all`, a routine is a separate alternative with each of its parameters,
  /// rather than only with the best ones.
  ExitCode find(Driver &driver, bool all = false);

private:
  /// Gives the layers the names that they have in the emitted code.
  void takeNames(mlir::ModuleOp layered);
  /// Scales all seconds by the factor of `clock`.
  void takeClock();
  ExitCode find(mlir::func::FuncOp function, const CostModel &cost,
                Driver &driver, bool all);
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_EXPLANATION_H
