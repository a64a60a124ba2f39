//===- PlanGraph.h - A function as a problem of the global search ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_PLANGRAPH_H
#define NNC_COMPILER_ROUTINES_PLANGRAPH_H

#include "compiler/routines/AdaptPaths.h"
#include "compiler/routines/LayoutScope.h"
#include "compiler/routines/Optimize.h"
#include "compiler/search/Search.h"

#include "llvm/ADT/MapVector.h"

namespace nnc {

/// Prices of the accuracy that integers lose, by layers: the seconds that each
/// candidate of a layer that has integers (keepsIntegers) costs beside its
/// time.
using Prices = llvm::DenseMap<mlir::Operation *, double>;

/// The search problem of a function: the candidates of every layer and the cost
/// of every adapt between layers.
///
/// Each layer is a node, whose choices are the candidates of all its forms. An
/// edge from a layer to the only reader of its result costs the cheapest path
/// of adapts between their schemas. A value with several readers is a node of
/// its own between its producer and its readers; each of its choices is the
/// schema in which the value is produced and a set of others in which it is
/// also available, at the cost of the cheapest tree of adapts that makes them
/// all, so that readers that share adapts pay for them once. An op that passes
/// on its operand in any element type, such as a reshape, is a node, too, where
/// layers have several forms.
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
  /// bound still holds for all plans. It is below that of the problem by what
  /// sets of schemas could save that were left out because they were too many.
  Plan solve(const SearchLimits &limits = {}) const;
  /// Returns the cheapest plan, whose cost and bound count these prices.
  Plan solve(const Prices &prices, const SearchLimits &limits = {}) const;
  /// Returns what integers cost a plan beside its time.
  double getPrice(const Plan &plan, const Prices &prices) const;
  bool hasChoices() const { return !choices.empty(); }
  /// Returns the problem, without all candidates but the prescribed ones where
  /// choices are prescribed.
  Problem getProblem() const;
  /// Returns the plan whose choices the attribute nn.plan of `planned` records,
  /// which is this function after nnc-choose-routines; nothing if it records
  /// none.
  std::optional<Plan> readPlan(mlir::func::FuncOp planned) const;
  unsigned getNode(nn::LayerOp layer) const { return nodes.lookup(layer); }
  /// Returns the candidates of a layer, whose indices are the choices of its
  /// node.
  llvm::ArrayRef<Candidate> getCandidates(nn::LayerOp layer) const {
    return candidates[nodes.lookup(layer)];
  }
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
  /// Returns the type in which a plan makes a value.
  mlir::RankedTensorType getMade(mlir::Value value, const Plan &plan) const;
  /// Returns the type in which a plan has an op read an operand.
  mlir::RankedTensorType getWanted(mlir::OpOperand &operand,
                                   const Plan &plan) const;
  /// Returns the steps of adapts by which a plan makes a value available to its
  /// readers, each behind one whose result it starts from.
  llvm::SmallVector<std::pair<mlir::RankedTensorType, mlir::RankedTensorType>>
  getSteps(mlir::Value value, const Plan &plan) const;
  AdaptPaths &getPaths() const { return *paths; }
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
  explicit PlanGraph(const CostModel &cost)
      : cost(&cost), paths(std::make_unique<AdaptPaths>(cost)) {}
  const Candidate &getKept(nn::LayerOp layer, const Candidate &candidate) const;
  double getPrice(nn::LayerOp layer, const Candidate &candidate,
                  const Prices &prices) const;
  double getSecondsAround(unsigned node, unsigned choice,
                          const Plan &plan) const;
  void limitLayouts(LayoutScope scope);
  mlir::LogicalResult addLayers(mlir::Block &block, double maxError,
                                LayoutScope scope,
                                llvm::ArrayRef<Subject> wanted);
  void takeChoices(llvm::ArrayRef<Subject> wanted);
  void addPassing(mlir::Operation &op);

  /// A reader of a value: the node of the reading op and the type that each of
  /// its candidates requires. A reader without a node requires a single type.
  struct Reader {
    std::optional<unsigned> node;
    llvm::SmallVector<mlir::RankedTensorType> wants;
  };
  /// A choice for a shared value: the type that it is made as, and the set of
  /// further types in which it is available, as bits of SharedValue::wanted.
  struct State {
    mlir::RankedTensorType made;
    unsigned set;
  };
  struct SharedValue {
    unsigned node; ///< of the problem
    const AdaptPaths::Table *table;
    llvm::SmallVector<mlir::RankedTensorType> wanted;
    /// The numbers of these types in the table, and the first of them, which
    /// trees reach.
    llvm::SmallVector<unsigned> nodes, terminals;
    Trees trees;
    std::vector<State> states;
    double getSeconds(const Paths &paths, unsigned root, unsigned set) const;
  };
  Reader getReader(mlir::OpOperand &use) const;
  std::optional<unsigned>
  findEnds(mlir::Value value, llvm::SmallVector<mlir::RankedTensorType> &made,
           llvm::SmallVectorImpl<Reader> &readers);
  void addTypes(mlir::Value value);
  void addValue(mlir::Value value);
  double getAdaptSeconds(mlir::Value value, mlir::RankedTensorType from,
                         mlir::RankedTensorType to) const {
    return paths->getSeconds(from, to,
                             nn::getTensorType(value).getElementType());
  }
  void addReader(mlir::Value value, llvm::ArrayRef<mlir::RankedTensorType> made,
                 std::optional<unsigned> maker, const Reader &reader);
  void addSharedValue(mlir::Value value,
                      llvm::ArrayRef<mlir::RankedTensorType> made,
                      std::optional<unsigned> maker,
                      llvm::ArrayRef<Reader> readers);
  void addStates(SharedValue &value,
                 llvm::ArrayRef<mlir::RankedTensorType> made, size_t readers);

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
  /// The nodes of ops that pass on their operand. Their candidates have no
  /// routine.
  llvm::DenseMap<mlir::Operation *, unsigned> passing;
  /// The candidates of each node, the cheapest of each schema; the list is
  /// empty for nodes of values.
  llvm::SmallVector<llvm::SmallVector<Candidate, 0>, 0> candidates;
  llvm::DenseMap<mlir::Value, SharedValue> shared;
  std::unique_ptr<AdaptPaths> paths;
  /// The most seconds that sets of schemas could save which were left out.
  double slack = 0;
};

/// Name in the attribute `nn.plan` for the choices of a plan, an array, where
/// the forms of weights have decided on it.
inline constexpr llvm::StringLiteral kPlanChoices = "choices";

/// Returns the estimated seconds of the plans of all functions of a module
/// (kPlanAttr), reading stored weights included (kStoredNsAttr).
double getPlannedSeconds(mlir::ModuleOp layered);

/// Lets the bytes of code of each candidate cost time, where the target has no
/// operating system: a share of the time that all layers of `function` take at
/// least, as `optimize` says.
void addCodeCosts(mlir::func::FuncOp function, CostModel &cost, double maxError,
                  Optimize optimize);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_PLANGRAPH_H
