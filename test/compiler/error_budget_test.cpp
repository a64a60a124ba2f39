// Tests that the choices of the error budget are within the budget, and cheap.
#include "compiler/routines/ErrorBudget.h"
#include "compiler/search/Search.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace nnc;

namespace {

using Layers = llvm::SmallVector<llvm::SmallVector<Candidate, 0>, 0>;

/// Returns random layers, each with one exact candidate and cheaper ones that
/// are less exact.
Layers makeLayers(std::mt19937 &random, int count) {
  std::uniform_real_distribution<double> share(0.1, 0.9);
  Layers layers(count);
  for (auto &candidates : layers) {
    double seconds = 1e-3 * share(random), error = 0;
    for (int i = 0; i < 4; ++i) {
      Candidate &one = candidates.emplace_back();
      one.seconds = seconds;
      one.error = error;
      seconds *= share(random);
      error += 1e-6 * share(random);
    }
  }
  return layers;
}

double getSeconds(const Layers &layers) {
  double sum = 0;
  for (const auto &candidates : layers) {
    REQUIRE(candidates.size() == 1);
    sum += candidates.front().seconds;
  }
  return sum;
}

double getError(const Layers &layers) {
  double squares = 0;
  for (const auto &candidates : layers)
    squares += std::pow(candidates.front().error, 2);
  return std::sqrt(squares);
}

/// Returns the least time of all combinations of candidates within the budget.
double findLeastSeconds(llvm::ArrayRef<llvm::SmallVector<Candidate, 0>> layers,
                        double squares) {
  if (squares < 0)
    return kImpossible;
  if (layers.empty())
    return 0;
  double least = kImpossible;
  for (const Candidate &candidate : layers.front())
    least = std::min(
        least, candidate.seconds +
                   findLeastSeconds(layers.drop_front(),
                                    squares - std::pow(candidate.error, 2)));
  return least;
}

} // namespace

TEST_CASE("errors stay within their budget") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const Layers all = makeLayers(random, 5);
    const double budget = 1e-6 * (round % 20) / 5;
    Layers kept = all;
    limitError(kept, budget);
    CHECK(getError(kept) <= budget);
    // One price for all layers leaves a rest of the budget, not always used up:
    // less than what the next best candidate of one of them would take.
    const double least = findLeastSeconds(all, budget * budget);
    const double dearest = 1e-3;
    CHECK(getSeconds(kept) >= least * (1 - 1e-9));
    CHECK(getSeconds(kept) <= least + dearest);
  }
}

TEST_CASE("without a budget the most exact is kept, with any the cheapest") {
  std::mt19937 random(2);
  const Layers all = makeLayers(random, 8);
  Layers exact = all, cheap = all;
  limitError(exact, 0);
  limitError(cheap, 1);
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK(exact[i].front().seconds == all[i].front().seconds);
    CHECK(cheap[i].front().seconds == all[i].back().seconds);
  }
}

TEST_CASE("any choice of schemas stays within the budget") {
  mlir::MLIRContext context;
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    Layers layers = makeLayers(random, 6);
    // A second schema, in which each is as fast as in the first by accident.
    for (auto &candidates : layers) {
      const Layers others = makeLayers(random, 1);
      candidates.append(others[0].begin(), others[0].end());
      for (size_t i = 0; i < candidates.size(); ++i)
        candidates[i].result = mlir::RankedTensorType::get(
            {int64_t(i / 4 + 1)}, mlir::Float32Type::get(&context));
    }
    const double budget = 1e-6 * (round % 20) / 5;
    limitError(layers, budget);
    double squares = 0;
    for (const auto &candidates : layers) {
      CHECK(candidates.size() == 2);
      double most = 0;
      for (const Candidate &candidate : candidates)
        most = std::max(most, candidate.error);
      squares += most * most;
    }
    CHECK(std::sqrt(squares) <= budget);
  }
}

TEST_CASE("layers that are alike share what one price for all leaves") {
  Layers layers(10);
  for (auto &candidates : layers) {
    candidates.emplace_back().seconds = 2e-3;
    candidates.emplace_back().seconds = 1e-3;
    candidates.back().error = 1e-6;
  }
  limitError(layers, 2e-6);
  CHECK(getError(layers) == Approx(2e-6));
  CHECK(getSeconds(layers) == Approx(16e-3));
}

TEST_CASE("a layer that names its routine keeps it, whatever it loses") {
  Layers layers(1);
  layers[0].emplace_back().error = 1;
  limitError(layers, 1e-6);
  CHECK(layers[0].size() == 1);
}
