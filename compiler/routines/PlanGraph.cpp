//===- PlanGraph.cpp - The search problem of a function -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/PlanGraph.h"

#include "compiler/routines/ErrorBudget.h"
#include "compiler/routines/LayerForms.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

using Types = SmallVector<RankedTensorType>;

const Candidate &PlanGraph::getChoice(LayerOp layer, const Plan &plan) const {
  unsigned node = nodes.lookup(layer);
  return candidates[node][plan.choices[node]];
}

/// Returns the cost of `node` and its edges if it takes `choice` and the shared
/// values at the other ends of its edges respond with their best choices.
double PlanGraph::getSecondsAround(unsigned node, unsigned choice,
                                   const Plan &plan) const {
  auto getCost = [&](const Problem::Edge &edge, unsigned other,
                     unsigned otherChoice) {
    unsigned from = edge.from == other  ? otherChoice
                    : edge.from == node ? choice
                                        : plan.choices[edge.from];
    unsigned to = edge.to == other  ? otherChoice
                  : edge.to == node ? choice
                                    : plan.choices[edge.to];
    return edge.costs[from * problem.nodes[edge.to].size() + to];
  };
  double seconds = problem.nodes[node][choice];
  llvm::SmallSetVector<unsigned, 4> shared;
  for (unsigned index : edgesAt[node]) {
    const Problem::Edge &edge = problem.edges[index];
    unsigned other = edge.from == node ? edge.to : edge.from;
    if (candidates[other].empty())
      shared.insert(other);
    else
      seconds += getCost(edge, other, plan.choices[other]);
  }
  for (unsigned value : shared) {
    double best = kImpossible;
    for (unsigned state = 0; state < problem.nodes[value].size(); ++state) {
      double own = problem.nodes[value][state];
      for (unsigned index : edgesAt[value])
        own += getCost(problem.edges[index], value, state);
      best = std::min(best, own);
    }
    seconds += best;
  }
  return seconds;
}

/// Returns the candidate in the graph with the same layer and schema as
/// `candidate`, or null if none has a small enough error.
const Candidate *PlanGraph::findKept(LayerOp layer,
                                     const Candidate &candidate) const {
  const auto &all = candidates[nodes.lookup(layer)];
  auto *found =
      llvm::find_if(all, [&](auto &one) { return one.hasSchemaOf(candidate); });
  if (found != all.end())
    return found;
  // The candidates of this schema, one of which read an encoded weight, were
  // replaced by a candidate that reads the weight in another layout. This is
  // valid because layouts of weights do not affect other layers.
  found = llvm::find_if(all, [&](const Candidate &one) {
    return one.result == candidate.result &&
           llvm::all_of(llvm::enumerate(one.operands), [&](auto operand) {
             auto [i, type] = operand;
             Operation *maker = layer.getOperand(i).getDefiningOp();
             return type == candidate.operands[i] ||
                    (maker && maker->hasTrait<OpTrait::ConstantLike>());
           });
  });
  return found == all.end() ? nullptr : found;
}

bool PlanGraph::isOverError(LayerOp layer, const Candidate &candidate) const {
  const Candidate *kept = findKept(layer, candidate);
  return !kept ||
         (candidate.error > kept->error && candidate.seconds < kept->seconds);
}

double PlanGraph::getExtraSeconds(LayerOp layer, const Candidate &candidate,
                                  const Plan &plan) const {
  unsigned node = nodes.lookup(layer);
  const Candidate *kept = findKept(layer, candidate);
  if (!kept)
    return kImpossible;
  return getSecondsAround(node, kept - candidates[node].begin(), plan) -
         getSecondsAround(node, plan.choices[node], plan) + candidate.seconds -
         kept->seconds;
}

static LogicalResult reportNone(LayerOp layer, target::MachineAttr machine) {
  InFlightDiagnostic error = layer.emitOpError();
  Operation *anchor = layer.getAnchorOp();
  if (layer.getRoutine())
    error << "cannot be computed by the routine '" << *layer.getRoutine()
          << "' that it names, with the params it names";
  else
    error << "has no routine for the target '" << machine.getName() << "'";
  error << " (" << (anchor ? anchor->getName().getStringRef() : "elementwise")
        << " of";
  for (Type type : layer.getOperandTypes())
    error << ' ' << type;
  return error << ")";
}

/// Returns the number of elements of a layout's largest block.
static int64_t getBlockSize(LayoutAttr layout) {
  int64_t size = 1;
  for (unsigned axis = 0; axis < layout.getRank(); ++axis)
    size = std::max(size, layout.getBlockSize(axis));
  return size;
}

void PlanGraph::limitLayouts(LayoutScope scope) {
  if (scope != LayoutScope::plain && scope != LayoutScope::fixed)
    return;
  blockSize = 1;
  if (scope == LayoutScope::fixed)
    for (LayoutAttr layout : layouts)
      blockSize = std::max(*blockSize, getBlockSize(layout));
  layouts.remove_if(
      [&](LayoutAttr layout) { return getBlockSize(layout) != *blockSize; });
}

bool PlanGraph::isInScope(LayerOp layer, const Candidate &candidate) const {
  auto isAllowed = [&](Type type) {
    LayoutAttr layout = getLayout(type);
    return !layout || !blockSize || getBlockSize(layout) == *blockSize;
  };
  if (!isAllowed(candidate.result))
    return false;
  for (auto [value, type] : llvm::zip(layer.getOperands(), candidate.operands))
    if (!matchPattern(value, m_Constant()) && !isAllowed(type))
      return false;
  return true;
}

static bool isChoice(const Candidate &candidate, const Subject &choice) {
  return candidate.routine->name == choice.routine &&
         llvm::equal(candidate.params, choice.params);
}

/// Applies the prescribed choices: each replaces the candidate with the same
/// schema.
void PlanGraph::takeChoices(ArrayRef<Subject> wanted) {
  if (wanted.size() != nodes.size())
    return;
  auto taken = candidates;
  for (auto [op, node] : nodes) {
    auto layer = cast<LayerOp>(op);
    const Subject &choice = wanted[node];
    auto &found = taken[node];
    bool fits = false;
    forEachCandidate(layer, *cost, getLayouts(), [&](Candidate candidate) {
      if (!isChoice(candidate, choice) || !isInScope(layer, candidate))
        return;
      fits = true;
      llvm::erase_if(found, [&](const Candidate &other) {
        return other.hasSchemaOf(candidate);
      });
      found.push_back(std::move(candidate));
    });
    if (!fits || layer.getName() != choice.layer)
      return;
  }
  candidates = std::move(taken);
  choices = wanted.vec();
}

Problem PlanGraph::getProblem() const {
  Problem chosen = problem;
  for (auto [node, choice] : llvm::enumerate(choices))
    for (auto [i, candidate] : llvm::enumerate(candidates[node]))
      if (!isChoice(candidate, choice))
        chosen.nodes[node][i] = kImpossible;
  return chosen;
}

std::optional<Plan> PlanGraph::readPlan(func::FuncOp planned) const {
  auto written = planned->getAttrOfType<DictionaryAttr>(kPlanAttr);
  auto kept = written ? written.getAs<DenseI32ArrayAttr>(kPlanChoices)
                      : DenseI32ArrayAttr();
  if (!kept || kept.size() != int64_t(problem.nodes.size()))
    return std::nullopt;
  Plan plan;
  plan.choices.append(kept.asArrayRef().begin(), kept.asArrayRef().end());
  for (auto [costs, choice] : llvm::zip_equal(problem.nodes, plan.choices))
    if (choice >= costs.size())
      return std::nullopt;
  plan.cost = problem.getCost(plan.choices);
  auto bound = written.getAs<IntegerAttr>("bound_ns");
  plan.lowerBound =
      std::min(bound ? 1e-9 * double(bound.getInt()) : 0, plan.cost);
  auto solver = written.getAs<StringAttr>("solver");
  plan.solver = solver ? solver.getValue() : "";
  return plan.cost == kImpossible ? std::nullopt : std::optional(plan);
}

Plan PlanGraph::solve(const SearchLimits &limits) const {
  Plan plan = nnc::solve(problem, limits);
  plan.lowerBound = std::max(plan.lowerBound - slack, 0.0);
  if (choices.empty())
    return plan;
  double lowerBound = plan.lowerBound;
  plan = nnc::solve(getProblem(), limits);
  plan.lowerBound = lowerBound;
  plan.solver = "tuned";
  return plan;
}

double PlanGraph::getPrice(LayerOp layer, const Candidate &candidate,
                           const Prices &prices) const {
  auto found = prices.find(layer);
  return found != prices.end() && keepsIntegers(layer, candidate.getForm(layer))
             ? found->second
             : 0;
}

double PlanGraph::getPrice(const Plan &plan, const Prices &prices) const {
  double price = 0;
  for (auto [op, node] : nodes)
    price += getPrice(cast<LayerOp>(op), candidates[node][plan.choices[node]],
                      prices);
  return price;
}

Plan PlanGraph::solve(const Prices &prices, const SearchLimits &limits) const {
  Problem priced = getProblem();
  for (auto [op, node] : nodes)
    for (auto [choice, candidate] : llvm::enumerate(candidates[node]))
      priced.nodes[node][choice] +=
          getPrice(cast<LayerOp>(op), candidate, prices);
  Plan plan = nnc::solve(priced, limits);
  plan.lowerBound = std::max(plan.lowerBound - slack, 0.0);
  return plan;
}

double PlanGraph::getMemorySeconds(const Plan &plan) const {
  double seconds = 0;
  for (auto [op, node] : nodes)
    seconds += candidates[node][plan.choices[node]].memorySeconds;
  return seconds;
}

std::vector<Subject> PlanGraph::getChoices(const Plan &plan) const {
  std::vector<Subject> names;
  for (auto [op, node] : nodes) {
    auto layer = cast<LayerOp>(op);
    const Candidate &choice = getChoice(layer, plan);
    names.push_back({layer.getName().str(),
                     choice.routine->name.str(),
                     {choice.params.begin(), choice.params.end()}});
  }
  return names;
}

/// Adds a node with its candidates for every layer.
LogicalResult PlanGraph::addLayers(Block &block, double maxError,
                                   LayoutScope scope,
                                   ArrayRef<Subject> wanted) {
  layouts = findLayouts(block, *cost);
  limitLayouts(scope);
  ParamChoice params =
      scope == LayoutScope::global ? ParamChoice::all : ParamChoice::first;
  LogicalResult result = success();
  for (LayerOp layer : block.getOps<LayerOp>()) {
    nodes[layer] = candidates.size();
    auto &found = candidates.emplace_back(
        findCandidates(layer, *cost, getLayouts(), params));
    llvm::erase_if(
        found, [&](const Candidate &one) { return !isInScope(layer, one); });
    if (found.empty())
      result = reportNone(layer, cost->getMachine());
  }
  limitError(candidates, maxError);
  if (succeeded(result))
    takeChoices(wanted);
  for (const auto &found : candidates) {
    auto &costs = problem.nodes.emplace_back();
    for (const Candidate &candidate : found)
      costs.push_back(candidate.seconds);
  }
  return result;
}

/// Adds a node for an op that passes on its operand in any element type and on
/// any device. The node has a candidate for each device and each element type
/// that forms of layers give the operand.
void PlanGraph::addPassing(Operation &op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape || reshape.getX().getDefiningOp<ConstantOp>())
    return;
  RankedTensorType x = getLogicalType(getTensorType(reshape.getX())),
                   y = getLogicalType(getTensorType(reshape.getResult()));
  SmallVector<Type> elements = {x.getElementType()};
  if (cost->getForms())
    llvm::append_range(elements, cost->getForms()->getElements(reshape.getX()));
  SmallVector<StringRef> devices = {""};
  for (Attribute device :
       cost->getMachine().getDevices().getValue().drop_front())
    devices.push_back(cast<target::DeviceAttr>(device).getName());
  if (elements.size() * devices.size() == 1)
    return;
  passing[&op] = candidates.size();
  auto &found = candidates.emplace_back();
  auto &costs = problem.nodes.emplace_back();
  for (Type element : elements)
    for (StringRef device : devices) {
      Candidate candidate;
      candidate.operands = {Schema{element, LayoutAttr(), device}.on(x)};
      candidate.result = Schema{element, LayoutAttr(), device}.on(y);
      found.push_back(std::move(candidate));
      costs.push_back(0);
    }
}

PlanGraph::Reader PlanGraph::getReader(OpOperand &use) const {
  Operation *op = use.getOwner();
  Reader reader;
  if (auto layer = dyn_cast<LayerOp>(op))
    reader.node = nodes.lookup(layer);
  else if (auto found = passing.find(op); found != passing.end())
    reader.node = found->second;
  else
    return {std::nullopt, {getLogicalType(getTensorType(use.get()))}};
  for (const Candidate &candidate : candidates[*reader.node])
    reader.wants.push_back(candidate.operands[use.getOperandNumber()]);
  return reader;
}

/// Adds the cost of the adapts between a value and one of its readers. `made`
/// holds the type of the value for each candidate of the node `maker`, or a
/// single type if there is no such node.
void PlanGraph::addReader(Value value, ArrayRef<RankedTensorType> made,
                          std::optional<unsigned> maker, const Reader &reader) {
  if (maker && reader.node) {
    Problem::Edge edge{*maker, *reader.node, {}};
    for (RankedTensorType from : made)
      for (RankedTensorType to : reader.wants)
        edge.costs.push_back(getAdaptSeconds(value, from, to));
    problem.edges.push_back(std::move(edge));
    return;
  }
  for (auto [i, from] : llvm::enumerate(made))
    for (auto [j, to] : llvm::enumerate(reader.wants)) {
      double seconds = getAdaptSeconds(value, from, to);
      if (maker)
        problem.nodes[*maker][i] += seconds;
      else if (reader.node)
        problem.nodes[*reader.node][j] += seconds;
    }
}

/// Returns the cost of making a value available in a set of types. A set with a
/// type beyond the terminals of the trees has only that one type.
double PlanGraph::SharedValue::getSeconds(const Paths &paths, unsigned root,
                                          unsigned set) const {
  if (set >> terminals.size() == 0)
    return trees.getCost(root, set);
  return paths.getCost(root, nodes[llvm::countr_zero(set)]);
}

/// Adds the states of a shared value with `readers` readers. A set that saves
/// nothing by sharing is useful only if each of its types may have two readers;
/// otherwise a single reader pays for its own path.
void PlanGraph::addStates(SharedValue &value, ArrayRef<RankedTensorType> made,
                          size_t readers) {
  const size_t most = std::max<size_t>(256 / made.size(), 16);
  const AdaptPaths::Table &table = *value.table;
  const Paths &between = table.getPaths();
  const size_t types = value.wanted.size(), terminals = value.terminals.size();
  // Small sets come first, as they are kept if there are too many sets.
  SmallVector<unsigned> sets;
  for (unsigned set = 0; set < 1u << terminals; ++set)
    sets.push_back(set);
  for (size_t i = terminals; i < types; ++i)
    sets.push_back(1u << i);
  llvm::sort(sets, [](unsigned a, unsigned b) {
    return std::tuple(llvm::popcount(a), a) < std::tuple(llvm::popcount(b), b);
  });
  double farthest = 0;
  for (RankedTensorType from : made) {
    const unsigned root = table.find(from);
    size_t kept = 0;
    for (unsigned set : sets) {
      double apart = 0, last = 0;
      bool isOwn = false;
      for (size_t i = 0; i < types; ++i)
        if (set >> i & 1) {
          isOwn |= value.wanted[i] == from;
          double path = between.getCost(root, value.nodes[i]);
          apart += path;
          last = std::max(last, path);
        }
      const double together = value.getSeconds(between, root, set);
      const size_t size = llvm::popcount(set);
      if (isOwn || together == kImpossible || size > readers ||
          (readers < 2 * size && together >= apart))
        continue;
      if (++kept > most) {
        farthest = std::max(farthest, last);
        continue;
      }
      value.states.push_back({from, set});
      problem.nodes[value.node].push_back(together);
    }
    for (size_t i = terminals; i < types; ++i)
      if (double path = between.getCost(root, value.nodes[i]);
          path != kImpossible)
        farthest = std::max(farthest, path);
  }
  // A plan with a set that was left out makes at least one type of the set. If
  // each reader pays for its own path instead, the plan loses no more than
  // this.
  slack += double(readers - 1) * farthest;
}

void PlanGraph::addSharedValue(Value value, ArrayRef<RankedTensorType> made,
                               std::optional<unsigned> maker,
                               ArrayRef<Reader> readers) {
  llvm::SetVector<RankedTensorType> own(made.begin(), made.end()), wanted;
  for (const Reader &reader : readers)
    wanted.insert(reader.wants.begin(), reader.wants.end());
  SmallVector<RankedTensorType> all(own.begin(), own.end());
  all.append(wanted.begin(), wanted.end());
  const AdaptPaths::Table &table =
      paths->getTable(all, getTensorType(value).getElementType());
  SharedValue found;
  found.table = &table;
  found.node = problem.nodes.size();
  found.wanted = wanted.takeVector();
  for (RankedTensorType type : found.wanted)
    found.nodes.push_back(table.find(type));
  found.terminals.assign(found.nodes.begin(),
                         found.nodes.begin() + std::min(found.nodes.size(),
                                                        Trees::kMostTerminals));
  found.trees = Trees(table.getPaths(), found.terminals);
  problem.nodes.emplace_back();
  candidates.emplace_back();
  addStates(found, own.getArrayRef(), readers.size());
  const auto &states = found.states;
  if (maker) {
    Problem::Edge edge{*maker, found.node, {}};
    for (RankedTensorType type : made)
      for (const State &state : states)
        edge.costs.push_back(type == state.made ? 0 : kImpossible);
    problem.edges.push_back(std::move(edge));
  }
  for (const Reader &reader : readers) {
    auto getSeconds = [&](const State &state, RankedTensorType want) {
      size_t i = llvm::find(found.wanted, want) - found.wanted.begin();
      return state.set >> i & 1 ? 0 : getAdaptSeconds(value, state.made, want);
    };
    if (!reader.node) {
      for (auto [i, state] : llvm::enumerate(states))
        problem.nodes[found.node][i] += getSeconds(state, reader.wants.front());
      continue;
    }
    Problem::Edge edge{found.node, *reader.node, {}};
    for (const State &state : states)
      for (RankedTensorType want : reader.wants)
        edge.costs.push_back(getSeconds(state, want));
    problem.edges.push_back(std::move(edge));
  }
  shared[value] = std::move(found);
}

/// Finds the types in which a value is produced, and its readers. Returns the
/// node of the op that produces the value, if it has one. A constant has no
/// readers here.
std::optional<unsigned> PlanGraph::findEnds(Value value, Types &made,
                                            SmallVectorImpl<Reader> &readers) {
  Operation *producer = value.getDefiningOp();
  if (producer && producer->hasTrait<OpTrait::ConstantLike>())
    return std::nullopt;
  std::optional<unsigned> maker;
  made = {getLogicalType(getTensorType(value))};
  if (auto layer = dyn_cast_or_null<LayerOp>(producer))
    maker = nodes.lookup(layer);
  else if (auto found = passing.find(producer); found != passing.end())
    maker = found->second;
  if (maker) {
    made.clear();
    for (const Candidate &candidate : candidates[*maker])
      made.push_back(candidate.result);
  }
  for (OpOperand &use : value.getUses())
    if (use.getOwner()->getBlock() == value.getParentBlock())
      readers.push_back(getReader(use)); // the others are forms
  return maker;
}

/// Adds the types of a value to the table of its shape, so that paths for this
/// shape may lead through combinations of their parts.
void PlanGraph::addTypes(Value value) {
  Types made;
  SmallVector<Reader> readers;
  findEnds(value, made, readers);
  if (readers.empty())
    return;
  for (const Reader &reader : readers)
    made.append(reader.wants);
  paths->getTable(made, getTensorType(value).getElementType());
}

void PlanGraph::addValue(Value value) {
  Types made;
  SmallVector<Reader> readers;
  std::optional<unsigned> maker = findEnds(value, made, readers);
  if (maker && plainBetween) {
    auto plain = getLogicalType(getTensorType(value));
    for (auto [i, type] : llvm::enumerate(made))
      problem.nodes[*maker][i] += getAdaptSeconds(value, type, plain);
    made.assign(made.size(), plain);
  }
  if (readers.size() == 1)
    addReader(value, made, maker, readers.front());
  else if (readers.size() > 1)
    addSharedValue(value, made, maker, readers);
}

RankedTensorType PlanGraph::getMade(Value value, const Plan &plan) const {
  Operation *producer = value.getDefiningOp();
  if (auto layer = dyn_cast_or_null<LayerOp>(producer))
    return plainBetween ? getLogicalType(getChoice(layer, plan).result)
                        : getChoice(layer, plan).result;
  if (auto found = passing.find(producer); found != passing.end())
    return candidates[found->second][plan.choices[found->second]].result;
  return getLogicalType(getTensorType(value));
}

RankedTensorType PlanGraph::getWanted(OpOperand &operand,
                                      const Plan &plan) const {
  Reader reader = getReader(operand);
  return reader.wants[reader.node ? plan.choices[*reader.node] : 0];
}

SmallVector<std::pair<RankedTensorType, RankedTensorType>>
PlanGraph::getSteps(Value value, const Plan &plan) const {
  SmallVector<std::pair<RankedTensorType, RankedTensorType>> steps;
  llvm::SmallDenseSet<RankedTensorType> there;
  const RankedTensorType made = getMade(value, plan);
  auto add = [&](RankedTensorType from, RankedTensorType to) {
    if (there.insert(to).second)
      steps.push_back({from, to});
  };
  there.insert(made);
  if (auto found = shared.find(value); found != shared.end()) {
    const SharedValue &own = found->second;
    const AdaptPaths::Table &table = *own.table;
    const State &state = own.states[plan.choices[own.node]];
    const unsigned root = table.find(state.made);
    if (state.set >> own.terminals.size() == 0)
      for (auto [from, to] :
           own.trees.getSteps(table.getPaths(), root, state.set))
        add(table.getType(from), table.getType(to));
  }
  for (OpOperand &use : value.getUses()) {
    if (use.getOwner()->getBlock() != value.getParentBlock())
      continue;
    RankedTensorType want = getWanted(use, plan), from = made;
    if (there.contains(want))
      continue;
    for (RankedTensorType to :
         paths->getPath(made, want, getTensorType(value).getElementType())) {
      add(from, to);
      from = to;
    }
  }
  return steps;
}

FailureOr<PlanGraph> PlanGraph::build(func::FuncOp function,
                                      const CostModel &cost, double maxError,
                                      LayoutScope scope,
                                      ArrayRef<Subject> choices) {
  PlanGraph graph(cost);
  graph.plainBetween = scope == LayoutScope::local;
  Block &block = function.getBody().front();
  if (failed(graph.addLayers(block, maxError, scope, choices)))
    return failure();
  for (Operation &op : block)
    graph.addPassing(op);
  SmallVector<Value> values(block.getArguments());
  for (Operation &op : block)
    values.append(op.result_begin(), op.result_end());
  for (Value value : values)
    graph.addTypes(value);
  for (Value value : values)
    graph.addValue(value);
  graph.edgesAt.resize(graph.problem.nodes.size());
  for (auto [index, edge] : llvm::enumerate(graph.problem.edges))
    for (unsigned end : {edge.from, edge.to})
      graph.edgesAt[end].push_back(index);
  return graph;
}

/// Returns the seconds of all layers of a plan, and counts the layers that use
/// each routine.
static double countUses(func::FuncOp function, const PlanGraph &graph,
                        const Plan &plan, llvm::StringMap<unsigned> &uses) {
  double seconds = 0;
  uses.clear();
  for (LayerOp layer : function.getBody().getOps<LayerOp>()) {
    const Candidate &choice = graph.getChoice(layer, plan);
    seconds += choice.seconds;
    ++uses[choice.routine->name];
  }
  return seconds;
}

/// Returns for each routine the number of layers that it can compute.
static llvm::StringMap<unsigned> countPossibleUses(func::FuncOp function,
                                                   const CostModel &cost,
                                                   const PlanGraph &graph) {
  llvm::StringMap<unsigned> uses;
  for (LayerOp layer : function.getBody().getOps<LayerOp>()) {
    llvm::StringSet<> routines;
    forEachCandidate(layer, cost, graph.getLayouts(),
                     [&](const Candidate &candidate) {
                       routines.insert(candidate.routine->name);
                     });
    for (const auto &routine : routines)
      ++uses[routine.getKey()];
  }
  return uses;
}

double nnc::getPlannedSeconds(ModuleOp layered) {
  int64_t ns = 0;
  if (auto stored = layered->getAttrOfType<IntegerAttr>(nn::kStoredNsAttr))
    ns += stored.getInt();
  for (auto function : layered.getOps<func::FuncOp>())
    if (auto plan = function->getAttrOfType<DictionaryAttr>(nn::kPlanAttr))
      ns += plan.getAs<IntegerAttr>("ns").getInt();
  return 1e-9 * double(ns);
}

void nnc::addCodeCosts(func::FuncOp function, CostModel &cost, double maxError,
                       Optimize optimize) {
  double share = getShareOfByte(optimize);
  if (share == 0 || cost.getMachine().getBoard().empty())
    return;
  // A layer adds fewer bytes of code with a routine that other layers already
  // use. Which routines they use follows from a plan, and the costs of the plan
  // follow from that, so a few rounds are made. A routine that was in none of
  // their plans is priced as if all layers that it can compute called the
  // functions that its layers share.
  constexpr int rounds = 3;
  llvm::StringMap<unsigned> uses, possible;
  double seconds = 0;
  for (int round = 0; round < rounds; ++round) {
    auto graph = PlanGraph::build(function, cost, maxError);
    if (failed(graph))
      return;
    Plan plan = graph->solve();
    if (plan.cost == kImpossible)
      return;
    double took = countUses(function, *graph, plan, uses);
    if (round == 0) {
      seconds = took;
      possible = countPossibleUses(function, cost, *graph);
    }
    for (const auto &used : uses)
      possible[used.getKey()] = used.getValue();
    cost.setByteSeconds(share * seconds, uses, possible);
  }
}
