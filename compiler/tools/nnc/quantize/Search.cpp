//===- Search.cpp - Which layers stay floats for accuracy -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Search.h"

#include "compiler/routines/Cost.h"
#include "compiler/tools/driver/Terminal.h"

#include <algorithm>
#include <fmt/format.h>

namespace nnc::tools {
namespace {

struct Candidate {
  int node;
  double noise; ///< that the layer adds, as a share of its output's signal
  double saved; ///< seconds that its integers save, at least those of a call
  std::optional<double> decibels;
};

class Search {
public:
  Search(Session &session, Evaluation &evaluation, SearchResult &result)
      : session(session), evaluation(evaluation), ofIntegers(evaluation),
        result(result), times(session) {}
  ExitCode run();
  ExitCode runMixed();
  ExitCode finish();

private:
  Candidate describe(const onnx::LayerSummary &layer) const;
  void sortCandidates();
  void keep(size_t count);
  ExitCode keepSlower();
  ExitCode keepAll();
  ExitCode evaluateAgain();
  bool isMixed() const { return session.getSettings().mixed; }
  bool isAllowed(const Evaluation &each) const {
    return each.drop <= *session.getSettings().maxDrop;
  }
  onnx::Quantizer &quantizer() { return session.getQuantizer(); }

  Session &session;
  Evaluation &evaluation;
  /// That of the model with all layers quantized. The noise of a layer hardly
  /// depends on which layers before it are floats.
  const Evaluation ofIntegers;
  SearchResult &result;
  Times times; ///< known with --mixed
  /// Layers that are floats for speed, by their node, and why.
  std::map<int, std::string> slower;
  std::vector<Candidate> candidates; ///< the most sensitive first
};

} // namespace

/// A layer adds what its output has more of noise than its noisiest operand,
/// and the rounding of its operands: a layer before it that stays float would
/// leave that to it.
Candidate Search::describe(const onnx::LayerSummary &layer) const {
  auto getRatio = [](const std::map<std::string, Noise> &all,
                     const std::string &tensor) {
    auto found = all.find(tensor);
    return found == all.end() ? 0 : found->second.getRatio();
  };
  double before = 0, rounding = 0;
  for (const std::string &input : layer.inputs) {
    before = std::max(before, getRatio(ofIntegers.tensors, input));
    rounding += getRatio(ofIntegers.rounding, input);
  }
  double after = getRatio(ofIntegers.tensors, layer.output);
  auto own = ofIntegers.tensors.find(layer.output);
  double saved = CoreCost::getStartSeconds(false);
  if (isMixed()) {
    LayerTimes layerTimes = times.getLayer(layer.node);
    saved = std::max(saved, layerTimes.floats - layerTimes.integers);
  }
  return {layer.node, std::max(0.0, after - before) + rounding, saved,
          own == ofIntegers.tensors.end() ? std::nullopt
                                          : own->second.getDecibels()};
}

void Search::sortCandidates() {
  // A layer that moves elements adds no noise, and follows the layer that it
  // reads.
  for (const onnx::LayerSummary &layer : quantizer().getLayers())
    if (!layer.isMove)
      candidates.push_back(describe(layer));
  auto getKey = [&](const Candidate &each) {
    return isMixed() ? each.noise / each.saved : each.noise;
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate &a, const Candidate &b) {
              // Equal ones keep the order of the model.
              return std::pair(-getKey(a), a.node) <
                     std::pair(-getKey(b), b.node);
            });
}

/// Makes the first `count` candidates floats, beside those that are slower as
/// integers.
void Search::keep(size_t count) {
  std::map<int, std::string> kept = slower;
  for (size_t i = 0; i < count; ++i) {
    const Candidate &each = candidates[i];
    std::string order, time;
    if (isMixed()) {
      order = " for the time that integers save";
      time = fmt::format(", integers are estimated to save {}",
                         formatSeconds(each.saved));
    }
    kept[each.node] = fmt::format(
        "kept for accuracy, number {} by sensitivity{}: it adds noise of "
        "{:.2g} of the signal{}, and its output had {}",
        i + 1, order, each.noise, time,
        each.decibels ? fmt::format("{:.1f} dB", *each.decibels)
                      : std::string("no noise"));
  }
  quantizer().keepFloats(kept);
}

ExitCode Search::evaluateAgain() {
  Evaluation found;
  ++result.evaluated;
  ExitCode code = evaluate(session, Compared::outputs, found);
  evaluation = std::move(found);
  return code;
}

/// Compares the tensors of the result, too, for the report.
ExitCode Search::finish() {
  if (!evaluation.tensors.empty() || quantizer().getLayers().empty())
    return ExitCode::done;
  Evaluation whole;
  ExitCode code = evaluate(session, Compared::tensors, whole);
  evaluation.tensors = std::move(whole.tensors);
  return code;
}

ExitCode Search::run() {
  if (isAllowed(evaluation))
    return ExitCode::done;
  sortCandidates();
  // With all layers floats the model is the float one.
  std::optional<Evaluation> best;
  size_t count = candidates.size();
  if (ExitCode code = findLeastCount(
          candidates.size(),
          [&](size_t tried, bool &isEnough) {
            keep(tried);
            ExitCode code = evaluateAgain();
            isEnough = isAllowed(evaluation);
            if (isEnough)
              best = evaluation;
            return code;
          },
          count);
      code != ExitCode::done)
    return code;
  keep(count);
  if (!best)
    return evaluateAgain();
  evaluation = std::move(*best);
  return ExitCode::done;
}

/// Makes those layers floats whose integers are estimated to be slower, unless
/// that makes the whole model slower.
ExitCode Search::keepSlower() {
  for (const onnx::LayerSummary &layer : quantizer().getLayers()) {
    LayerTimes own = times.getLayer(layer.node);
    if (own.isProduct && own.integers > own.floats)
      slower[layer.node] = fmt::format(
          "kept for speed: on target {} floats are estimated to take {}, "
          "integers {}",
          session.getSettings().model.target, formatSeconds(own.floats),
          formatSeconds(own.integers));
  }
  if (slower.empty())
    return ExitCode::done;
  quantizer().keepFloats(slower);
  double seconds;
  if (ExitCode code = times.estimate(seconds); code != ExitCode::done)
    return code;
  if (seconds > times.getIntegerSeconds()) {
    slower.clear();
    quantizer().keepFloats(slower);
    return ExitCode::done;
  }
  return evaluateAgain();
}

/// Makes all layers floats.
ExitCode Search::keepAll() {
  std::map<int, std::string> kept = slower;
  for (const onnx::LayerSummary &layer : quantizer().getLayers())
    kept[layer.node] = fmt::format("kept for speed: on target {} the float "
                                   "model is estimated to be faster",
                                   session.getSettings().model.target);
  quantizer().keepFloats(kept);
  return evaluateAgain();
}

ExitCode Search::runMixed() {
  if (ExitCode code = times.open(); code != ExitCode::done)
    return code;
  for (ExitCode (Search::*step)() : {&Search::keepSlower, &Search::run})
    if (ExitCode code = (this->*step)(); code != ExitCode::done)
      return code;
  double seconds;
  if (ExitCode code = times.estimate(seconds); code != ExitCode::done)
    return code;
  if (isAllowed(ofIntegers) && times.getIntegerSeconds() < seconds) {
    slower.clear();
    quantizer().keepFloats({});
    evaluation = ofIntegers;
    seconds = times.getIntegerSeconds();
  }
  if (times.getFloatSeconds() <= seconds && !quantizer().getLayers().empty()) {
    if (ExitCode code = keepAll(); code != ExitCode::done)
      return code;
    seconds = times.getFloatSeconds();
  }
  result.times = {session.getSettings().model.target, times.getFloatSeconds(),
                  times.getIntegerSeconds(), seconds, int(slower.size())};
  for (const onnx::LayerSummary &layer : quantizer().getLayers())
    result.layerTimes[layer.node] = times.getLayer(layer.node);
  return ExitCode::done;
}

ExitCode limitDrop(Session &session, Evaluation &evaluation,
                   SearchResult &result) {
  Search search(session, evaluation, result);
  ExitCode code =
      session.getSettings().mixed ? search.runMixed() : search.run();
  return code == ExitCode::done ? search.finish() : code;
}

} // namespace nnc::tools
