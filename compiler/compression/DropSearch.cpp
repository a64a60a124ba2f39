//===- DropSearch.cpp - Which layers are compressed less ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/DropSearch.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace nnc::compression {
namespace {

class Search {
public:
  Search(EvaluatedModel &model, double maxDrop, Evaluation &evaluation,
         int &evaluated)
      : model(model), maxDrop(maxDrop), evaluation(evaluation),
        evaluated(evaluated) {}
  llvm::LogicalResult run();

private:
  /// The treatment of the weights in the order of their sensitivity: the first
  /// `none` keep their own values, those from there up to number `finer` are
  /// compressed finer, and the others as asked.
  struct Choice {
    size_t none, finer;
  };

  llvm::LogicalResult sortWeights();
  void apply(Choice choice);
  llvm::LogicalResult attempt(Choice choice, bool &isEnough);
  llvm::LogicalResult finish(Choice choice);
  bool isAllowed() const { return evaluation.drop <= maxDrop; }
  llvm::LogicalResult
  findLeast(size_t high,
            llvm::function_ref<llvm::LogicalResult(size_t, bool &)> attempt,
            size_t &found);

  EvaluatedModel &model;
  double maxDrop;
  Evaluation &evaluation;
  int &evaluated;
  /// Numbers of the weights, the most sensitive first.
  std::vector<size_t> order;
  /// The last choice whose drop was allowed, and its evaluation.
  std::optional<std::pair<Choice, Evaluation>> best;
};

} // namespace

llvm::LogicalResult Search::sortWeights() {
  std::vector<double> errors;
  if (llvm::failed(model.measureErrors(errors)))
    return llvm::failure();
  order.resize(errors.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    // Weights with equal errors keep the order of the model.
    return std::pair(-errors[a], a) < std::pair(-errors[b], b);
  });
  return llvm::success();
}

void Search::apply(Choice choice) {
  for (size_t i = 0; i < order.size(); ++i)
    model.getCompressor().setTreatment(order[i],
                                       i < choice.none    ? Treatment::none
                                       : i < choice.finer ? Treatment::finer
                                                          : Treatment::asked);
}

llvm::LogicalResult Search::attempt(Choice choice, bool &isEnough) {
  apply(choice);
  evaluation = {};
  ++evaluated;
  llvm::LogicalResult outcome = model.evaluate(evaluation);
  isEnough = isAllowed();
  if (isEnough)
    best = {choice, evaluation};
  return outcome;
}

/// Makes `choice` the result, and evaluates it unless that was the last allowed
/// choice.
llvm::LogicalResult Search::finish(Choice choice) {
  apply(choice);
  if (best && best->first.none == choice.none &&
      best->first.finer == choice.finer) {
    evaluation = best->second;
    return llvm::success();
  }
  bool isEnough;
  return attempt(choice, isEnough);
}

/// Finds the least count that is enough, and shows the progress.
llvm::LogicalResult Search::findLeast(
    size_t high,
    llvm::function_ref<llvm::LogicalResult(size_t, bool &)> attempt,
    size_t &found) {
  std::unique_ptr<accuracy::SearchProgress> progress = model.showSearch();
  return accuracy::findLeastCount(high, attempt, *progress, found);
}

llvm::LogicalResult Search::run() {
  if (isAllowed())
    return llvm::success();
  if (llvm::failed(sortWeights()))
    return llvm::failure();
  size_t all = order.size(), count = all;
  bool canBeFiner = model.getCompressor().canBeFiner(), isEnough = false;
  auto findFiner = [&](size_t none) {
    // The drop is known to be allowed if all of these weights are finer.
    return findLeast(
        all - none,
        [&](size_t tried, bool &isEnough) {
          return attempt({none, none + tried}, isEnough);
        },
        count);
  };
  if (canBeFiner) {
    if (llvm::failed(attempt({0, all}, isEnough)))
      return llvm::failure();
    if (isEnough) {
      if (llvm::failed(findFiner(0)))
        return llvm::failure();
      return finish({0, count});
    }
  }
  size_t none = all;
  if (llvm::failed(findLeast(
          all,
          [&](size_t tried, bool &isEnough) {
            return attempt({tried, canBeFiner ? all : tried}, isEnough);
          },
          none)))
    return llvm::failure();
  if (!canBeFiner || none == all)
    return finish({none, none});
  // The others may need no finer values at all.
  if (llvm::failed(attempt({none, none}, isEnough)))
    return llvm::failure();
  if (isEnough)
    return finish({none, none});
  if (llvm::failed(findFiner(none)))
    return llvm::failure();
  return finish({none, none + count});
}

llvm::LogicalResult limitDrop(EvaluatedModel &model, double maxDrop,
                              Evaluation &evaluation, int &evaluated) {
  return Search(model, maxDrop, evaluation, evaluated).run();
}

} // namespace nnc::compression
