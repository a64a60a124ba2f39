//===- order_test.cpp - Orders of steps that need little memory -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

using namespace nnc;

/// Returns a random problem in which step i computes value i + 1 from earlier
/// values; value 0 exists from the start.
static OrderProblem makeRandom(std::mt19937 &random, unsigned steps) {
  OrderProblem problem;
  auto upTo = [&](unsigned most) {
    return static_cast<unsigned>(random() % (most + 1));
  };
  for (unsigned value = 0; value <= steps; ++value) {
    problem.bytes.push_back(upTo(20));
    problem.isKept.push_back(upTo(5) == 0);
  }
  for (unsigned i = 0; i < steps; ++i) {
    OrderStep step;
    for (unsigned count = 1 + upTo(1); count > 0; --count) {
      unsigned value = upTo(i);
      if (std::find(step.reads.begin(), step.reads.end(), value) ==
          step.reads.end())
        step.reads.push_back(value);
    }
    if (upTo(3) == 0)
      step.inPlace.push_back(step.reads.front());
    step.made = static_cast<int>(i) + 1;
    step.scratch = upTo(3) == 0 ? upTo(10) : 0;
    problem.steps.push_back(step);
  }
  return problem;
}

static bool isPossible(const OrderProblem &problem,
                       llvm::ArrayRef<unsigned> order) {
  std::vector<bool> isMade(problem.bytes.size(), false);
  isMade[0] = true;
  for (unsigned number : order) {
    const OrderStep &step = problem.steps[number];
    for (unsigned value : step.reads)
      if (!isMade[value])
        return false;
    isMade[static_cast<size_t>(step.made)] = true;
  }
  return order.size() == problem.steps.size();
}

TEST_CASE("The order needs as little as the best of all permutations") {
  std::mt19937 random(1);
  int better = 0;
  for (int round = 0; round < 300; ++round) {
    OrderProblem problem = makeRandom(random, 1 + round % 7);
    std::vector<unsigned> order(problem.steps.size());
    std::iota(order.begin(), order.end(), 0U);
    int64_t given = getPeak(problem, order), best = given;
    do
      if (isPossible(problem, order))
        best = std::min(best, getPeak(problem, order));
    while (std::next_permutation(order.begin(), order.end()));
    auto found = findOrder(problem);
    REQUIRE(isPossible(problem, found));
    REQUIRE(getPeak(problem, found) == best);
    better += best < given;
  }
  CHECK(better > 20);
}

TEST_CASE("A search that is cut short never makes it worse") {
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    OrderProblem problem = makeRandom(random, 60);
    std::vector<unsigned> given(problem.steps.size());
    std::iota(given.begin(), given.end(), 0U);
    auto found = findOrder(problem, /*budget=*/1);
    REQUIRE(isPossible(problem, found));
    CHECK(getPeak(problem, found) <= getPeak(problem, given));
  }
}

TEST_CASE("What takes the place of an operand needs no memory of its own") {
  OrderProblem problem;
  problem.bytes = {0, 10, 10, 10};
  problem.isKept = {false, false, false, true};
  OrderStep first, second, third;
  first.reads = {0};
  first.made = 1;
  second.reads = {1};
  second.inPlace = {1};
  second.made = 2;
  third.reads = {2};
  third.made = 3;
  problem.steps = {first, second, third};
  CHECK(getPeak(problem, {0, 1}) == 10);
  CHECK(getPeak(problem, {0, 1, 2}) == 20);
}

TEST_CASE("No steps have an order, too") {
  CHECK(findOrder(OrderProblem()).empty());
}
