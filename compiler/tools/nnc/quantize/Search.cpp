//===- Search.cpp - Which layers become integers --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Search.h"

#include "compiler/routines/Cost.h"
#include "compiler/tools/driver/console/Terminal.h"

#include <algorithm>
#include <fmt/format.h>

namespace nnc::tools {
namespace {

struct RatedLayer {
  int number;
  double noise; ///< that the layer adds, as a share of its output's signal
  std::optional<double> decibels; ///< of its output
};

class Search {
public:
  Search(SearchedModel &model, Evaluation &evaluation, SearchResult &result)
      : model(model), settings(model.getSettings()), evaluation(evaluation),
        ofIntegers(evaluation), result(result), times(model, settings.model) {}
  ExitCode run();
  ExitCode runMixed();
  ExitCode finish();

private:
  /// Layers that stay floats, by their numbers, and why.
  using Kept = std::map<int, std::string>;

  RatedLayer describe(const SearchedLayer &layer) const;
  void rateLayers();
  void sortBy(llvm::function_ref<double(const RatedLayer &)> getKey);
  double getSaved(const RatedLayer &layer) const;
  std::string explain(const RatedLayer &layer, size_t place) const;
  Kept explain(const std::set<int> &floats) const;
  ExitCode listSteps();
  ExitCode chooseFastest();
  ExitCode chooseStep();
  ExitCode exchange();
  ExitCode compareWithPure();
  ExitCode attempt(const Kept &floats, bool &isEnough);
  ExitCode take(const Kept &floats);
  bool isAllowed(const Evaluation &each) const {
    return !settings.maxDrop || each.drop <= *settings.maxDrop;
  }

  SearchedModel &model;
  const QuantizeSettings &settings;
  Evaluation &evaluation;
  /// That of the model with all layers quantized. The noise of a layer hardly
  /// depends on which layers before it are floats.
  const Evaluation ofIntegers;
  SearchResult &result;
  Times times;                   ///< known with --mixed
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
  if (!settings.mixed)
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
std::string Search::explain(const RatedLayer &layer, size_t place) const {
  std::string order, time;
  if (settings.mixed) {
    order = " for the time that integers save";
    time = fmt::format(", integers are estimated to save {}",
                       formatSeconds(getSaved(layer)));
  }
  return fmt::format(
      "kept for accuracy, number {} by sensitivity{}: it adds noise of "
      "{:.2g} of the signal{}, and its output had {}",
      place, order, layer.noise, time,
      layer.decibels ? fmt::format("{:.1f} dB", *layer.decibels)
                     : std::string("no noise"));
}

/// Returns why each of these layers stays float, with --mixed.
Search::Kept Search::explain(const std::set<int> &kept) const {
  Kept reasons;
  size_t place = 0;
  for (const RatedLayer &each : rated) {
    if (!kept.count(each.number))
      continue;
    const LayerTimes own = times.getLayer(each.number);
    reasons[each.number] =
        slower.count(each.number)
            ? fmt::format("kept for speed: on target {} floats are estimated "
                          "to take {}, integers {}",
                          settings.model.target, formatSeconds(own.floats),
                          formatSeconds(own.integers))
            : explain(each, ++place);
  }
  return reasons;
}

/// Keeps these layers floats and evaluates the model.
ExitCode Search::attempt(const Kept &kept, bool &isEnough) {
  if (ExitCode code = model.keepFloats(kept); code != ExitCode::done)
    return code;
  Evaluation found;
  ++result.evaluated;
  ExitCode code = evaluate(model, Compared::outputs, found);
  isEnough = code == ExitCode::done && isAllowed(found);
  evaluation = std::move(found);
  return code;
}

/// Keeps these layers floats, whatever the drop is.
ExitCode Search::take(const Kept &kept) {
  bool isEnough;
  return attempt(kept, isEnough);
}

/// Compares the tensors of the result, too, for the report.
ExitCode Search::finish() {
  if (!evaluation.tensors.empty() || model.listLayers().empty())
    return ExitCode::done;
  Evaluation whole;
  ExitCode code = evaluate(model, Compared::tensors, whole);
  evaluation.tensors = std::move(whole.tensors);
  return code;
}

ExitCode Search::run() {
  if (isAllowed(evaluation))
    return ExitCode::done;
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
  if (ExitCode code = findLeastCount(
          rated.size(),
          [&](size_t tried, bool &isEnough) {
            ExitCode code = attempt(keepFirst(tried), isEnough);
            if (isEnough)
              best = evaluation;
            return code;
          },
          count);
      code != ExitCode::done)
    return code;
  if (!best)
    return take(keepFirst(count));
  evaluation = std::move(*best);
  return model.keepFloats(keepFirst(count));
}

/// Leaves of the layers that are floats for speed only the products if the
/// model is estimated to be faster so. Which others are integers follows from
/// the layers around them then: the search knows no float candidates for these
/// that also read floats.
ExitCode Search::chooseFastest() {
  std::set<int> products;
  for (int number : steps.front())
    if (times.getLayer(number).isProduct)
      products.insert(number);
  if (products.size() == steps.front().size())
    return ExitCode::done;
  double all = 0, fewer = 0;
  for (auto [kept, seconds] :
       {std::pair(&steps.front(), &all), std::pair(&products, &fewer)}) {
    if (ExitCode code = model.keepFloats(explain(*kept));
        code != ExitCode::done)
      return code;
    if (ExitCode code = times.estimate(*seconds); code != ExitCode::done)
      return code;
  }
  if (fewer < all)
    steps.front() = std::move(products);
  return ExitCode::done;
}

/// Lists the layers that the plans for growing prices compute with floats.
/// Behind them come layers that have no float candidate in the search: those
/// first that add most noise for the time that integers save.
ExitCode Search::listSteps() {
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
  if (ExitCode code = chooseFastest(); code != ExitCode::done)
    return code;
  slower = steps.front();
  for (const RatedLayer &each : rated) {
    std::set<int> kept = steps.back();
    if (kept.insert(each.number).second)
      steps.push_back(std::move(kept));
  }
  return ExitCode::done;
}

/// Takes the first step whose drop is allowed. That of the last one is: the
/// model is the float one.
ExitCode Search::chooseStep() {
  std::map<size_t, Evaluation> enough;
  auto attemptStep = [&](size_t step, bool &isEnough) {
    const std::set<int> &kept = steps[step];
    if (kept.empty()) {
      evaluation = ofIntegers;
      isEnough = isAllowed(ofIntegers);
    } else if (ExitCode code = attempt(explain(kept), isEnough);
               code != ExitCode::done) {
      return code;
    }
    if (isEnough)
      enough[step] = evaluation;
    return ExitCode::done;
  };
  bool isEnough = false;
  size_t step = 0;
  if (ExitCode code = attemptStep(0, isEnough); code != ExitCode::done)
    return code;
  if (!isEnough)
    if (ExitCode code = findLeastCount(steps.size() - 1, attemptStep, step);
        code != ExitCode::done)
      return code;
  floats = steps[step];
  if (auto found = enough.find(step); found != enough.end()) {
    evaluation = std::move(found->second);
    return model.keepFloats(explain(floats));
  }
  return take(explain(floats));
}

/// Makes layers integers again that are floats for accuracy, one by one, where
/// the drop stays allowed: those first in which integers save most time.
ExitCode Search::exchange() {
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
    if (ExitCode code = attempt(explain(fewer), isEnough);
        code != ExitCode::done)
      return code;
    if (isEnough)
      floats = std::move(fewer);
    else
      evaluation = std::move(before);
  }
  return model.keepFloats(explain(floats));
}

/// Replaces the result by the model with all layers quantized, or by the float
/// model, if that one is allowed and estimated to be faster.
ExitCode Search::compareWithPure() {
  double seconds = 0;
  if (ExitCode code = times.estimate(seconds); code != ExitCode::done)
    return code;
  if (isAllowed(ofIntegers) && times.getIntegerSeconds() < seconds) {
    floats.clear();
    slower.clear();
    if (ExitCode code = model.keepFloats({}); code != ExitCode::done)
      return code;
    evaluation = ofIntegers;
    seconds = times.getIntegerSeconds();
  }
  if (times.getFloatSeconds() <= seconds && !model.listLayers().empty()) {
    Kept kept = explain(floats);
    for (const RatedLayer &each : rated)
      if (slower.count(each.number) || !floats.count(each.number))
        kept.try_emplace(
            each.number,
            fmt::format("kept for speed: on target {} the float model is "
                        "estimated to be faster",
                        settings.model.target));
    if (ExitCode code = take(kept); code != ExitCode::done)
      return code;
    seconds = times.getFloatSeconds();
  }
  result.times = {settings.model.target, times.getFloatSeconds(),
                  times.getIntegerSeconds(), seconds, int(slower.size())};
  for (const SearchedLayer &layer : model.listLayers())
    result.layerTimes[layer.number] = times.getLayer(layer.number);
  return ExitCode::done;
}

ExitCode Search::runMixed() {
  rateLayers();
  std::map<int, double> noise;
  for (const RatedLayer &each : rated)
    noise[each.number] += each.noise;
  if (ExitCode code = times.open(noise); code != ExitCode::done)
    return code;
  sortBy(
      [&](const RatedLayer &layer) { return layer.noise / getSaved(layer); });
  for (ExitCode (Search::*step)() :
       {&Search::listSteps, &Search::chooseStep, &Search::exchange,
        &Search::compareWithPure})
    if (ExitCode code = (this->*step)(); code != ExitCode::done)
      return code;
  return ExitCode::done;
}

ExitCode limitDrop(SearchedModel &model, Evaluation &evaluation,
                   SearchResult &result) {
  Search search(model, evaluation, result);
  ExitCode code = model.getSettings().mixed ? search.runMixed() : search.run();
  return code == ExitCode::done ? search.finish() : code;
}

} // namespace nnc::tools
