//===- sizes_test.cpp - Numbers as expressions of sizes -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/SizeRange.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

#include <set>

using namespace mlir;
using namespace nnc;

namespace {
/// Returns the values of `f`, a function of the sizes, at all samples.
template <class F>
SmallVector<int64_t> sample(const ExpressionFinder &finder, F f) {
  SmallVector<int64_t> values;
  for (const SizePoint &point : finder.getSamples())
    values.push_back(f(point));
  return values;
}

/// Requires that the finder finds an expression for `f`, a function of the
/// sizes, that has its values at all sizes within the bounds.
template <class F> void requireFound(ExpressionFinder &finder, F f) {
  AffineExpr found = finder.find(sample(finder, f));
  REQUIRE(found);
  std::vector<SizeRange> ranges(finder.getRanges());
  for (const SizePoint &point : chooseChecks(ranges, 500))
    REQUIRE(evaluate(found, point) == f(point));
}

ExpressionFinder makeFinder(std::vector<SizeRange> ranges,
                            MLIRContext &context) {
  auto samples = chooseSamples(ranges);
  return ExpressionFinder(std::move(ranges), samples, &context);
}
} // namespace

TEST_CASE("Samples are distinct, larger than 1, and begin with the largest") {
  for (std::vector<SizeRange> ranges :
       {std::vector<SizeRange>{{"n", 1, 8, 1}},
        {{"n", 1, 2, 1}},
        {{"h", 32, 640, 32}, {"w", 32, 640, 32}},
        {{"n", 1, 4, 1}, {"h", 8, 64, 8}, {"w", 8, 64, 8}},
        {{"a", 1, 2, 1}, {"b", 1, 2, 1}, {"c", 1, 3, 1}, {"d", 7, 7, 1}}}) {
    auto samples = chooseSamples(ranges);
    std::set<SizePoint> distinct(samples.begin(), samples.end());
    REQUIRE(distinct.size() == samples.size());
    for (const SizePoint &point : samples)
      for (size_t i = 0; i < ranges.size(); ++i) {
        REQUIRE(point[i] > 1);
        REQUIRE((point[i] - ranges[i].low) % ranges[i].step == 0);
        REQUIRE(samples[0][i] >= ranges[i].high);
        for (size_t j = 0; j < i; ++j)
          REQUIRE(point[i] != point[j]);
      }
  }
}

TEST_CASE("A size within another is never larger, and differs in all samples") {
  for (int64_t most : {2, 3, 4, 6, 9}) {
    SizeRange all{"n", 0, 10, 1}, first{"first", 0, most, 1};
    first.within = 0;
    std::vector<SizeRange> ranges = {all, first};
    for (const SizePoint &point : chooseSamples(ranges)) {
      REQUIRE(point[1] > 1);
      REQUIRE(point[1] < point[0]);
    }
    REQUIRE(chooseSamples(ranges)[0][0] >= 10);
    for (const SizePoint &point : chooseChecks(ranges, 500, true))
      REQUIRE(point[1] <= point[0]);
    std::vector<SizePoint> points = {{3, 7}, {3, 3}, {5, 2}};
    makeConsistent(points, ranges);
    REQUIRE(points == std::vector<SizePoint>{{3, 3}, {5, 2}});
  }
}

TEST_CASE("A size that is computed from another follows it in all points") {
  SizeRange all{"n", 0, 10, 1}, rest{"rest", 0, 10, 1};
  all.isFound = rest.isFound = true;
  using nn::LengthExpression;
  rest.computed = LengthExpression::create(
      LengthExpression::Kind::sub, {10, LengthExpression::getLength(0)});
  std::vector<SizePoint> points = {{3, 1}, {3, 8}, {10, 10}};
  makeConsistent(points, {all, rest});
  REQUIRE(points == std::vector<SizePoint>{{3, 7}, {10, 0}});
}

TEST_CASE("Checks are all points of few, and corners of many") {
  auto few = chooseChecks({{"n", 1, 3, 1}, {"h", 8, 24, 8}}, 100);
  REQUIRE(few.size() == 9);
  std::vector<SizeRange> ranges = {{"n", 1, 100, 1}, {"h", 8, 800, 8}};
  auto many = chooseChecks(ranges, 100);
  REQUIRE(many.size() <= 100);
  REQUIRE(many.size() >= 64);
  for (int64_t n : {1, 100})
    for (int64_t h : {8, 800})
      REQUIRE(llvm::is_contained(many, SizePoint{n, h}));
}

TEST_CASE("Finds sums and products of one size") {
  MLIRContext context;
  ExpressionFinder finder = makeFinder({{"n", 1, 9, 1}}, context);
  requireFound(finder, [](const SizePoint &) { return int64_t(7); });
  requireFound(finder, [](const SizePoint &p) { return p[0]; });
  requireFound(finder, [](const SizePoint &p) { return 3 * p[0] - 2; });
  requireFound(finder, [](const SizePoint &p) { return p[0] * p[0] * 12; });
  requireFound(finder,
               [](const SizePoint &p) { return (p[0] + 1) * (p[0] + 2); });
  REQUIRE(!finder.find(
      sample(finder, [](const SizePoint &p) { return int64_t(1) << p[0]; })));
}

TEST_CASE("Finds rounded quotients that the samples leave no doubt about") {
  MLIRContext context;
  ExpressionFinder finder = makeFinder({{"n", 1, 9, 1}}, context);
  requireFound(finder, [](const SizePoint &p) { return p[0] / 2; });
  requireFound(finder, [](const SizePoint &p) { return (p[0] + 1) / 2; });
  auto ninth = [](const SizePoint &p) { return p[0] / 9; };
  REQUIRE(!finder.find(sample(finder, ninth)));
}

TEST_CASE("Finds what follows from a quotient that was added") {
  MLIRContext context;
  ExpressionFinder finder = makeFinder({{"n", 20, 900, 1}}, context);
  AffineExpr n = getAffineSymbolExpr(0, &context);
  auto windows = [](const SizePoint &p) { return (p[0] + 6) / 11; };
  REQUIRE(!finder.find(sample(finder, windows)));
  // Neither another quotient nor one with a negative numerator is taken.
  REQUIRE(!finder.addQuotient((n + 17).floorDiv(11), sample(finder, windows)));
  auto negative = [](const SizePoint &p) { return (p[0] - 25 + 11) / 11 - 1; };
  REQUIRE(!finder.addQuotient((n - 25).floorDiv(11), sample(finder, negative)));
  REQUIRE(finder.addQuotient((n + 6).floorDiv(11), sample(finder, windows)));
  requireFound(finder, windows);
  requireFound(finder,
               [&](const SizePoint &p) { return 3 * windows(p) * p[0]; });
}

TEST_CASE("Finds quotients that are whole at all sizes") {
  MLIRContext context;
  ExpressionFinder finder = makeFinder({{"h", 32, 640, 32}}, context);
  requireFound(finder, [](const SizePoint &p) { return p[0] / 32; });
  requireFound(finder, [](const SizePoint &p) { return (p[0] - 3) / 2 + 1; });
  requireFound(finder,
               [](const SizePoint &p) { return (p[0] / 4) * (p[0] / 8); });
}

TEST_CASE("Finds products of several sizes, and of dimensions") {
  MLIRContext context;
  ExpressionFinder finder = makeFinder(
      {{"n", 1, 4, 1}, {"h", 16, 64, 8}, {"w", 16, 96, 16}}, context);
  requireFound(finder, [](const SizePoint &p) { return p[0] * p[1] * p[2]; });
  requireFound(finder, [](const SizePoint &p) { return 2 * p[1] + 3 * p[2]; });
  auto h = [](const SizePoint &p) { return p[1] / 2 - 1; };
  auto w = [](const SizePoint &p) { return p[2] / 4 - 1; };
  requireFound(finder, h);
  requireFound(finder, w);
  requireFound(finder,
               [&](const SizePoint &p) { return p[0] * h(p) * w(p) * 24; });
}

TEST_CASE("Does not take numbers that 32 bits do not hold") {
  MLIRContext context;
  ExpressionFinder finder = makeFinder({{"h", 1000, 100000, 1000}}, context);
  REQUIRE(!finder.find(
      sample(finder, [](const SizePoint &p) { return p[0] * p[0] * 12; })));
}
