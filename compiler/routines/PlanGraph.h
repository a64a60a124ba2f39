//===- PlanGraph.h - The search problem of a function ---------------------===//
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

/// The prices of the accuracy that layers lose by computing with integers: for
/// each layer, the seconds that are added to the cost of each candidate that
/// keeps the layer's integers (keepsIntegers).
using Prices = llvm::DenseMap<mlir::Operation *, double>;

/// The search problem of a function: the candidates of every layer and the cost
/// of every adapt between layers.
///
/// Each layer is a node, whose choices are the candidates of all its forms. An
/// edge from a layer to the only reader of its result costs the cheapest path
/// of adapts between their schemas. A value with several readers is a node of
/// its own between its producer and its readers. Each of its choices is the
/// schema in which the value is produced and a set of other schemas in which it
/// is also available, at the cost of the cheapest tree of adapts that makes
/// them all, so that readers that share adapts pay for them once. An op that
/// passes on its operand in any element type, such as a reshape, is also a node
/// if layers have several forms.
class PlanGraph {
public:
  /// Builds the graph of `function`. Fails, with a diagnostic at each layer
  /// that has no candidate. The rounding error of all layers together is kept
  /// below `maxError` (see ErrorBudget.h). `choices` prescribe the candidates
  /// of layers regardless of their cost and error. They are used only if they
  /// name all layers in order, each with one of its candidates.
  static mlir::FailureOr<PlanGraph>
  build(mlir::func::FuncOp function, const CostModel &cost, double maxError,
        LayoutScope scope = LayoutScope::global,
        llvm::ArrayRef<Subject> choices = {});

  /// Returns the cheapest plan, or if choices are prescribed, the cheapest plan
  /// that follows them. In the second case the solver is "tuned", and the lower
  /// bound still holds for all plans. The lower bound is that of the problem
  /// minus the most that sets of schemas could save that were left out because
  /// they were too many.
  Plan solve(const SearchLimits &limits = {}) const;
  /// Returns the plan that is cheapest with `prices` added. Its cost and lower
  /// bound include these prices.
  Plan solve(const Prices &prices, const SearchLimits &limits = {}) const;
  /// Returns the sum of the prices of the candidates in a plan, in seconds.
  double getPrice(const Plan &plan, const Prices &prices) const;
  bool hasChoices() const { return !choices.empty(); }
  /// Returns the search problem. If choices are prescribed, all other
  /// candidates of the layers are impossible in it.
  Problem getProblem() const;
  /// Returns the plan whose choices are recorded in the attribute nn.plan of
  /// `planned`, which is this function after nnc-choose-routines. Returns
  /// nothing if no choices are recorded.
  std::optional<Plan> readPlan(mlir::func::FuncOp planned) const;
  unsigned getNode(nn::LayerOp layer) const { return nodes.lookup(layer); }
  /// Returns the candidates of a layer, whose indices are the choices of its
  /// node.
  llvm::ArrayRef<Candidate> getCandidates(nn::LayerOp layer) const {
    return candidates[nodes.lookup(layer)];
  }
  /// Returns the part of a plan's cost that is a penalty for memory above the
  /// limit (CostModel::setFreeMemory).
  double getMemorySeconds(const Plan &plan) const;

  /// Returns true if the scope of the search allows the layouts that
  /// `candidate` requires of the layer's values.
  bool isInScope(nn::LayerOp layer, const Candidate &candidate) const;
  /// Returns the layouts that were tried for routines that accept any layout.
  llvm::ArrayRef<nn::LayoutAttr> getLayouts() const {
    return layouts.getArrayRef();
  }
  const Candidate &getChoice(nn::LayerOp layer, const Plan &plan) const;
  /// Returns the type in which a value is produced under a plan.
  mlir::RankedTensorType getMade(mlir::Value value, const Plan &plan) const;
  /// Returns the type in which an op reads an operand under a plan.
  mlir::RankedTensorType getWanted(mlir::OpOperand &operand,
                                   const Plan &plan) const;
  /// Returns the steps of adapts by which a plan makes a value available to its
  /// readers, as pairs of source and target types. Each step follows the one
  /// that makes its source.
  llvm::SmallVector<std::pair<mlir::RankedTensorType, mlir::RankedTensorType>>
  getSteps(mlir::Value value, const Plan &plan) const;
  AdaptPaths &getPaths() const { return *paths; }
  /// Returns the routine and parameters that `plan` chooses for each layer. The
  /// subjects hold the layers' names.
  std::vector<Subject> getChoices(const Plan &plan) const;

  /// Returns the additional seconds of the plan if `candidate` computes `layer`
  /// and all other layers keep their candidates. The adapts around the layer
  /// are chosen anew. Returns kImpossible if all candidates of that schema have
  /// too large errors.
  double getExtraSeconds(nn::LayerOp layer, const Candidate &candidate,
                         const Plan &plan) const;

  /// Returns true if `candidate` is cheaper than the graph's candidate of the
  /// same schema, or the graph has none, and was left out only because its
  /// rounding error is too large.
  bool isOverError(nn::LayerOp layer, const Candidate &candidate) const;

private:
  explicit PlanGraph(const CostModel &cost)
      : cost(&cost), paths(std::make_unique<AdaptPaths>(cost)) {}
  const Candidate *findKept(nn::LayerOp layer,
                            const Candidate &candidate) const;
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
  /// A choice for a shared value: the type in which it is produced, and the set
  /// of further types in which it is available. Bit i of the set stands for
  /// SharedValue::wanted[i].
  struct State {
    mlir::RankedTensorType made;
    unsigned set;
  };
  struct SharedValue {
    unsigned node; ///< index in the problem
    const AdaptPaths::Table *table;
    llvm::SmallVector<mlir::RankedTensorType> wanted;
    /// The indices of the wanted types in the table. The terminals, which are
    /// the first of these, are the only ones that trees of adapts may combine.
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
  /// Whether each layer's result is adapted to row-major order at once, as
  /// LayoutScope::local requires.
  bool plainBetween = false;
  std::vector<Subject> choices; ///< prescribed choices of all layers, or empty
  Problem problem;
  /// Indices of edges, by node.
  llvm::SmallVector<llvm::SmallVector<unsigned>, 0> edgesAt;
  llvm::SetVector<nn::LayoutAttr> layouts;
  llvm::MapVector<mlir::Operation *, unsigned> nodes; ///< nodes of layers
  /// The nodes of ops that pass on their operand. Their candidates have no
  /// routine.
  llvm::DenseMap<mlir::Operation *, unsigned> passing;
  /// The candidates of each node, the cheapest of each schema; the list is
  /// empty for nodes of values.
  llvm::SmallVector<llvm::SmallVector<Candidate, 0>, 0> candidates;
  llvm::DenseMap<mlir::Value, SharedValue> shared;
  std::unique_ptr<AdaptPaths> paths;
  /// An upper bound, in seconds, of what the sets of schemas that were left out
  /// could save.
  double slack = 0;
};

/// Name of an array in the attribute `nn.plan` with the choices of a plan. It
/// is present if the forms of weights influenced the plan.
inline constexpr llvm::StringLiteral kPlanChoices = "choices";

/// Returns the estimated seconds of the plans of all functions of a module
/// (kPlanAttr), including the time to read stored weights (kStoredNsAttr).
double getPlannedSeconds(mlir::ModuleOp layered);

/// Adds the price of code bytes to the costs of candidates if the target has no
/// operating system. A byte costs a fraction, which `optimize` sets, of the
/// least time that all layers of `function` take together.
void addCodeCosts(mlir::func::FuncOp function, CostModel &cost, double maxError,
                  Optimize optimize);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_PLANGRAPH_H
