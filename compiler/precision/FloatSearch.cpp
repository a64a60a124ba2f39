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
  double noise; ///< noise that it adds, as a fraction of its output's signal
  std::optional<double> decibels; ///< signal-to-noise ratio of its output
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
  /// The layers that stay float, by number, with the reasons.
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
  /// The evaluation of the model with all layers quantized. The noise of a
  /// layer hardly depends on which layers before it are floats.
  const Evaluation ofIntegers;
  SearchResult &result;
  FormTimes times;               ///< estimates, set with --mixed only
  std::vector<RatedLayer> rated; ///< the most sensitive first
  /// With --mixed, the layers that are floats because floats are faster.
  std::set<int> slower;
  /// With --mixed, the sets of layers to try as floats, from those that are
  /// faster with floats up to all layers.
  std::vector<std::set<int>> steps;
  std::set<int> floats; ///< with --mixed, the float layers of the result
};

} // namespace

/// Returns the noise that a layer adds. It is the noise of its output beyond
/// that of its noisiest operand, plus the rounding noise of its operands, which
/// the layer would cause even if the layers that compute these were floats.
RatedLayer Search::describe(const SearchedLayer &layer) const {
  // A tensor of zeros with noise has an infinite ratio, which is limited.
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

/// Returns the seconds that integers save in a layer, but at least those of
/// starting a call.
double Search::getSaved(const RatedLayer &layer) const {
  const double least = CoreCost::getStartSeconds(false);
  if (!limits.mixed)
    return least;
  const LayerTimes own = times.getLayer(layer.number);
  return std::max(least, own.floats - own.integers);
}

/// Sorts the layers in descending order of their keys. Layers with equal keys
/// keep the order of the model.
void Search::sortBy(llvm::function_ref<double(const RatedLayer &)> getKey) {
  llvm::sort(rated, [&](const RatedLayer &a, const RatedLayer &b) {
    return std::pair(-getKey(a), a.number) < std::pair(-getKey(b), b.number);
  });
}

/// Finds the noise that each layer adds. Layers that only move elements add
/// none and are left out: they are float if the layer that they read is.
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

/// Returns the reasons why the layers `kept` stay float, with --mixed.
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

/// Finds the least count that is enough, and shows the progress.
llvm::LogicalResult Search::findLeast(
    size_t high,
    llvm::function_ref<llvm::LogicalResult(size_t, bool &)> attempt,
    size_t &found) {
  std::unique_ptr<accuracy::SearchProgress> progress = model.showSearch();
  return accuracy::findLeastCount(high, attempt, *progress, found);
}

/// Keeps the layers `kept` in floats and evaluates the model. Sets `isEnough`
/// to whether the drop is allowed.
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

/// Keeps the layers `kept` in floats, whatever the drop is.
llvm::LogicalResult Search::take(const Kept &kept) {
  bool isEnough;
  return attempt(kept, isEnough);
}

/// Evaluates all tensors of the result for the report.
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
  // A count of all layers is enough, since the model is then the float one.
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

/// Reduces the first step to the products among its layers if the model is
/// estimated to be faster like that. Whether the other layers are integers then
/// follows from the layers around them: the search has no float candidates for
/// them that also read floats.
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

/// Sets `steps` to the float layers of the plans at ascending prices, followed
/// by steps that add the layers without float candidates one by one, those
/// first that add the most noise for the time that integers save.
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

/// Chooses the first step whose drop is allowed. That of the last step is,
/// since it is the float model.
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

/// Tries integers again for the layers that are floats for accuracy, one by
/// one, and keeps them if the drop stays allowed. The layers for which integers
/// save the most time come first.
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

/// Replaces the result by the model with all layers quantized if its drop is
/// allowed, or by the float model, if these are estimated to be faster.
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
