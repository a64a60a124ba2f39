//===- Pbqp.cpp - Near-cheapest plans with a bound ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/search/Pbqp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/CodeGen/PBQP/CostAllocator.h"
#include "llvm/CodeGen/PBQP/Graph.h"
#include "llvm/CodeGen/PBQP/ReductionRules.h"

#include <algorithm>
#include <set>

using namespace llvm;
using namespace nnc;

/// Returns the sum of the least costs of all nodes and edges, a lower bound on
/// the cost of every plan.
static double getLeastSum(const Problem &problem) {
  double bound = 0;
  for (const auto &costs : problem.nodes)
    bound += *min_element(costs);
  for (const Problem::Edge &edge : problem.edges)
    bound += *min_element(edge.costs);
  return bound;
}

/// Limits of the shifting of costs, which ends when a pass over all nodes
/// raises the bound by less than the fraction kSmallGain of it, or after
/// kMostPasses passes.
static constexpr double kSmallGain = 1e-4;
static constexpr int kMostPasses = 200;
/// The relative difference below which two sums of costs are equal.
static constexpr double kRounding = 1e-9;

/// Returns the indices of each node's edges.
static SmallVector<SmallVector<unsigned>, 0>
findEdgesAt(const Problem &problem) {
  SmallVector<SmallVector<unsigned>, 0> edgesAt(problem.nodes.size());
  for (auto [index, edge] : enumerate(problem.edges))
    for (unsigned end : {edge.from, edge.to})
      edgesAt[end].push_back(index);
  return edgesAt;
}

//===----------------------------------------------------------------------===//
// Shifted costs
//===----------------------------------------------------------------------===//

namespace {
class Shifting {
public:
  explicit Shifting(const Problem &problem)
      : problem(problem), edgesAt(findEdgesAt(problem)) {}
  Problem run();

private:
  void shift(unsigned node, bool rising);
  void gather(unsigned node, Problem::Edge &edge);
  void deal(unsigned node, Problem::Edge &edge, double share);

  Problem problem;
  SmallVector<SmallVector<unsigned>, 0> edgesAt;
};
} // namespace

static unsigned getOther(const Problem::Edge &edge, unsigned node) {
  return edge.from == node ? edge.to : edge.from;
}

/// Calls `visit` with each candidate of `node` and each cost of the edge for
/// it.
template <class Edge, class Visit>
static void forEachCost(const Problem &problem, Edge &edge, unsigned node,
                        Visit visit) {
  size_t columns = problem.nodes[edge.to].size();
  for (auto [entry, cost] : enumerate(edge.costs))
    visit(edge.from == node ? entry / columns : entry % columns, cost);
}

void Shifting::gather(unsigned node, Problem::Edge &edge) {
  SmallVector<double> &own = problem.nodes[node];
  SmallVector<double> least(own.size(), kImpossible);
  forEachCost(problem, edge, node, [&](size_t choice, double &cost) {
    least[choice] = std::min(least[choice], cost);
  });
  for (auto [cost, part] : zip(own, least))
    cost += part;
  forEachCost(problem, edge, node, [&](size_t choice, double &cost) {
    if (least[choice] != kImpossible)
      cost -= least[choice];
  });
}

void Shifting::deal(unsigned node, Problem::Edge &edge, double share) {
  ArrayRef<double> own = problem.nodes[node];
  forEachCost(problem, edge, node, [&](size_t choice, double &cost) {
    cost += share * own[choice];
  });
}

/// Collects the least cost of each candidate from the node's edges, and
/// distributes the total to the edges ahead: to those of later nodes if
/// `rising`, else to those of earlier ones.
void Shifting::shift(unsigned node, bool rising) {
  SmallVector<Problem::Edge *> ahead;
  for (unsigned index : edgesAt[node]) {
    Problem::Edge &edge = problem.edges[index];
    gather(node, edge);
    if ((getOther(edge, node) > node) == rising)
      ahead.push_back(&edge);
  }
  if (ahead.empty())
    return;
  double share =
      1.0 / std::max(ahead.size(), edgesAt[node].size() - ahead.size());
  for (Problem::Edge *edge : ahead)
    deal(node, *edge, share);
  for (double &cost : problem.nodes[node])
    if (cost != kImpossible)
      cost -= share * double(ahead.size()) * cost;
}

Problem Shifting::run() {
  double bound = getLeastSum(problem);
  for (int pass = 0; pass < kMostPasses && bound != kImpossible; ++pass) {
    for (unsigned node : seq<unsigned>(0, problem.nodes.size()))
      shift(node, true);
    for (unsigned node : reverse(seq<unsigned>(0, problem.nodes.size())))
      shift(node, false);
    double raised = getLeastSum(problem);
    if (raised - bound <= kSmallGain * std::abs(raised))
      break;
    bound = raised;
  }
  return std::move(problem);
}

Problem nnc::shiftCosts(const Problem &problem) {
  return Shifting(problem).run();
}

//===----------------------------------------------------------------------===//
// The heuristic
//===----------------------------------------------------------------------===//

namespace {
/// The graph and the order of reductions for LLVM's PBQP templates, which take
/// the types and the handlers from this class. LLVM computes in float.
class Heuristic {
public:
  explicit Heuristic(const Problem &problem);
  /// Returns a candidate for each node.
  SmallVector<unsigned, 0> run();

  // LLVM's Graph needs the following types and handlers. The handlers notify a
  // solver of changes to nodes and edges; this one asks the graph for degrees
  // instead.
  using RawVector = PBQP::Vector;
  using RawMatrix = PBQP::Matrix;
  using Vector = PBQP::Vector;
  using Matrix = PBQP::Matrix;
  using CostAllocator = PBQP::PoolCostAllocator<Vector, Matrix>;
  struct GraphMetadata {};
  struct EdgeMetadata {};
  struct NodeMetadata {
    bool wasConservativelyAllocatable() const { return false; }
  };
  using Graph = PBQP::Graph<Heuristic>;
  void handleAddNode(Graph::NodeId) {}
  void handleRemoveNode(Graph::NodeId) {}
  void handleSetNodeCosts(Graph::NodeId, const Vector &) {}
  void handleAddEdge(Graph::EdgeId) {}
  void handleRemoveEdge(Graph::EdgeId) {}
  void handleDisconnectEdge(Graph::EdgeId, Graph::NodeId) {}
  void handleReconnectEdge(Graph::EdgeId, Graph::NodeId) {}
  void handleUpdateCosts(Graph::EdgeId, const Matrix &) {}

private:
  void addEdge(const Problem &problem, const Problem::Edge &edge);
  Graph::NodeId pickNext(const std::set<Graph::NodeId> &left);

  Graph graph{GraphMetadata()};
  SmallVector<Graph::NodeId, 0> nodes; ///< LLVM's identifier of each node
};
} // namespace

Heuristic::Heuristic(const Problem &problem) {
  for (const auto &costs : problem.nodes) {
    Vector vector(costs.size());
    for (auto [i, cost] : enumerate(costs))
      vector[i] = cost;
    nodes.push_back(graph.addNode(std::move(vector)));
  }
  for (const Problem::Edge &edge : problem.edges)
    addEdge(problem, edge);
  graph.setSolver(*this);
}

/// Adds an edge, or its costs to the edge that the two nodes have already.
void Heuristic::addEdge(const Problem &problem, const Problem::Edge &edge) {
  size_t columns = problem.nodes[edge.to].size();
  Matrix costs(problem.nodes[edge.from].size(), columns);
  for (auto [entry, cost] : enumerate(edge.costs))
    costs[entry / columns][entry % columns] = cost;
  Graph::NodeId from = nodes[edge.from], to = nodes[edge.to];
  Graph::EdgeId same = graph.findEdge(from, to);
  if (same == PBQP::GraphBase::invalidEdgeId()) {
    graph.addEdge(from, to, std::move(costs));
    return;
  }
  bool isReversed = graph.getEdgeNode1Id(same) != from;
  Matrix sum(graph.getEdgeCosts(same));
  sum += isReversed ? costs.transpose() : costs;
  graph.updateEdgeCosts(same, std::move(sum));
}

/// Returns a node with at most two neighbours, which is reduced exactly, or
/// else the node with the most neighbours.
Heuristic::Graph::NodeId
Heuristic::pickNext(const std::set<Graph::NodeId> &left) {
  Graph::NodeId widest = *left.begin();
  for (Graph::NodeId node : left) {
    if (graph.getNodeDegree(node) <= 2)
      return node;
    if (graph.getNodeDegree(node) > graph.getNodeDegree(widest))
      widest = node;
  }
  return widest;
}

SmallVector<unsigned, 0> Heuristic::run() {
  std::set<Graph::NodeId> left(nodes.begin(), nodes.end());
  std::vector<Graph::NodeId> order;
  while (!left.empty()) {
    Graph::NodeId node = pickNext(left);
    switch (graph.getNodeDegree(node)) {
    case 0:
      break;
    case 1:
      PBQP::applyR1(graph, node);
      break;
    case 2:
      PBQP::applyR2(graph, node);
      break;
    default: // the heuristic RN: the node is decided after its neighbours
      graph.disconnectAllNeighborsFromNode(node);
    }
    left.erase(node);
    order.push_back(node);
  }
  PBQP::Solution solution = PBQP::backpropagate(graph, order);
  SmallVector<unsigned, 0> choices;
  for (Graph::NodeId node : nodes)
    choices.push_back(solution.getSelection(node));
  return choices;
}

/// Returns the cost of `node` and its edges in the plan `choices`.
static double getCostAround(const Problem &problem, ArrayRef<unsigned> edges,
                            unsigned node, ArrayRef<unsigned> choices) {
  double cost = problem.nodes[node][choices[node]];
  for (unsigned index : edges)
    cost += problem.getCost(problem.edges[index], choices);
  return cost;
}

/// Improves a plan by changing one node at a time, until no such change makes
/// it cheaper.
static void improve(const Problem &problem,
                    SmallVectorImpl<unsigned> &choices) {
  auto edgesAt = findEdgesAt(problem);
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned node : seq<unsigned>(0, choices.size())) {
      unsigned chosen = choices[node];
      double least = getCostAround(problem, edgesAt[node], node, choices);
      for (unsigned i : seq<unsigned>(0, problem.nodes[node].size())) {
        choices[node] = i;
        double cost = getCostAround(problem, edgesAt[node], node, choices);
        if (cost < least) {
          least = cost;
          chosen = i;
          changed = true;
        }
      }
      choices[node] = chosen;
    }
  }
}

Plan nnc::solvePbqp(const Problem &problem) {
  Problem shifted = shiftCosts(problem);
  Plan plan;
  plan.choices = Heuristic(shifted).run();
  improve(problem, plan.choices);
  plan.cost = problem.getCost(plan.choices);
  // Sums in different orders differ by rounding: a bound that is this close to
  // the cost counts as reached.
  double bound = getLeastSum(shifted);
  plan.lowerBound =
      plan.cost - bound < kRounding * plan.cost ? plan.cost : bound;
  plan.solver = "pbqp";
  return plan;
}
