//===- FloatSearch.cpp - Which layers become integers ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/precision/FloatSearch.h"

#include "compiler/routines/Cost.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace nnc::precision {

using accuracy::Noise;

namespace {

struct RatedLayer {
  int number;
  double noise; ///< that the layer adds, as a share of its output's signal
  std::optional<double> decibels; ///< of its output
};

class Search {
public:
  Search(SearchedModel &model, const SearchLimits &limits,
         Evaluation &evaluation, SearchResult &result)
      : model(model), limits(limits), evaluation(evaluation),
        ofIntegers(evaluation), result(result), times(model) {}
  llvm::LogicalResult run();
  llvm::LogicalResult runMixed();
  llvm::LogicalResult finish();

private:
  /// Layers that stay floats, by their numbers, and why.
  using Kept = std::map<int, FloatReason>;

  RatedLayer describe(const SearchedLayer &layer) const;
  void rateLayers();
  void sortBy(llvm::function_ref<double(const RatedLayer &)> getKey);
  double getSaved(const RatedLayer &layer) const;
  FloatReason explain(const RatedLayer &layer, size_t place) const;
  llvm::LogicalResult
  findLeast(size_t high,
            llvm::function_ref<llvm::LogicalResult(size_t, bool &)> attempt,
            size_t &found);
  Kept explain(const std::set<int> &floats) const;
  llvm::LogicalResult listSteps();
  llvm::LogicalResult chooseFastest();
  llvm::LogicalResult chooseStep();
  llvm::LogicalResult exchange();
  llvm::LogicalResult compareWithPure();
  llvm::LogicalResult attempt(const Kept &floats, bool &isEnough);
  llvm::LogicalResult take(const Kept &floats);
  bool isAllowed(const Evaluation &each) const {
    return !limits.maxDrop || each.drop <= *limits.maxDrop;
  }

  SearchedModel &model;
  const SearchLimits &limits;
  Evaluation &evaluation;
  /// That of the model with all layers quantized. The noise of a layer hardly
  /// depends on which layers before it are floats.
  const Evaluation ofIntegers;
  SearchResult &result;
  FormTimes times;               ///< known with --mixed
  std::vector<RatedLayer> rated; ///< the most sensitive first
  /// The layers that are floats for speed alone, with --mixed.
  std::set<int> slower;
  /// Layers that may stay floats, with --mixed: from those for speed to all of
  /// them.
  std::vector<std::set<int>> steps;
  std::set<int> floats; ///< those of the result, with --mixed
};

} // namespace

/// A layer adds what its output has more of noise than its noisiest operand,
/// and the rounding of its operands: a layer before it that stays float would
/// leave that to it.
RatedLayer Search::describe(const SearchedLayer &layer) const {
  // A tensor of zeros that has noise has infinitely much.
  const double kMost = 1e9;
  auto getRatio = [kMost](const std::map<std::string, Noise> &all,
                          const std::string &tensor) {
    auto found = all.find(tensor);
    return found == all.end() ? 0 : std::min(found->second.getRatio(), kMost);
  };
  double before = 0, rounding = 0;
  for (const std::string &input : layer.inputs) {
    before = std::max(before, getRatio(ofIntegers.tensors, input));
    rounding += getRatio(ofIntegers.rounding, input);
  }
  double after = getRatio(ofIntegers.tensors, layer.output);
  auto own = ofIntegers.tensors.find(layer.output);
  return {layer.number, std::max(0.0, after - before) + rounding,
          own == ofIntegers.tensors.end() ? std::nullopt
                                          : own->second.getDecibels()};
}

/// Returns the seconds that integers save in a layer, at least those of a call.
double Search::getSaved(const RatedLayer &layer) const {
  const double least = CoreCost::getStartSeconds(false);
  if (!limits.mixed)
    return least;
  const LayerTimes own = times.getLayer(layer.number);
  return std::max(least, own.floats - own.integers);
}

/// Sorts the layers by falling keys. Equal ones keep the order of the model.
void Search::sortBy(llvm::function_ref<double(const RatedLayer &)> getKey) {
  llvm::sort(rated, [&](const RatedLayer &a, const RatedLayer &b) {
    return std::pair(-getKey(a), a.number) < std::pair(-getKey(b), b.number);
  });
}

/// Finds the layers that add noise. One that moves elements adds none, and
/// follows the layer that it reads.
void Search::rateLayers() {
  rated.clear();
  for (const SearchedLayer &layer : model.listLayers())
    if (!layer.isMove)
      rated.push_back(describe(layer));
  sortBy([](const RatedLayer &layer) { return layer.noise; });
}

/// Returns why a layer stays float for accuracy.
FloatReason Search::explain(const RatedLayer &layer, size_t place) const {
  FloatReason reason;
  reason.place = place;
  reason.noise = layer.noise;
  reason.decibels = layer.decibels;
  if (limits.mixed)
    reason.savedSeconds = getSaved(layer);
  return reason;
}

/// Returns why each of these layers stays float, with --mixed.
Search::Kept Search::explain(const std::set<int> &kept) const {
  Kept reasons;
  size_t place = 0;
  for (const RatedLayer &each : rated) {
    if (!kept.count(each.number))
      continue;
    FloatReason &reason = reasons[each.number];
    if (!slower.count(each.number)) {
      reason = explain(each, ++place);
      continue;
    }
    const LayerTimes own = times.getLayer(each.number);
    reason.kind = FloatReason::speed;
    reason.floatSeconds = own.floats;
    reason.integerSeconds = own.integers;
  }
  return reasons;
}

/// Finds the least count that is enough, and shows the search meanwhile.
llvm::LogicalResult Search::findLeast(
    size_t high,
    llvm::function_ref<llvm::LogicalResult(size_t, bool &)> attempt,
    size_t &found) {
  std::unique_ptr<accuracy::SearchProgress> progress = model.showSearch();
  return accuracy::findLeastCount(high, attempt, *progress, found);
}

/// Keeps these layers floats and evaluates the model.
llvm::LogicalResult Search::attempt(const Kept &kept, bool &isEnough) {
  if (llvm::failed(model.keepFloats(kept)))
    return llvm::failure();
  Evaluation found;
  ++result.evaluated;
  llvm::LogicalResult outcome = model.evaluate(Compared::outputs, found);
  isEnough = llvm::succeeded(outcome) && isAllowed(found);
  evaluation = std::move(found);
  return outcome;
}

/// Keeps these layers floats, whatever the drop is.
llvm::LogicalResult Search::take(const Kept &kept) {
  bool isEnough;
  return attempt(kept, isEnough);
}

/// Compares the tensors of the result, too, for the report.
llvm::LogicalResult Search::finish() {
  if (!evaluation.tensors.empty() || model.listLayers().empty())
    return llvm::success();
  Evaluation whole;
  llvm::LogicalResult outcome = model.evaluate(Compared::tensors, whole);
  evaluation.tensors = std::move(whole.tensors);
  return outcome;
}

llvm::LogicalResult Search::run() {
  if (isAllowed(evaluation))
    return llvm::success();
  rateLayers();
  auto keepFirst = [&](size_t count) {
    Kept kept;
    for (size_t i = 0; i < count; ++i)
      kept[rated[i].number] = explain(rated[i], i + 1);
    return kept;
  };
  // With all layers floats the model is the float one.
  std::optional<Evaluation> best;
  size_t count = rated.size();
  if (llvm::failed(findLeast(
          rated.size(),
          [&](size_t tried, bool &isEnough) {
            llvm::LogicalResult outcome = attempt(keepFirst(tried), isEnough);
            if (isEnough)
              best = evaluation;
            return outcome;
          },
          count)))
    return llvm::failure();
  if (!best)
    return take(keepFirst(count));
  evaluation = std::move(*best);
  return model.keepFloats(keepFirst(count));
}

/// Leaves of the layers that are floats for speed only the products if the
/// model is estimated to be faster so. Which others are integers follows from
/// the layers around them then: the search knows no float candidates for these
/// that also read floats.
llvm::LogicalResult Search::chooseFastest() {
  std::set<int> products;
  for (int number : steps.front())
    if (times.getLayer(number).isProduct)
      products.insert(number);
  if (products.size() == steps.front().size())
    return llvm::success();
  double all = 0, fewer = 0;
  for (auto [kept, seconds] :
       {std::pair(&steps.front(), &all), std::pair(&products, &fewer)}) {
    if (llvm::failed(model.keepFloats(explain(*kept))))
      return llvm::failure();
    if (llvm::failed(times.estimate(*seconds)))
      return llvm::failure();
  }
  if (fewer < all)
    steps.front() = std::move(products);
  return llvm::success();
}

/// Lists the layers that the plans for growing prices compute with floats.
/// Behind them come layers that have no float candidate in the search: those
/// first that add most noise for the time that integers save.
llvm::LogicalResult Search::listSteps() {
  std::set<int> open;
  for (const RatedLayer &each : rated)
    open.insert(each.number);
  for (const PricedPlan &plan : times.listPlans()) {
    std::set<int> kept;
    std::set_intersection(plan.floats.begin(), plan.floats.end(), open.begin(),
                          open.end(), std::inserter(kept, kept.end()));
    if (steps.empty() || kept != steps.back())
      steps.push_back(std::move(kept));
  }
  if (llvm::failed(chooseFastest()))
    return llvm::failure();
  slower = steps.front();
  for (const RatedLayer &each : rated) {
    std::set<int> kept = steps.back();
    if (kept.insert(each.number).second)
      steps.push_back(std::move(kept));
  }
  return llvm::success();
}

/// Takes the first step whose drop is allowed. That of the last one is: the
/// model is the float one.
llvm::LogicalResult Search::chooseStep() {
  std::map<size_t, Evaluation> enough;
  auto attemptStep = [&](size_t step, bool &isEnough) {
    const std::set<int> &kept = steps[step];
    if (kept.empty()) {
      evaluation = ofIntegers;
      isEnough = isAllowed(ofIntegers);
    } else if (llvm::failed(attempt(explain(kept), isEnough))) {
      return llvm::failure();
    }
    if (isEnough)
      enough[step] = evaluation;
    return llvm::success();
  };
  bool isEnough = false;
  size_t step = 0;
  if (llvm::failed(attemptStep(0, isEnough)))
    return llvm::failure();
  if (!isEnough)
    if (llvm::failed(findLeast(steps.size() - 1, attemptStep, step)))
      return llvm::failure();
  floats = steps[step];
  if (auto found = enough.find(step); found != enough.end()) {
    evaluation = std::move(found->second);
    return model.keepFloats(explain(floats));
  }
  return take(explain(floats));
}

/// Makes layers integers again that are floats for accuracy, one by one, where
/// the drop stays allowed: those first in which integers save most time.
llvm::LogicalResult Search::exchange() {
  std::vector<std::pair<double, int>> order;
  for (const RatedLayer &each : rated)
    if (floats.count(each.number) && !slower.count(each.number))
      order.emplace_back(-getSaved(each), each.number);
  llvm::sort(order);
  if (order.size() > kMostExchanges)
    order.resize(kMostExchanges);
  for (auto [saved, number] : order) {
    std::set<int> fewer = floats;
    fewer.erase(number);
    Evaluation before = evaluation;
    bool isEnough = false;
    if (llvm::failed(attempt(explain(fewer), isEnough)))
      return llvm::failure();
    if (isEnough)
      floats = std::move(fewer);
    else
      evaluation = std::move(before);
  }
  return model.keepFloats(explain(floats));
}

/// Replaces the result by the model with all layers quantized, or by the float
/// model, if that one is allowed and estimated to be faster.
llvm::LogicalResult Search::compareWithPure() {
  double seconds = 0;
  if (llvm::failed(times.estimate(seconds)))
    return llvm::failure();
  if (isAllowed(ofIntegers) && times.getIntegerSeconds() < seconds) {
    floats.clear();
    slower.clear();
    if (llvm::failed(model.keepFloats({})))
      return llvm::failure();
    evaluation = ofIntegers;
    seconds = times.getIntegerSeconds();
  }
  if (times.getFloatSeconds() <= seconds && !model.listLayers().empty()) {
    Kept kept = explain(floats);
    FloatReason reason;
    reason.kind = FloatReason::fasterModel;
    for (const RatedLayer &each : rated)
      if (slower.count(each.number) || !floats.count(each.number))
        kept.try_emplace(each.number, reason);
    if (llvm::failed(take(kept)))
      return llvm::failure();
    seconds = times.getFloatSeconds();
  }
  result.times = {limits.target, times.getFloatSeconds(),
                  times.getIntegerSeconds(), seconds, int(slower.size())};
  for (const SearchedLayer &layer : model.listLayers())
    result.layerTimes[layer.number] = times.getLayer(layer.number);
  return llvm::success();
}

llvm::LogicalResult Search::runMixed() {
  rateLayers();
  std::map<int, double> noise;
  for (const RatedLayer &each : rated)
    noise[each.number] += each.noise;
  if (llvm::failed(times.open(noise)))
    return llvm::failure();
  sortBy(
      [&](const RatedLayer &layer) { return layer.noise / getSaved(layer); });
  for (llvm::LogicalResult (Search::*step)() :
       {&Search::listSteps, &Search::chooseStep, &Search::exchange,
        &Search::compareWithPure})
    if (llvm::failed((this->*step)()))
      return llvm::failure();
  return llvm::success();
}

llvm::LogicalResult limitDrop(SearchedModel &model, const SearchLimits &limits,
                              Evaluation &evaluation, SearchResult &result) {
  Search search(model, limits, evaluation, result);
  if (llvm::failed(limits.mixed ? search.runMixed() : search.run()))
    return llvm::failure();
  return search.finish();
}

} // namespace nnc::precision
