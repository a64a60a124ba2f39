//===- WeightPlan.h - Joint search for routines and weight forms ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTPLAN_H
#define NNC_COMPILER_ROUTINES_WEIGHTPLAN_H

#include "compiler/routines/DecodeRoom.h"
#include "compiler/routines/PlanGraph.h"
#include "compiler/routines/WeightForms.h"

namespace nnc {

/// A function whose layers are chosen together with the forms of its weights.
struct PlannedFunction {
  mlir::func::FuncOp function;
  const PlanGraph *graph = nullptr;
  const CostModel *cost = nullptr;
  Plan first; ///< the plan with all weights unchanged
};

/// The search problem of a module. It joins the problems of its functions
/// (PlanGraph) and has a node for each weight that only layers read, which may
/// belong to several functions. A state of such a node is a form of the weight
/// for one of the types that its layers read, or a form for each of two of
/// these types. In one more state each layer has its own copy of the unchanged
/// weight; the problem counts the bytes of equal copies more than once then. An
/// edge to a layer costs the extra time of each candidate with the form, and is
/// impossible if the candidate cannot read it.
class WeightPlan {
public:
  WeightPlan(std::vector<PlannedFunction> functions, FormRules rules,
             int64_t align, const SearchLimits &limits);

  /// Returns true if any weight may be stored in another form.
  bool mayHaveForms() const { return !weights.empty(); }
  /// Returns true if forms may need memory into which weights are decoded.
  bool mayDecode() const {
    return llvm::any_of(
        weights, [](const Weight &weight) { return weight.forms.mayDecode(); });
  }
  void findForms(const DecodeRoom &room);

  /// Chooses the fastest plan, regardless of the bytes of weights.
  void chooseFastest() { chosen = solve(0); }
  /// Chooses a plan whose weights take at most `limit` bytes together, or the
  /// fewest bytes if there is no such plan. It first finds the fastest plan at
  /// a price per byte, and then improves it by changing the forms of one or two
  /// weights and the layers that read them.
  void keepBelow(int64_t limit);
  /// Chooses the plan with the fewest bytes of weights among those that are
  /// estimated to take at most `seconds`, or the fastest plan if none is as
  /// fast. It uses a price per byte and changes of forms, as keepBelow() does.
  void keepWithin(double seconds);
  /// Returns the plans that are best at some price per byte, from the fastest
  /// to the smallest. For each plan it returns the bytes of its weights, and
  /// its seconds minus those of the fastest plan.
  std::vector<std::pair<int64_t, double>> findFront();

  /// Return the bytes of all weights of the chosen plan, and its seconds. The
  /// seconds count the time of decoders as getPricedSeconds() does, which is at
  /// least their estimated time.
  int64_t getBytes() const { return chosen.bytes; }
  double getSeconds() const { return chosen.seconds; }
  /// Return the search problem without a price of bytes, and the bytes of all
  /// weights of a plan for it. Equal copies count once.
  const Problem &getProblem() const { return problem; }
  int64_t countBytes(llvm::ArrayRef<unsigned> choices) const;

  /// Returns the plan of a function. Its cost is that with unchanged weights.
  Plan getPlan(size_t function) const;
  /// Returns the seconds of the plan minus those of its layers with unchanged
  /// weights.
  double getExtraSeconds() const;
  /// Visits the weights that stay unchanged, once for each type in which the
  /// plan reads them.
  void forEachKept(llvm::function_ref<void(const WeightForms &weight,
                                           mlir::RankedTensorType type)>
                       visit) const;
  /// Stores the weights of the functions in the chosen forms. The plans must
  /// already be written into the functions.
  void apply(mlir::ModuleOp module);

private:
  using Choices = llvm::SmallVector<unsigned, 0>;
  /// A plan, its time, the bytes of all its weights, and the solver that found
  /// it.
  struct Solution {
    Choices choices;
    double seconds = 0;
    int64_t bytes = 0;
    llvm::StringRef solver;
  };
  /// Forms of a weight for different types, as pairs of the index of the type
  /// and the index of its form. The list is empty in the state in which each
  /// layer has its own copy.
  using State = llvm::SmallVector<std::pair<size_t, size_t>, 2>;
  struct Weight {
    WeightForms forms;
    unsigned node = 0;
    llvm::SmallVector<unsigned> edges; ///< edges to the readers
    std::vector<State> states;
    explicit Weight(WeightForms forms) : forms(std::move(forms)) {}
  };
  /// A change of the choices of a few nodes, with its effect on bytes and
  /// seconds.
  struct Move {
    llvm::SmallVector<std::pair<unsigned, unsigned>> choices;
    int64_t bytes = 0;
    double gain = 0; ///< seconds that the change saves
  };
  /// The amount of bytes or seconds that a move may add to save the other.
  struct Slack {
    int64_t bytes = 0;
    double seconds = 0;
    bool savesTime = true;

    bool allows(int64_t moreBytes, double gain) const {
      return savesTime ? moreBytes <= bytes : -gain <= seconds;
    }
    double getSaved(int64_t moreBytes, double gain) const {
      return savesTime ? gain : -double(moreBytes);
    }
    /// Returns the least saving that is not a rounding difference.
    double getLeast() const { return savesTime ? 1e-12 : 0; }
  };

  void findWeights();
  void addStates(Weight &weight);
  void setCosts(Weight &weight);
  const WeightForm &getForm(const Weight &weight, size_t type,
                            size_t form) const;
  const WeightForm *findRead(const Weight &weight, const State &state,
                             mlir::RankedTensorType type) const;
  double getPenalty(const Weight &weight, size_t reader,
                    const Candidate &candidate, const WeightForm &form) const;
  unsigned getNode(const WeightReader &reader) const {
    return offsets[reader.function] +
           functions[reader.function].graph->getNode(reader.layer);
  }
  int64_t align(int64_t bytes) const;
  Solution solve(double byteSeconds);
  Solution solveSmallest();
  bool refine(llvm::ArrayRef<unsigned> choices);
  void findFront(const Solution &fast, const Solution &small, int depth,
                 std::vector<Solution> &found);
  std::vector<Move> findMoves(const Weight &weight,
                              llvm::ArrayRef<unsigned> choices) const;
  Move findBestMove(llvm::ArrayRef<unsigned> choices, const Slack &slack) const;
  int64_t trade(double seconds);
  void exchange(llvm::function_ref<Slack()> findSlack);
  double getCostAround(const llvm::SmallSetVector<unsigned, 8> &nodes,
                       llvm::ArrayRef<unsigned> choices) const;
  bool areApart(const Move &first, const Move &second) const;
  double getTime(const Solution &solution) const;
  void visitForms(llvm::ArrayRef<unsigned> choices,
                  llvm::function_ref<void(const Weight &weight, size_t reader,
                                          const Candidate &candidate,
                                          const WeightForm &form)>
                      visit) const;

  std::vector<PlannedFunction> functions;
  std::unique_ptr<const FormRules> rules;
  int64_t alignment;
  SearchLimits limits;
  std::vector<unsigned> offsets; ///< first node of each function
  std::vector<Weight> weights;
  /// The bytes of weights with any reader other than the anchor of a layer.
  int64_t otherBytes = 0;
  /// The search problem without a price of bytes, and the bytes of each node's
  /// states.
  Problem problem;
  std::vector<std::vector<int64_t>> bytes;
  /// The bytes that belong to an edge's costs; empty for most edges.
  std::vector<std::vector<int64_t>> edgeBytes;
  std::vector<llvm::SmallVector<unsigned>> edgesAt;
  Solution chosen;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTPLAN_H
