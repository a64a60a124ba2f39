//===- PlanGraph.h - A function as a problem of the global search ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_PLANGRAPH_H
#define NNC_COMPILER_ROUTINES_PLANGRAPH_H

#include "compiler/routines/Candidates.h"
#include "compiler/routines/LayoutScope.h"
#include "compiler/search/Search.h"

#include "llvm/ADT/MapVector.h"

namespace nnc {

/// The candidates of every layer and the cost of every adapt between them.
///
/// A layer is a node. An edge from a layer to the one that reads its result
/// costs the adapt between the layouts. A value with several readers is a node
/// too, between them: its choices are what layout it is made in and one more
/// that it is also needed in, so that readers that share an adapt pay it once.
class PlanGraph {
public:
  /// Fails, with an error at each, where layers have no candidate. What
  /// rounding adds in all layers is kept below `maxError` (see ErrorBudget.h).
  /// `choices` say what is to compute the layers, whatever it costs and loses.
  /// They count where they fit: where they name all layers, in order, and
  /// candidates of theirs.
  static mlir::FailureOr<PlanGraph>
  build(mlir::func::FuncOp function, const CostModel &cost, double maxError,
        LayoutScope scope = LayoutScope::global,
        llvm::ArrayRef<Subject> choices = {});

  /// The cheapest plan, or of those that follow the choices that fit; the bound
  /// holds for all plans, the solver is "tuned" then.
  Plan solve(const SearchLimits &limits = {}) const;
  bool hasChoices() const { return !choices.empty(); }

  /// Whether the scope has the layouts that `candidate` wants of values.
  bool isInScope(nn::LayerOp layer, const Candidate &candidate) const;
  /// The layouts that routines which take any were tried in.
  llvm::ArrayRef<nn::LayoutAttr> getLayouts() const {
    return layouts.getArrayRef();
  }
  const Candidate &getChoice(nn::LayerOp layer, const Plan &plan) const;
  /// What computes each layer, by its name.
  std::vector<Subject> getChoices(const Plan &plan) const;

  /// By how much the plan gets dearer if `layer` is computed by `candidate`
  /// instead, while all other layers stay as they are. The adapts between them
  /// change as suits best.
  double getExtraSeconds(nn::LayerOp layer, const Candidate &candidate,
                         const Plan &plan) const;

  /// Whether it would be cheaper than what the graph has for the same schema,
  /// but loses more to rounding.
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

  /// A reader of a value: the layer's node and the type that each of its
  /// candidates wants; outside of layers just one type.
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
  /// The size that blocks of layouts must have, if only one is in scope.
  std::optional<int64_t> blockSize;
  /// Whether what a layer makes is adapted to row-major order at once.
  bool plainBetween = false;
  std::vector<Subject> choices; ///< of the nodes that are layers, or none
  Problem problem;
  llvm::SmallVector<llvm::SmallVector<unsigned>, 0> edgesAt; ///< of each node
  llvm::SetVector<nn::LayoutAttr> layouts;
  llvm::MapVector<mlir::Operation *, unsigned> nodes; ///< of layers
  /// Of each node, the cheapest of each schema; none of nodes that are no
  /// layers.
  llvm::SmallVector<llvm::SmallVector<Candidate, 0>, 0> candidates;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Type>, double> adapts;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_PLANGRAPH_H
