//===- Search.cpp - Which layers are compressed less ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/compress/Search.h"

#include <algorithm>
#include <numeric>

namespace nnc::tools {
namespace {

class CompressSearch {
public:
  CompressSearch(CompressSession &session, CompressEvaluation &evaluation,
                 int &evaluated)
      : session(session), evaluation(evaluation), evaluated(evaluated) {}
  ExitCode run();

private:
  /// How many of the most sensitive weights keep their own values, and how many
  /// at least are not as they were asked for.
  struct Choice {
    size_t none, finer;
  };

  ExitCode sortWeights();
  void apply(Choice choice);
  ExitCode attempt(Choice choice, bool &isEnough);
  ExitCode finish(Choice choice);
  bool isAllowed() const {
    return evaluation.drop <= *session.getSettings().maxDrop;
  }

  CompressSession &session;
  CompressEvaluation &evaluation;
  int &evaluated;
  std::vector<size_t> order; ///< of weights, the most sensitive first
  /// The last choice whose drop was allowed, and its evaluation.
  std::optional<std::pair<Choice, CompressEvaluation>> best;
};

} // namespace

ExitCode CompressSearch::sortWeights() {
  std::vector<double> errors;
  if (ExitCode code = session.measureErrors(errors); code != ExitCode::done)
    return code;
  order.resize(errors.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    // Equal ones keep the order of the model.
    return std::pair(-errors[a], a) < std::pair(-errors[b], b);
  });
  return ExitCode::done;
}

void CompressSearch::apply(Choice choice) {
  for (size_t i = 0; i < order.size(); ++i)
    session.getCompressor().setTreatment(
        order[i], i < choice.none    ? compression::Treatment::none
                  : i < choice.finer ? compression::Treatment::finer
                                     : compression::Treatment::asked);
}

ExitCode CompressSearch::attempt(Choice choice, bool &isEnough) {
  apply(choice);
  evaluation = {};
  ++evaluated;
  ExitCode code = session.evaluate(evaluation);
  isEnough = isAllowed();
  if (isEnough)
    best = {choice, evaluation};
  return code;
}

/// Leaves the choice as the result. The model with all of its own weights has
/// been evaluated only if it was tried.
ExitCode CompressSearch::finish(Choice choice) {
  apply(choice);
  if (best && best->first.none == choice.none &&
      best->first.finer == choice.finer) {
    evaluation = best->second;
    return ExitCode::done;
  }
  bool isEnough;
  return attempt(choice, isEnough);
}

ExitCode CompressSearch::run() {
  if (isAllowed())
    return ExitCode::done;
  if (ExitCode code = sortWeights(); code != ExitCode::done)
    return code;
  size_t all = order.size(), count = all;
  bool canBeFiner = session.getCompressor().canBeFiner(), isEnough = false;
  auto findFiner = [&](size_t none) {
    // All finer is known to be enough.
    return findLeastCount(
        all - none,
        [&](size_t tried, bool &isEnough) {
          return attempt({none, none + tried}, isEnough);
        },
        count);
  };
  if (canBeFiner) {
    if (ExitCode code = attempt({0, all}, isEnough); code != ExitCode::done)
      return code;
    if (isEnough) {
      if (ExitCode code = findFiner(0); code != ExitCode::done)
        return code;
      return finish({0, count});
    }
  }
  size_t none = all;
  if (ExitCode code = findLeastCount(
          all,
          [&](size_t tried, bool &isEnough) {
            return attempt({tried, canBeFiner ? all : tried}, isEnough);
          },
          none);
      code != ExitCode::done)
    return code;
  if (!canBeFiner || none == all)
    return finish({none, none});
  // Perhaps the others need no finer values at all.
  if (ExitCode code = attempt({none, none}, isEnough); code != ExitCode::done)
    return code;
  if (isEnough)
    return finish({none, none});
  if (ExitCode code = findFiner(none); code != ExitCode::done)
    return code;
  return finish({none, none + count});
}

ExitCode limitDrop(CompressSession &session, CompressEvaluation &evaluation,
                   int &evaluated) {
  return CompressSearch(session, evaluation, evaluated).run();
}

} // namespace nnc::tools
