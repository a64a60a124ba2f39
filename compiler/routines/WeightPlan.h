//===- WeightPlan.h - Layers and stored weights of a module together ------===//
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
  Plan first; ///< with all weights as they are
};

/// The search problem of a module: the problems of its functions (PlanGraph),
/// and a node for each weight that only layers read, which may be of several
/// functions. Each state of such a node is a form in which the weight is stored
/// as one of the types that its layers want, or forms for two of these types;
/// or each layer has its own copy of the weight as it is, where the bytes of
/// copies that are equal count more than once. An edge to a layer costs what
/// its candidates take more time with a form, and is impossible where they
/// cannot read it.
class WeightPlan {
public:
  WeightPlan(std::vector<PlannedFunction> functions, FormRules rules,
             int64_t align, const SearchLimits &limits);

  /// Whether any weight may be stored in another form.
  bool mayHaveForms() const { return !weights.empty(); }
  /// Whether forms may need memory to be decoded into.
  bool mayDecode() const {
    return llvm::any_of(
        weights, [](const Weight &weight) { return weight.forms.mayDecode(); });
  }
  void findForms(const DecodeRoom &room);

  /// Chooses the fastest plan, in which bytes of weights have no price.
  void chooseFastest() { chosen = solve(0); }
  /// Chooses a plan whose weights take at most `limit` bytes together, or the
  /// fewest where there is none: the fastest one for a price of a byte, then
  /// changes of the forms of one weight or two and of the layers that read
  /// them.
  void keepBelow(int64_t limit);
  /// Chooses a plan that is estimated to take at most so many seconds and whose
  /// weights take the fewest bytes, or the fastest one where none is as fast:
  /// by a price of a byte and changes of forms as keepBelow() does.
  void keepWithin(double seconds);
  /// Returns the plans that are fastest for any price of a byte, from the
  /// fastest one to the smallest: their bytes, and the seconds that they take
  /// more than the first.
  std::vector<std::pair<int64_t, double>> findFront();

  /// The bytes of all weights of the plan, and its seconds, in which those of
  /// decoders count as getPricedSeconds() returns them: no fewer than they are.
  int64_t getBytes() const { return chosen.bytes; }
  double getSeconds() const { return chosen.seconds; }
  /// The problem without a price of bytes, and the bytes of all weights of a
  /// plan of it; equal copies count once.
  const Problem &getProblem() const { return problem; }
  int64_t countBytes(llvm::ArrayRef<unsigned> choices) const;

  /// The plan of a function. Its cost is that with weights as they are.
  Plan getPlan(size_t function) const;
  /// Returns the seconds that the forms take more than weights as they are.
  double getExtraSeconds() const;
  /// Visits the weights that are stored as they are, each by its type in the
  /// plan.
  void forEachKept(llvm::function_ref<void(const WeightForms &weight,
                                           mlir::RankedTensorType type)>
                       visit) const;
  /// Stores the weights of the functions, into which the plans are written.
  void apply(mlir::ModuleOp module);

private:
  using Choices = llvm::SmallVector<unsigned, 0>;
  /// A plan, its time, and the bytes of all weights.
  struct Solution {
    Choices choices;
    double seconds = 0;
    int64_t bytes = 0;
    llvm::StringRef solver;
  };
  /// Forms of a weight for different types, by the index of the type and of
  /// its form; none where each layer has its own copy.
  using State = llvm::SmallVector<std::pair<size_t, size_t>, 2>;
  struct Weight {
    WeightForms forms;
    unsigned node = 0;
    llvm::SmallVector<unsigned> edges; ///< to each reader
    std::vector<State> states;
    explicit Weight(WeightForms forms) : forms(std::move(forms)) {}
  };
  /// Other choices for a few nodes, and what they change.
  struct Move {
    llvm::SmallVector<std::pair<unsigned, unsigned>> choices;
    int64_t bytes = 0;
    double gain = 0; ///< seconds
  };
  /// The bytes or the seconds that a move may add while it saves the other.
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
    /// The least that is no difference of rounding.
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
  std::vector<unsigned> offsets; ///< of the functions' nodes
  std::vector<Weight> weights;
  /// The bytes of weights that layers do not read, or not alone.
  int64_t otherBytes = 0;
  /// The problem without a price of bytes, and the bytes of each state.
  Problem problem;
  std::vector<std::vector<int64_t>> bytes;
  /// The bytes of an edge's costs; empty for most.
  std::vector<std::vector<int64_t>> edgeBytes;
  std::vector<llvm::SmallVector<unsigned>> edgesAt;
  Solution chosen;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTPLAN_H
