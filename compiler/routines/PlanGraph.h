//===- PlanGraph.h - A function as a problem of the global search ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_PLANGRAPH_H
#define NNC_COMPILER_ROUTINES_PLANGRAPH_H

#include "compiler/routines/Candidates.h"
#include "compiler/routines/LayoutScope.h"
#include "compiler/routines/Optimize.h"
#include "compiler/search/Search.h"

#include "llvm/ADT/MapVector.h"

namespace nnc {

/// The search problem of a function: the candidates of every layer and the cost
/// of every adapt between layers.
///
/// Each layer is a node. An edge from a layer to the only reader of its result
/// costs the adapt between their layouts. A value with several readers is a
/// node of its own between its producer and its readers; each of its choices is
/// the layout in which the value is produced and at most one more in which it
/// is also available, so that readers that share an adapt pay for it once.
class PlanGraph {
public:
  /// Builds the graph of `function`. Fails, with a diagnostic at each layer
  /// that has no candidate. The rounding error of all layers together is kept
  /// below `maxError` (see ErrorBudget.h). `choices` prescribe the candidates
  /// of layers regardless of their cost and error; they are used only if they
  /// name all layers in order, each with one of its candidates.
  static mlir::FailureOr<PlanGraph>
  build(mlir::func::FuncOp function, const CostModel &cost, double maxError,
        LayoutScope scope = LayoutScope::global,
        llvm::ArrayRef<Subject> choices = {});

  /// Returns the cheapest plan, or if choices are prescribed, the cheapest plan
  /// that follows them. In the second case the solver is "tuned", and the lower
  /// bound still holds for all plans.
  Plan solve(const SearchLimits &limits = {}) const;
  bool hasChoices() const { return !choices.empty(); }
  /// Returns the part of a plan's cost that stands for memory which is not
  /// there (CostModel::setFreeMemory).
  double getMemorySeconds(const Plan &plan) const;

  /// Returns true if the layouts that `candidate` requires of the layer's
  /// values are in the scope.
  bool isInScope(nn::LayerOp layer, const Candidate &candidate) const;
  /// Returns the layouts that were tried for routines that accept any layout.
  llvm::ArrayRef<nn::LayoutAttr> getLayouts() const {
    return layouts.getArrayRef();
  }
  const Candidate &getChoice(nn::LayerOp layer, const Plan &plan) const;
  /// Returns the routine and parameters that `plan` chooses for each layer; the
  /// subjects hold the layers' names.
  std::vector<Subject> getChoices(const Plan &plan) const;

  /// Returns the seconds that the plan loses if `candidate` computes `layer`
  /// and all other layers keep their candidates. The adapts around the layer
  /// are chosen anew.
  double getExtraSeconds(nn::LayerOp layer, const Candidate &candidate,
                         const Plan &plan) const;

  /// Returns true if `candidate` is cheaper than the candidate of the same
  /// schema in the graph, but was left out because its rounding error is too
  /// large.
  bool isOverError(nn::LayerOp layer, const Candidate &candidate) const;

private:
  explicit PlanGraph(const CostModel &cost) : cost(&cost) {}
  const Candidate &getKept(nn::LayerOp layer, const Candidate &candidate) const;
  double getSecondsAround(unsigned node, unsigned choice,
                          const Plan &plan) const;
  void limitLayouts(LayoutScope scope);
  mlir::LogicalResult addLayers(mlir::Block &block, double maxError,
                                LayoutScope scope,
                                llvm::ArrayRef<Subject> wanted);
  void takeChoices(llvm::ArrayRef<Subject> wanted);
  void addValue(mlir::Value value);

  /// A reader of a value: the node of the reading layer and the type that each
  /// of its candidates requires. A reader that is not a layer has no node and
  /// requires a single type.
  struct Reader {
    std::optional<unsigned> node;
    llvm::SmallVector<mlir::RankedTensorType> wants;
  };
  Reader getReader(mlir::OpOperand &use) const;
  double getAdaptSeconds(mlir::RankedTensorType from,
                         mlir::RankedTensorType to);
  void addReader(llvm::ArrayRef<mlir::RankedTensorType> made,
                 std::optional<unsigned> maker, const Reader &reader);
  void addSharedValue(llvm::ArrayRef<mlir::RankedTensorType> made,
                      std::optional<unsigned> maker,
                      llvm::ArrayRef<Reader> readers);

  const CostModel *cost;
  /// The only block size of layouts that is in scope, or nullopt if all are.
  std::optional<int64_t> blockSize;
  /// Whether each layer's result is adapted to row-major order at once
  /// (LayoutScope::local).
  bool plainBetween = false;
  std::vector<Subject> choices; ///< prescribed ones of all layers, or none
  Problem problem;
  llvm::SmallVector<llvm::SmallVector<unsigned>, 0> edgesAt; ///< of each node
  llvm::SetVector<nn::LayoutAttr> layouts;
  llvm::MapVector<mlir::Operation *, unsigned> nodes; ///< of layers
  /// The candidates of each node, the cheapest of each schema; the list is
  /// empty for nodes that are not layers.
  llvm::SmallVector<llvm::SmallVector<Candidate, 0>, 0> candidates;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Type>, double> adapts;
};

/// Lets the bytes of code of each candidate cost time, where the target has no
/// operating system: a share of the time that all layers of `function` take at
/// least, as `optimize` says.
void addCodeCosts(mlir::func::FuncOp function, CostModel &cost, double maxError,
                  Optimize optimize);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_PLANGRAPH_H
