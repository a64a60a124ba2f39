//===- WeightPlan.cpp - Joint search for routines and weight forms --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/WeightPlan.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// A form counts as almost the smallest one if it exceeds the smallest form by
/// at most 1 / kHardlyMore of that form's bytes, as a form whose rows are
/// separate blocks does.
static constexpr int64_t kHardlyMore = 10;

/// The largest fraction of a layer's time that reading its weights from bytes
/// may add, on targets where memory for weights is not scarce.
static constexpr double kBytesShare = 0.1;

/// A price in seconds per byte that exceeds the time in which any decoder makes
/// a byte, and lower prices that distinguish plans of equal bytes by their
/// time.
static constexpr double kDearBytes = 1;
static constexpr double kHighPrices[] = {1e-3, 1e-6};

/// The largest number of prices per byte that are tried for one limit.
static constexpr int kMostSecants = 40;

/// The largest number of forms for which a weight gets states with forms of two
/// types. Weights with more forms have states for one type only.
static constexpr size_t kMostPaired = 12;

WeightPlan::WeightPlan(std::vector<PlannedFunction> own, FormRules ownRules,
                       int64_t alignment, const SearchLimits &limits)
    : functions(std::move(own)),
      rules(std::make_unique<FormRules>(std::move(ownRules))),
      alignment(alignment), limits(limits) {
  for (const PlannedFunction &function : functions) {
    const unsigned offset = problem.nodes.size();
    offsets.push_back(offset);
    Problem part = function.graph->getProblem();
    for (Problem::Edge &edge : part.edges) {
      edge.from += offset;
      edge.to += offset;
      problem.edges.push_back(std::move(edge));
    }
    std::move(part.nodes.begin(), part.nodes.end(),
              std::back_inserter(problem.nodes));
  }
  findWeights();
}

int64_t WeightPlan::align(int64_t bytes) const {
  return llvm::alignTo(bytes, alignment);
}

/// Finds the weights that may have forms, and counts the bytes of all others.
void WeightPlan::findWeights() {
  struct Found {
    std::vector<WeightReader> readers;
    DenseSet<Type> types; ///< types that the first plans read
    /// Whether only anchors of layers read it, which accept any form.
    bool isOpen = true;
  };
  llvm::MapVector<std::pair<Attribute, Type>, Found> found;
  for (auto [index, each] : llvm::enumerate(functions)) {
    Block &block = func::FuncOp(each.function).getBody().front();
    for (auto constant : block.getOps<ConstantOp>())
      for (OpOperand &use : constant->getUses()) {
        if (use.getOwner()->getBlock() != &block)
          continue; // the reader is another form of a layer
        Found &weight = found[{constant.getValue(), constant.getY().getType()}];
        weight.types.insert(each.graph->getWanted(use, each.first));
        auto layer = dyn_cast<LayerOp>(use.getOwner());
        if (!layer || !layer.getAnchorOp() ||
            use.getOperandNumber() >= layer.getInputs().size())
          weight.isOpen = false;
        else
          weight.readers.push_back({index, layer, use.getOperandNumber(),
                                    each.graph->getCandidates(layer),
                                    each.cost});
      }
  }
  for (auto &[key, weight] : found) {
    if (weight.isOpen) {
      WeightForms forms(std::move(weight.readers), *rules);
      if (forms.mayHaveForms())
        weights.emplace_back(std::move(forms));
      continue;
    }
    for (Type type : weight.types)
      otherBytes += align(getPhysicalBytes(cast<RankedTensorType>(type)));
  }
}

void WeightPlan::findForms(const DecodeRoom &room) {
  for (Weight &weight : weights) {
    DenseSet<Type> likely;
    for (WeightReader &reader : weight.forms.getReaders()) {
      const PlannedFunction &function = functions[reader.function];
      const DecodeRoom::Bytes bytes = room.get(function.function, reader.layer);
      reader.room = bytes.room;
      reader.limit = bytes.limit;
      likely.insert(function.graph->getWanted(reader.getUse(), function.first));
    }
    weight.forms.find(likely);
    weight.node = problem.nodes.size();
    problem.nodes.emplace_back();
    for (const WeightReader &reader : weight.forms.getReaders()) {
      weight.edges.push_back(problem.edges.size());
      problem.edges.push_back({weight.node, getNode(reader), {}});
    }
    addStates(weight);
  }
  bytes.resize(problem.nodes.size());
  edgeBytes.resize(problem.edges.size());
  for (Weight &weight : weights)
    setCosts(weight);
  edgesAt.resize(problem.nodes.size());
  for (auto [index, edge] : llvm::enumerate(problem.edges))
    for (unsigned end : {edge.from, edge.to})
      edgesAt[end].push_back(index);
}

const WeightForm &WeightPlan::getForm(const Weight &weight, size_t type,
                                      size_t form) const {
  return std::next(weight.forms.getForms().begin(), type)->second[form];
}

/// Adds the states of a weight: one for each form of each type, one for each
/// pair of forms of two types unless there are too many forms, and one in which
/// layers have their own copies.
void WeightPlan::addStates(Weight &weight) {
  State single;
  SmallVector<std::pair<size_t, size_t>> singles, existing;
  for (auto [type, entry] : llvm::enumerate(weight.forms.getForms()))
    for (auto [form, each] : llvm::enumerate(entry.second)) {
      singles.push_back({type, form});
      if (each.exists)
        existing.push_back(singles.back());
    }
  for (auto one : singles)
    weight.states.push_back({one});
  if (weight.forms.getReaders().size() < 2 ||
      weight.forms.getForms().size() < 2)
    return;
  if (existing.size() <= kMostPaired)
    for (size_t i = 0; i < existing.size(); ++i)
      for (size_t j = i + 1; j < existing.size(); ++j)
        if (existing[i].first != existing[j].first)
          weight.states.push_back({existing[i], existing[j]});
  weight.states.emplace_back();
}

/// Returns the form in a state that has the given type, or null.
const WeightForm *WeightPlan::findRead(const Weight &weight, const State &state,
                                       RankedTensorType type) const {
  const auto &forms = weight.forms.getForms();
  if (state.empty())
    return &forms.find(type)->second.front();
  for (auto [i, form] : state)
    if (const WeightForm &found = getForm(weight, i, form); found.type == type)
      return &found;
  return nullptr;
}

/// Returns a penalty in seconds that excludes a form which a candidate can read
/// but which the rules do not want for it.
double WeightPlan::getPenalty(const Weight &weight, size_t index,
                              const Candidate &candidate,
                              const WeightForm &form) const {
  if (rules->aim == FormAim::both ||
      (rules->aim == FormAim::time && !weight.forms.isOfBytes()))
    return 0;
  const auto &all = weight.forms.getForms().find(form.type)->second;
  auto getExtra = [&](const WeightForm &each) {
    return weight.forms.getExtraSeconds(each, index, candidate);
  };
  int64_t least = all.front().bytes;
  for (const WeightForm &each : all)
    if (getExtra(each))
      least = std::min(least, each.bytes);
  const WeightForm *best = &all.front();
  double fewest = 0;
  for (const WeightForm &each : llvm::drop_begin(all))
    if (auto extra = getExtra(each);
        extra && each.bytes <= least + least / kHardlyMore)
      if (double seconds = getPricedSeconds(each, *extra);
          !best->stored || seconds < fewest) {
        best = &each;
        fewest = seconds;
      }
  // On other targets bytes are worth little time.
  const WeightReader &reader = weight.forms.getReaders()[index];
  if (rules->aim == FormAim::time && !reader.cost->getMachine().isBare() &&
      fewest > kBytesShare * candidate.estimate)
    best = &all.front();
  if (best->stored.get() == form.stored.get())
    return 0;
  return kDearBytes * double(std::max<int64_t>(form.bytes - least, 1));
}

/// Sets the costs of a weight's states from what is currently known of its
/// forms.
void WeightPlan::setCosts(Weight &weight) {
  auto &costs = problem.nodes[weight.node];
  auto &sizes = bytes[weight.node];
  costs.assign(weight.states.size(), 0);
  sizes.assign(weight.states.size(), 0);
  for (auto [i, state] : llvm::enumerate(weight.states))
    for (auto [type, index] : state) {
      const WeightForm &form = getForm(weight, type, index);
      sizes[i] += align(form.bytes);
      if (!form.exists)
        costs[i] = kImpossible;
    }
  for (auto [r, reader] : llvm::enumerate(weight.forms.getReaders())) {
    Problem::Edge &edge = problem.edges[weight.edges[r]];
    auto &own = edgeBytes[weight.edges[r]];
    edge.costs.clear();
    own.clear();
    // The costs of each pair of a form and a candidate.
    std::map<std::pair<const WeightForm *, size_t>, double> known;
    for (const State &state : weight.states)
      for (auto [c, candidate] : llvm::enumerate(reader.candidates)) {
        const WeightForm *form =
            findRead(weight, state, candidate.operands[reader.operand]);
        double cost = kImpossible;
        if (form) {
          auto [entry, isNew] = known.try_emplace({form, c}, kImpossible);
          if (isNew)
            if (auto extra = weight.forms.getExtraSeconds(*form, r, candidate))
              entry->second = getPricedSeconds(*form, *extra) +
                              getPenalty(weight, r, candidate, *form);
          cost = entry->second;
        }
        edge.costs.push_back(cost);
        own.push_back(state.empty() ? align(form->bytes) : 0);
      }
  }
}

int64_t WeightPlan::countBytes(ArrayRef<unsigned> choices) const {
  int64_t sum = otherBytes;
  for (const Weight &weight : weights) {
    const unsigned state = choices[weight.node];
    sum += bytes[weight.node][state];
    if (!weight.states[state].empty())
      continue;
    DenseSet<Type> types;
    for (const WeightReader &reader : weight.forms.getReaders()) {
      const Candidate &candidate = reader.candidates[choices[getNode(reader)]];
      RankedTensorType type = candidate.operands[reader.operand];
      if (types.insert(type).second)
        sum += align(getPhysicalBytes(type));
    }
  }
  return sum;
}

/// Makes the forms exact that a plan uses. Returns true if any of them was an
/// estimate.
bool WeightPlan::refine(ArrayRef<unsigned> choices) {
  bool changes = false;
  for (Weight &weight : weights) {
    bool own = false;
    for (auto [type, form] : weight.states[choices[weight.node]])
      if (const WeightForm &found = getForm(weight, type, form);
          found.isEstimate)
        own |= weight.forms.refine(found.type);
    if (own)
      setCosts(weight);
    changes |= own;
  }
  return changes;
}

/// Returns the cheapest plan when a byte of weights costs `byteSeconds`
/// seconds.
WeightPlan::Solution WeightPlan::solve(double byteSeconds) {
  while (true) {
    Problem priced = problem;
    if (byteSeconds > 0) {
      for (const Weight &weight : weights) {
        for (auto [cost, size] :
             llvm::zip_equal(priced.nodes[weight.node], bytes[weight.node]))
          cost += byteSeconds * double(size);
        for (unsigned edge : weight.edges)
          for (auto [cost, size] :
               llvm::zip_equal(priced.edges[edge].costs, edgeBytes[edge]))
            cost += byteSeconds * double(size);
      }
    }
    Plan plan = nnc::solve(priced, limits);
    if (plan.cost != kImpossible && refine(plan.choices))
      continue;
    Solution found;
    found.seconds = problem.getCost(plan.choices);
    found.bytes = countBytes(plan.choices);
    found.choices = std::move(plan.choices);
    found.solver = plan.solver;
    return found;
  }
}

/// Returns the fastest among the plans with the fewest bytes.
WeightPlan::Solution WeightPlan::solveSmallest() {
  Solution smallest = solve(kDearBytes);
  for (double price : kHighPrices)
    if (Solution found = solve(price);
        std::pair(found.bytes, found.seconds) <
        std::pair(smallest.bytes, smallest.seconds))
      smallest = std::move(found);
  return smallest;
}

void WeightPlan::keepBelow(int64_t limit) {
  Solution fast = solve(0);
  chosen = fast;
  if (fast.bytes <= limit)
    return;
  chosen = solveSmallest();
  if (chosen.bytes > limit)
    return;
  // At this price both plans cost the same. If there is a plan between them, it
  // is cheaper at this price (the Lagrangian dual, solved by secants).
  for (int step = 0; step < kMostSecants && chosen.bytes < fast.bytes &&
                     chosen.seconds > fast.seconds;
       ++step) {
    Solution middle = solve((chosen.seconds - fast.seconds) /
                            double(fast.bytes - chosen.bytes));
    const bool fits = middle.bytes <= limit;
    if (fits ? middle.seconds >= chosen.seconds : middle.bytes >= fast.bytes)
      break;
    (fits ? chosen : fast) = std::move(middle);
  }
  exchange([&] { return Slack{limit - chosen.bytes, 0, /*savesTime=*/true}; });
}

void WeightPlan::keepWithin(double seconds) {
  // A bisection over limits of bytes finds further plans. They approach the
  // optimum from the other side of the limit, so that exchanges improve them
  // differently.
  constexpr int mostLimits = 12;
  int64_t least = trade(seconds);
  Solution best = chosen;
  if (getTime(best) > seconds)
    return;
  for (int step = 0; step < mostLimits && least < best.bytes; ++step) {
    const int64_t limit = least + (best.bytes - 1 - least) / 2;
    keepBelow(limit);
    if (getTime(chosen) <= seconds && chosen.bytes < best.bytes)
      best = chosen;
    else
      least = limit + 1;
  }
  chosen = std::move(best);
}

/// Chooses a plan that takes at most `seconds`, if there is one, by prices per
/// byte and exchanges that save bytes. Returns the fewest bytes of any plan.
int64_t WeightPlan::trade(double seconds) {
  chosen = solve(0);
  Solution small = solveSmallest();
  const int64_t least = small.bytes;
  if (getTime(chosen) > seconds)
    return least;
  if (getTime(small) <= seconds) {
    chosen = std::move(small);
    return least;
  }
  for (int step = 0; step < kMostSecants && small.bytes < chosen.bytes &&
                     small.seconds > chosen.seconds;
       ++step) {
    Solution middle = solve((small.seconds - chosen.seconds) /
                            double(chosen.bytes - small.bytes));
    const bool fits = getTime(middle) <= seconds;
    if (fits ? middle.bytes >= chosen.bytes : middle.seconds >= small.seconds)
      break;
    (fits ? chosen : small) = std::move(middle);
  }
  exchange(
      [&] { return Slack{0, seconds - getTime(chosen), /*savesTime=*/false}; });
  return least;
}

/// Applies moves of one or two weights and their layers until no move saves
/// more bytes or time within the slack.
void WeightPlan::exchange(llvm::function_ref<Slack()> findSlack) {
  constexpr int most = 1000;
  for (int step = 0; step < most; ++step) {
    Move best = findBestMove(chosen.choices, findSlack());
    if (best.choices.empty())
      return;
    for (auto [node, choice] : best.choices)
      chosen.choices[node] = choice;
    refine(chosen.choices);
    chosen.seconds = problem.getCost(chosen.choices);
    chosen.bytes = countBytes(chosen.choices);
  }
}

/// Adds the plans between `fast` and `small` on the lower convex hull of bytes
/// and seconds, in order.
void WeightPlan::findFront(const Solution &fast, const Solution &small,
                           int depth, std::vector<Solution> &found) {
  if (depth == 0 || small.bytes >= fast.bytes || small.seconds <= fast.seconds)
    return;
  const double price =
      (small.seconds - fast.seconds) / double(fast.bytes - small.bytes);
  Solution middle = solve(price);
  if (middle.bytes >= fast.bytes || middle.bytes <= small.bytes)
    return;
  findFront(fast, middle, depth - 1, found);
  found.push_back(middle);
  findFront(middle, small, depth - 1, found);
}

std::vector<std::pair<int64_t, double>> WeightPlan::findFront() {
  constexpr int depth = 5;
  std::vector<Solution> found = {solve(0)};
  Solution fast = found.front(), small = solveSmallest();
  findFront(fast, small, depth, found);
  if (small.bytes < fast.bytes)
    found.push_back(small);
  std::vector<std::pair<int64_t, double>> points;
  for (const Solution &each : found)
    points.push_back({each.bytes, each.seconds - fast.seconds});
  return points;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// Returns the cost of `nodes` and of all edges at them.
double WeightPlan::getCostAround(const llvm::SmallSetVector<unsigned, 8> &nodes,
                                 ArrayRef<unsigned> choices) const {
  double cost = 0;
  for (unsigned node : nodes) {
    cost += problem.nodes[node][choices[node]];
    for (unsigned index : edgesAt[node]) {
      const Problem::Edge &edge = problem.edges[index];
      const unsigned other = edge.from == node ? edge.to : edge.from;
      if (!nodes.contains(other) || node < other)
        cost += problem.getCost(edge, choices);
    }
  }
  return cost;
}

/// Returns the moves of a weight to each of its states, each with the cheapest
/// candidates of its readers for that state. A move is left out if another one
/// saves at least as much time and takes no more bytes.
std::vector<WeightPlan::Move>
WeightPlan::findMoves(const Weight &weight, ArrayRef<unsigned> choices) const {
  llvm::SmallSetVector<unsigned, 8> nodes;
  nodes.insert(weight.node);
  for (const WeightReader &reader : weight.forms.getReaders())
    nodes.insert(getNode(reader));
  const double before = getCostAround(nodes, choices);
  const int64_t bytesBefore = countBytes(choices);
  std::vector<Move> moves;
  for (unsigned state = 0; state < weight.states.size(); ++state) {
    if (problem.nodes[weight.node][state] == kImpossible)
      continue;
    Choices now(choices);
    now[weight.node] = state;
    for (unsigned node : llvm::drop_begin(nodes)) {
      llvm::SmallSetVector<unsigned, 8> own;
      own.insert(node);
      double least = kImpossible;
      unsigned best = now[node];
      for (unsigned choice = 0; choice < problem.nodes[node].size(); ++choice) {
        now[node] = choice;
        if (double cost = getCostAround(own, now); cost < least) {
          least = cost;
          best = choice;
        }
      }
      now[node] = best;
    }
    const double after = getCostAround(nodes, now);
    Move move;
    if (after == kImpossible)
      continue;
    move.gain = before - after;
    move.bytes = countBytes(now) - bytesBefore;
    for (unsigned node : nodes)
      if (now[node] != choices[node])
        move.choices.push_back({node, now[node]});
    if (!move.choices.empty())
      moves.push_back(std::move(move));
  }
  llvm::sort(moves, [](const Move &a, const Move &b) {
    const auto first = std::pair(a.bytes, -a.gain),
               second = std::pair(b.bytes, -b.gain);
    return first == second ? a.choices < b.choices : first < second;
  });
  double most = -kImpossible;
  llvm::erase_if(moves, [&](const Move &move) {
    if (move.gain <= most)
      return true;
    most = move.gain;
    return false;
  });
  return moves;
}

/// Returns true if neither of two moves changes the effect of the other.
bool WeightPlan::areApart(const Move &first, const Move &second) const {
  llvm::SmallSetVector<unsigned, 8> nodes;
  for (auto [node, choice] : first.choices) {
    nodes.insert(node);
    for (unsigned index : edgesAt[node]) {
      nodes.insert(problem.edges[index].from);
      nodes.insert(problem.edges[index].to);
    }
  }
  return llvm::none_of(second.choices,
                       [&](auto each) { return nodes.contains(each.first); });
}

/// Returns the move of one weight, or of two together, that saves the most
/// while it stays within the slack. Returns a move without choices if there is
/// none.
WeightPlan::Move WeightPlan::findBestMove(ArrayRef<unsigned> choices,
                                          const Slack &slack) const {
  std::vector<std::vector<Move>> moves;
  for (const Weight &weight : weights)
    moves.push_back(findMoves(weight, choices));
  double least = slack.getLeast();
  Move best;
  for (size_t i = 0; i < moves.size(); ++i)
    for (const Move &first : moves[i]) {
      const double saved = slack.getSaved(first.bytes, first.gain);
      if (saved <= 0)
        continue;
      if (slack.allows(first.bytes, first.gain) && saved > least) {
        best = first;
        least = saved;
      }
      for (size_t j = 0; j < moves.size(); ++j)
        for (const Move &second : moves[j])
          if (const int64_t bytes = first.bytes + second.bytes;
              i != j && slack.allows(bytes, first.gain + second.gain) &&
              slack.getSaved(bytes, first.gain + second.gain) > least &&
              areApart(first, second)) {
            best = first;
            best.choices.append(second.choices);
            best.bytes = bytes;
            best.gain += second.gain;
            least = slack.getSaved(bytes, best.gain);
          }
    }
  return best;
}

//===----------------------------------------------------------------------===//
// The chosen plan
//===----------------------------------------------------------------------===//

Plan WeightPlan::getPlan(size_t index) const {
  const PlannedFunction &function = functions[index];
  const Problem own = function.graph->getProblem();
  Plan plan;
  plan.choices.append(chosen.choices.begin() + offsets[index],
                      chosen.choices.begin() + offsets[index] +
                          own.nodes.size());
  plan.cost =
      own.getCost(plan.choices) - function.graph->getMemorySeconds(plan);
  plan.lowerBound = std::min(function.first.lowerBound, plan.cost);
  plan.solver =
      function.graph->hasChoices() ? function.first.solver : chosen.solver;
  return plan;
}

/// Visits the form that each reader of a weight reads in the plan.
void WeightPlan::visitForms(
    ArrayRef<unsigned> choices,
    llvm::function_ref<void(const Weight &, size_t, const Candidate &,
                            const WeightForm &)>
        visit) const {
  for (const Weight &weight : weights) {
    const State &state = weight.states[choices[weight.node]];
    for (auto [i, reader] : llvm::enumerate(weight.forms.getReaders())) {
      const Candidate &candidate = reader.candidates[choices[getNode(reader)]];
      if (const WeightForm *form =
              findRead(weight, state, candidate.operands[reader.operand]))
        visit(weight, i, candidate, *form);
    }
  }
}

/// Returns the seconds of a plan with the estimated times of decoders instead
/// of their prices.
double WeightPlan::getTime(const Solution &solution) const {
  double time = solution.seconds;
  visitForms(solution.choices, [&](const Weight &weight, size_t reader,
                                   const Candidate &candidate,
                                   const WeightForm &form) {
    if (auto extra = weight.forms.getExtraSeconds(form, reader, candidate))
      time -= getPricedSeconds(form, *extra) - *extra;
  });
  return time;
}

double WeightPlan::getExtraSeconds() const {
  double seconds = 0;
  visitForms(chosen.choices, [&](const Weight &weight, size_t reader,
                                 const Candidate &candidate,
                                 const WeightForm &form) {
    seconds +=
        weight.forms.getExtraSeconds(form, reader, candidate).value_or(0);
  });
  return seconds;
}

void WeightPlan::forEachKept(
    llvm::function_ref<void(const WeightForms &, RankedTensorType)> visit)
    const {
  DenseSet<std::pair<const Weight *, Type>> visited;
  visitForms(chosen.choices, [&](const Weight &weight, size_t,
                                 const Candidate &, const WeightForm &form) {
    if (!form.stored && visited.insert({&weight, form.type}).second)
      visit(weight.forms, form.type);
  });
}

void WeightPlan::apply(ModuleOp module) {
  // The constants have their final types now. Functions that share a weight
  // have constants with the same value.
  DenseMap<std::pair<Attribute, Type>, std::pair<WeightForms *, WeightForm>>
      stored;
  for (Weight &weight : weights)
    for (auto [type, index] : weight.states[chosen.choices[weight.node]])
      if (const WeightForm &form = getForm(weight, type, index); form.stored)
        stored[{weight.forms.getValue(form.type), form.type}] = {&weight.forms,
                                                                 form};
  module.walk([&](ConstantOp constant) {
    auto found = stored.find({constant.getValue(), constant.getY().getType()});
    if (found != stored.end())
      found->second.first->apply(constant, found->second.second);
  });
}
